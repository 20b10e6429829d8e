"""The entities of the catalog. Made by `npm run clients`: change the catalog, not this file."""

from __future__ import annotations

from typing import Any, Literal, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from ._answer import Answer
from ._values import Day, Days, Ints, Texts


class Column(NamedTuple):
    name: str
    #: ``string``, ``float64`` or ``int64``.
    dtype: str
    #: Whether it holds days: dates, or with ``dates="text"`` text, ``YYYYMMDD``.
    is_date: bool
    unit: Optional[str]
    meaning: str


class Entity(NamedTuple):
    name: str
    title: str
    about: str
    columns: Tuple[Column, ...]
    #: What ``start_date`` and ``end_date`` bound.
    main_date: Optional[str]


DailyColumn = Literal[
    "ts_code",
    "trade_date",
    "open",
    "high",
    "low",
    "close",
    "pre_close",
    "change",
    "pct_chg",
    "vol",
    "amount",
]

WeeklyColumn = Literal[
    "ts_code",
    "trade_date",
    "close",
    "open",
    "high",
    "low",
    "pre_close",
    "change",
    "pct_chg",
    "vol",
    "amount",
]

MonthlyColumn = Literal[
    "ts_code",
    "trade_date",
    "close",
    "open",
    "high",
    "low",
    "pre_close",
    "change",
    "pct_chg",
    "vol",
    "amount",
]

DailyBasicColumn = Literal[
    "ts_code",
    "trade_date",
    "close",
    "turnover_rate",
    "turnover_rate_f",
    "volume_ratio",
    "pe",
    "pe_ttm",
    "pb",
    "ps",
    "ps_ttm",
    "dv_ratio",
    "dv_ttm",
    "total_share",
    "float_share",
    "free_share",
    "total_mv",
    "circ_mv",
]

AdjFactorColumn = Literal[
    "ts_code",
    "trade_date",
    "adj_factor",
]

StkLimitColumn = Literal[
    "ts_code",
    "trade_date",
    "up_limit",
    "down_limit",
]

SuspendDColumn = Literal[
    "ts_code",
    "trade_date",
    "suspend_timing",
    "suspend_type",
]

StkAuctionOColumn = Literal[
    "ts_code",
    "trade_date",
    "ts_type",
    "time",
    "price",
    "vol",
    "amount",
    "pre_close",
]

StkAuctionCColumn = Literal[
    "ts_code",
    "trade_date",
    "ts_type",
    "time",
    "price",
    "vol",
    "amount",
    "pre_close",
]

StkAuctionColumn = Literal[
    "ts_code",
    "trade_date",
    "ts_type",
    "time",
    "price",
    "vol",
    "amount",
    "pre_close",
]

IndexBasicColumn = Literal[
    "ts_code",
    "name",
    "market",
    "publisher",
    "category",
    "base_date",
    "base_point",
    "list_date",
]

IndexDailyColumn = Literal[
    "ts_code",
    "trade_date",
    "close",
    "open",
    "high",
    "low",
    "pre_close",
    "change",
    "pct_chg",
    "vol",
    "amount",
]

IndexWeightColumn = Literal[
    "index_code",
    "con_code",
    "trade_date",
    "weight",
]

IndexClassifyColumn = Literal[
    "index_code",
    "industry_name",
    "level",
    "industry_code",
    "is_pub",
    "parent_code",
    "src",
]

IndexMemberColumn = Literal[
    "index_code",
    "con_code",
    "in_date",
    "out_date",
    "is_new",
]

StockListColumn = Literal[
    "ts_code",
    "name",
    "list_date",
    "delist_date",
    "snapshot_date",
]

StockCompanyColumn = Literal[
    "ts_code",
    "chairman",
    "manager",
    "reg_capital",
    "setup_date",
    "province",
]

NamechangeColumn = Literal[
    "ts_code",
    "name",
    "start_date",
    "end_date",
    "ann_date",
    "change_reason",
]

TradeCalColumn = Literal[
    "exchange",
    "cal_date",
    "is_open",
    "pretrade_date",
]

ResearchReportColumn = Literal[
    "trade_date",
    "abstr",
    "title",
    "report_type",
    "author",
    "name",
    "ts_code",
    "inst_csname",
    "ind_name",
    "url",
]

AnnsDColumn = Literal[
    "ann_date",
    "ts_code",
    "name",
    "title",
    "url",
    "rec_time",
]

IncomeColumn = Literal[
    "ts_code",
    "ann_date",
    "f_ann_date",
    "end_date",
    "report_type",
    "comp_type",
    "end_type",
    "basic_eps",
    "diluted_eps",
    "total_revenue",
    "revenue",
    "int_income",
    "prem_earned",
    "comm_income",
    "n_commis_income",
    "n_oth_income",
    "n_oth_b_income",
    "prem_income",
    "out_prem",
    "une_prem_reser",
    "reins_income",
    "n_sec_tb_income",
    "n_sec_uw_income",
    "n_asset_mg_income",
    "oth_b_income",
    "fv_value_chg_gain",
    "invest_income",
    "ass_invest_income",
    "forex_gain",
    "total_cogs",
    "oper_cost",
    "int_exp",
    "comm_exp",
    "biz_tax_surchg",
    "sell_exp",
    "admin_exp",
    "fin_exp",
    "assets_impair_loss",
    "prem_refund",
    "compens_payout",
    "reser_insur_liab",
    "div_payt",
    "reins_exp",
    "oper_exp",
    "compens_payout_refu",
    "insur_reser_refu",
    "reins_cost_refund",
    "other_bus_cost",
    "operate_profit",
    "non_oper_income",
    "non_oper_exp",
    "nca_disploss",
    "total_profit",
    "income_tax",
    "n_income",
    "n_income_attr_p",
    "minority_gain",
    "oth_compr_income",
    "t_compr_income",
    "compr_inc_attr_p",
    "compr_inc_attr_m_s",
    "ebit",
    "ebitda",
    "insurance_exp",
    "undist_profit",
    "distable_profit",
    "rd_exp",
    "fin_exp_int_exp",
    "fin_exp_int_inc",
    "transfer_surplus_rese",
    "transfer_housing_imprest",
    "transfer_oth",
    "adj_lossgain",
    "withdra_legal_surplus",
    "withdra_legal_pubfund",
    "withdra_biz_devfund",
    "withdra_rese_fund",
    "withdra_oth_ersu",
    "workers_welfare",
    "distr_profit_shrhder",
    "prfshare_payable_dvd",
    "comshare_payable_dvd",
    "capit_comstock_div",
    "net_after_nr_lp_correct",
    "credit_impa_loss",
    "net_expo_hedging_benefits",
    "oth_impair_loss_assets",
    "total_opcost",
    "amodcost_fin_assets",
    "oth_income",
    "asset_disp_income",
    "continued_net_profit",
    "end_net_profit",
    "update_flag",
]

BalancesheetColumn = Literal[
    "ts_code",
    "ann_date",
    "f_ann_date",
    "end_date",
    "report_type",
    "comp_type",
    "end_type",
    "total_share",
    "cap_rese",
    "undistr_porfit",
    "surplus_rese",
    "special_rese",
    "money_cap",
    "trad_asset",
    "notes_receiv",
    "accounts_receiv",
    "oth_receiv",
    "prepayment",
    "div_receiv",
    "int_receiv",
    "inventories",
    "amor_exp",
    "nca_within_1y",
    "sett_rsrv",
    "loanto_oth_bank_fi",
    "premium_receiv",
    "reinsur_receiv",
    "reinsur_res_receiv",
    "pur_resale_fa",
    "oth_cur_assets",
    "total_cur_assets",
    "fa_avail_for_sale",
    "htm_invest",
    "lt_eqt_invest",
    "invest_real_estate",
    "time_deposits",
    "oth_assets",
    "lt_rec",
    "fix_assets",
    "cip",
    "const_materials",
    "fixed_assets_disp",
    "produc_bio_assets",
    "oil_and_gas_assets",
    "intan_assets",
    "r_and_d",
    "goodwill",
    "lt_amor_exp",
    "defer_tax_assets",
    "decr_in_disbur",
    "oth_nca",
    "total_nca",
    "cash_reser_cb",
    "depos_in_oth_bfi",
    "prec_metals",
    "deriv_assets",
    "rr_reins_une_prem",
    "rr_reins_outstd_cla",
    "rr_reins_lins_liab",
    "rr_reins_lthins_liab",
    "refund_depos",
    "ph_pledge_loans",
    "refund_cap_depos",
    "indep_acct_assets",
    "client_depos",
    "client_prov",
    "transac_seat_fee",
    "invest_as_receiv",
    "total_assets",
    "lt_borr",
    "st_borr",
    "cb_borr",
    "depos_ib_deposits",
    "loan_oth_bank",
    "trading_fl",
    "notes_payable",
    "acct_payable",
    "adv_receipts",
    "sold_for_repur_fa",
    "comm_payable",
    "payroll_payable",
    "taxes_payable",
    "int_payable",
    "div_payable",
    "oth_payable",
    "acc_exp",
    "deferred_inc",
    "st_bonds_payable",
    "payable_to_reinsurer",
    "rsrv_insur_cont",
    "acting_trading_sec",
    "acting_uw_sec",
    "non_cur_liab_due_1y",
    "oth_cur_liab",
    "total_cur_liab",
    "bond_payable",
    "lt_payable",
    "specific_payables",
    "estimated_liab",
    "defer_tax_liab",
    "defer_inc_non_cur_liab",
    "oth_ncl",
    "total_ncl",
    "depos_oth_bfi",
    "deriv_liab",
    "depos",
    "agency_bus_liab",
    "oth_liab",
    "prem_receiv_adva",
    "depos_received",
    "ph_invest",
    "reser_une_prem",
    "reser_outstd_claims",
    "reser_lins_liab",
    "reser_lthins_liab",
    "indept_acc_liab",
    "pledge_borr",
    "indem_payable",
    "policy_div_payable",
    "total_liab",
    "treasury_share",
    "ordin_risk_reser",
    "forex_differ",
    "invest_loss_unconf",
    "minority_int",
    "total_hldr_eqy_exc_min_int",
    "total_hldr_eqy_inc_min_int",
    "total_liab_hldr_eqy",
    "lt_payroll_payable",
    "oth_comp_income",
    "oth_eqt_tools",
    "oth_eqt_tools_p_shr",
    "lending_funds",
    "acc_receivable",
    "st_fin_payable",
    "payables",
    "hfs_assets",
    "hfs_sales",
    "cost_fin_assets",
    "fair_value_fin_assets",
    "cip_total",
    "oth_pay_total",
    "long_pay_total",
    "debt_invest",
    "oth_debt_invest",
    "oth_eq_invest",
    "oth_illiq_fin_assets",
    "oth_eq_ppbond",
    "receiv_financing",
    "use_right_assets",
    "lease_liab",
    "contract_assets",
    "contract_liab",
    "accounts_receiv_bill",
    "accounts_pay",
    "oth_rcv_total",
    "fix_assets_total",
    "update_flag",
]

CashflowColumn = Literal[
    "ts_code",
    "ann_date",
    "f_ann_date",
    "end_date",
    "comp_type",
    "report_type",
    "end_type",
    "net_profit",
    "finan_exp",
    "c_fr_sale_sg",
    "recp_tax_rends",
    "n_depos_incr_fi",
    "n_incr_loans_cb",
    "n_inc_borr_oth_fi",
    "prem_fr_orig_contr",
    "n_incr_insured_dep",
    "n_reinsur_prem",
    "n_incr_disp_tfa",
    "ifc_cash_incr",
    "n_incr_disp_faas",
    "n_incr_loans_oth_bank",
    "n_cap_incr_repur",
    "c_fr_oth_operate_a",
    "c_inf_fr_operate_a",
    "c_paid_goods_s",
    "c_paid_to_for_empl",
    "c_paid_for_taxes",
    "n_incr_clt_loan_adv",
    "n_incr_dep_cbob",
    "c_pay_claims_orig_inco",
    "pay_handling_chrg",
    "pay_comm_insur_plcy",
    "oth_cash_pay_oper_act",
    "st_cash_out_act",
    "n_cashflow_act",
    "oth_recp_ral_inv_act",
    "c_disp_withdrwl_invest",
    "c_recp_return_invest",
    "n_recp_disp_fiolta",
    "n_recp_disp_sobu",
    "stot_inflows_inv_act",
    "c_pay_acq_const_fiolta",
    "c_paid_invest",
    "n_disp_subs_oth_biz",
    "oth_pay_ral_inv_act",
    "n_incr_pledge_loan",
    "stot_out_inv_act",
    "n_cashflow_inv_act",
    "c_recp_borrow",
    "proc_issue_bonds",
    "oth_cash_recp_ral_fnc_act",
    "stot_cash_in_fnc_act",
    "free_cashflow",
    "c_prepay_amt_borr",
    "c_pay_dist_dpcp_int_exp",
    "incl_dvd_profit_paid_sc_ms",
    "oth_cashpay_ral_fnc_act",
    "stot_cashout_fnc_act",
    "n_cash_flows_fnc_act",
    "eff_fx_flu_cash",
    "n_incr_cash_cash_equ",
    "c_cash_equ_beg_period",
    "c_cash_equ_end_period",
    "c_recp_cap_contrib",
    "incl_cash_rec_saims",
    "uncon_invest_loss",
    "prov_depr_assets",
    "depr_fa_coga_dpba",
    "amort_intang_assets",
    "lt_amort_deferred_exp",
    "decr_deferred_exp",
    "incr_acc_exp",
    "loss_disp_fiolta",
    "loss_scr_fa",
    "loss_fv_chg",
    "invest_loss",
    "decr_def_inc_tax_assets",
    "incr_def_inc_tax_liab",
    "decr_inventories",
    "decr_oper_payable",
    "incr_oper_payable",
    "others",
    "im_net_cashflow_oper_act",
    "conv_debt_into_cap",
    "conv_copbonds_due_within_1y",
    "fa_fnc_leases",
    "im_n_incr_cash_equ",
    "net_dism_capital_add",
    "net_cash_rece_sec",
    "credit_impa_loss",
    "use_right_asset_dep",
    "oth_loss_asset",
    "end_bal_cash",
    "beg_bal_cash",
    "end_bal_cash_equ",
    "beg_bal_cash_equ",
    "update_flag",
]

FinaIndicatorColumn = Literal[
    "ts_code",
    "ann_date",
    "end_date",
    "eps",
    "dt_eps",
    "total_revenue_ps",
    "revenue_ps",
    "capital_rese_ps",
    "surplus_rese_ps",
    "undist_profit_ps",
    "extra_item",
    "profit_dedt",
    "gross_margin",
    "current_ratio",
    "quick_ratio",
    "cash_ratio",
    "invturn_days",
    "arturn_days",
    "inv_turn",
    "ar_turn",
    "ca_turn",
    "fa_turn",
    "assets_turn",
    "op_income",
    "valuechange_income",
    "interst_income",
    "daa",
    "ebit",
    "ebitda",
    "fcff",
    "fcfe",
    "current_exint",
    "noncurrent_exint",
    "interestdebt",
    "netdebt",
    "tangible_asset",
    "working_capital",
    "networking_capital",
    "invest_capital",
    "retained_earnings",
    "diluted2_eps",
    "bps",
    "ocfps",
    "retainedps",
    "cfps",
    "ebit_ps",
    "fcff_ps",
    "fcfe_ps",
    "netprofit_margin",
    "grossprofit_margin",
    "cogs_of_sales",
    "expense_of_sales",
    "profit_to_gr",
    "saleexp_to_gr",
    "adminexp_of_gr",
    "finaexp_of_gr",
    "impai_ttm",
    "gc_of_gr",
    "op_of_gr",
    "ebit_of_gr",
    "roe",
    "roe_waa",
    "roe_dt",
    "roa",
    "npta",
    "roic",
    "roe_yearly",
    "roa2_yearly",
    "roe_avg",
    "opincome_of_ebt",
    "investincome_of_ebt",
    "n_op_profit_of_ebt",
    "tax_to_ebt",
    "dtprofit_to_profit",
    "salescash_to_or",
    "ocf_to_or",
    "ocf_to_opincome",
    "capitalized_to_da",
    "debt_to_assets",
    "assets_to_eqt",
    "dp_assets_to_eqt",
    "ca_to_assets",
    "nca_to_assets",
    "tbassets_to_totalassets",
    "int_to_talcap",
    "eqt_to_talcapital",
    "currentdebt_to_debt",
    "longdeb_to_debt",
    "ocf_to_shortdebt",
    "debt_to_eqt",
    "eqt_to_debt",
    "eqt_to_interestdebt",
    "tangibleasset_to_debt",
    "tangasset_to_intdebt",
    "tangibleasset_to_netdebt",
    "ocf_to_debt",
    "ocf_to_interestdebt",
    "ocf_to_netdebt",
    "ebit_to_interest",
    "longdebt_to_workingcapital",
    "ebitda_to_debt",
    "turn_days",
    "roa_yearly",
    "roa_dp",
    "fixed_assets",
    "profit_prefin_exp",
    "non_op_profit",
    "op_to_ebt",
    "nop_to_ebt",
    "ocf_to_profit",
    "cash_to_liqdebt",
    "cash_to_liqdebt_withinterest",
    "op_to_liqdebt",
    "op_to_debt",
    "roic_yearly",
    "total_fa_trun",
    "profit_to_op",
    "q_opincome",
    "q_investincome",
    "q_dtprofit",
    "q_eps",
    "q_netprofit_margin",
    "q_gsprofit_margin",
    "q_exp_to_sales",
    "q_profit_to_gr",
    "q_saleexp_to_gr",
    "q_adminexp_to_gr",
    "q_finaexp_to_gr",
    "q_impair_to_gr_ttm",
    "q_gc_to_gr",
    "q_op_to_gr",
    "q_roe",
    "q_dt_roe",
    "q_npta",
    "q_opincome_to_ebt",
    "q_investincome_to_ebt",
    "q_dtprofit_to_profit",
    "q_salescash_to_or",
    "q_ocf_to_sales",
    "q_ocf_to_or",
    "basic_eps_yoy",
    "dt_eps_yoy",
    "cfps_yoy",
    "op_yoy",
    "ebt_yoy",
    "netprofit_yoy",
    "dt_netprofit_yoy",
    "ocf_yoy",
    "roe_yoy",
    "bps_yoy",
    "assets_yoy",
    "eqt_yoy",
    "tr_yoy",
    "or_yoy",
    "q_gr_yoy",
    "q_gr_qoq",
    "q_sales_yoy",
    "q_sales_qoq",
    "q_op_yoy",
    "q_op_qoq",
    "q_profit_yoy",
    "q_profit_qoq",
    "q_netprofit_yoy",
    "q_netprofit_qoq",
    "equity_yoy",
    "rd_exp",
    "update_flag",
]

DividendColumn = Literal[
    "ts_code",
    "end_date",
    "ann_date",
    "div_proc",
    "stk_div",
    "stk_bo_rate",
    "stk_co_rate",
    "cash_div",
    "cash_div_tax",
    "record_date",
    "ex_date",
    "pay_date",
    "div_listdate",
    "imp_ann_date",
    "base_date",
    "base_share",
]

