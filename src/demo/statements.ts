// The finance store of the demo: quarterly statements that add up, the indicators derived from them, and dividends.
import { type Demo, type DemoEntity, selectOf } from "./tables.js";

const part = (amount: string, share: number) => `(${amount} * ${share}e0)::BIGINT`;

/** Items of the statements in cents. Each is computed from earlier ones, so that every sum is exact. */
const ITEMS: Readonly<Record<string, string>> = {
  minority_gain: part("profit", 0.03),
  n_income_attr_p: "profit - minority_gain",
  income_tax: `CASE WHEN profit > 0 THEN ${part("profit", 0.18)} ELSE 0 END`,
  total_profit: "profit + income_tax",
  non_oper_income: part("revenue", 0.001),
  non_oper_exp: part("revenue", 0.0008),
  operate_profit: "total_profit - non_oper_income + non_oper_exp",
  invest_income: part("revenue", 0.004),
  total_cogs: "revenue + invest_income - operate_profit",
  biz_tax_surchg: part("revenue", 0.006),
  sell_exp: part("revenue", 0.04),
  admin_exp: part("revenue", 0.05),
  rd_exp: part("revenue", 0.03),
  fin_exp: part("revenue", 0.008),
  oper_cost: "total_cogs - biz_tax_surchg - sell_exp - admin_exp - rd_exp - fin_exp",
  ebit: "total_profit + fin_exp",
  depreciation: part("assets", 0.007) + " * part",
  ebitda: "ebit + depreciation",
  total_liab: "assets - equity",
  minority_int: part("equity", 0.03),
  total_hldr_eqy_exc_min_int: "equity - minority_int",
  cap_rese: part("equity", 0.3),
  surplus_rese: part("equity", 0.05),
  undistr_porfit: "total_hldr_eqy_exc_min_int - cap_rese - surplus_rese - shares * 100",
  total_cur_assets: part("assets", 0.55),
  accounts_receiv: part("total_cur_assets", 0.22),
  prepayment: part("total_cur_assets", 0.04),
  inventories: part("total_cur_assets", 0.24),
  oth_cur_assets: "total_cur_assets - cash - accounts_receiv - prepayment - inventories",
  total_nca: "assets - total_cur_assets",
  fix_assets: part("total_nca", 0.5),
  cip: part("total_nca", 0.12),
  intan_assets: part("total_nca", 0.1),
  goodwill: part("total_nca", 0.05),
  lt_eqt_invest: part("total_nca", 0.08),
  oth_nca: "total_nca - fix_assets - cip - intan_assets - goodwill - lt_eqt_invest",
  total_cur_liab: part("total_liab", 0.7),
  st_borr: part("total_cur_liab", 0.25),
  acct_payable: part("total_cur_liab", 0.4),
  payroll_payable: part("total_cur_liab", 0.04),
  taxes_payable: part("total_cur_liab", 0.03),
  contract_liab: part("total_cur_liab", 0.1),
  oth_cur_liab: "total_cur_liab - st_borr - acct_payable - payroll_payable - taxes_payable - contract_liab",
  total_ncl: "total_liab - total_cur_liab",
  lt_borr: part("total_ncl", 0.5),
  bond_payable: part("total_ncl", 0.3),
  oth_ncl: "total_ncl - lt_borr - bond_payable",
  c_fr_sale_sg: part("revenue", 1.05),
  c_fr_oth_operate_a: part("revenue", 0.02),
  c_inf_fr_operate_a: "c_fr_sale_sg + c_fr_oth_operate_a",
  n_cashflow_act: "profit + depreciation + " + part("revenue", 0.01),
  st_cash_out_act: "c_inf_fr_operate_a - n_cashflow_act",
  c_paid_goods_s: part("st_cash_out_act", 0.7),
  c_paid_to_for_empl: part("st_cash_out_act", 0.15),
  c_paid_for_taxes: part("st_cash_out_act", 0.07),
  oth_cash_pay_oper_act: "st_cash_out_act - c_paid_goods_s - c_paid_to_for_empl - c_paid_for_taxes",
  invest_in: part("assets", 0.004),
  capex: part("assets", 0.012) + " * part",
  n_cashflow_inv_act: "invest_in - capex",
  eff_fx_flu_cash: part("revenue", 0.0003),
  n_incr_cash_cash_equ: "cash - cash_before",
  n_cash_flows_fnc_act: "n_incr_cash_cash_equ - n_cashflow_act - n_cashflow_inv_act - eff_fx_flu_cash",
  c_prepay_amt_borr: "st_borr + greatest(0, -n_cash_flows_fnc_act)",
  c_recp_borrow: "n_cash_flows_fnc_act + c_prepay_amt_borr",
  free_cashflow: "n_cashflow_act - capex",
  debt: "st_borr + lt_borr + bond_payable",
};

