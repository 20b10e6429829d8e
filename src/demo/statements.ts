// The finance store of the demo: quarterly reports with their announcements, statements that add up, and indicators.
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

/** Quarters before the first day, so that trailing years are known from the start. */
const QUARTERS_BEFORE = 9;

/** `demo_report`, and `demo_statement`: its rows with every item of the three statements, in cents. */
export async function makeStatements(demo: Demo): Promise<void> {
  await makeReports(demo);
  const items = Object.entries(ITEMS).map(([name, expression]) => `${expression} AS ${name}`);
  await demo.table("statement", `SELECT *, ${items.join(", ")} FROM demo_report`);
}

/**
 * `demo_report`: one row for each stock, quarter and version (0: first announced, 1: revised); amounts in cents since the
 * start of the year; `known_t` is the first trading day after its announcement. `q` is year * 4 + quarter - 1.
 */
async function makeReports(demo: Demo): Promise<void> {
  const { until } = demo.options;
  const u = (salt: string, ...keys: string[]) => demo.random.uniform(salt, "s", ...keys);
  await demo.table(
    "report",
    `WITH quarter AS (
      SELECT (end_day - INTERVAL 1 DAY)::DATE AS end_day, year(end_day - INTERVAL 1 DAY) AS year, quarter(end_day - INTERVAL 1 DAY) AS part
      FROM (SELECT unnest(generate_series(
          date_trunc('quarter', min(day)) - INTERVAL ${3 * QUARTERS_BEFORE} MONTH,
          max(day) + INTERVAL 1 DAY, INTERVAL 3 MONTH)) AS end_day FROM demo_day)),
    due AS (SELECT stock.*, quarter.*, (year * 4 + part - 1)::INTEGER AS q, year - 1988 AS y,
        CASE part WHEN 1 THEN make_date(year, 4, 20) + floor(10 * ${u("ann", "year * 4 + part")})::INTEGER
          WHEN 2 THEN make_date(year, 8, 10) + floor(21 * ${u("ann", "year * 4 + part")})::INTEGER
          WHEN 3 THEN make_date(year, 10, 15) + floor(16 * ${u("ann", "year * 4 + part")})::INTEGER
          ELSE make_date(year + 1, 3, 1) + floor(50 * ${u("ann", "year * 4 + part")})::INTEGER END AS ann_day
      FROM demo_stock stock CROSS JOIN quarter
      JOIN demo_open listed ON listed.t = list_t LEFT JOIN demo_open gone ON gone.t = delist_t
      WHERE end_day > listed.day - 750 AND (gone.day IS NULL OR end_day < gone.day - 60)),
    single AS (SELECT *, CASE WHEN loser THEN value0_cents / 3 ELSE value0_cents / pe0 / margin END
          * pow(1 + growth, year - ${Number(until.slice(0, 4)) - 3}) * (0.85e0 + 0.3e0 * ${u("year", "y")})
          * [0.22e0, 0.25e0, 0.25e0, 0.28e0][part] * (0.95e0 + 0.1e0 * ${u("revenue", "q")}) AS sales,
        CASE WHEN ${u("bad", "y")} < 0.06e0 THEN -0.05e0 ELSE margin END * (0.9e0 + 0.2e0 * ${u("profit", "q")}) AS net
      FROM (SELECT *, price0 * shares0 * 100 AS value0_cents FROM due)),
    summed AS (SELECT *, sales::BIGINT AS q_revenue, (sales * net)::BIGINT AS q_profit,
        (sum(sales::BIGINT) OVER year_to_date)::BIGINT AS revenue, (sum((sales * net)::BIGINT) OVER year_to_date)::BIGINT AS profit,
        (sum(sales::BIGINT) OVER four)::BIGINT AS revenue_ttm, (sum((sales * net)::BIGINT) OVER four)::BIGINT AS profit_ttm,
        greatest(value0_cents / pb0 * 0.2e0, value0_cents / pb0 + 0.6e0 * (sum((sales * net)::BIGINT) OVER since)::DOUBLE)::BIGINT AS equity
      FROM single WINDOW year_to_date AS (PARTITION BY s, year ORDER BY q), four AS (PARTITION BY s ORDER BY q ROWS 3 PRECEDING),
        since AS (PARTITION BY s ORDER BY q)),
    balanced AS (SELECT *, (equity / (0.8e0 - 0.5e0 * ${u("debt")}))::BIGINT AS assets,
        (assets * (0.05e0 + 0.1e0 * ${u("cash")} + 0.04e0 * ${u("cash", "q")}))::BIGINT AS cash FROM summed),
    first AS (SELECT *, coalesce(last_value(CASE WHEN part = 4 THEN cash END IGNORE NULLS)
          OVER (PARTITION BY s ORDER BY q ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), cash) AS cash_before,
        last_value(CASE WHEN part = 4 THEN revenue END IGNORE NULLS) OVER past AS revenue_year,
        last_value(CASE WHEN part = 4 THEN profit END IGNORE NULLS) OVER past AS profit_year,
        lag(revenue, 4) OVER past AS revenue_before, lag(profit, 4) OVER past AS profit_before,
        lag(equity, 4) OVER past AS equity_before,
        ann_day + 60 + floor(200 * ${u("revision", "q")})::INTEGER AS revised_day, ${u("revised", "q")} < 0.03e0 AS revised
      FROM balanced WINDOW past AS (PARTITION BY s ORDER BY q)),
    paid AS (SELECT s, day, bonus FROM demo_ex JOIN demo_open USING (t)),
    grown AS (SELECT first.s, first.q, round(shares0 * exp(coalesce(sum(round(ln(1 + bonus) * 1e12)::BIGINT), 0)::DOUBLE / 1e12))::BIGINT AS shares
      FROM first LEFT JOIN paid ON paid.s = first.s AND paid.day <= end_day
      GROUP BY first.s, first.q, shares0),
    versioned AS (SELECT *, version = 1 OR NOT (revised AND revised_day <= DATE '${day(until)}') AS newest,
        CASE version WHEN 1 THEN revised_day ELSE ann_day END AS f_ann_day, 1 - 0.02e0 * version AS factor
      FROM first JOIN grown USING (s, q), (VALUES (0), (1)) v(version)
      WHERE ann_day <= DATE '${day(until)}' AND (version = 0 OR (revised AND revised_day <= DATE '${day(until)}')))
    SELECT s, ts_code, q, year, part, version, newest, end_day, ann_day, f_ann_day, t + 1 AS known_t, shares, leaf,
      ${["revenue", "profit", "q_revenue", "q_profit", "equity", "assets", "cash"].map((column) => `(${column} * factor)::BIGINT AS ${column}`).join(", ")},
      cash_before, revenue_ttm, profit_ttm, revenue_year, profit_year, revenue_before, profit_before, equity_before
    FROM versioned JOIN demo_calendar ON demo_calendar.day = ann_day ORDER BY ann_day, s, q, f_ann_day`,
  );
}

function day(compact: string): string {
  return `${compact.slice(0, 4)}-${compact.slice(4, 6)}-${compact.slice(6)}`;
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