class EntityMethods:
    """A method for each entity. Days may be text, whole numbers, dates or Timestamps; lists mean any of."""

    def read(self, entity: str, **params: Any) -> Answer:
        raise NotImplementedError

    def daily(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        trade_date: Optional[Days] = None,
        adjust: Optional[Literal["forward", "backward"]] = None,
        adjust_volume: Optional[bool] = None,
        fields: Union[str, Sequence[DailyColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Daily quotes.

        Daily open, high, low, close, volume and turnover of stocks, as traded or with ``adjust``. Today's bars are merged in.

        ``start_date`` and ``end_date`` bound ``trade_date``.
        ``adjust`` adjusts open, high, low, close, pre_close, change.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``trade_date`` (day): Trading date
        - ``open`` (float64): Open price, in currency units
        - ``high`` (float64): High price, in currency units
        - ``low`` (float64): Low price, in currency units
        - ``close`` (float64): Close price, in currency units
        - ``pre_close`` (float64): Previous close, in currency units
        - ``change`` (float64): Price change, in currency units
        - ``pct_chg`` (float64): Change in percent
        - ``vol`` (float64): Volume, in lots
        - ``amount`` (float64): Turnover, in thousand currency units
        """
        return self.read(
            "daily",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            trade_date=trade_date,
            adjust=adjust,
            adjust_volume=adjust_volume,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def weekly(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        trade_date: Optional[Days] = None,
        adjust: Optional[Literal["forward", "backward"]] = None,
        adjust_volume: Optional[bool] = None,
        fields: Union[str, Sequence[WeeklyColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Weekly quotes.

        Weekly open, high, low, close, volume and turnover of stocks, as traded or with ``adjust``.

        ``start_date`` and ``end_date`` bound ``trade_date``.
        ``adjust`` adjusts open, high, low, close, pre_close, change.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``trade_date`` (day): Trading date
        - ``close`` (float64): Close price, in currency units
        - ``open`` (float64): Open price, in currency units
        - ``high`` (float64): High price, in currency units
        - ``low`` (float64): Low price, in currency units
        - ``pre_close`` (float64): Previous close, in currency units
        - ``change`` (float64): Price change, in currency units
        - ``pct_chg`` (float64): Change in percent
        - ``vol`` (float64): Volume, in lots
        - ``amount`` (float64): Turnover, in thousand currency units
        """
        return self.read(
            "weekly",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            trade_date=trade_date,
            adjust=adjust,
            adjust_volume=adjust_volume,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def monthly(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        trade_date: Optional[Days] = None,
        adjust: Optional[Literal["forward", "backward"]] = None,
        adjust_volume: Optional[bool] = None,
        fields: Union[str, Sequence[MonthlyColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Monthly quotes.

        Monthly open, high, low, close, volume and turnover of stocks, as traded or with ``adjust``.

        ``start_date`` and ``end_date`` bound ``trade_date``.
        ``adjust`` adjusts open, high, low, close, pre_close, change.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``trade_date`` (day): Trading date
        - ``close`` (float64): Close price, in currency units
        - ``open`` (float64): Open price, in currency units
        - ``high`` (float64): High price, in currency units
        - ``low`` (float64): Low price, in currency units
        - ``pre_close`` (float64): Previous close, in currency units
        - ``change`` (float64): Price change, in currency units
        - ``pct_chg`` (float64): Change in percent
        - ``vol`` (float64): Volume, in lots
        - ``amount`` (float64): Turnover, in thousand currency units
        """
        return self.read(
            "monthly",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            trade_date=trade_date,
            adjust=adjust,
            adjust_volume=adjust_volume,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def daily_basic(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        trade_date: Optional[Days] = None,
        fields: Union[str, Sequence[DailyBasicColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Daily valuation.

        Daily valuation, turnover rates, share counts and market values of stocks.

        ``start_date`` and ``end_date`` bound ``trade_date``.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``trade_date`` (day): Trading date
        - ``close`` (float64): Close price, in currency units
        - ``turnover_rate`` (float64): Turnover rate, in percent
        - ``turnover_rate_f`` (float64): Turnover rate on free-float shares, in percent
        - ``volume_ratio`` (float64): Volume ratio
        - ``pe`` (float64): Price/earnings (total market value / net profit), in ratio
        - ``pe_ttm`` (float64): Price/earnings, trailing twelve months, in ratio
        - ``pb`` (float64): Price/book, in ratio
        - ``ps`` (float64): Price/sales, in ratio
        - ``ps_ttm`` (float64): Price/sales, trailing twelve months, in ratio
        - ``dv_ratio`` (float64): Dividend yield, in percent
        - ``dv_ttm`` (float64): Dividend yield, trailing twelve months, in percent
        - ``total_share`` (float64): Total shares, in ten thousand shares
        - ``float_share`` (float64): Tradable shares, in ten thousand shares
        - ``free_share`` (float64): Free-float shares, in ten thousand shares
        - ``total_mv`` (float64): Total market value, in ten thousand currency units
        - ``circ_mv`` (float64): Tradable market value, in ten thousand currency units
        """
        return self.read(
            "daily_basic",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            trade_date=trade_date,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def adj_factor(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        trade_date: Optional[Days] = None,
        fields: Union[str, Sequence[AdjFactorColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Adjustment factors.

        Base factor of backward adjustment: price times factor makes prices comparable across dividends and splits.

        ``start_date`` and ``end_date`` bound ``trade_date``.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``trade_date`` (day): Trading date
        - ``adj_factor`` (float64): Adjustment factor, in ratio
        """
        return self.read(
            "adj_factor",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            trade_date=trade_date,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def stk_limit(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        trade_date: Optional[Days] = None,
        fields: Union[str, Sequence[StkLimitColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Price limits.

        The highest and lowest price at which a stock may trade on a day.

        ``start_date`` and ``end_date`` bound ``trade_date``.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``trade_date`` (day): Trading date
        - ``up_limit`` (float64): Upper limit price, in currency units
        - ``down_limit`` (float64): Lower limit price, in currency units
        """
        return self.read(
            "stk_limit",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            trade_date=trade_date,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def suspend_d(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        trade_date: Optional[Days] = None,
        suspend_timing: Optional[Texts] = None,
        suspend_type: Optional[Texts] = None,
        fields: Union[str, Sequence[SuspendDColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Suspensions.

        Suspension periods and types. One stock on one day can have several periods, hence several rows.

        ``start_date`` and ``end_date`` bound ``trade_date``.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``trade_date`` (day): Trading date
        - ``suspend_timing`` (string): Suspension period
        - ``suspend_type`` (string): Suspension type
        """
        return self.read(
            "suspend_d",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            trade_date=trade_date,
            suspend_timing=suspend_timing,
            suspend_type=suspend_type,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def stk_auction_o(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        trade_date: Optional[Days] = None,
        ts_type: Optional[Texts] = None,
        time: Optional[Texts] = None,
        fields: Union[str, Sequence[StkAuctionOColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Opening call auction.

        The pre-market quote: one row for each security and day with the result of the opening call auction.

        ``start_date`` and ``end_date`` bound ``trade_date``.

        Columns:

        - ``ts_code`` (string): Security code: a stock, an ETF or an index
        - ``trade_date`` (day): Trading date
        - ``ts_type`` (string): Type (STK or ETF)
        - ``time`` (string): Time
        - ``price`` (float64): Price, in currency units
        - ``vol`` (float64): Volume
        - ``amount`` (float64): Turnover
        - ``pre_close`` (float64): Previous close, in currency units
        """
        return self.read(
            "stk_auction_o",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            trade_date=trade_date,
            ts_type=ts_type,
            time=time,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def stk_auction_c(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        trade_date: Optional[Days] = None,
        ts_type: Optional[Texts] = None,
        time: Optional[Texts] = None,
        fields: Union[str, Sequence[StkAuctionCColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Closing call auction.

        The post-market quote: one row for each security and day with the result of the closing call auction.

        ``start_date`` and ``end_date`` bound ``trade_date``.

        Columns:

        - ``ts_code`` (string): Security code: a stock, an ETF or an index
        - ``trade_date`` (day): Trading date
        - ``ts_type`` (string): Type (STK or ETF)
        - ``time`` (string): Time
        - ``price`` (float64): Price, in currency units
        - ``vol`` (float64): Volume
        - ``amount`` (float64): Turnover
        - ``pre_close`` (float64): Previous close, in currency units
        """
        return self.read(
            "stk_auction_c",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            trade_date=trade_date,
            ts_type=ts_type,
            time=time,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def stk_auction(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        trade_date: Optional[Days] = None,
        ts_type: Optional[Texts] = None,
        time: Optional[Texts] = None,
        fields: Union[str, Sequence[StkAuctionColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Call-auction trades.

        Tick-by-tick trades of the call auctions of stocks and ETFs; equal ticks are kept. Price is the trade price.

        ``start_date`` and ``end_date`` bound ``trade_date``.

        Columns:

        - ``ts_code`` (string): Security code: a stock, an ETF or an index
        - ``trade_date`` (day): Trading date
        - ``ts_type`` (string): Type (STK or ETF)
        - ``time`` (string): Time
        - ``price`` (float64): Price, in currency units
        - ``vol`` (float64): Volume
        - ``amount`` (float64): Turnover
        - ``pre_close`` (float64): Previous close, in currency units
        """
        return self.read(
            "stk_auction",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            trade_date=trade_date,
            ts_type=ts_type,
            time=time,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def index_basic(
        self,
        *,
        ts_code: Optional[Texts] = None,
        name: Optional[Texts] = None,
        market: Optional[Texts] = None,
        publisher: Optional[Texts] = None,
        category: Optional[Texts] = None,
        base_date: Optional[Days] = None,
        list_date: Optional[Days] = None,
        fields: Union[str, Sequence[IndexBasicColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Indices.

        The list of indices with market, publisher, category and base.


        Columns:

        - ``ts_code`` (string): Index code
        - ``name`` (string): Index name
        - ``market`` (string): Market; only SSE, SZSE and CSI occur
        - ``publisher`` (string): Publisher
        - ``category`` (string): Category
        - ``base_date`` (day): Base date
        - ``base_point`` (float64): Base point, in points
        - ``list_date`` (day): Listing date
        """
        return self.read(
            "index_basic",
            ts_code=ts_code,
            name=name,
            market=market,
            publisher=publisher,
            category=category,
            base_date=base_date,
            list_date=list_date,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def index_daily(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        trade_date: Optional[Days] = None,
        fields: Union[str, Sequence[IndexDailyColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Daily index levels.

        Daily levels of all indices, industry indices included, for benchmarks and industry quotes.

        ``start_date`` and ``end_date`` bound ``trade_date``.

        Columns:

        - ``ts_code`` (string): Index code
        - ``trade_date`` (day): Trading date
        - ``close`` (float64): Close level, in points
        - ``open`` (float64): Open level, in points
        - ``high`` (float64): High level, in points
        - ``low`` (float64): Low level, in points
        - ``pre_close`` (float64): Previous close level, in points
        - ``change`` (float64): Change in points
        - ``pct_chg`` (float64): Change in percent
        - ``vol`` (float64): Volume, in lots
        - ``amount`` (float64): Turnover, in thousand currency units
        """
        return self.read(
            "index_daily",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            trade_date=trade_date,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def index_weight(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        index_code: Optional[Texts] = None,
        con_code: Optional[Texts] = None,
        trade_date: Optional[Days] = None,
        latest: Optional[bool] = None,
        fields: Union[str, Sequence[IndexWeightColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Index weights.

        Weights of index constituents. Broad-base indices are updated daily, industry indices on Fridays.

        ``start_date`` and ``end_date`` bound ``trade_date``.

        Columns:

        - ``index_code`` (string): Index code
        - ``con_code`` (string): Constituent stock code
        - ``trade_date`` (day): Trading date
        - ``weight`` (float64): Weight, in percent
        """
        return self.read(
            "index_weight",
            start_date=start_date,
            end_date=end_date,
            index_code=index_code,
            con_code=con_code,
            trade_date=trade_date,
            latest=latest,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def index_classify(
        self,
        *,
        index_code: Optional[Texts] = None,
        industry_name: Optional[Texts] = None,
        level: Optional[Texts] = None,
        industry_code: Optional[Texts] = None,
        is_pub: Optional[Texts] = None,
        parent_code: Optional[Texts] = None,
        src: Optional[Texts] = None,
        fields: Union[str, Sequence[IndexClassifyColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Industry classification.

        The industry classification system with its three levels. Editions of one source may share index codes.


        Columns:

        - ``index_code`` (string): Industry index code
        - ``industry_name`` (string): Industry name
        - ``level`` (string): Level: L1, L2 or L3
        - ``industry_code`` (string): Industry code
        - ``is_pub`` (string): Whether published
        - ``parent_code`` (string): Parent code
        - ``src`` (string): Classification source
        """
        return self.read(
            "index_classify",
            index_code=index_code,
            industry_name=industry_name,
            level=level,
            industry_code=industry_code,
            is_pub=is_pub,
            parent_code=parent_code,
            src=src,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def index_member(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        index_code: Optional[Texts] = None,
        con_code: Optional[Texts] = None,
        in_date: Optional[Days] = None,
        out_date: Optional[Days] = None,
        is_new: Optional[Texts] = None,
        as_of: Optional[Days] = None,
        as_of_days: Optional[Literal["month_end", "week_end"]] = None,
        as_of_start: Optional[Day] = None,
        as_of_end: Optional[Day] = None,
        latest: Optional[bool] = None,
        fields: Union[str, Sequence[IndexMemberColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Industry constituents.

        When each stock entered and left each industry index: the basis of industry neutralisation.

        ``start_date`` and ``end_date`` bound ``in_date``.
        ``as_of`` gives what was announced on or before that day, by in_date.

        Columns:

        - ``index_code`` (string): Industry index code
        - ``con_code`` (string): Constituent stock code
        - ``in_date`` (day): Inclusion date
        - ``out_date`` (day): Removal date; null means the stock is still a constituent
        - ``is_new`` (string): Whether newly included
        """
        return self.read(
            "index_member",
            start_date=start_date,
            end_date=end_date,
            index_code=index_code,
            con_code=con_code,
            in_date=in_date,
            out_date=out_date,
            is_new=is_new,
            as_of=as_of,
            as_of_days=as_of_days,
            as_of_start=as_of_start,
            as_of_end=as_of_end,
            latest=latest,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def stock_list(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        name: Optional[Texts] = None,
        list_date: Optional[Days] = None,
        delist_date: Optional[Days] = None,
        snapshot_date: Optional[Days] = None,
        as_of: Optional[Days] = None,
        as_of_days: Optional[Literal["month_end", "week_end"]] = None,
        as_of_start: Optional[Day] = None,
        as_of_end: Optional[Day] = None,
        fields: Union[str, Sequence[StockListColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Stock list.

        Daily snapshots of the stock list, delisted stocks included, so that a universe can be built without survivorship bias. With no time parameter the latest snapshot is returned.

        ``start_date`` and ``end_date`` bound ``snapshot_date``.
        ``as_of`` gives the latest snapshot on or before that day.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``name`` (string): Stock name
        - ``list_date`` (day): Listing date
        - ``delist_date`` (day): Delisting date; null means not delisted
        - ``snapshot_date`` (day): Snapshot date
        """
        return self.read(
            "stock_list",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            name=name,
            list_date=list_date,
            delist_date=delist_date,
            snapshot_date=snapshot_date,
            as_of=as_of,
            as_of_days=as_of_days,
            as_of_start=as_of_start,
            as_of_end=as_of_end,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def stock_company(
        self,
        *,
        ts_code: Optional[Texts] = None,
        chairman: Optional[Texts] = None,
        manager: Optional[Texts] = None,
        setup_date: Optional[Days] = None,
        province: Optional[Texts] = None,
        fields: Union[str, Sequence[StockCompanyColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Companies.

        Basic information about listed companies: one row for each, without history.


        Columns:

        - ``ts_code`` (string): Stock code
        - ``chairman`` (string): Chairman
        - ``manager`` (string): General manager
        - ``reg_capital`` (float64): Registered capital, in ten thousand currency units
        - ``setup_date`` (day): Establishment date
        - ``province`` (string): Province of registration
        """
        return self.read(
            "stock_company",
            ts_code=ts_code,
            chairman=chairman,
            manager=manager,
            setup_date=setup_date,
            province=province,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def namechange(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        name: Optional[Texts] = None,
        ann_date: Optional[Days] = None,
        change_reason: Optional[Texts] = None,
        as_of: Optional[Days] = None,
        as_of_days: Optional[Literal["month_end", "week_end"]] = None,
        as_of_start: Optional[Day] = None,
        as_of_end: Optional[Day] = None,
        latest: Optional[bool] = None,
        fields: Union[str, Sequence[NamechangeColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Name changes.

        The names that stocks have carried, each with its first and last effective day.

        ``start_date`` and ``end_date`` bound ``start_date``.
        ``as_of`` gives what was announced on or before that day, by ann_date, else start_date.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``name`` (string): Former name
        - ``start_date`` (day): First effective day
        - ``end_date`` (day): Last effective day; null means still in effect
        - ``ann_date`` (day): Announcement date
        - ``change_reason`` (string): Reason for the change
        """
        return self.read(
            "namechange",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            name=name,
            ann_date=ann_date,
            change_reason=change_reason,
            as_of=as_of,
            as_of_days=as_of_days,
            as_of_start=as_of_start,
            as_of_end=as_of_end,
            latest=latest,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def trade_cal(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        exchange: Optional[Texts] = None,
        cal_date: Optional[Days] = None,
        is_open: Optional[Ints] = None,
        pretrade_date: Optional[Days] = None,
        fields: Union[str, Sequence[TradeCalColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Trading calendar.

        Open and closed days with the previous trading day. Only the SSE calendar is held.

        ``start_date`` and ``end_date`` bound ``cal_date``.

        Columns:

        - ``exchange`` (string): Exchange
        - ``cal_date`` (day): Calendar date
        - ``is_open`` (int64): 1 = open, 0 = closed
        - ``pretrade_date`` (day): Previous trading day
        """
        return self.read(
            "trade_cal",
            start_date=start_date,
            end_date=end_date,
            exchange=exchange,
            cal_date=cal_date,
            is_open=is_open,
            pretrade_date=pretrade_date,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def research_report(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        trade_date: Optional[Days] = None,
        abstr: Optional[Texts] = None,
        title: Optional[Texts] = None,
        report_type: Optional[Texts] = None,
        author: Optional[Texts] = None,
        name: Optional[Texts] = None,
        ts_code: Optional[Texts] = None,
        inst_csname: Optional[Texts] = None,
        ind_name: Optional[Texts] = None,
        url: Optional[Texts] = None,
        as_of: Optional[Days] = None,
        as_of_days: Optional[Literal["month_end", "week_end"]] = None,
        as_of_start: Optional[Day] = None,
        as_of_end: Optional[Day] = None,
        fields: Union[str, Sequence[ResearchReportColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Research reports.

        Broker research reports on stocks and industries, by the day of publication.

        ``start_date`` and ``end_date`` bound ``trade_date``.
        ``as_of`` gives what was announced on or before that day, by trade_date.

        Columns:

        - ``trade_date`` (day): Publication date
        - ``abstr`` (string): Abstract
        - ``title`` (string): Report title
        - ``report_type`` (string): Report type
        - ``author`` (string): Author
        - ``name`` (string): Stock name
        - ``ts_code`` (string): Stock code; null where the report is not about one stock
        - ``inst_csname`` (string): Institution name
        - ``ind_name`` (string): Industry name
        - ``url`` (string): Link to the original
        """
        return self.read(
            "research_report",
            start_date=start_date,
            end_date=end_date,
            trade_date=trade_date,
            abstr=abstr,
            title=title,
            report_type=report_type,
            author=author,
            name=name,
            ts_code=ts_code,
            inst_csname=inst_csname,
            ind_name=ind_name,
            url=url,
            as_of=as_of,
            as_of_days=as_of_days,
            as_of_start=as_of_start,
            as_of_end=as_of_end,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def anns_d(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ann_date: Optional[Days] = None,
        ts_code: Optional[Texts] = None,
        name: Optional[Texts] = None,
        title: Optional[Texts] = None,
        url: Optional[Texts] = None,
        rec_time: Optional[Texts] = None,
        as_of: Optional[Days] = None,
        as_of_days: Optional[Literal["month_end", "week_end"]] = None,
        as_of_start: Optional[Day] = None,
        as_of_end: Optional[Day] = None,
        fields: Union[str, Sequence[AnnsDColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Announcements.

        Announcements of listed companies. The stock code can stand without its exchange suffix.

        ``start_date`` and ``end_date`` bound ``ann_date``.
        ``as_of`` gives what was announced on or before that day, by ann_date.

        Columns:

        - ``ann_date`` (day): Announcement date
        - ``ts_code`` (string): Stock code, with or without suffix
        - ``name`` (string): Stock name
        - ``title`` (string): Announcement title
        - ``url`` (string): Announcement link
        - ``rec_time`` (string): Time the record was collected
        """
        return self.read(
            "anns_d",
            start_date=start_date,
            end_date=end_date,
            ann_date=ann_date,
            ts_code=ts_code,
            name=name,
            title=title,
            url=url,
            rec_time=rec_time,
            as_of=as_of,
            as_of_days=as_of_days,
            as_of_start=as_of_start,
            as_of_end=as_of_end,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def income(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        ann_date: Optional[Days] = None,
        f_ann_date: Optional[Days] = None,
        report_type: Optional[Texts] = None,
        comp_type: Optional[Texts] = None,
        end_type: Optional[Texts] = None,
        update_flag: Optional[Texts] = None,
        period: Optional[Days] = None,
        as_of: Optional[Days] = None,
        as_of_days: Optional[Literal["month_end", "week_end"]] = None,
        as_of_start: Optional[Day] = None,
        as_of_end: Optional[Day] = None,
        latest: Optional[bool] = None,
        fields: Union[str, Sequence[IncomeColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Income statements.

        Income statements of listed companies by announcement date, every report type and revision.

        ``start_date`` and ``end_date`` bound ``ann_date``.
        ``as_of`` gives what was announced on or before that day, by f_ann_date, else ann_date.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``ann_date`` (day): Announcement date
        - ``f_ann_date`` (day): Actual announcement date, of this revision
        - ``end_date`` (day): Last day of the reporting period
        - ``report_type`` (string): Report type: 1 consolidated, 2 consolidated single quarter, ... 12
        - ``comp_type`` (string): Company type: 1 general, 2 bank, 3 insurance, 4 securities
        - ``end_type`` (string): Kind of period: 1 first quarter, 2 half year, 3 third quarter, 4 year
        - ``basic_eps`` (float64): Basic earnings per share, in yuan per share
        - ``diluted_eps`` (float64): Diluted earnings per share, in yuan per share
        - ``total_revenue`` (float64): Total operating revenue, in yuan
        - ``revenue`` (float64): Operating revenue, in yuan
        - ``int_income`` (float64): Interest income, in yuan
        - ``prem_earned`` (float64): Premiums earned, in yuan
        - ``comm_income`` (float64): Fee and commission income, in yuan
        - ``n_commis_income`` (float64): Net fee and commission income, in yuan
        - ``n_oth_income`` (float64): Other net operating income, in yuan
        - ``n_oth_b_income`` (float64): Net income of other business, in yuan
        - ``prem_income`` (float64): Insurance premium income, in yuan
        - ``out_prem`` (float64): Premiums ceded, in yuan
        - ``une_prem_reser`` (float64): Change in unearned premium reserve, in yuan
        - ``reins_income`` (float64): Reinsurance premium income, in yuan
        - ``n_sec_tb_income`` (float64): Net income of securities brokerage, in yuan
        - ``n_sec_uw_income`` (float64): Net income of securities underwriting, in yuan
        - ``n_asset_mg_income`` (float64): Net income of asset management for clients, in yuan
        - ``oth_b_income`` (float64): Other business income, in yuan
        - ``fv_value_chg_gain`` (float64): Net gain from changes in fair value, in yuan
        - ``invest_income`` (float64): Net investment income, in yuan
        - ``ass_invest_income`` (float64): Investment income from associates and joint ventures, in yuan
        - ``forex_gain`` (float64): Net exchange gain, in yuan
        - ``total_cogs`` (float64): Total operating cost, in yuan
        - ``oper_cost`` (float64): Operating cost, in yuan
        - ``int_exp`` (float64): Interest expense, in yuan
        - ``comm_exp`` (float64): Fee and commission expense, in yuan
        - ``biz_tax_surchg`` (float64): Business tax and surcharges, in yuan
        - ``sell_exp`` (float64): Selling expense, in yuan
        - ``admin_exp`` (float64): Administrative expense, in yuan
        - ``fin_exp`` (float64): Financial expense, in yuan
        - ``assets_impair_loss`` (float64): Asset impairment loss, in yuan
        - ``prem_refund`` (float64): Surrender payments, in yuan
        - ``compens_payout`` (float64): Total claims paid, in yuan
        - ``reser_insur_liab`` (float64): Change in insurance liability reserve, in yuan
        - ``div_payt`` (float64): Policy dividends, in yuan
        - ``reins_exp`` (float64): Reinsurance expense, in yuan
        - ``oper_exp`` (float64): Operating expense, in yuan
        - ``compens_payout_refu`` (float64): Claims recovered from reinsurers, in yuan
        - ``insur_reser_refu`` (float64): Insurance liability reserve recovered from reinsurers, in yuan
        - ``reins_cost_refund`` (float64): Reinsurance expense recovered, in yuan
        - ``other_bus_cost`` (float64): Other business cost, in yuan
        - ``operate_profit`` (float64): Operating profit, in yuan
        - ``non_oper_income`` (float64): Non-operating income, in yuan
        - ``non_oper_exp`` (float64): Non-operating expense, in yuan
        - ``nca_disploss`` (float64): Net loss on disposal of non-current assets, in yuan
        - ``total_profit`` (float64): Profit before tax, in yuan
        - ``income_tax`` (float64): Income tax, in yuan
        - ``n_income`` (float64): Net profit, minority interest included, in yuan
        - ``n_income_attr_p`` (float64): Net profit attributable to the parent's shareholders, in yuan
        - ``minority_gain`` (float64): Profit of minority shareholders, in yuan
        - ``oth_compr_income`` (float64): Other comprehensive income, in yuan
        - ``t_compr_income`` (float64): Total comprehensive income, in yuan
        - ``compr_inc_attr_p`` (float64): Comprehensive income attributable to the parent's shareholders, in yuan
        - ``compr_inc_attr_m_s`` (float64): Comprehensive income attributable to minority shareholders, in yuan
        - ``ebit`` (float64): Earnings before interest and tax, in yuan
        - ``ebitda`` (float64): Earnings before interest, tax, depreciation and amortisation, in yuan
        - ``insurance_exp`` (float64): Insurance business expense, in yuan
        - ``undist_profit`` (float64): Undistributed profit at the start of the year, in yuan
        - ``distable_profit`` (float64): Distributable profit, in yuan
        - ``rd_exp`` (float64): Research and development expense, in yuan
        - ``fin_exp_int_exp`` (float64): Financial expense: interest expense, in yuan
        - ``fin_exp_int_inc`` (float64): Financial expense: interest income, in yuan
        - ``transfer_surplus_rese`` (float64): Transfer from surplus reserve, in yuan
        - ``transfer_housing_imprest`` (float64): Transfer from housing fund, in yuan
        - ``transfer_oth`` (float64): Other transfers, in yuan
        - ``adj_lossgain`` (float64): Adjustment of profit of earlier years, in yuan
        - ``withdra_legal_surplus`` (float64): Appropriation to statutory surplus reserve, in yuan
        - ``withdra_legal_pubfund`` (float64): Appropriation to statutory welfare fund, in yuan
        - ``withdra_biz_devfund`` (float64): Appropriation to enterprise development fund, in yuan
        - ``withdra_rese_fund`` (float64): Appropriation to reserve fund, in yuan
        - ``withdra_oth_ersu`` (float64): Appropriation to discretionary surplus reserve, in yuan
        - ``workers_welfare`` (float64): Bonus and welfare of employees, in yuan
        - ``distr_profit_shrhder`` (float64): Profit distributable to shareholders, in yuan
        - ``prfshare_payable_dvd`` (float64): Dividends payable on preferred shares, in yuan
        - ``comshare_payable_dvd`` (float64): Dividends payable on ordinary shares, in yuan
        - ``capit_comstock_div`` (float64): Ordinary dividends converted into share capital, in yuan
        - ``net_after_nr_lp_correct`` (float64): Net profit less non-recurring items, before correction, in yuan
        - ``credit_impa_loss`` (float64): Credit impairment loss, in yuan
        - ``net_expo_hedging_benefits`` (float64): Net gain from hedging of net exposure, in yuan
        - ``oth_impair_loss_assets`` (float64): Other asset impairment loss, in yuan
        - ``total_opcost`` (float64): Total operating cost, second definition, in yuan
        - ``amodcost_fin_assets`` (float64): Gain from derecognition of financial assets at amortised cost, in yuan
        - ``oth_income`` (float64): Other income, in yuan
        - ``asset_disp_income`` (float64): Gain from asset disposal, in yuan
        - ``continued_net_profit`` (float64): Net profit of continuing operations, in yuan
        - ``end_net_profit`` (float64): Net profit of discontinued operations, in yuan
        - ``update_flag`` (string): 1 for the newest revision
        """
        return self.read(
            "income",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            ann_date=ann_date,
            f_ann_date=f_ann_date,
            report_type=report_type,
            comp_type=comp_type,
            end_type=end_type,
            update_flag=update_flag,
            period=period,
            as_of=as_of,
            as_of_days=as_of_days,
            as_of_start=as_of_start,
            as_of_end=as_of_end,
            latest=latest,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def balancesheet(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        ann_date: Optional[Days] = None,
        f_ann_date: Optional[Days] = None,
        report_type: Optional[Texts] = None,
        comp_type: Optional[Texts] = None,
        end_type: Optional[Texts] = None,
        update_flag: Optional[Texts] = None,
        period: Optional[Days] = None,
        as_of: Optional[Days] = None,
        as_of_days: Optional[Literal["month_end", "week_end"]] = None,
        as_of_start: Optional[Day] = None,
        as_of_end: Optional[Day] = None,
        latest: Optional[bool] = None,
        fields: Union[str, Sequence[BalancesheetColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Balance sheets.

        Balance sheets of listed companies by announcement date, every report type and revision.

        ``start_date`` and ``end_date`` bound ``ann_date``.
        ``as_of`` gives what was announced on or before that day, by f_ann_date, else ann_date.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``ann_date`` (day): Announcement date
        - ``f_ann_date`` (day): Actual announcement date, of this revision
        - ``end_date`` (day): Last day of the reporting period
        - ``report_type`` (string): Report type: 1 consolidated, 2 consolidated single quarter, ... 12
        - ``comp_type`` (string): Company type: 1 general, 2 bank, 3 insurance, 4 securities
        - ``end_type`` (string): Kind of period: 1 first quarter, 2 half year, 3 third quarter, 4 year
        - ``total_share`` (float64): Share capital at the end of the period, in shares
        - ``cap_rese`` (float64): Capital reserve, in yuan
        - ``undistr_porfit`` (float64): Undistributed profit, in yuan
        - ``surplus_rese`` (float64): Surplus reserve, in yuan
        - ``special_rese`` (float64): Special reserve, in yuan
        - ``money_cap`` (float64): Cash and deposits, in yuan
        - ``trad_asset`` (float64): Financial assets held for trading, in yuan
        - ``notes_receiv`` (float64): Notes receivable, in yuan
        - ``accounts_receiv`` (float64): Accounts receivable, in yuan
        - ``oth_receiv`` (float64): Other receivables, in yuan
        - ``prepayment`` (float64): Prepayments, in yuan
        - ``div_receiv`` (float64): Dividends receivable, in yuan
        - ``int_receiv`` (float64): Interest receivable, in yuan
        - ``inventories`` (float64): Inventories, in yuan
        - ``amor_exp`` (float64): Deferred expenses, in yuan
        - ``nca_within_1y`` (float64): Non-current assets due within one year, in yuan
        - ``sett_rsrv`` (float64): Settlement reserve, in yuan
        - ``loanto_oth_bank_fi`` (float64): Loans to banks and other financial institutions, in yuan
        - ``premium_receiv`` (float64): Premiums receivable, in yuan
        - ``reinsur_receiv`` (float64): Reinsurance receivables, in yuan
        - ``reinsur_res_receiv`` (float64): Reinsurance contract reserve receivable, in yuan
        - ``pur_resale_fa`` (float64): Financial assets bought for resale, in yuan
        - ``oth_cur_assets`` (float64): Other current assets, in yuan
        - ``total_cur_assets`` (float64): Total current assets, in yuan
        - ``fa_avail_for_sale`` (float64): Financial assets available for sale, in yuan
        - ``htm_invest`` (float64): Investments held to maturity, in yuan
        - ``lt_eqt_invest`` (float64): Long-term equity investments, in yuan
        - ``invest_real_estate`` (float64): Investment property, in yuan
        - ``time_deposits`` (float64): Time deposits, in yuan
        - ``oth_assets`` (float64): Other assets, in yuan
        - ``lt_rec`` (float64): Long-term receivables, in yuan
        - ``fix_assets`` (float64): Fixed assets, in yuan
        - ``cip`` (float64): Construction in progress, in yuan
        - ``const_materials`` (float64): Construction materials, in yuan
        - ``fixed_assets_disp`` (float64): Disposal of fixed assets, in yuan
        - ``produc_bio_assets`` (float64): Productive biological assets, in yuan
        - ``oil_and_gas_assets`` (float64): Oil and gas assets, in yuan
        - ``intan_assets`` (float64): Intangible assets, in yuan
        - ``r_and_d`` (float64): Development expenditure, in yuan
        - ``goodwill`` (float64): Goodwill, in yuan
        - ``lt_amor_exp`` (float64): Long-term deferred expenses, in yuan
        - ``defer_tax_assets`` (float64): Deferred tax assets, in yuan
        - ``decr_in_disbur`` (float64): Loans and advances granted, in yuan
        - ``oth_nca`` (float64): Other non-current assets, in yuan
        - ``total_nca`` (float64): Total non-current assets, in yuan
        - ``cash_reser_cb`` (float64): Cash and deposits with the central bank, in yuan
        - ``depos_in_oth_bfi`` (float64): Deposits with banks and other financial institutions, in yuan
        - ``prec_metals`` (float64): Precious metals, in yuan
        - ``deriv_assets`` (float64): Derivative assets, in yuan
        - ``rr_reins_une_prem`` (float64): Reinsurers' share of unearned premium reserve, in yuan
        - ``rr_reins_outstd_cla`` (float64): Reinsurers' share of outstanding claims reserve, in yuan
        - ``rr_reins_lins_liab`` (float64): Reinsurers' share of life insurance reserve, in yuan
        - ``rr_reins_lthins_liab`` (float64): Reinsurers' share of long-term health insurance reserve, in yuan
        - ``refund_depos`` (float64): Refundable deposits paid, in yuan
        - ``ph_pledge_loans`` (float64): Policy loans, in yuan
        - ``refund_cap_depos`` (float64): Statutory capital deposits paid, in yuan
        - ``indep_acct_assets`` (float64): Separate account assets, in yuan
        - ``client_depos`` (float64): Deposits of clients' funds, in yuan
        - ``client_prov`` (float64): Settlement reserve of clients, in yuan
        - ``transac_seat_fee`` (float64): Exchange seat fees, in yuan
        - ``invest_as_receiv`` (float64): Investments classified as receivables, in yuan
        - ``total_assets`` (float64): Total assets, in yuan
        - ``lt_borr`` (float64): Long-term borrowings, in yuan
        - ``st_borr`` (float64): Short-term borrowings, in yuan
        - ``cb_borr`` (float64): Borrowings from the central bank, in yuan
        - ``depos_ib_deposits`` (float64): Customer and interbank deposits taken, in yuan
        - ``loan_oth_bank`` (float64): Borrowings from banks and other financial institutions, in yuan
        - ``trading_fl`` (float64): Financial liabilities held for trading, in yuan
        - ``notes_payable`` (float64): Notes payable, in yuan
        - ``acct_payable`` (float64): Accounts payable, in yuan
        - ``adv_receipts`` (float64): Advances from customers, in yuan
        - ``sold_for_repur_fa`` (float64): Financial assets sold for repurchase, in yuan
        - ``comm_payable`` (float64): Fees and commissions payable, in yuan
        - ``payroll_payable`` (float64): Payroll payable, in yuan
        - ``taxes_payable`` (float64): Taxes payable, in yuan
        - ``int_payable`` (float64): Interest payable, in yuan
        - ``div_payable`` (float64): Dividends payable, in yuan
        - ``oth_payable`` (float64): Other payables, in yuan
        - ``acc_exp`` (float64): Accrued expenses, in yuan
        - ``deferred_inc`` (float64): Deferred income, in yuan
        - ``st_bonds_payable`` (float64): Short-term bonds payable, in yuan
        - ``payable_to_reinsurer`` (float64): Payables to reinsurers, in yuan
        - ``rsrv_insur_cont`` (float64): Insurance contract reserve, in yuan
        - ``acting_trading_sec`` (float64): Client money of securities brokerage, in yuan
        - ``acting_uw_sec`` (float64): Client money of securities underwriting, in yuan
        - ``non_cur_liab_due_1y`` (float64): Non-current liabilities due within one year, in yuan
        - ``oth_cur_liab`` (float64): Other current liabilities, in yuan
        - ``total_cur_liab`` (float64): Total current liabilities, in yuan
        - ``bond_payable`` (float64): Bonds payable, in yuan
        - ``lt_payable`` (float64): Long-term payables, in yuan
        - ``specific_payables`` (float64): Special payables, in yuan
        - ``estimated_liab`` (float64): Provisions, in yuan
        - ``defer_tax_liab`` (float64): Deferred tax liabilities, in yuan
        - ``defer_inc_non_cur_liab`` (float64): Deferred income, non-current, in yuan
        - ``oth_ncl`` (float64): Other non-current liabilities, in yuan
        - ``total_ncl`` (float64): Total non-current liabilities, in yuan
        - ``depos_oth_bfi`` (float64): Deposits from banks and other financial institutions, in yuan
        - ``deriv_liab`` (float64): Derivative liabilities, in yuan
        - ``depos`` (float64): Customer deposits, in yuan
        - ``agency_bus_liab`` (float64): Agency business liabilities, in yuan
        - ``oth_liab`` (float64): Other liabilities, in yuan
        - ``prem_receiv_adva`` (float64): Premiums received in advance, in yuan
        - ``depos_received`` (float64): Refundable deposits received, in yuan
        - ``ph_invest`` (float64): Policyholders' deposits and investments, in yuan
        - ``reser_une_prem`` (float64): Unearned premium reserve, in yuan
        - ``reser_outstd_claims`` (float64): Outstanding claims reserve, in yuan
        - ``reser_lins_liab`` (float64): Life insurance reserve, in yuan
        - ``reser_lthins_liab`` (float64): Long-term health insurance reserve, in yuan
        - ``indept_acc_liab`` (float64): Separate account liabilities, in yuan
        - ``pledge_borr`` (float64): Pledged borrowings, in yuan
        - ``indem_payable`` (float64): Claims payable, in yuan
        - ``policy_div_payable`` (float64): Policy dividends payable, in yuan
        - ``total_liab`` (float64): Total liabilities, in yuan
        - ``treasury_share`` (float64): Treasury shares, deducted, in yuan
        - ``ordin_risk_reser`` (float64): General risk reserve, in yuan
        - ``forex_differ`` (float64): Translation difference of foreign currency statements, in yuan
        - ``invest_loss_unconf`` (float64): Unrecognised investment losses, in yuan
        - ``minority_int`` (float64): Minority interest, in yuan
        - ``total_hldr_eqy_exc_min_int`` (float64): Shareholders' equity, minority interest excluded, in yuan
        - ``total_hldr_eqy_inc_min_int`` (float64): Shareholders' equity, minority interest included, in yuan
        - ``total_liab_hldr_eqy`` (float64): Total liabilities and shareholders' equity, in yuan
        - ``lt_payroll_payable`` (float64): Long-term payroll payable, in yuan
        - ``oth_comp_income`` (float64): Other comprehensive income, in yuan
        - ``oth_eqt_tools`` (float64): Other equity instruments, in yuan
        - ``oth_eqt_tools_p_shr`` (float64): Other equity instruments: preferred shares, in yuan
        - ``lending_funds`` (float64): Funds lent for margin trading, in yuan
        - ``acc_receivable`` (float64): Receivables, in yuan
        - ``st_fin_payable`` (float64): Short-term financing payable, in yuan
        - ``payables`` (float64): Payables, in yuan
        - ``hfs_assets`` (float64): Assets held for sale, in yuan
        - ``hfs_sales`` (float64): Liabilities held for sale, in yuan
        - ``cost_fin_assets`` (float64): Financial assets at amortised cost, in yuan
        - ``fair_value_fin_assets`` (float64): Financial assets at fair value through other comprehensive income, in yuan
        - ``cip_total`` (float64): Construction in progress, total, in yuan
        - ``oth_pay_total`` (float64): Other payables, total, in yuan
        - ``long_pay_total`` (float64): Long-term payables, total, in yuan
        - ``debt_invest`` (float64): Debt investments, in yuan
        - ``oth_debt_invest`` (float64): Other debt investments, in yuan
        - ``oth_eq_invest`` (float64): Other equity instrument investments, in yuan
        - ``oth_illiq_fin_assets`` (float64): Other non-current financial assets, in yuan
        - ``oth_eq_ppbond`` (float64): Other equity instruments: perpetual bonds, in yuan
        - ``receiv_financing`` (float64): Receivables held for financing, in yuan
        - ``use_right_assets`` (float64): Right-of-use assets, in yuan
        - ``lease_liab`` (float64): Lease liabilities, in yuan
        - ``contract_assets`` (float64): Contract assets, in yuan
        - ``contract_liab`` (float64): Contract liabilities, in yuan
        - ``accounts_receiv_bill`` (float64): Notes and accounts receivable, in yuan
        - ``accounts_pay`` (float64): Notes and accounts payable, in yuan
        - ``oth_rcv_total`` (float64): Other receivables, total, in yuan
        - ``fix_assets_total`` (float64): Fixed assets, total, in yuan
        - ``update_flag`` (string): 1 for the newest revision
        """
        return self.read(
            "balancesheet",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            ann_date=ann_date,
            f_ann_date=f_ann_date,
            report_type=report_type,
            comp_type=comp_type,
            end_type=end_type,
            update_flag=update_flag,
            period=period,
            as_of=as_of,
            as_of_days=as_of_days,
            as_of_start=as_of_start,
            as_of_end=as_of_end,
            latest=latest,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def cashflow(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        ann_date: Optional[Days] = None,
        f_ann_date: Optional[Days] = None,
        comp_type: Optional[Texts] = None,
        report_type: Optional[Texts] = None,
        end_type: Optional[Texts] = None,
        update_flag: Optional[Texts] = None,
        period: Optional[Days] = None,
        as_of: Optional[Days] = None,
        as_of_days: Optional[Literal["month_end", "week_end"]] = None,
        as_of_start: Optional[Day] = None,
        as_of_end: Optional[Day] = None,
        latest: Optional[bool] = None,
        fields: Union[str, Sequence[CashflowColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Cash flow statements.

        Cash flow statements of listed companies by announcement date, every report type and revision.

        ``start_date`` and ``end_date`` bound ``ann_date``.
        ``as_of`` gives what was announced on or before that day, by f_ann_date, else ann_date.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``ann_date`` (day): Announcement date
        - ``f_ann_date`` (day): Actual announcement date, of this revision
        - ``end_date`` (day): Last day of the reporting period
        - ``comp_type`` (string): Company type: 1 general, 2 bank, 3 insurance, 4 securities
        - ``report_type`` (string): Report type: 1 consolidated, 2 consolidated single quarter, ... 12
        - ``end_type`` (string): Kind of period: 1 first quarter, 2 half year, 3 third quarter, 4 year
        - ``net_profit`` (float64): Net profit, in yuan
        - ``finan_exp`` (float64): Financial expense, in yuan
        - ``c_fr_sale_sg`` (float64): Cash from sales of goods and services, in yuan
        - ``recp_tax_rends`` (float64): Tax refunds received, in yuan
        - ``n_depos_incr_fi`` (float64): Net increase in customer and interbank deposits, in yuan
        - ``n_incr_loans_cb`` (float64): Net increase in borrowings from the central bank, in yuan
        - ``n_inc_borr_oth_fi`` (float64): Net increase in borrowings from other financial institutions, in yuan
        - ``prem_fr_orig_contr`` (float64): Cash from premiums of direct insurance, in yuan
        - ``n_incr_insured_dep`` (float64): Net increase in policyholders' deposits, in yuan
        - ``n_reinsur_prem`` (float64): Net cash from reinsurance, in yuan
        - ``n_incr_disp_tfa`` (float64): Net increase from disposal of trading financial assets, in yuan
        - ``ifc_cash_incr`` (float64): Net increase in interest, fees and commissions received, in yuan
        - ``n_incr_disp_faas`` (float64): Net increase from disposal of financial assets available for sale, in yuan
        - ``n_incr_loans_oth_bank`` (float64): Net increase in interbank borrowings, in yuan
        - ``n_cap_incr_repur`` (float64): Net increase in repurchase funds, in yuan
        - ``c_fr_oth_operate_a`` (float64): Other cash from operating activities, in yuan
        - ``c_inf_fr_operate_a`` (float64): Cash inflow from operating activities, subtotal, in yuan
        - ``c_paid_goods_s`` (float64): Cash paid for goods and services, in yuan
        - ``c_paid_to_for_empl`` (float64): Cash paid to and for employees, in yuan
        - ``c_paid_for_taxes`` (float64): Taxes paid, in yuan
        - ``n_incr_clt_loan_adv`` (float64): Net increase in loans and advances to customers, in yuan
        - ``n_incr_dep_cbob`` (float64): Net increase in deposits with the central bank and other banks, in yuan
        - ``c_pay_claims_orig_inco`` (float64): Cash paid for claims of direct insurance, in yuan
        - ``pay_handling_chrg`` (float64): Cash paid for fees and commissions, in yuan
        - ``pay_comm_insur_plcy`` (float64): Cash paid for policy dividends, in yuan
        - ``oth_cash_pay_oper_act`` (float64): Other cash paid for operating activities, in yuan
        - ``st_cash_out_act`` (float64): Cash outflow from operating activities, subtotal, in yuan
        - ``n_cashflow_act`` (float64): Net cash flow from operating activities, in yuan
        - ``oth_recp_ral_inv_act`` (float64): Other cash from investing activities, in yuan
        - ``c_disp_withdrwl_invest`` (float64): Cash from investments recovered, in yuan
        - ``c_recp_return_invest`` (float64): Cash from investment income, in yuan
        - ``n_recp_disp_fiolta`` (float64): Net cash from disposal of fixed, intangible and other long-term assets, in yuan
        - ``n_recp_disp_sobu`` (float64): Net cash from disposal of subsidiaries and other business units, in yuan
        - ``stot_inflows_inv_act`` (float64): Cash inflow from investing activities, subtotal, in yuan
        - ``c_pay_acq_const_fiolta`` (float64): Cash paid for fixed, intangible and other long-term assets, in yuan
        - ``c_paid_invest`` (float64): Cash paid for investments, in yuan
        - ``n_disp_subs_oth_biz`` (float64): Net cash paid for subsidiaries and other business units, in yuan
        - ``oth_pay_ral_inv_act`` (float64): Other cash paid for investing activities, in yuan
        - ``n_incr_pledge_loan`` (float64): Net increase in pledged loans, in yuan
        - ``stot_out_inv_act`` (float64): Cash outflow from investing activities, subtotal, in yuan
        - ``n_cashflow_inv_act`` (float64): Net cash flow from investing activities, in yuan
        - ``c_recp_borrow`` (float64): Cash from borrowings, in yuan
        - ``proc_issue_bonds`` (float64): Cash from bonds issued, in yuan
        - ``oth_cash_recp_ral_fnc_act`` (float64): Other cash from financing activities, in yuan
        - ``stot_cash_in_fnc_act`` (float64): Cash inflow from financing activities, subtotal, in yuan
        - ``free_cashflow`` (float64): Free cash flow to the firm, in yuan
        - ``c_prepay_amt_borr`` (float64): Cash paid to repay debt, in yuan
        - ``c_pay_dist_dpcp_int_exp`` (float64): Cash paid for dividends, profits and interest, in yuan
        - ``incl_dvd_profit_paid_sc_ms`` (float64): Dividends and profits paid by subsidiaries to minority shareholders, in yuan
        - ``oth_cashpay_ral_fnc_act`` (float64): Other cash paid for financing activities, in yuan
        - ``stot_cashout_fnc_act`` (float64): Cash outflow from financing activities, subtotal, in yuan
        - ``n_cash_flows_fnc_act`` (float64): Net cash flow from financing activities, in yuan
        - ``eff_fx_flu_cash`` (float64): Effect of exchange rates on cash, in yuan
        - ``n_incr_cash_cash_equ`` (float64): Net increase in cash and cash equivalents, in yuan
        - ``c_cash_equ_beg_period`` (float64): Cash and cash equivalents at the start of the period, in yuan
        - ``c_cash_equ_end_period`` (float64): Cash and cash equivalents at the end of the period, in yuan
        - ``c_recp_cap_contrib`` (float64): Cash from capital contributions, in yuan
        - ``incl_cash_rec_saims`` (float64): Cash of subsidiaries from minority shareholders' contributions, in yuan
        - ``uncon_invest_loss`` (float64): Unrecognised investment losses, in yuan
        - ``prov_depr_assets`` (float64): Provision for asset impairment, in yuan
        - ``depr_fa_coga_dpba`` (float64): Depreciation of fixed, oil and gas and productive biological assets, in yuan
        - ``amort_intang_assets`` (float64): Amortisation of intangible assets, in yuan
        - ``lt_amort_deferred_exp`` (float64): Amortisation of long-term deferred expenses, in yuan
        - ``decr_deferred_exp`` (float64): Decrease in deferred expenses, in yuan
        - ``incr_acc_exp`` (float64): Increase in accrued expenses, in yuan
        - ``loss_disp_fiolta`` (float64): Loss on disposal of fixed, intangible and other long-term assets, in yuan
        - ``loss_scr_fa`` (float64): Loss on scrapping of fixed assets, in yuan
        - ``loss_fv_chg`` (float64): Loss from changes in fair value, in yuan
        - ``invest_loss`` (float64): Investment loss, in yuan
        - ``decr_def_inc_tax_assets`` (float64): Decrease in deferred tax assets, in yuan
        - ``incr_def_inc_tax_liab`` (float64): Increase in deferred tax liabilities, in yuan
        - ``decr_inventories`` (float64): Decrease in inventories, in yuan
        - ``decr_oper_payable`` (float64): Decrease in operating receivables, in yuan
        - ``incr_oper_payable`` (float64): Increase in operating payables, in yuan
        - ``others`` (float64): Other, in yuan
        - ``im_net_cashflow_oper_act`` (float64): Net cash flow from operating activities, indirect method, in yuan
        - ``conv_debt_into_cap`` (float64): Debt converted into capital, in yuan
        - ``conv_copbonds_due_within_1y`` (float64): Convertible bonds due within one year, in yuan
        - ``fa_fnc_leases`` (float64): Fixed assets under finance leases, in yuan
        - ``im_n_incr_cash_equ`` (float64): Net increase in cash and cash equivalents, indirect method, in yuan
        - ``net_dism_capital_add`` (float64): Net increase in funds lent to other financial institutions, in yuan
        - ``net_cash_rece_sec`` (float64): Net cash received for securities brokerage, in yuan
        - ``credit_impa_loss`` (float64): Credit impairment loss, in yuan
        - ``use_right_asset_dep`` (float64): Depreciation of right-of-use assets, in yuan
        - ``oth_loss_asset`` (float64): Other asset impairment loss, in yuan
        - ``end_bal_cash`` (float64): Cash at the end of the period, in yuan
        - ``beg_bal_cash`` (float64): Cash at the start of the period, in yuan
        - ``end_bal_cash_equ`` (float64): Cash equivalents at the end of the period, in yuan
        - ``beg_bal_cash_equ`` (float64): Cash equivalents at the start of the period, in yuan
        - ``update_flag`` (string): 1 for the newest revision
        """
        return self.read(
            "cashflow",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            ann_date=ann_date,
            f_ann_date=f_ann_date,
            comp_type=comp_type,
            report_type=report_type,
            end_type=end_type,
            update_flag=update_flag,
            period=period,
            as_of=as_of,
            as_of_days=as_of_days,
            as_of_start=as_of_start,
            as_of_end=as_of_end,
            latest=latest,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def fina_indicator(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        ann_date: Optional[Days] = None,
        update_flag: Optional[Texts] = None,
        period: Optional[Days] = None,
        as_of: Optional[Days] = None,
        as_of_days: Optional[Literal["month_end", "week_end"]] = None,
        as_of_start: Optional[Day] = None,
        as_of_end: Optional[Day] = None,
        latest: Optional[bool] = None,
        fields: Union[str, Sequence[FinaIndicatorColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Financial indicators.

        Per-share figures, margins, returns, turnover, solvency and growth, derived from the statements.

        ``start_date`` and ``end_date`` bound ``ann_date``.
        ``as_of`` gives what was announced on or before that day, by ann_date.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``ann_date`` (day): Announcement date
        - ``end_date`` (day): Last day of the reporting period
        - ``eps`` (float64): Basic earnings per share, in yuan per share
        - ``dt_eps`` (float64): Diluted earnings per share, in yuan per share
        - ``total_revenue_ps`` (float64): Total operating revenue per share, in yuan per share
        - ``revenue_ps`` (float64): Operating revenue per share, in yuan per share
        - ``capital_rese_ps`` (float64): Capital reserve per share, in yuan per share
        - ``surplus_rese_ps`` (float64): Surplus reserve per share, in yuan per share
        - ``undist_profit_ps`` (float64): Undistributed profit per share, in yuan per share
        - ``extra_item`` (float64): Non-recurring profit and loss, in yuan
        - ``profit_dedt`` (float64): Net profit less non-recurring items, in yuan
        - ``gross_margin`` (float64): Gross profit, in yuan
        - ``current_ratio`` (float64): Current ratio
        - ``quick_ratio`` (float64): Quick ratio
        - ``cash_ratio`` (float64): Conservative quick ratio
        - ``invturn_days`` (float64): Days of inventory turnover, in days
        - ``arturn_days`` (float64): Days of receivables turnover, in days
        - ``inv_turn`` (float64): Inventory turnover, in times
        - ``ar_turn`` (float64): Receivables turnover, in times
        - ``ca_turn`` (float64): Current assets turnover, in times
        - ``fa_turn`` (float64): Fixed assets turnover, in times
        - ``assets_turn`` (float64): Total assets turnover, in times
        - ``op_income`` (float64): Net income from operating activities, in yuan
        - ``valuechange_income`` (float64): Net income from changes in value, in yuan
        - ``interst_income`` (float64): Interest expense, in yuan
        - ``daa`` (float64): Depreciation and amortisation, in yuan
        - ``ebit`` (float64): Earnings before interest and tax, in yuan
        - ``ebitda`` (float64): Earnings before interest, tax, depreciation and amortisation, in yuan
        - ``fcff`` (float64): Free cash flow to the firm, in yuan
        - ``fcfe`` (float64): Free cash flow to equity, in yuan
        - ``current_exint`` (float64): Interest-free current liabilities, in yuan
        - ``noncurrent_exint`` (float64): Interest-free non-current liabilities, in yuan
        - ``interestdebt`` (float64): Interest-bearing debt, in yuan
        - ``netdebt`` (float64): Net debt, in yuan
        - ``tangible_asset`` (float64): Tangible assets, in yuan
        - ``working_capital`` (float64): Working capital, in yuan
        - ``networking_capital`` (float64): Net operating working capital, in yuan
        - ``invest_capital`` (float64): Total invested capital, in yuan
        - ``retained_earnings`` (float64): Retained earnings, in yuan
        - ``diluted2_eps`` (float64): Earnings per share on shares at the end of the period, in yuan per share
        - ``bps`` (float64): Net assets per share, in yuan per share
        - ``ocfps`` (float64): Net operating cash flow per share, in yuan per share
        - ``retainedps`` (float64): Retained earnings per share, in yuan per share
        - ``cfps`` (float64): Net cash flow per share, in yuan per share
        - ``ebit_ps`` (float64): Earnings before interest and tax per share, in yuan per share
        - ``fcff_ps`` (float64): Free cash flow to the firm per share, in yuan per share
        - ``fcfe_ps`` (float64): Free cash flow to equity per share, in yuan per share
        - ``netprofit_margin`` (float64): Net profit margin, in percent
        - ``grossprofit_margin`` (float64): Gross profit margin, in percent
        - ``cogs_of_sales`` (float64): Cost of sales / sales, in percent
        - ``expense_of_sales`` (float64): Period expenses / sales, in percent
        - ``profit_to_gr`` (float64): Net profit / total operating revenue, in percent
        - ``saleexp_to_gr`` (float64): Selling expense / total operating revenue, in percent
        - ``adminexp_of_gr`` (float64): Administrative expense / total operating revenue, in percent
        - ``finaexp_of_gr`` (float64): Financial expense / total operating revenue, in percent
        - ``impai_ttm`` (float64): Asset impairment loss / total operating revenue, in percent
        - ``gc_of_gr`` (float64): Total operating cost / total operating revenue, in percent
        - ``op_of_gr`` (float64): Operating profit / total operating revenue, in percent
        - ``ebit_of_gr`` (float64): Earnings before interest and tax / total operating revenue, in percent
        - ``roe`` (float64): Return on equity, in percent
        - ``roe_waa`` (float64): Return on equity, weighted average, in percent
        - ``roe_dt`` (float64): Return on equity, less non-recurring items, in percent
        - ``roa`` (float64): Return on total assets, before interest and tax, in percent
        - ``npta`` (float64): Net profit / total assets, in percent
        - ``roic`` (float64): Return on invested capital, in percent
        - ``roe_yearly`` (float64): Return on equity, annualised, in percent
        - ``roa2_yearly`` (float64): Return on total assets before interest and tax, annualised, in percent
        - ``roe_avg`` (float64): Return on average equity, as for share issues, in percent
        - ``opincome_of_ebt`` (float64): Net income from operating activities / profit before tax
        - ``investincome_of_ebt`` (float64): Net income from changes in value / profit before tax
        - ``n_op_profit_of_ebt`` (float64): Net non-operating income / profit before tax
        - ``tax_to_ebt`` (float64): Income tax / profit before tax
        - ``dtprofit_to_profit`` (float64): Net profit less non-recurring items / net profit
        - ``salescash_to_or`` (float64): Cash from sales of goods and services / operating revenue
        - ``ocf_to_or`` (float64): Net operating cash flow / operating revenue
        - ``ocf_to_opincome`` (float64): Net operating cash flow / net income from operating activities
        - ``capitalized_to_da`` (float64): Capital expenditure / depreciation and amortisation
        - ``debt_to_assets`` (float64): Liabilities / assets, in percent
        - ``assets_to_eqt`` (float64): Equity multiplier, in ratio
        - ``dp_assets_to_eqt`` (float64): Equity multiplier, DuPont analysis, in ratio
        - ``ca_to_assets`` (float64): Current assets / total assets, in percent
        - ``nca_to_assets`` (float64): Non-current assets / total assets, in percent
        - ``tbassets_to_totalassets`` (float64): Tangible assets / total assets, in percent
        - ``int_to_talcap`` (float64): Interest-bearing debt / total invested capital, in percent
        - ``eqt_to_talcapital`` (float64): Equity of the parent's shareholders / total invested capital, in percent
        - ``currentdebt_to_debt`` (float64): Current liabilities / total liabilities, in percent
        - ``longdeb_to_debt`` (float64): Non-current liabilities / total liabilities, in percent
        - ``ocf_to_shortdebt`` (float64): Net operating cash flow / current liabilities, in ratio
        - ``debt_to_eqt`` (float64): Liabilities / equity, in ratio
        - ``eqt_to_debt`` (float64): Equity of the parent's shareholders / total liabilities, in ratio
        - ``eqt_to_interestdebt`` (float64): Equity of the parent's shareholders / interest-bearing debt, in ratio
        - ``tangibleasset_to_debt`` (float64): Tangible assets / total liabilities, in ratio
        - ``tangasset_to_intdebt`` (float64): Tangible assets / interest-bearing debt, in ratio
        - ``tangibleasset_to_netdebt`` (float64): Tangible assets / net debt, in ratio
        - ``ocf_to_debt`` (float64): Net operating cash flow / total liabilities, in ratio
        - ``ocf_to_interestdebt`` (float64): Net operating cash flow / interest-bearing debt, in ratio
        - ``ocf_to_netdebt`` (float64): Net operating cash flow / net debt, in ratio
        - ``ebit_to_interest`` (float64): Interest cover: earnings before interest and tax / interest expense, in ratio
        - ``longdebt_to_workingcapital`` (float64): Long-term debt / working capital
        - ``ebitda_to_debt`` (float64): Earnings before interest, tax, depreciation and amortisation / total liabilities
        - ``turn_days`` (float64): Operating cycle, in days
        - ``roa_yearly`` (float64): Net profit / total assets, annualised, in percent
        - ``roa_dp`` (float64): Net profit / total assets, DuPont analysis, in percent
        - ``fixed_assets`` (float64): Fixed assets, total, in yuan
        - ``profit_prefin_exp`` (float64): Operating profit before financial expense, in yuan
        - ``non_op_profit`` (float64): Non-operating profit, in yuan
        - ``op_to_ebt`` (float64): Operating profit / profit before tax
        - ``nop_to_ebt`` (float64): Non-operating profit / profit before tax
        - ``ocf_to_profit`` (float64): Net operating cash flow / operating profit
        - ``cash_to_liqdebt`` (float64): Cash and deposits / current liabilities
        - ``cash_to_liqdebt_withinterest`` (float64): Cash and deposits / interest-bearing current liabilities
        - ``op_to_liqdebt`` (float64): Operating profit / current liabilities
        - ``op_to_debt`` (float64): Operating profit / total liabilities
        - ``roic_yearly`` (float64): Return on invested capital, annualised, in percent
        - ``total_fa_trun`` (float64): Total fixed assets turnover, in times
        - ``profit_to_op`` (float64): Profit before tax / operating revenue, in percent
        - ``q_opincome`` (float64): Net income from operating activities, single quarter, in yuan
        - ``q_investincome`` (float64): Net income from changes in value, single quarter, in yuan
        - ``q_dtprofit`` (float64): Net profit less non-recurring items, single quarter, in yuan
        - ``q_eps`` (float64): Earnings per share, single quarter, in yuan per share
        - ``q_netprofit_margin`` (float64): Net profit margin, single quarter, in percent
        - ``q_gsprofit_margin`` (float64): Gross profit margin, single quarter, in percent
        - ``q_exp_to_sales`` (float64): Period expenses / sales, single quarter, in percent
        - ``q_profit_to_gr`` (float64): Net profit / total operating revenue, single quarter, in percent
        - ``q_saleexp_to_gr`` (float64): Selling expense / total operating revenue, single quarter, in percent
        - ``q_adminexp_to_gr`` (float64): Administrative expense / total operating revenue, single quarter, in percent
        - ``q_finaexp_to_gr`` (float64): Financial expense / total operating revenue, single quarter, in percent
        - ``q_impair_to_gr_ttm`` (float64): Asset impairment loss / total operating revenue, single quarter, in percent
        - ``q_gc_to_gr`` (float64): Total operating cost / total operating revenue, single quarter, in percent
        - ``q_op_to_gr`` (float64): Operating profit / total operating revenue, single quarter, in percent
        - ``q_roe`` (float64): Return on equity, single quarter, in percent
        - ``q_dt_roe`` (float64): Return on equity less non-recurring items, single quarter, in percent
        - ``q_npta`` (float64): Net profit / total assets, single quarter, in percent
        - ``q_opincome_to_ebt`` (float64): Net income from operating activities / profit before tax, single quarter
        - ``q_investincome_to_ebt`` (float64): Net income from changes in value / profit before tax, single quarter
        - ``q_dtprofit_to_profit`` (float64): Net profit less non-recurring items / net profit, single quarter
        - ``q_salescash_to_or`` (float64): Cash from sales of goods and services / operating revenue, single quarter
        - ``q_ocf_to_sales`` (float64): Net operating cash flow / operating revenue, single quarter, in percent
        - ``q_ocf_to_or`` (float64): Net operating cash flow / net income from operating activities, single quarter
        - ``basic_eps_yoy`` (float64): Basic earnings per share, growth on a year earlier, in percent
        - ``dt_eps_yoy`` (float64): Diluted earnings per share, growth on a year earlier, in percent
        - ``cfps_yoy`` (float64): Net operating cash flow per share, growth on a year earlier, in percent
        - ``op_yoy`` (float64): Operating profit, growth on a year earlier, in percent
        - ``ebt_yoy`` (float64): Profit before tax, growth on a year earlier, in percent
        - ``netprofit_yoy`` (float64): Net profit of the parent's shareholders, growth on a year earlier, in percent
        - ``dt_netprofit_yoy`` (float64): Net profit of the parent's shareholders less non-recurring items, growth on a year earlier, in percent
        - ``ocf_yoy`` (float64): Net operating cash flow, growth on a year earlier, in percent
        - ``roe_yoy`` (float64): Return on equity, diluted, growth on a year earlier, in percent
        - ``bps_yoy`` (float64): Net assets per share, growth since the start of the year, in percent
        - ``assets_yoy`` (float64): Total assets, growth since the start of the year, in percent
        - ``eqt_yoy`` (float64): Equity of the parent's shareholders, growth since the start of the year, in percent
        - ``tr_yoy`` (float64): Total operating revenue, growth on a year earlier, in percent
        - ``or_yoy`` (float64): Operating revenue, growth on a year earlier, in percent
        - ``q_gr_yoy`` (float64): Total operating revenue, single quarter, growth on a year earlier, in percent
        - ``q_gr_qoq`` (float64): Total operating revenue, single quarter, growth on the quarter before, in percent
        - ``q_sales_yoy`` (float64): Operating revenue, single quarter, growth on a year earlier, in percent
        - ``q_sales_qoq`` (float64): Operating revenue, single quarter, growth on the quarter before, in percent
        - ``q_op_yoy`` (float64): Operating profit, single quarter, growth on a year earlier, in percent
        - ``q_op_qoq`` (float64): Operating profit, single quarter, growth on the quarter before, in percent
        - ``q_profit_yoy`` (float64): Net profit, single quarter, growth on a year earlier, in percent
        - ``q_profit_qoq`` (float64): Net profit, single quarter, growth on the quarter before, in percent
        - ``q_netprofit_yoy`` (float64): Net profit of the parent's shareholders, single quarter, growth on a year earlier, in percent
        - ``q_netprofit_qoq`` (float64): Net profit of the parent's shareholders, single quarter, growth on the quarter before, in percent
        - ``equity_yoy`` (float64): Net assets, growth on a year earlier, in percent
        - ``rd_exp`` (float64): Research and development expense, in yuan
        - ``update_flag`` (string): 1 for the newest revision
        """
        return self.read(
            "fina_indicator",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            ann_date=ann_date,
            update_flag=update_flag,
            period=period,
            as_of=as_of,
            as_of_days=as_of_days,
            as_of_start=as_of_start,
            as_of_end=as_of_end,
            latest=latest,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )

    def dividend(
        self,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        ts_code: Optional[Texts] = None,
        ann_date: Optional[Days] = None,
        div_proc: Optional[Texts] = None,
        record_date: Optional[Days] = None,
        ex_date: Optional[Days] = None,
        pay_date: Optional[Days] = None,
        div_listdate: Optional[Days] = None,
        imp_ann_date: Optional[Days] = None,
        base_date: Optional[Days] = None,
        period: Optional[Days] = None,
        as_of: Optional[Days] = None,
        as_of_days: Optional[Literal["month_end", "week_end"]] = None,
        as_of_start: Optional[Day] = None,
        as_of_end: Optional[Day] = None,
        fields: Union[str, Sequence[DividendColumn], None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer:
        """Dividends.

        Cash dividends and bonus shares from proposal to payment, by ex-date; proposals have no ex-date yet.

        ``start_date`` and ``end_date`` bound ``ex_date``.
        ``as_of`` gives what was announced on or before that day, by imp_ann_date, else ex_date, else ann_date.

        Columns:

        - ``ts_code`` (string): Stock code
        - ``end_date`` (day): Period that the dividend belongs to
        - ``ann_date`` (day): Announcement date of the proposal
        - ``div_proc`` (string): Stage: proposed, approved, implemented
        - ``stk_div`` (float64): Bonus and conversion shares, in shares per share
        - ``stk_bo_rate`` (float64): Bonus shares, in shares per share
        - ``stk_co_rate`` (float64): Shares converted from reserves, in shares per share
        - ``cash_div`` (float64): Cash dividend after tax, in yuan per share
        - ``cash_div_tax`` (float64): Cash dividend before tax, in yuan per share
        - ``record_date`` (day): Record date
        - ``ex_date`` (day): Ex-dividend and ex-rights date
        - ``pay_date`` (day): Payment date
        - ``div_listdate`` (day): Listing date of the bonus shares
        - ``imp_ann_date`` (day): Announcement date of the implementation
        - ``base_date`` (day): Base date
        - ``base_share`` (float64): Base share capital, in ten thousand shares
        """
        return self.read(
            "dividend",
            start_date=start_date,
            end_date=end_date,
            ts_code=ts_code,
            ann_date=ann_date,
            div_proc=div_proc,
            record_date=record_date,
            ex_date=ex_date,
            pay_date=pay_date,
            div_listdate=div_listdate,
            imp_ann_date=imp_ann_date,
            base_date=base_date,
            period=period,
            as_of=as_of,
            as_of_days=as_of_days,
            as_of_start=as_of_start,
            as_of_end=as_of_end,
            fields=fields,
            limit=limit,
            cursor=cursor,
            order=order,
            data_version=data_version,
            dates=dates,
            compression=compression,
        )


ENTITIES: Mapping[str, Entity] = {
    "daily": Entity(
        "daily",
        "Daily quotes",
        "Daily open, high, low, close, volume and turnover of stocks, as traded or with `adjust`. Today's bars are merged in.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("trade_date", "string", True, None, "Trading date"),
            Column("open", "float64", False, "currency units", "Open price"),
            Column("high", "float64", False, "currency units", "High price"),
            Column("low", "float64", False, "currency units", "Low price"),
            Column("close", "float64", False, "currency units", "Close price"),
            Column("pre_close", "float64", False, "currency units", "Previous close"),
            Column("change", "float64", False, "currency units", "Price change"),
            Column("pct_chg", "float64", False, "percent", "Change in percent"),
            Column("vol", "float64", False, "lots", "Volume"),
            Column("amount", "float64", False, "thousand currency units", "Turnover"),
        ),
        "trade_date",
    ),
    "weekly": Entity(
        "weekly",
        "Weekly quotes",
        "Weekly open, high, low, close, volume and turnover of stocks, as traded or with `adjust`.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("trade_date", "string", True, None, "Trading date"),
            Column("close", "float64", False, "currency units", "Close price"),
            Column("open", "float64", False, "currency units", "Open price"),
            Column("high", "float64", False, "currency units", "High price"),
            Column("low", "float64", False, "currency units", "Low price"),
            Column("pre_close", "float64", False, "currency units", "Previous close"),
            Column("change", "float64", False, "currency units", "Price change"),
            Column("pct_chg", "float64", False, "percent", "Change in percent"),
            Column("vol", "float64", False, "lots", "Volume"),
            Column("amount", "float64", False, "thousand currency units", "Turnover"),
        ),
        "trade_date",
    ),
    "monthly": Entity(
        "monthly",
        "Monthly quotes",
        "Monthly open, high, low, close, volume and turnover of stocks, as traded or with `adjust`.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("trade_date", "string", True, None, "Trading date"),
            Column("close", "float64", False, "currency units", "Close price"),
            Column("open", "float64", False, "currency units", "Open price"),
            Column("high", "float64", False, "currency units", "High price"),
            Column("low", "float64", False, "currency units", "Low price"),
            Column("pre_close", "float64", False, "currency units", "Previous close"),
            Column("change", "float64", False, "currency units", "Price change"),
            Column("pct_chg", "float64", False, "percent", "Change in percent"),
            Column("vol", "float64", False, "lots", "Volume"),
            Column("amount", "float64", False, "thousand currency units", "Turnover"),
        ),
        "trade_date",
    ),
    "daily_basic": Entity(
        "daily_basic",
        "Daily valuation",
        "Daily valuation, turnover rates, share counts and market values of stocks.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("trade_date", "string", True, None, "Trading date"),
            Column("close", "float64", False, "currency units", "Close price"),
            Column("turnover_rate", "float64", False, "percent", "Turnover rate"),
            Column("turnover_rate_f", "float64", False, "percent", "Turnover rate on free-float shares"),
            Column("volume_ratio", "float64", False, "ratio", "Volume ratio"),
            Column("pe", "float64", False, "ratio", "Price/earnings (total market value / net profit)"),
            Column("pe_ttm", "float64", False, "ratio", "Price/earnings, trailing twelve months"),
            Column("pb", "float64", False, "ratio", "Price/book"),
            Column("ps", "float64", False, "ratio", "Price/sales"),
            Column("ps_ttm", "float64", False, "ratio", "Price/sales, trailing twelve months"),
            Column("dv_ratio", "float64", False, "percent", "Dividend yield"),
            Column("dv_ttm", "float64", False, "percent", "Dividend yield, trailing twelve months"),
            Column("total_share", "float64", False, "ten thousand shares", "Total shares"),
            Column("float_share", "float64", False, "ten thousand shares", "Tradable shares"),
            Column("free_share", "float64", False, "ten thousand shares", "Free-float shares"),
            Column("total_mv", "float64", False, "ten thousand currency units", "Total market value"),
            Column("circ_mv", "float64", False, "ten thousand currency units", "Tradable market value"),
        ),
        "trade_date",
    ),
    "adj_factor": Entity(
        "adj_factor",
        "Adjustment factors",
        "Base factor of backward adjustment: price times factor makes prices comparable across dividends and splits.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("trade_date", "string", True, None, "Trading date"),
            Column("adj_factor", "float64", False, "ratio", "Adjustment factor"),
        ),
        "trade_date",
    ),
    "stk_limit": Entity(
        "stk_limit",
        "Price limits",
        "The highest and lowest price at which a stock may trade on a day.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("trade_date", "string", True, None, "Trading date"),
            Column("up_limit", "float64", False, "currency units", "Upper limit price"),
            Column("down_limit", "float64", False, "currency units", "Lower limit price"),
        ),
        "trade_date",
    ),
    "suspend_d": Entity(
        "suspend_d",
        "Suspensions",
        "Suspension periods and types. One stock on one day can have several periods, hence several rows.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("trade_date", "string", True, None, "Trading date"),
            Column("suspend_timing", "string", False, None, "Suspension period"),
            Column("suspend_type", "string", False, None, "Suspension type"),
        ),
        "trade_date",
    ),
    "stk_auction_o": Entity(
        "stk_auction_o",
        "Opening call auction",
        "The pre-market quote: one row for each security and day with the result of the opening call auction.",
        (
            Column("ts_code", "string", False, None, "Security code: a stock, an ETF or an index"),
            Column("trade_date", "string", True, None, "Trading date"),
            Column("ts_type", "string", False, None, "Type (STK or ETF)"),
            Column("time", "string", False, None, "Time"),
            Column("price", "float64", False, "currency units", "Price"),
            Column("vol", "float64", False, None, "Volume"),
            Column("amount", "float64", False, None, "Turnover"),
            Column("pre_close", "float64", False, "currency units", "Previous close"),
        ),
        "trade_date",
    ),
    "stk_auction_c": Entity(
        "stk_auction_c",
        "Closing call auction",
        "The post-market quote: one row for each security and day with the result of the closing call auction.",
        (
            Column("ts_code", "string", False, None, "Security code: a stock, an ETF or an index"),
            Column("trade_date", "string", True, None, "Trading date"),
            Column("ts_type", "string", False, None, "Type (STK or ETF)"),
            Column("time", "string", False, None, "Time"),
            Column("price", "float64", False, "currency units", "Price"),
            Column("vol", "float64", False, None, "Volume"),
            Column("amount", "float64", False, None, "Turnover"),
            Column("pre_close", "float64", False, "currency units", "Previous close"),
        ),
        "trade_date",
    ),
    "stk_auction": Entity(
        "stk_auction",
        "Call-auction trades",
        "Tick-by-tick trades of the call auctions of stocks and ETFs; equal ticks are kept. Price is the trade price.",
        (
            Column("ts_code", "string", False, None, "Security code: a stock, an ETF or an index"),
            Column("trade_date", "string", True, None, "Trading date"),
            Column("ts_type", "string", False, None, "Type (STK or ETF)"),
            Column("time", "string", False, None, "Time"),
            Column("price", "float64", False, "currency units", "Price"),
            Column("vol", "float64", False, None, "Volume"),
            Column("amount", "float64", False, None, "Turnover"),
            Column("pre_close", "float64", False, "currency units", "Previous close"),
        ),
        "trade_date",
    ),
    "index_basic": Entity(
        "index_basic",
        "Indices",
        "The list of indices with market, publisher, category and base.",
        (
            Column("ts_code", "string", False, None, "Index code"),
            Column("name", "string", False, None, "Index name"),
            Column("market", "string", False, None, "Market; only SSE, SZSE and CSI occur"),
            Column("publisher", "string", False, None, "Publisher"),
            Column("category", "string", False, None, "Category"),
            Column("base_date", "string", True, None, "Base date"),
            Column("base_point", "float64", False, "points", "Base point"),
            Column("list_date", "string", True, None, "Listing date"),
        ),
        None,
    ),
    "index_daily": Entity(
        "index_daily",
        "Daily index levels",
        "Daily levels of all indices, industry indices included, for benchmarks and industry quotes.",
        (
            Column("ts_code", "string", False, None, "Index code"),
            Column("trade_date", "string", True, None, "Trading date"),
            Column("close", "float64", False, "points", "Close level"),
            Column("open", "float64", False, "points", "Open level"),
            Column("high", "float64", False, "points", "High level"),
            Column("low", "float64", False, "points", "Low level"),
            Column("pre_close", "float64", False, "points", "Previous close level"),
            Column("change", "float64", False, "points", "Change in points"),
            Column("pct_chg", "float64", False, "percent", "Change in percent"),
            Column("vol", "float64", False, "lots", "Volume"),
            Column("amount", "float64", False, "thousand currency units", "Turnover"),
        ),
        "trade_date",
    ),
    "index_weight": Entity(
        "index_weight",
        "Index weights",
        "Weights of index constituents. Broad-base indices are updated daily, industry indices on Fridays.",
        (
            Column("index_code", "string", False, None, "Index code"),
            Column("con_code", "string", False, None, "Constituent stock code"),
            Column("trade_date", "string", True, None, "Trading date"),
            Column("weight", "float64", False, "percent", "Weight"),
        ),
        "trade_date",
    ),
    "index_classify": Entity(
        "index_classify",
        "Industry classification",
        "The industry classification system with its three levels. Editions of one source may share index codes.",
        (
            Column("index_code", "string", False, None, "Industry index code"),
            Column("industry_name", "string", False, None, "Industry name"),
            Column("level", "string", False, None, "Level: L1, L2 or L3"),
            Column("industry_code", "string", False, None, "Industry code"),
            Column("is_pub", "string", False, None, "Whether published"),
            Column("parent_code", "string", False, None, "Parent code"),
            Column("src", "string", False, None, "Classification source"),
        ),
        None,
    ),
    "index_member": Entity(
        "index_member",
        "Industry constituents",
        "When each stock entered and left each industry index: the basis of industry neutralisation.",
        (
            Column("index_code", "string", False, None, "Industry index code"),
            Column("con_code", "string", False, None, "Constituent stock code"),
            Column("in_date", "string", True, None, "Inclusion date"),
            Column("out_date", "string", True, None, "Removal date; null means the stock is still a constituent"),
            Column("is_new", "string", False, None, "Whether newly included"),
        ),
        "in_date",
    ),
    "stock_list": Entity(
        "stock_list",
        "Stock list",
        "Daily snapshots of the stock list, delisted stocks included, so that a universe can be built without survivorship bias. With no time parameter the latest snapshot is returned.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("name", "string", False, None, "Stock name"),
            Column("list_date", "string", True, None, "Listing date"),
            Column("delist_date", "string", True, None, "Delisting date; null means not delisted"),
            Column("snapshot_date", "string", True, None, "Snapshot date"),
        ),
        "snapshot_date",
    ),
    "stock_company": Entity(
        "stock_company",
        "Companies",
        "Basic information about listed companies: one row for each, without history.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("chairman", "string", False, None, "Chairman"),
            Column("manager", "string", False, None, "General manager"),
            Column("reg_capital", "float64", False, "ten thousand currency units", "Registered capital"),
            Column("setup_date", "string", True, None, "Establishment date"),
            Column("province", "string", False, None, "Province of registration"),
        ),
        None,
    ),
    "namechange": Entity(
        "namechange",
        "Name changes",
        "The names that stocks have carried, each with its first and last effective day.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("name", "string", False, None, "Former name"),
            Column("start_date", "string", True, None, "First effective day"),
            Column("end_date", "string", True, None, "Last effective day; null means still in effect"),
            Column("ann_date", "string", True, None, "Announcement date"),
            Column("change_reason", "string", False, None, "Reason for the change"),
        ),
        "start_date",
    ),
    "trade_cal": Entity(
        "trade_cal",
        "Trading calendar",
        "Open and closed days with the previous trading day. Only the SSE calendar is held.",
        (
            Column("exchange", "string", False, None, "Exchange"),
            Column("cal_date", "string", True, None, "Calendar date"),
            Column("is_open", "int64", False, None, "1 = open, 0 = closed"),
            Column("pretrade_date", "string", True, None, "Previous trading day"),
        ),
        "cal_date",
    ),
    "research_report": Entity(
        "research_report",
        "Research reports",
        "Broker research reports on stocks and industries, by the day of publication.",
        (
            Column("trade_date", "string", True, None, "Publication date"),
            Column("abstr", "string", False, None, "Abstract"),
            Column("title", "string", False, None, "Report title"),
            Column("report_type", "string", False, None, "Report type"),
            Column("author", "string", False, None, "Author"),
            Column("name", "string", False, None, "Stock name"),
            Column("ts_code", "string", False, None, "Stock code; null where the report is not about one stock"),
            Column("inst_csname", "string", False, None, "Institution name"),
            Column("ind_name", "string", False, None, "Industry name"),
            Column("url", "string", False, None, "Link to the original"),
        ),
        "trade_date",
    ),
    "anns_d": Entity(
        "anns_d",
        "Announcements",
        "Announcements of listed companies. The stock code can stand without its exchange suffix.",
        (
            Column("ann_date", "string", True, None, "Announcement date"),
            Column("ts_code", "string", False, None, "Stock code, with or without suffix"),
            Column("name", "string", False, None, "Stock name"),
            Column("title", "string", False, None, "Announcement title"),
            Column("url", "string", False, None, "Announcement link"),
            Column("rec_time", "string", False, None, "Time the record was collected"),
        ),
        "ann_date",
    ),
    "income": Entity(
        "income",
        "Income statements",
        "Income statements of listed companies by announcement date, every report type and revision.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("ann_date", "string", True, None, "Announcement date"),
            Column("f_ann_date", "string", True, None, "Actual announcement date, of this revision"),
            Column("end_date", "string", True, None, "Last day of the reporting period"),
            Column("report_type", "string", False, None, "Report type: 1 consolidated, 2 consolidated single quarter, ... 12"),
            Column("comp_type", "string", False, None, "Company type: 1 general, 2 bank, 3 insurance, 4 securities"),
            Column("end_type", "string", False, None, "Kind of period: 1 first quarter, 2 half year, 3 third quarter, 4 year"),
            Column("basic_eps", "float64", False, "yuan per share", "Basic earnings per share"),
            Column("diluted_eps", "float64", False, "yuan per share", "Diluted earnings per share"),
            Column("total_revenue", "float64", False, "yuan", "Total operating revenue"),
            Column("revenue", "float64", False, "yuan", "Operating revenue"),
            Column("int_income", "float64", False, "yuan", "Interest income"),
            Column("prem_earned", "float64", False, "yuan", "Premiums earned"),
            Column("comm_income", "float64", False, "yuan", "Fee and commission income"),
            Column("n_commis_income", "float64", False, "yuan", "Net fee and commission income"),
            Column("n_oth_income", "float64", False, "yuan", "Other net operating income"),
            Column("n_oth_b_income", "float64", False, "yuan", "Net income of other business"),
            Column("prem_income", "float64", False, "yuan", "Insurance premium income"),
            Column("out_prem", "float64", False, "yuan", "Premiums ceded"),
            Column("une_prem_reser", "float64", False, "yuan", "Change in unearned premium reserve"),
            Column("reins_income", "float64", False, "yuan", "Reinsurance premium income"),
            Column("n_sec_tb_income", "float64", False, "yuan", "Net income of securities brokerage"),
            Column("n_sec_uw_income", "float64", False, "yuan", "Net income of securities underwriting"),
            Column("n_asset_mg_income", "float64", False, "yuan", "Net income of asset management for clients"),
            Column("oth_b_income", "float64", False, "yuan", "Other business income"),
            Column("fv_value_chg_gain", "float64", False, "yuan", "Net gain from changes in fair value"),
            Column("invest_income", "float64", False, "yuan", "Net investment income"),
            Column("ass_invest_income", "float64", False, "yuan", "Investment income from associates and joint ventures"),
            Column("forex_gain", "float64", False, "yuan", "Net exchange gain"),
            Column("total_cogs", "float64", False, "yuan", "Total operating cost"),
            Column("oper_cost", "float64", False, "yuan", "Operating cost"),
            Column("int_exp", "float64", False, "yuan", "Interest expense"),
            Column("comm_exp", "float64", False, "yuan", "Fee and commission expense"),
            Column("biz_tax_surchg", "float64", False, "yuan", "Business tax and surcharges"),
            Column("sell_exp", "float64", False, "yuan", "Selling expense"),
            Column("admin_exp", "float64", False, "yuan", "Administrative expense"),
            Column("fin_exp", "float64", False, "yuan", "Financial expense"),
            Column("assets_impair_loss", "float64", False, "yuan", "Asset impairment loss"),
            Column("prem_refund", "float64", False, "yuan", "Surrender payments"),
            Column("compens_payout", "float64", False, "yuan", "Total claims paid"),
            Column("reser_insur_liab", "float64", False, "yuan", "Change in insurance liability reserve"),
            Column("div_payt", "float64", False, "yuan", "Policy dividends"),
            Column("reins_exp", "float64", False, "yuan", "Reinsurance expense"),
            Column("oper_exp", "float64", False, "yuan", "Operating expense"),
            Column("compens_payout_refu", "float64", False, "yuan", "Claims recovered from reinsurers"),
            Column("insur_reser_refu", "float64", False, "yuan", "Insurance liability reserve recovered from reinsurers"),
            Column("reins_cost_refund", "float64", False, "yuan", "Reinsurance expense recovered"),
            Column("other_bus_cost", "float64", False, "yuan", "Other business cost"),
            Column("operate_profit", "float64", False, "yuan", "Operating profit"),
            Column("non_oper_income", "float64", False, "yuan", "Non-operating income"),
            Column("non_oper_exp", "float64", False, "yuan", "Non-operating expense"),
            Column("nca_disploss", "float64", False, "yuan", "Net loss on disposal of non-current assets"),
            Column("total_profit", "float64", False, "yuan", "Profit before tax"),
            Column("income_tax", "float64", False, "yuan", "Income tax"),
            Column("n_income", "float64", False, "yuan", "Net profit, minority interest included"),
            Column("n_income_attr_p", "float64", False, "yuan", "Net profit attributable to the parent's shareholders"),
            Column("minority_gain", "float64", False, "yuan", "Profit of minority shareholders"),
            Column("oth_compr_income", "float64", False, "yuan", "Other comprehensive income"),
            Column("t_compr_income", "float64", False, "yuan", "Total comprehensive income"),
            Column("compr_inc_attr_p", "float64", False, "yuan", "Comprehensive income attributable to the parent's shareholders"),
            Column("compr_inc_attr_m_s", "float64", False, "yuan", "Comprehensive income attributable to minority shareholders"),
            Column("ebit", "float64", False, "yuan", "Earnings before interest and tax"),
            Column("ebitda", "float64", False, "yuan", "Earnings before interest, tax, depreciation and amortisation"),
            Column("insurance_exp", "float64", False, "yuan", "Insurance business expense"),
            Column("undist_profit", "float64", False, "yuan", "Undistributed profit at the start of the year"),
            Column("distable_profit", "float64", False, "yuan", "Distributable profit"),
            Column("rd_exp", "float64", False, "yuan", "Research and development expense"),
            Column("fin_exp_int_exp", "float64", False, "yuan", "Financial expense: interest expense"),
            Column("fin_exp_int_inc", "float64", False, "yuan", "Financial expense: interest income"),
            Column("transfer_surplus_rese", "float64", False, "yuan", "Transfer from surplus reserve"),
            Column("transfer_housing_imprest", "float64", False, "yuan", "Transfer from housing fund"),
            Column("transfer_oth", "float64", False, "yuan", "Other transfers"),
            Column("adj_lossgain", "float64", False, "yuan", "Adjustment of profit of earlier years"),
            Column("withdra_legal_surplus", "float64", False, "yuan", "Appropriation to statutory surplus reserve"),
            Column("withdra_legal_pubfund", "float64", False, "yuan", "Appropriation to statutory welfare fund"),
            Column("withdra_biz_devfund", "float64", False, "yuan", "Appropriation to enterprise development fund"),
            Column("withdra_rese_fund", "float64", False, "yuan", "Appropriation to reserve fund"),
            Column("withdra_oth_ersu", "float64", False, "yuan", "Appropriation to discretionary surplus reserve"),
            Column("workers_welfare", "float64", False, "yuan", "Bonus and welfare of employees"),
            Column("distr_profit_shrhder", "float64", False, "yuan", "Profit distributable to shareholders"),
            Column("prfshare_payable_dvd", "float64", False, "yuan", "Dividends payable on preferred shares"),
            Column("comshare_payable_dvd", "float64", False, "yuan", "Dividends payable on ordinary shares"),
            Column("capit_comstock_div", "float64", False, "yuan", "Ordinary dividends converted into share capital"),
            Column("net_after_nr_lp_correct", "float64", False, "yuan", "Net profit less non-recurring items, before correction"),
            Column("credit_impa_loss", "float64", False, "yuan", "Credit impairment loss"),
            Column("net_expo_hedging_benefits", "float64", False, "yuan", "Net gain from hedging of net exposure"),
            Column("oth_impair_loss_assets", "float64", False, "yuan", "Other asset impairment loss"),
            Column("total_opcost", "float64", False, "yuan", "Total operating cost, second definition"),
            Column("amodcost_fin_assets", "float64", False, "yuan", "Gain from derecognition of financial assets at amortised cost"),
            Column("oth_income", "float64", False, "yuan", "Other income"),
            Column("asset_disp_income", "float64", False, "yuan", "Gain from asset disposal"),
            Column("continued_net_profit", "float64", False, "yuan", "Net profit of continuing operations"),
            Column("end_net_profit", "float64", False, "yuan", "Net profit of discontinued operations"),
            Column("update_flag", "string", False, None, "1 for the newest revision"),
        ),
        "ann_date",
    ),
    "balancesheet": Entity(
        "balancesheet",
        "Balance sheets",
        "Balance sheets of listed companies by announcement date, every report type and revision.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("ann_date", "string", True, None, "Announcement date"),
            Column("f_ann_date", "string", True, None, "Actual announcement date, of this revision"),
            Column("end_date", "string", True, None, "Last day of the reporting period"),
            Column("report_type", "string", False, None, "Report type: 1 consolidated, 2 consolidated single quarter, ... 12"),
            Column("comp_type", "string", False, None, "Company type: 1 general, 2 bank, 3 insurance, 4 securities"),
            Column("end_type", "string", False, None, "Kind of period: 1 first quarter, 2 half year, 3 third quarter, 4 year"),
            Column("total_share", "float64", False, "shares", "Share capital at the end of the period"),
            Column("cap_rese", "float64", False, "yuan", "Capital reserve"),
            Column("undistr_porfit", "float64", False, "yuan", "Undistributed profit"),
            Column("surplus_rese", "float64", False, "yuan", "Surplus reserve"),
            Column("special_rese", "float64", False, "yuan", "Special reserve"),
            Column("money_cap", "float64", False, "yuan", "Cash and deposits"),
            Column("trad_asset", "float64", False, "yuan", "Financial assets held for trading"),
            Column("notes_receiv", "float64", False, "yuan", "Notes receivable"),
            Column("accounts_receiv", "float64", False, "yuan", "Accounts receivable"),
            Column("oth_receiv", "float64", False, "yuan", "Other receivables"),
            Column("prepayment", "float64", False, "yuan", "Prepayments"),
            Column("div_receiv", "float64", False, "yuan", "Dividends receivable"),
            Column("int_receiv", "float64", False, "yuan", "Interest receivable"),
            Column("inventories", "float64", False, "yuan", "Inventories"),
            Column("amor_exp", "float64", False, "yuan", "Deferred expenses"),
            Column("nca_within_1y", "float64", False, "yuan", "Non-current assets due within one year"),
            Column("sett_rsrv", "float64", False, "yuan", "Settlement reserve"),
            Column("loanto_oth_bank_fi", "float64", False, "yuan", "Loans to banks and other financial institutions"),
            Column("premium_receiv", "float64", False, "yuan", "Premiums receivable"),
            Column("reinsur_receiv", "float64", False, "yuan", "Reinsurance receivables"),
            Column("reinsur_res_receiv", "float64", False, "yuan", "Reinsurance contract reserve receivable"),
            Column("pur_resale_fa", "float64", False, "yuan", "Financial assets bought for resale"),
            Column("oth_cur_assets", "float64", False, "yuan", "Other current assets"),
            Column("total_cur_assets", "float64", False, "yuan", "Total current assets"),
            Column("fa_avail_for_sale", "float64", False, "yuan", "Financial assets available for sale"),
            Column("htm_invest", "float64", False, "yuan", "Investments held to maturity"),
            Column("lt_eqt_invest", "float64", False, "yuan", "Long-term equity investments"),
            Column("invest_real_estate", "float64", False, "yuan", "Investment property"),
            Column("time_deposits", "float64", False, "yuan", "Time deposits"),
            Column("oth_assets", "float64", False, "yuan", "Other assets"),
            Column("lt_rec", "float64", False, "yuan", "Long-term receivables"),
            Column("fix_assets", "float64", False, "yuan", "Fixed assets"),
            Column("cip", "float64", False, "yuan", "Construction in progress"),
            Column("const_materials", "float64", False, "yuan", "Construction materials"),
            Column("fixed_assets_disp", "float64", False, "yuan", "Disposal of fixed assets"),
            Column("produc_bio_assets", "float64", False, "yuan", "Productive biological assets"),
            Column("oil_and_gas_assets", "float64", False, "yuan", "Oil and gas assets"),
            Column("intan_assets", "float64", False, "yuan", "Intangible assets"),
            Column("r_and_d", "float64", False, "yuan", "Development expenditure"),
            Column("goodwill", "float64", False, "yuan", "Goodwill"),
            Column("lt_amor_exp", "float64", False, "yuan", "Long-term deferred expenses"),
            Column("defer_tax_assets", "float64", False, "yuan", "Deferred tax assets"),
            Column("decr_in_disbur", "float64", False, "yuan", "Loans and advances granted"),
            Column("oth_nca", "float64", False, "yuan", "Other non-current assets"),
            Column("total_nca", "float64", False, "yuan", "Total non-current assets"),
            Column("cash_reser_cb", "float64", False, "yuan", "Cash and deposits with the central bank"),
            Column("depos_in_oth_bfi", "float64", False, "yuan", "Deposits with banks and other financial institutions"),
            Column("prec_metals", "float64", False, "yuan", "Precious metals"),
            Column("deriv_assets", "float64", False, "yuan", "Derivative assets"),
            Column("rr_reins_une_prem", "float64", False, "yuan", "Reinsurers' share of unearned premium reserve"),
            Column("rr_reins_outstd_cla", "float64", False, "yuan", "Reinsurers' share of outstanding claims reserve"),
            Column("rr_reins_lins_liab", "float64", False, "yuan", "Reinsurers' share of life insurance reserve"),
            Column("rr_reins_lthins_liab", "float64", False, "yuan", "Reinsurers' share of long-term health insurance reserve"),
            Column("refund_depos", "float64", False, "yuan", "Refundable deposits paid"),
            Column("ph_pledge_loans", "float64", False, "yuan", "Policy loans"),
            Column("refund_cap_depos", "float64", False, "yuan", "Statutory capital deposits paid"),
            Column("indep_acct_assets", "float64", False, "yuan", "Separate account assets"),
            Column("client_depos", "float64", False, "yuan", "Deposits of clients' funds"),
            Column("client_prov", "float64", False, "yuan", "Settlement reserve of clients"),
            Column("transac_seat_fee", "float64", False, "yuan", "Exchange seat fees"),
            Column("invest_as_receiv", "float64", False, "yuan", "Investments classified as receivables"),
            Column("total_assets", "float64", False, "yuan", "Total assets"),
            Column("lt_borr", "float64", False, "yuan", "Long-term borrowings"),
            Column("st_borr", "float64", False, "yuan", "Short-term borrowings"),
            Column("cb_borr", "float64", False, "yuan", "Borrowings from the central bank"),
            Column("depos_ib_deposits", "float64", False, "yuan", "Customer and interbank deposits taken"),
            Column("loan_oth_bank", "float64", False, "yuan", "Borrowings from banks and other financial institutions"),
            Column("trading_fl", "float64", False, "yuan", "Financial liabilities held for trading"),
            Column("notes_payable", "float64", False, "yuan", "Notes payable"),
            Column("acct_payable", "float64", False, "yuan", "Accounts payable"),
            Column("adv_receipts", "float64", False, "yuan", "Advances from customers"),
            Column("sold_for_repur_fa", "float64", False, "yuan", "Financial assets sold for repurchase"),
            Column("comm_payable", "float64", False, "yuan", "Fees and commissions payable"),
            Column("payroll_payable", "float64", False, "yuan", "Payroll payable"),
            Column("taxes_payable", "float64", False, "yuan", "Taxes payable"),
            Column("int_payable", "float64", False, "yuan", "Interest payable"),
            Column("div_payable", "float64", False, "yuan", "Dividends payable"),
            Column("oth_payable", "float64", False, "yuan", "Other payables"),
            Column("acc_exp", "float64", False, "yuan", "Accrued expenses"),
            Column("deferred_inc", "float64", False, "yuan", "Deferred income"),
            Column("st_bonds_payable", "float64", False, "yuan", "Short-term bonds payable"),
            Column("payable_to_reinsurer", "float64", False, "yuan", "Payables to reinsurers"),
            Column("rsrv_insur_cont", "float64", False, "yuan", "Insurance contract reserve"),
            Column("acting_trading_sec", "float64", False, "yuan", "Client money of securities brokerage"),
            Column("acting_uw_sec", "float64", False, "yuan", "Client money of securities underwriting"),
            Column("non_cur_liab_due_1y", "float64", False, "yuan", "Non-current liabilities due within one year"),
            Column("oth_cur_liab", "float64", False, "yuan", "Other current liabilities"),
            Column("total_cur_liab", "float64", False, "yuan", "Total current liabilities"),
            Column("bond_payable", "float64", False, "yuan", "Bonds payable"),
            Column("lt_payable", "float64", False, "yuan", "Long-term payables"),
            Column("specific_payables", "float64", False, "yuan", "Special payables"),
            Column("estimated_liab", "float64", False, "yuan", "Provisions"),
            Column("defer_tax_liab", "float64", False, "yuan", "Deferred tax liabilities"),
            Column("defer_inc_non_cur_liab", "float64", False, "yuan", "Deferred income, non-current"),
            Column("oth_ncl", "float64", False, "yuan", "Other non-current liabilities"),
            Column("total_ncl", "float64", False, "yuan", "Total non-current liabilities"),
            Column("depos_oth_bfi", "float64", False, "yuan", "Deposits from banks and other financial institutions"),
            Column("deriv_liab", "float64", False, "yuan", "Derivative liabilities"),
            Column("depos", "float64", False, "yuan", "Customer deposits"),
            Column("agency_bus_liab", "float64", False, "yuan", "Agency business liabilities"),
            Column("oth_liab", "float64", False, "yuan", "Other liabilities"),
            Column("prem_receiv_adva", "float64", False, "yuan", "Premiums received in advance"),
            Column("depos_received", "float64", False, "yuan", "Refundable deposits received"),
            Column("ph_invest", "float64", False, "yuan", "Policyholders' deposits and investments"),
            Column("reser_une_prem", "float64", False, "yuan", "Unearned premium reserve"),
            Column("reser_outstd_claims", "float64", False, "yuan", "Outstanding claims reserve"),
            Column("reser_lins_liab", "float64", False, "yuan", "Life insurance reserve"),
            Column("reser_lthins_liab", "float64", False, "yuan", "Long-term health insurance reserve"),
            Column("indept_acc_liab", "float64", False, "yuan", "Separate account liabilities"),
            Column("pledge_borr", "float64", False, "yuan", "Pledged borrowings"),
            Column("indem_payable", "float64", False, "yuan", "Claims payable"),
            Column("policy_div_payable", "float64", False, "yuan", "Policy dividends payable"),
            Column("total_liab", "float64", False, "yuan", "Total liabilities"),
            Column("treasury_share", "float64", False, "yuan", "Treasury shares, deducted"),
            Column("ordin_risk_reser", "float64", False, "yuan", "General risk reserve"),
            Column("forex_differ", "float64", False, "yuan", "Translation difference of foreign currency statements"),
            Column("invest_loss_unconf", "float64", False, "yuan", "Unrecognised investment losses"),
            Column("minority_int", "float64", False, "yuan", "Minority interest"),
            Column("total_hldr_eqy_exc_min_int", "float64", False, "yuan", "Shareholders' equity, minority interest excluded"),
            Column("total_hldr_eqy_inc_min_int", "float64", False, "yuan", "Shareholders' equity, minority interest included"),
            Column("total_liab_hldr_eqy", "float64", False, "yuan", "Total liabilities and shareholders' equity"),
            Column("lt_payroll_payable", "float64", False, "yuan", "Long-term payroll payable"),
            Column("oth_comp_income", "float64", False, "yuan", "Other comprehensive income"),
            Column("oth_eqt_tools", "float64", False, "yuan", "Other equity instruments"),
            Column("oth_eqt_tools_p_shr", "float64", False, "yuan", "Other equity instruments: preferred shares"),
            Column("lending_funds", "float64", False, "yuan", "Funds lent for margin trading"),
            Column("acc_receivable", "float64", False, "yuan", "Receivables"),
            Column("st_fin_payable", "float64", False, "yuan", "Short-term financing payable"),
            Column("payables", "float64", False, "yuan", "Payables"),
            Column("hfs_assets", "float64", False, "yuan", "Assets held for sale"),
            Column("hfs_sales", "float64", False, "yuan", "Liabilities held for sale"),
            Column("cost_fin_assets", "float64", False, "yuan", "Financial assets at amortised cost"),
            Column("fair_value_fin_assets", "float64", False, "yuan", "Financial assets at fair value through other comprehensive income"),
            Column("cip_total", "float64", False, "yuan", "Construction in progress, total"),
            Column("oth_pay_total", "float64", False, "yuan", "Other payables, total"),
            Column("long_pay_total", "float64", False, "yuan", "Long-term payables, total"),
            Column("debt_invest", "float64", False, "yuan", "Debt investments"),
            Column("oth_debt_invest", "float64", False, "yuan", "Other debt investments"),
            Column("oth_eq_invest", "float64", False, "yuan", "Other equity instrument investments"),
            Column("oth_illiq_fin_assets", "float64", False, "yuan", "Other non-current financial assets"),
            Column("oth_eq_ppbond", "float64", False, "yuan", "Other equity instruments: perpetual bonds"),
            Column("receiv_financing", "float64", False, "yuan", "Receivables held for financing"),
            Column("use_right_assets", "float64", False, "yuan", "Right-of-use assets"),
            Column("lease_liab", "float64", False, "yuan", "Lease liabilities"),
            Column("contract_assets", "float64", False, "yuan", "Contract assets"),
            Column("contract_liab", "float64", False, "yuan", "Contract liabilities"),
            Column("accounts_receiv_bill", "float64", False, "yuan", "Notes and accounts receivable"),
            Column("accounts_pay", "float64", False, "yuan", "Notes and accounts payable"),
            Column("oth_rcv_total", "float64", False, "yuan", "Other receivables, total"),
            Column("fix_assets_total", "float64", False, "yuan", "Fixed assets, total"),
            Column("update_flag", "string", False, None, "1 for the newest revision"),
        ),
        "ann_date",
    ),
    "cashflow": Entity(
        "cashflow",
        "Cash flow statements",
        "Cash flow statements of listed companies by announcement date, every report type and revision.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("ann_date", "string", True, None, "Announcement date"),
            Column("f_ann_date", "string", True, None, "Actual announcement date, of this revision"),
            Column("end_date", "string", True, None, "Last day of the reporting period"),
            Column("comp_type", "string", False, None, "Company type: 1 general, 2 bank, 3 insurance, 4 securities"),
            Column("report_type", "string", False, None, "Report type: 1 consolidated, 2 consolidated single quarter, ... 12"),
            Column("end_type", "string", False, None, "Kind of period: 1 first quarter, 2 half year, 3 third quarter, 4 year"),
            Column("net_profit", "float64", False, "yuan", "Net profit"),
            Column("finan_exp", "float64", False, "yuan", "Financial expense"),
            Column("c_fr_sale_sg", "float64", False, "yuan", "Cash from sales of goods and services"),
            Column("recp_tax_rends", "float64", False, "yuan", "Tax refunds received"),
            Column("n_depos_incr_fi", "float64", False, "yuan", "Net increase in customer and interbank deposits"),
            Column("n_incr_loans_cb", "float64", False, "yuan", "Net increase in borrowings from the central bank"),
            Column("n_inc_borr_oth_fi", "float64", False, "yuan", "Net increase in borrowings from other financial institutions"),
            Column("prem_fr_orig_contr", "float64", False, "yuan", "Cash from premiums of direct insurance"),
            Column("n_incr_insured_dep", "float64", False, "yuan", "Net increase in policyholders' deposits"),
            Column("n_reinsur_prem", "float64", False, "yuan", "Net cash from reinsurance"),
            Column("n_incr_disp_tfa", "float64", False, "yuan", "Net increase from disposal of trading financial assets"),
            Column("ifc_cash_incr", "float64", False, "yuan", "Net increase in interest, fees and commissions received"),
            Column("n_incr_disp_faas", "float64", False, "yuan", "Net increase from disposal of financial assets available for sale"),
            Column("n_incr_loans_oth_bank", "float64", False, "yuan", "Net increase in interbank borrowings"),
            Column("n_cap_incr_repur", "float64", False, "yuan", "Net increase in repurchase funds"),
            Column("c_fr_oth_operate_a", "float64", False, "yuan", "Other cash from operating activities"),
            Column("c_inf_fr_operate_a", "float64", False, "yuan", "Cash inflow from operating activities, subtotal"),
            Column("c_paid_goods_s", "float64", False, "yuan", "Cash paid for goods and services"),
            Column("c_paid_to_for_empl", "float64", False, "yuan", "Cash paid to and for employees"),
            Column("c_paid_for_taxes", "float64", False, "yuan", "Taxes paid"),
            Column("n_incr_clt_loan_adv", "float64", False, "yuan", "Net increase in loans and advances to customers"),
            Column("n_incr_dep_cbob", "float64", False, "yuan", "Net increase in deposits with the central bank and other banks"),
            Column("c_pay_claims_orig_inco", "float64", False, "yuan", "Cash paid for claims of direct insurance"),
            Column("pay_handling_chrg", "float64", False, "yuan", "Cash paid for fees and commissions"),
            Column("pay_comm_insur_plcy", "float64", False, "yuan", "Cash paid for policy dividends"),
            Column("oth_cash_pay_oper_act", "float64", False, "yuan", "Other cash paid for operating activities"),
            Column("st_cash_out_act", "float64", False, "yuan", "Cash outflow from operating activities, subtotal"),
            Column("n_cashflow_act", "float64", False, "yuan", "Net cash flow from operating activities"),
            Column("oth_recp_ral_inv_act", "float64", False, "yuan", "Other cash from investing activities"),
            Column("c_disp_withdrwl_invest", "float64", False, "yuan", "Cash from investments recovered"),
            Column("c_recp_return_invest", "float64", False, "yuan", "Cash from investment income"),
            Column("n_recp_disp_fiolta", "float64", False, "yuan", "Net cash from disposal of fixed, intangible and other long-term assets"),
            Column("n_recp_disp_sobu", "float64", False, "yuan", "Net cash from disposal of subsidiaries and other business units"),
            Column("stot_inflows_inv_act", "float64", False, "yuan", "Cash inflow from investing activities, subtotal"),
            Column("c_pay_acq_const_fiolta", "float64", False, "yuan", "Cash paid for fixed, intangible and other long-term assets"),
            Column("c_paid_invest", "float64", False, "yuan", "Cash paid for investments"),
            Column("n_disp_subs_oth_biz", "float64", False, "yuan", "Net cash paid for subsidiaries and other business units"),
            Column("oth_pay_ral_inv_act", "float64", False, "yuan", "Other cash paid for investing activities"),
            Column("n_incr_pledge_loan", "float64", False, "yuan", "Net increase in pledged loans"),
            Column("stot_out_inv_act", "float64", False, "yuan", "Cash outflow from investing activities, subtotal"),
            Column("n_cashflow_inv_act", "float64", False, "yuan", "Net cash flow from investing activities"),
            Column("c_recp_borrow", "float64", False, "yuan", "Cash from borrowings"),
            Column("proc_issue_bonds", "float64", False, "yuan", "Cash from bonds issued"),
            Column("oth_cash_recp_ral_fnc_act", "float64", False, "yuan", "Other cash from financing activities"),
            Column("stot_cash_in_fnc_act", "float64", False, "yuan", "Cash inflow from financing activities, subtotal"),
            Column("free_cashflow", "float64", False, "yuan", "Free cash flow to the firm"),
            Column("c_prepay_amt_borr", "float64", False, "yuan", "Cash paid to repay debt"),
            Column("c_pay_dist_dpcp_int_exp", "float64", False, "yuan", "Cash paid for dividends, profits and interest"),
            Column("incl_dvd_profit_paid_sc_ms", "float64", False, "yuan", "Dividends and profits paid by subsidiaries to minority shareholders"),
            Column("oth_cashpay_ral_fnc_act", "float64", False, "yuan", "Other cash paid for financing activities"),
            Column("stot_cashout_fnc_act", "float64", False, "yuan", "Cash outflow from financing activities, subtotal"),
            Column("n_cash_flows_fnc_act", "float64", False, "yuan", "Net cash flow from financing activities"),
            Column("eff_fx_flu_cash", "float64", False, "yuan", "Effect of exchange rates on cash"),
            Column("n_incr_cash_cash_equ", "float64", False, "yuan", "Net increase in cash and cash equivalents"),
            Column("c_cash_equ_beg_period", "float64", False, "yuan", "Cash and cash equivalents at the start of the period"),
            Column("c_cash_equ_end_period", "float64", False, "yuan", "Cash and cash equivalents at the end of the period"),
            Column("c_recp_cap_contrib", "float64", False, "yuan", "Cash from capital contributions"),
            Column("incl_cash_rec_saims", "float64", False, "yuan", "Cash of subsidiaries from minority shareholders' contributions"),
            Column("uncon_invest_loss", "float64", False, "yuan", "Unrecognised investment losses"),
            Column("prov_depr_assets", "float64", False, "yuan", "Provision for asset impairment"),
            Column("depr_fa_coga_dpba", "float64", False, "yuan", "Depreciation of fixed, oil and gas and productive biological assets"),
            Column("amort_intang_assets", "float64", False, "yuan", "Amortisation of intangible assets"),
            Column("lt_amort_deferred_exp", "float64", False, "yuan", "Amortisation of long-term deferred expenses"),
            Column("decr_deferred_exp", "float64", False, "yuan", "Decrease in deferred expenses"),
            Column("incr_acc_exp", "float64", False, "yuan", "Increase in accrued expenses"),
            Column("loss_disp_fiolta", "float64", False, "yuan", "Loss on disposal of fixed, intangible and other long-term assets"),
            Column("loss_scr_fa", "float64", False, "yuan", "Loss on scrapping of fixed assets"),
            Column("loss_fv_chg", "float64", False, "yuan", "Loss from changes in fair value"),
            Column("invest_loss", "float64", False, "yuan", "Investment loss"),
            Column("decr_def_inc_tax_assets", "float64", False, "yuan", "Decrease in deferred tax assets"),
            Column("incr_def_inc_tax_liab", "float64", False, "yuan", "Increase in deferred tax liabilities"),
            Column("decr_inventories", "float64", False, "yuan", "Decrease in inventories"),
            Column("decr_oper_payable", "float64", False, "yuan", "Decrease in operating receivables"),
            Column("incr_oper_payable", "float64", False, "yuan", "Increase in operating payables"),
            Column("others", "float64", False, "yuan", "Other"),
            Column("im_net_cashflow_oper_act", "float64", False, "yuan", "Net cash flow from operating activities, indirect method"),
            Column("conv_debt_into_cap", "float64", False, "yuan", "Debt converted into capital"),
            Column("conv_copbonds_due_within_1y", "float64", False, "yuan", "Convertible bonds due within one year"),
            Column("fa_fnc_leases", "float64", False, "yuan", "Fixed assets under finance leases"),
            Column("im_n_incr_cash_equ", "float64", False, "yuan", "Net increase in cash and cash equivalents, indirect method"),
            Column("net_dism_capital_add", "float64", False, "yuan", "Net increase in funds lent to other financial institutions"),
            Column("net_cash_rece_sec", "float64", False, "yuan", "Net cash received for securities brokerage"),
            Column("credit_impa_loss", "float64", False, "yuan", "Credit impairment loss"),
            Column("use_right_asset_dep", "float64", False, "yuan", "Depreciation of right-of-use assets"),
            Column("oth_loss_asset", "float64", False, "yuan", "Other asset impairment loss"),
            Column("end_bal_cash", "float64", False, "yuan", "Cash at the end of the period"),
            Column("beg_bal_cash", "float64", False, "yuan", "Cash at the start of the period"),
            Column("end_bal_cash_equ", "float64", False, "yuan", "Cash equivalents at the end of the period"),
            Column("beg_bal_cash_equ", "float64", False, "yuan", "Cash equivalents at the start of the period"),
            Column("update_flag", "string", False, None, "1 for the newest revision"),
        ),
        "ann_date",
    ),
    "fina_indicator": Entity(
        "fina_indicator",
        "Financial indicators",
        "Per-share figures, margins, returns, turnover, solvency and growth, derived from the statements.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("ann_date", "string", True, None, "Announcement date"),
            Column("end_date", "string", True, None, "Last day of the reporting period"),
            Column("eps", "float64", False, "yuan per share", "Basic earnings per share"),
            Column("dt_eps", "float64", False, "yuan per share", "Diluted earnings per share"),
            Column("total_revenue_ps", "float64", False, "yuan per share", "Total operating revenue per share"),
            Column("revenue_ps", "float64", False, "yuan per share", "Operating revenue per share"),
            Column("capital_rese_ps", "float64", False, "yuan per share", "Capital reserve per share"),
            Column("surplus_rese_ps", "float64", False, "yuan per share", "Surplus reserve per share"),
            Column("undist_profit_ps", "float64", False, "yuan per share", "Undistributed profit per share"),
            Column("extra_item", "float64", False, "yuan", "Non-recurring profit and loss"),
            Column("profit_dedt", "float64", False, "yuan", "Net profit less non-recurring items"),
            Column("gross_margin", "float64", False, "yuan", "Gross profit"),
            Column("current_ratio", "float64", False, "ratio", "Current ratio"),
            Column("quick_ratio", "float64", False, "ratio", "Quick ratio"),
            Column("cash_ratio", "float64", False, "ratio", "Conservative quick ratio"),
            Column("invturn_days", "float64", False, "days", "Days of inventory turnover"),
            Column("arturn_days", "float64", False, "days", "Days of receivables turnover"),
            Column("inv_turn", "float64", False, "times", "Inventory turnover"),
            Column("ar_turn", "float64", False, "times", "Receivables turnover"),
            Column("ca_turn", "float64", False, "times", "Current assets turnover"),
            Column("fa_turn", "float64", False, "times", "Fixed assets turnover"),
            Column("assets_turn", "float64", False, "times", "Total assets turnover"),
            Column("op_income", "float64", False, "yuan", "Net income from operating activities"),
            Column("valuechange_income", "float64", False, "yuan", "Net income from changes in value"),
            Column("interst_income", "float64", False, "yuan", "Interest expense"),
            Column("daa", "float64", False, "yuan", "Depreciation and amortisation"),
            Column("ebit", "float64", False, "yuan", "Earnings before interest and tax"),
            Column("ebitda", "float64", False, "yuan", "Earnings before interest, tax, depreciation and amortisation"),
            Column("fcff", "float64", False, "yuan", "Free cash flow to the firm"),
            Column("fcfe", "float64", False, "yuan", "Free cash flow to equity"),
            Column("current_exint", "float64", False, "yuan", "Interest-free current liabilities"),
            Column("noncurrent_exint", "float64", False, "yuan", "Interest-free non-current liabilities"),
            Column("interestdebt", "float64", False, "yuan", "Interest-bearing debt"),
            Column("netdebt", "float64", False, "yuan", "Net debt"),
            Column("tangible_asset", "float64", False, "yuan", "Tangible assets"),
            Column("working_capital", "float64", False, "yuan", "Working capital"),
            Column("networking_capital", "float64", False, "yuan", "Net operating working capital"),
            Column("invest_capital", "float64", False, "yuan", "Total invested capital"),
            Column("retained_earnings", "float64", False, "yuan", "Retained earnings"),
            Column("diluted2_eps", "float64", False, "yuan per share", "Earnings per share on shares at the end of the period"),
            Column("bps", "float64", False, "yuan per share", "Net assets per share"),
            Column("ocfps", "float64", False, "yuan per share", "Net operating cash flow per share"),
            Column("retainedps", "float64", False, "yuan per share", "Retained earnings per share"),
            Column("cfps", "float64", False, "yuan per share", "Net cash flow per share"),
            Column("ebit_ps", "float64", False, "yuan per share", "Earnings before interest and tax per share"),
            Column("fcff_ps", "float64", False, "yuan per share", "Free cash flow to the firm per share"),
            Column("fcfe_ps", "float64", False, "yuan per share", "Free cash flow to equity per share"),
            Column("netprofit_margin", "float64", False, "percent", "Net profit margin"),
            Column("grossprofit_margin", "float64", False, "percent", "Gross profit margin"),
            Column("cogs_of_sales", "float64", False, "percent", "Cost of sales / sales"),
            Column("expense_of_sales", "float64", False, "percent", "Period expenses / sales"),
            Column("profit_to_gr", "float64", False, "percent", "Net profit / total operating revenue"),
            Column("saleexp_to_gr", "float64", False, "percent", "Selling expense / total operating revenue"),
            Column("adminexp_of_gr", "float64", False, "percent", "Administrative expense / total operating revenue"),
            Column("finaexp_of_gr", "float64", False, "percent", "Financial expense / total operating revenue"),
            Column("impai_ttm", "float64", False, "percent", "Asset impairment loss / total operating revenue"),
            Column("gc_of_gr", "float64", False, "percent", "Total operating cost / total operating revenue"),
            Column("op_of_gr", "float64", False, "percent", "Operating profit / total operating revenue"),
            Column("ebit_of_gr", "float64", False, "percent", "Earnings before interest and tax / total operating revenue"),
            Column("roe", "float64", False, "percent", "Return on equity"),
            Column("roe_waa", "float64", False, "percent", "Return on equity, weighted average"),
            Column("roe_dt", "float64", False, "percent", "Return on equity, less non-recurring items"),
            Column("roa", "float64", False, "percent", "Return on total assets, before interest and tax"),
            Column("npta", "float64", False, "percent", "Net profit / total assets"),
            Column("roic", "float64", False, "percent", "Return on invested capital"),
            Column("roe_yearly", "float64", False, "percent", "Return on equity, annualised"),
            Column("roa2_yearly", "float64", False, "percent", "Return on total assets before interest and tax, annualised"),
            Column("roe_avg", "float64", False, "percent", "Return on average equity, as for share issues"),
            Column("opincome_of_ebt", "float64", False, None, "Net income from operating activities / profit before tax"),
            Column("investincome_of_ebt", "float64", False, None, "Net income from changes in value / profit before tax"),
            Column("n_op_profit_of_ebt", "float64", False, None, "Net non-operating income / profit before tax"),
            Column("tax_to_ebt", "float64", False, None, "Income tax / profit before tax"),
            Column("dtprofit_to_profit", "float64", False, None, "Net profit less non-recurring items / net profit"),
            Column("salescash_to_or", "float64", False, None, "Cash from sales of goods and services / operating revenue"),
            Column("ocf_to_or", "float64", False, None, "Net operating cash flow / operating revenue"),
            Column("ocf_to_opincome", "float64", False, None, "Net operating cash flow / net income from operating activities"),
            Column("capitalized_to_da", "float64", False, None, "Capital expenditure / depreciation and amortisation"),
            Column("debt_to_assets", "float64", False, "percent", "Liabilities / assets"),
            Column("assets_to_eqt", "float64", False, "ratio", "Equity multiplier"),
            Column("dp_assets_to_eqt", "float64", False, "ratio", "Equity multiplier, DuPont analysis"),
            Column("ca_to_assets", "float64", False, "percent", "Current assets / total assets"),
            Column("nca_to_assets", "float64", False, "percent", "Non-current assets / total assets"),
            Column("tbassets_to_totalassets", "float64", False, "percent", "Tangible assets / total assets"),
            Column("int_to_talcap", "float64", False, "percent", "Interest-bearing debt / total invested capital"),
            Column("eqt_to_talcapital", "float64", False, "percent", "Equity of the parent's shareholders / total invested capital"),
            Column("currentdebt_to_debt", "float64", False, "percent", "Current liabilities / total liabilities"),
            Column("longdeb_to_debt", "float64", False, "percent", "Non-current liabilities / total liabilities"),
            Column("ocf_to_shortdebt", "float64", False, "ratio", "Net operating cash flow / current liabilities"),
            Column("debt_to_eqt", "float64", False, "ratio", "Liabilities / equity"),
            Column("eqt_to_debt", "float64", False, "ratio", "Equity of the parent's shareholders / total liabilities"),
            Column("eqt_to_interestdebt", "float64", False, "ratio", "Equity of the parent's shareholders / interest-bearing debt"),
            Column("tangibleasset_to_debt", "float64", False, "ratio", "Tangible assets / total liabilities"),
            Column("tangasset_to_intdebt", "float64", False, "ratio", "Tangible assets / interest-bearing debt"),
            Column("tangibleasset_to_netdebt", "float64", False, "ratio", "Tangible assets / net debt"),
            Column("ocf_to_debt", "float64", False, "ratio", "Net operating cash flow / total liabilities"),
            Column("ocf_to_interestdebt", "float64", False, "ratio", "Net operating cash flow / interest-bearing debt"),
            Column("ocf_to_netdebt", "float64", False, "ratio", "Net operating cash flow / net debt"),
            Column("ebit_to_interest", "float64", False, "ratio", "Interest cover: earnings before interest and tax / interest expense"),
            Column("longdebt_to_workingcapital", "float64", False, None, "Long-term debt / working capital"),
            Column("ebitda_to_debt", "float64", False, None, "Earnings before interest, tax, depreciation and amortisation / total liabilities"),
            Column("turn_days", "float64", False, "days", "Operating cycle"),
            Column("roa_yearly", "float64", False, "percent", "Net profit / total assets, annualised"),
            Column("roa_dp", "float64", False, "percent", "Net profit / total assets, DuPont analysis"),
            Column("fixed_assets", "float64", False, "yuan", "Fixed assets, total"),
            Column("profit_prefin_exp", "float64", False, "yuan", "Operating profit before financial expense"),
            Column("non_op_profit", "float64", False, "yuan", "Non-operating profit"),
            Column("op_to_ebt", "float64", False, None, "Operating profit / profit before tax"),
            Column("nop_to_ebt", "float64", False, None, "Non-operating profit / profit before tax"),
            Column("ocf_to_profit", "float64", False, None, "Net operating cash flow / operating profit"),
            Column("cash_to_liqdebt", "float64", False, None, "Cash and deposits / current liabilities"),
            Column("cash_to_liqdebt_withinterest", "float64", False, None, "Cash and deposits / interest-bearing current liabilities"),
            Column("op_to_liqdebt", "float64", False, None, "Operating profit / current liabilities"),
            Column("op_to_debt", "float64", False, None, "Operating profit / total liabilities"),
            Column("roic_yearly", "float64", False, "percent", "Return on invested capital, annualised"),
            Column("total_fa_trun", "float64", False, "times", "Total fixed assets turnover"),
            Column("profit_to_op", "float64", False, "percent", "Profit before tax / operating revenue"),
            Column("q_opincome", "float64", False, "yuan", "Net income from operating activities, single quarter"),
            Column("q_investincome", "float64", False, "yuan", "Net income from changes in value, single quarter"),
            Column("q_dtprofit", "float64", False, "yuan", "Net profit less non-recurring items, single quarter"),
            Column("q_eps", "float64", False, "yuan per share", "Earnings per share, single quarter"),
            Column("q_netprofit_margin", "float64", False, "percent", "Net profit margin, single quarter"),
            Column("q_gsprofit_margin", "float64", False, "percent", "Gross profit margin, single quarter"),
            Column("q_exp_to_sales", "float64", False, "percent", "Period expenses / sales, single quarter"),
            Column("q_profit_to_gr", "float64", False, "percent", "Net profit / total operating revenue, single quarter"),
            Column("q_saleexp_to_gr", "float64", False, "percent", "Selling expense / total operating revenue, single quarter"),
            Column("q_adminexp_to_gr", "float64", False, "percent", "Administrative expense / total operating revenue, single quarter"),
            Column("q_finaexp_to_gr", "float64", False, "percent", "Financial expense / total operating revenue, single quarter"),
            Column("q_impair_to_gr_ttm", "float64", False, "percent", "Asset impairment loss / total operating revenue, single quarter"),
            Column("q_gc_to_gr", "float64", False, "percent", "Total operating cost / total operating revenue, single quarter"),
            Column("q_op_to_gr", "float64", False, "percent", "Operating profit / total operating revenue, single quarter"),
            Column("q_roe", "float64", False, "percent", "Return on equity, single quarter"),
            Column("q_dt_roe", "float64", False, "percent", "Return on equity less non-recurring items, single quarter"),
            Column("q_npta", "float64", False, "percent", "Net profit / total assets, single quarter"),
            Column("q_opincome_to_ebt", "float64", False, None, "Net income from operating activities / profit before tax, single quarter"),
            Column("q_investincome_to_ebt", "float64", False, None, "Net income from changes in value / profit before tax, single quarter"),
            Column("q_dtprofit_to_profit", "float64", False, None, "Net profit less non-recurring items / net profit, single quarter"),
            Column("q_salescash_to_or", "float64", False, None, "Cash from sales of goods and services / operating revenue, single quarter"),
            Column("q_ocf_to_sales", "float64", False, "percent", "Net operating cash flow / operating revenue, single quarter"),
            Column("q_ocf_to_or", "float64", False, None, "Net operating cash flow / net income from operating activities, single quarter"),
            Column("basic_eps_yoy", "float64", False, "percent", "Basic earnings per share, growth on a year earlier"),
            Column("dt_eps_yoy", "float64", False, "percent", "Diluted earnings per share, growth on a year earlier"),
            Column("cfps_yoy", "float64", False, "percent", "Net operating cash flow per share, growth on a year earlier"),
            Column("op_yoy", "float64", False, "percent", "Operating profit, growth on a year earlier"),
            Column("ebt_yoy", "float64", False, "percent", "Profit before tax, growth on a year earlier"),
            Column("netprofit_yoy", "float64", False, "percent", "Net profit of the parent's shareholders, growth on a year earlier"),
            Column("dt_netprofit_yoy", "float64", False, "percent", "Net profit of the parent's shareholders less non-recurring items, growth on a year earlier"),
            Column("ocf_yoy", "float64", False, "percent", "Net operating cash flow, growth on a year earlier"),
            Column("roe_yoy", "float64", False, "percent", "Return on equity, diluted, growth on a year earlier"),
            Column("bps_yoy", "float64", False, "percent", "Net assets per share, growth since the start of the year"),
            Column("assets_yoy", "float64", False, "percent", "Total assets, growth since the start of the year"),
            Column("eqt_yoy", "float64", False, "percent", "Equity of the parent's shareholders, growth since the start of the year"),
            Column("tr_yoy", "float64", False, "percent", "Total operating revenue, growth on a year earlier"),
            Column("or_yoy", "float64", False, "percent", "Operating revenue, growth on a year earlier"),
            Column("q_gr_yoy", "float64", False, "percent", "Total operating revenue, single quarter, growth on a year earlier"),
            Column("q_gr_qoq", "float64", False, "percent", "Total operating revenue, single quarter, growth on the quarter before"),
            Column("q_sales_yoy", "float64", False, "percent", "Operating revenue, single quarter, growth on a year earlier"),
            Column("q_sales_qoq", "float64", False, "percent", "Operating revenue, single quarter, growth on the quarter before"),
            Column("q_op_yoy", "float64", False, "percent", "Operating profit, single quarter, growth on a year earlier"),
            Column("q_op_qoq", "float64", False, "percent", "Operating profit, single quarter, growth on the quarter before"),
            Column("q_profit_yoy", "float64", False, "percent", "Net profit, single quarter, growth on a year earlier"),
            Column("q_profit_qoq", "float64", False, "percent", "Net profit, single quarter, growth on the quarter before"),
            Column("q_netprofit_yoy", "float64", False, "percent", "Net profit of the parent's shareholders, single quarter, growth on a year earlier"),
            Column("q_netprofit_qoq", "float64", False, "percent", "Net profit of the parent's shareholders, single quarter, growth on the quarter before"),
            Column("equity_yoy", "float64", False, "percent", "Net assets, growth on a year earlier"),
            Column("rd_exp", "float64", False, "yuan", "Research and development expense"),
            Column("update_flag", "string", False, None, "1 for the newest revision"),
        ),
        "ann_date",
    ),
    "dividend": Entity(
        "dividend",
        "Dividends",
        "Cash dividends and bonus shares from proposal to payment, by ex-date; proposals have no ex-date yet.",
        (
            Column("ts_code", "string", False, None, "Stock code"),
            Column("end_date", "string", True, None, "Period that the dividend belongs to"),
            Column("ann_date", "string", True, None, "Announcement date of the proposal"),
            Column("div_proc", "string", False, None, "Stage: proposed, approved, implemented"),
            Column("stk_div", "float64", False, "shares per share", "Bonus and conversion shares"),
            Column("stk_bo_rate", "float64", False, "shares per share", "Bonus shares"),
            Column("stk_co_rate", "float64", False, "shares per share", "Shares converted from reserves"),
            Column("cash_div", "float64", False, "yuan per share", "Cash dividend after tax"),
            Column("cash_div_tax", "float64", False, "yuan per share", "Cash dividend before tax"),
            Column("record_date", "string", True, None, "Record date"),
            Column("ex_date", "string", True, None, "Ex-dividend and ex-rights date"),
            Column("pay_date", "string", True, None, "Payment date"),
            Column("div_listdate", "string", True, None, "Listing date of the bonus shares"),
            Column("imp_ann_date", "string", True, None, "Announcement date of the implementation"),
            Column("base_date", "string", True, None, "Base date"),
            Column("base_share", "float64", False, "ten thousand shares", "Base share capital"),
        ),
        "ex_date",
    ),
}