/** `demo_statement`: the rows of `demo_report` with every item of the three statements, in cents. */
export async function makeStatements(demo: Demo): Promise<void> {
  const items = Object.entries(ITEMS).map(([name, expression]) => `${expression} AS ${name}`);
  await demo.table("statement", `SELECT *, ${items.join(", ")} FROM demo_report`);
}

/** The items by their names in the catalog; `name=item` if the two differ. */
function yuan(names: string): Record<string, string> {
  const pairs = names.split(" ").map((pair) => pair.split("="));
  return Object.fromEntries(pairs.map(([name, item]) => [name!, `${item ?? name} / 1e2`]));
}

const HEAD = {
  ts_code: "ts_code",
  ann_date: "ann_day",
  f_ann_date: "f_ann_day",
  end_date: "end_day",
  report_type: "'1'",
  comp_type: "CASE leaf // 4 WHEN 23 THEN '2' WHEN 24 THEN '4' ELSE '1' END",
  end_type: "part",
  update_flag: "newest::INTEGER",
};

const EPS = "round(n_income_attr_p / 1e2 / shares, 4)";

const INCOME = {
  ...HEAD,
  ...yuan(
    "total_revenue=revenue revenue total_cogs oper_cost biz_tax_surchg sell_exp admin_exp fin_exp rd_exp invest_income " +
      "operate_profit non_oper_income non_oper_exp total_profit income_tax n_income=profit n_income_attr_p minority_gain " +
      "t_compr_income=profit compr_inc_attr_p=n_income_attr_p compr_inc_attr_m_s=minority_gain ebit ebitda " +
      "continued_net_profit=profit",
  ),
  basic_eps: EPS,
  diluted_eps: EPS,
};

const BALANCE = {
  ...HEAD,
  ...yuan(
    "cap_rese undistr_porfit surplus_rese money_cap=cash accounts_receiv prepayment inventories oth_cur_assets " +
      "total_cur_assets lt_eqt_invest fix_assets fix_assets_total=fix_assets cip cip_total=cip intan_assets goodwill " +
      "oth_nca total_nca total_assets=assets st_borr acct_payable payroll_payable taxes_payable contract_liab " +
      "oth_cur_liab total_cur_liab lt_borr bond_payable oth_ncl total_ncl total_liab minority_int " +
      "total_hldr_eqy_exc_min_int total_hldr_eqy_inc_min_int=equity total_liab_hldr_eqy=assets " +
      "accounts_receiv_bill=accounts_receiv accounts_pay=acct_payable",
  ),
  total_share: "shares",
};

const CASHFLOW = {
  ...HEAD,
  ...yuan(
    "net_profit=profit finan_exp=fin_exp c_fr_sale_sg c_fr_oth_operate_a c_inf_fr_operate_a c_paid_goods_s " +
      "c_paid_to_for_empl c_paid_for_taxes oth_cash_pay_oper_act st_cash_out_act n_cashflow_act " +
      "c_disp_withdrwl_invest=invest_in stot_inflows_inv_act=invest_in c_pay_acq_const_fiolta=capex " +
      "stot_out_inv_act=capex n_cashflow_inv_act c_recp_borrow stot_cash_in_fnc_act=c_recp_borrow c_prepay_amt_borr " +
      "stot_cashout_fnc_act=c_prepay_amt_borr n_cash_flows_fnc_act eff_fx_flu_cash n_incr_cash_cash_equ " +
      "c_cash_equ_beg_period=cash_before c_cash_equ_end_period=cash im_net_cashflow_oper_act=n_cashflow_act " +
      "im_n_incr_cash_equ=n_incr_cash_cash_equ end_bal_cash=cash beg_bal_cash=cash_before free_cashflow",
  ),
};

const perShare = (item: string) => `round((${item}) / 1e2 / shares, 4)`;
const quotient = (above: string, below: string) => `round((${above})::DOUBLE / nullif(${below}, 0), 4)`;
const percent = (above: string, below: string) => `round((${above}) * 1e2 / nullif(${below}, 0), 4)`;
const growth = (now: string, before: string) =>
  `CASE WHEN ${before} <> 0 THEN ${percent(`(${now}) - ${before}`, `abs(${before})`)} END`;

const INDICATOR = {
  ts_code: "ts_code",
  ann_date: "f_ann_day",
  end_date: "end_day",
  eps: EPS,
  dt_eps: EPS,
  diluted2_eps: EPS,
  total_revenue_ps: perShare("revenue"),
  revenue_ps: perShare("revenue"),
  capital_rese_ps: perShare("cap_rese"),
  surplus_rese_ps: perShare("surplus_rese"),
  undist_profit_ps: perShare("undistr_porfit"),
  bps: perShare("total_hldr_eqy_exc_min_int"),
  ocfps: perShare("n_cashflow_act"),
  cfps: perShare("n_incr_cash_cash_equ"),
  ebit_ps: perShare("ebit"),
  gross_margin: "(revenue - oper_cost) / 1e2",
  ebit: "ebit / 1e2",
  ebitda: "ebitda / 1e2",
  fcff: "free_cashflow / 1e2",
  interestdebt: "debt / 1e2",
  netdebt: "(debt - cash) / 1e2",
  working_capital: "(total_cur_assets - total_cur_liab) / 1e2",
  profit_dedt: `${part("n_income_attr_p", 0.96)} / 1e2`,
  extra_item: `(n_income_attr_p - ${part("n_income_attr_p", 0.96)}) / 1e2`,
  rd_exp: "rd_exp / 1e2",
  fixed_assets: "fix_assets / 1e2",
  current_ratio: quotient("total_cur_assets", "total_cur_liab"),
  quick_ratio: quotient("total_cur_assets - inventories", "total_cur_liab"),
  cash_ratio: quotient("cash", "total_cur_liab"),
  assets_turn: quotient("revenue", "assets"),
  assets_to_eqt: quotient("assets", "equity"),
  debt_to_eqt: quotient("total_liab", "equity"),
  ocf_to_debt: quotient("n_cashflow_act", "total_liab"),
  netprofit_margin: percent("profit", "revenue"),
  grossprofit_margin: percent("revenue - oper_cost", "revenue"),
  cogs_of_sales: percent("oper_cost", "revenue"),
  profit_to_gr: percent("profit", "revenue"),
  saleexp_to_gr: percent("sell_exp", "revenue"),
  adminexp_of_gr: percent("admin_exp", "revenue"),
  finaexp_of_gr: percent("fin_exp", "revenue"),
  op_of_gr: percent("operate_profit", "revenue"),
  roe: percent("n_income_attr_p", "total_hldr_eqy_exc_min_int"),
  roa: percent("ebit", "assets"),
  npta: percent("profit", "assets"),
  debt_to_assets: percent("total_liab", "assets"),
  ca_to_assets: percent("total_cur_assets", "assets"),
  nca_to_assets: percent("total_nca", "assets"),
  q_eps: perShare("q_profit"),
  q_netprofit_margin: percent("q_profit", "q_revenue"),
  or_yoy: growth("revenue", "revenue_before"),
  tr_yoy: growth("revenue", "revenue_before"),
  netprofit_yoy: growth("profit", "profit_before"),
  equity_yoy: growth("equity", "equity_before"),
  update_flag: "newest::INTEGER",
};

/** The three statements and the indicators, in the order of their announcement. */
export function statementEntities(): DemoEntity[] {
  const tables = { income: INCOME, balancesheet: BALANCE, cashflow: CASHFLOW, fina_indicator: INDICATOR };
  return Object.entries(tables).map(([entity, expressions]) => ({
    entity,
    sql: selectOf(entity, expressions, "FROM demo_statement"),
  }));
}
