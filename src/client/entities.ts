// The entities of the catalog as types. Made by `npm run clients`: change the catalog, not this file.
import type { Answer } from "./answer.js";

/** `20240105` or `2024-01-05`, as text or as a whole number. */
export type Day = string | number;
/** One value or several; one text may contain several, separated by commas. `null` is written `"null"`. */
export type Texts = string | readonly string[];
export type Days = Day | readonly Day[];
export type Ints = number | string | readonly (number | string)[];

/** With several days of `as_of`, each row has the one that it belongs to. */
export interface AsOf {
  readonly as_of?: string;
}

export const ENTITY_NAMES = [
  "daily",
  "weekly",
  "monthly",
  "daily_basic",
  "adj_factor",
  "stk_limit",
  "suspend_d",
  "stk_auction_o",
  "stk_auction_c",
  "stk_auction",
  "index_basic",
  "index_daily",
  "index_weight",
  "index_classify",
  "index_member",
  "stock_list",
  "stock_company",
  "namechange",
  "trade_cal",
  "research_report",
  "anns_d",
  "income",
  "balancesheet",
  "cashflow",
  "fina_indicator",
  "dividend",
] as const;

/** Daily quotes. */
export interface DailyRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Trading date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Open price, in currency units. */
  readonly open: number | null;
  /** High price, in currency units. */
  readonly high: number | null;
  /** Low price, in currency units. */
  readonly low: number | null;
  /** Close price, in currency units. */
  readonly close: number | null;
  /** Previous close, in currency units. */
  readonly pre_close: number | null;
  /** Price change, in currency units. */
  readonly change: number | null;
  /** Change in percent. */
  readonly pct_chg: number | null;
  /** Volume, in lots. */
  readonly vol: number | null;
  /** Turnover, in thousand currency units. */
  readonly amount: number | null;
}

export interface DailyParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly trade_date?: Days;
  readonly adjust?: "forward" | "backward";
  readonly adjust_volume?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Weekly quotes. */
export interface WeeklyRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Trading date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Close price, in currency units. */
  readonly close: number | null;
  /** Open price, in currency units. */
  readonly open: number | null;
  /** High price, in currency units. */
  readonly high: number | null;
  /** Low price, in currency units. */
  readonly low: number | null;
  /** Previous close, in currency units. */
  readonly pre_close: number | null;
  /** Price change, in currency units. */
  readonly change: number | null;
  /** Change in percent. */
  readonly pct_chg: number | null;
  /** Volume, in lots. */
  readonly vol: number | null;
  /** Turnover, in thousand currency units. */
  readonly amount: number | null;
}

export interface WeeklyParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly trade_date?: Days;
  readonly adjust?: "forward" | "backward";
  readonly adjust_volume?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Monthly quotes. */
export interface MonthlyRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Trading date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Close price, in currency units. */
  readonly close: number | null;
  /** Open price, in currency units. */
  readonly open: number | null;
  /** High price, in currency units. */
  readonly high: number | null;
  /** Low price, in currency units. */
  readonly low: number | null;
  /** Previous close, in currency units. */
  readonly pre_close: number | null;
  /** Price change, in currency units. */
  readonly change: number | null;
  /** Change in percent. */
  readonly pct_chg: number | null;
  /** Volume, in lots. */
  readonly vol: number | null;
  /** Turnover, in thousand currency units. */
  readonly amount: number | null;
}

export interface MonthlyParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly trade_date?: Days;
  readonly adjust?: "forward" | "backward";
  readonly adjust_volume?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Daily valuation. */
export interface DailyBasicRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Trading date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Close price, in currency units. */
  readonly close: number | null;
  /** Turnover rate, in percent. */
  readonly turnover_rate: number | null;
  /** Turnover rate on free-float shares, in percent. */
  readonly turnover_rate_f: number | null;
  /** Volume ratio. */
  readonly volume_ratio: number | null;
  /** Price/earnings (total market value / net profit), in ratio. */
  readonly pe: number | null;
  /** Price/earnings, trailing twelve months, in ratio. */
  readonly pe_ttm: number | null;
  /** Price/book, in ratio. */
  readonly pb: number | null;
  /** Price/sales, in ratio. */
  readonly ps: number | null;
  /** Price/sales, trailing twelve months, in ratio. */
  readonly ps_ttm: number | null;
  /** Dividend yield, in percent. */
  readonly dv_ratio: number | null;
  /** Dividend yield, trailing twelve months, in percent. */
  readonly dv_ttm: number | null;
  /** Total shares, in ten thousand shares. */
  readonly total_share: number | null;
  /** Tradable shares, in ten thousand shares. */
  readonly float_share: number | null;
  /** Free-float shares, in ten thousand shares. */
  readonly free_share: number | null;
  /** Total market value, in ten thousand currency units. */
  readonly total_mv: number | null;
  /** Tradable market value, in ten thousand currency units. */
  readonly circ_mv: number | null;
}

export interface DailyBasicParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly trade_date?: Days;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Adjustment factors. */
export interface AdjFactorRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Trading date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Adjustment factor, in ratio. */
  readonly adj_factor: number | null;
}

export interface AdjFactorParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly trade_date?: Days;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Price limits. */
export interface StkLimitRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Trading date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Upper limit price, in currency units. */
  readonly up_limit: number | null;
  /** Lower limit price, in currency units. */
  readonly down_limit: number | null;
}

export interface StkLimitParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly trade_date?: Days;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Suspensions. */
export interface SuspendDRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Trading date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Suspension period. */
  readonly suspend_timing: string | null;
  /** Suspension type. */
  readonly suspend_type: string | null;
}

export interface SuspendDParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly trade_date?: Days;
  readonly suspend_timing?: Texts;
  readonly suspend_type?: Texts;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Opening call auction. */
export interface StkAuctionORow {
  /** Security code: a stock, an ETF or an index. */
  readonly ts_code: string;
  /** Trading date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Type (STK or ETF). */
  readonly ts_type: string | null;
  /** Time. */
  readonly time: string | null;
  /** Price, in currency units. */
  readonly price: number | null;
  /** Volume. */
  readonly vol: number | null;
  /** Turnover. */
  readonly amount: number | null;
  /** Previous close, in currency units. */
  readonly pre_close: number | null;
}

export interface StkAuctionOParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly trade_date?: Days;
  readonly ts_type?: Texts;
  readonly time?: Texts;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Closing call auction. */
export interface StkAuctionCRow {
  /** Security code: a stock, an ETF or an index. */
  readonly ts_code: string;
  /** Trading date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Type (STK or ETF). */
  readonly ts_type: string | null;
  /** Time. */
  readonly time: string | null;
  /** Price, in currency units. */
  readonly price: number | null;
  /** Volume. */
  readonly vol: number | null;
  /** Turnover. */
  readonly amount: number | null;
  /** Previous close, in currency units. */
  readonly pre_close: number | null;
}

export interface StkAuctionCParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly trade_date?: Days;
  readonly ts_type?: Texts;
  readonly time?: Texts;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Call-auction trades. */
export interface StkAuctionRow {
  /** Security code: a stock, an ETF or an index. */
  readonly ts_code: string;
  /** Trading date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Type (STK or ETF). */
  readonly ts_type: string | null;
  /** Time. */
  readonly time: string | null;
  /** Price, in currency units. */
  readonly price: number | null;
  /** Volume. */
  readonly vol: number | null;
  /** Turnover. */
  readonly amount: number | null;
  /** Previous close, in currency units. */
  readonly pre_close: number | null;
}

export interface StkAuctionParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly trade_date?: Days;
  readonly ts_type?: Texts;
  readonly time?: Texts;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Indices. */
export interface IndexBasicRow {
  /** Index code. */
  readonly ts_code: string;
  /** Index name. */
  readonly name: string | null;
  /** Market; only SSE, SZSE and CSI occur. */
  readonly market: string | null;
  /** Publisher. */
  readonly publisher: string | null;
  /** Category. */
  readonly category: string | null;
  /** Base date, `YYYYMMDD`. */
  readonly base_date: string | null;
  /** Base point, in points. */
  readonly base_point: number | null;
  /** Listing date, `YYYYMMDD`. */
  readonly list_date: string | null;
}

export interface IndexBasicParams {
  readonly ts_code?: Texts;
  readonly name?: Texts;
  readonly market?: Texts;
  readonly publisher?: Texts;
  readonly category?: Texts;
  readonly base_date?: Days;
  readonly list_date?: Days;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Daily index levels. */
export interface IndexDailyRow {
  /** Index code. */
  readonly ts_code: string;
  /** Trading date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Close level, in points. */
  readonly close: number | null;
  /** Open level, in points. */
  readonly open: number | null;
  /** High level, in points. */
  readonly high: number | null;
  /** Low level, in points. */
  readonly low: number | null;
  /** Previous close level, in points. */
  readonly pre_close: number | null;
  /** Change in points. */
  readonly change: number | null;
  /** Change in percent. */
  readonly pct_chg: number | null;
  /** Volume, in lots. */
  readonly vol: number | null;
  /** Turnover, in thousand currency units. */
  readonly amount: number | null;
}

export interface IndexDailyParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly trade_date?: Days;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Index weights. */
export interface IndexWeightRow {
  /** Index code. */
  readonly index_code: string;
  /** Constituent stock code. */
  readonly con_code: string;
  /** Trading date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Weight, in percent. */
  readonly weight: number | null;
}

export interface IndexWeightParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly index_code?: Texts;
  readonly con_code?: Texts;
  readonly trade_date?: Days;
  readonly latest?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Industry classification. */
export interface IndexClassifyRow {
  /** Industry index code. */
  readonly index_code: string;
  /** Industry name. */
  readonly industry_name: string | null;
  /** Level: L1, L2 or L3. */
  readonly level: string | null;
  /** Industry code. */
  readonly industry_code: string | null;
  /** Whether published. */
  readonly is_pub: string | null;
  /** Parent code. */
  readonly parent_code: string | null;
  /** Classification source. */
  readonly src: string | null;
}

export interface IndexClassifyParams {
  readonly index_code?: Texts;
  readonly industry_name?: Texts;
  readonly level?: Texts;
  readonly industry_code?: Texts;
  readonly is_pub?: Texts;
  readonly parent_code?: Texts;
  readonly src?: Texts;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Industry constituents. */
export interface IndexMemberRow {
  /** Industry index code. */
  readonly index_code: string;
  /** Constituent stock code. */
  readonly con_code: string;
  /** Inclusion date, `YYYYMMDD`. */
  readonly in_date: string;
  /** Removal date; null means the stock is still a constituent, `YYYYMMDD`. */
  readonly out_date: string | null;
  /** Whether newly included. */
  readonly is_new: string | null;
}

export interface IndexMemberParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly index_code?: Texts;
  readonly con_code?: Texts;
  readonly in_date?: Days;
  readonly out_date?: Days;
  readonly is_new?: Texts;
  /** `as_of` gives what was announced on or before that day, by in_date. */
  readonly as_of?: Days;
  readonly as_of_days?: "month_end" | "week_end";
  readonly as_of_start?: Day;
  readonly as_of_end?: Day;
  readonly latest?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Stock list. */
export interface StockListRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Stock name. */
  readonly name: string | null;
  /** Listing date, `YYYYMMDD`. */
  readonly list_date: string | null;
  /** Delisting date; null means not delisted, `YYYYMMDD`. */
  readonly delist_date: string | null;
  /** Snapshot date, `YYYYMMDD`. */
  readonly snapshot_date: string;
}

export interface StockListParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly name?: Texts;
  readonly list_date?: Days;
  readonly delist_date?: Days;
  readonly snapshot_date?: Days;
  /** `as_of` gives the latest snapshot on or before that day. */
  readonly as_of?: Days;
  readonly as_of_days?: "month_end" | "week_end";
  readonly as_of_start?: Day;
  readonly as_of_end?: Day;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Companies. */
export interface StockCompanyRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Chairman. */
  readonly chairman: string | null;
  /** General manager. */
  readonly manager: string | null;
  /** Registered capital, in ten thousand currency units. */
  readonly reg_capital: number | null;
  /** Establishment date, `YYYYMMDD`. */
  readonly setup_date: string | null;
  /** Province of registration. */
  readonly province: string | null;
}

export interface StockCompanyParams {
  readonly ts_code?: Texts;
  readonly chairman?: Texts;
  readonly manager?: Texts;
  readonly setup_date?: Days;
  readonly province?: Texts;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Name changes. */
export interface NamechangeRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Former name. */
  readonly name: string;
  /** First effective day, `YYYYMMDD`. */
  readonly start_date: string;
  /** Last effective day; null means still in effect, `YYYYMMDD`. */
  readonly end_date: string | null;
  /** Announcement date, `YYYYMMDD`. */
  readonly ann_date: string | null;
  /** Reason for the change. */
  readonly change_reason: string | null;
}

export interface NamechangeParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly name?: Texts;
  readonly ann_date?: Days;
  readonly change_reason?: Texts;
  /** `as_of` gives what was announced on or before that day, by ann_date, else start_date. */
  readonly as_of?: Days;
  readonly as_of_days?: "month_end" | "week_end";
  readonly as_of_start?: Day;
  readonly as_of_end?: Day;
  readonly latest?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Trading calendar. */
export interface TradeCalRow {
  /** Exchange. */
  readonly exchange: string;
  /** Calendar date, `YYYYMMDD`. */
  readonly cal_date: string;
  /** 1 = open, 0 = closed. */
  readonly is_open: number;
  /** Previous trading day, `YYYYMMDD`. */
  readonly pretrade_date: string | null;
}

export interface TradeCalParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly exchange?: Texts;
  readonly cal_date?: Days;
  readonly is_open?: Ints;
  readonly pretrade_date?: Days;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Research reports. */
export interface ResearchReportRow {
  /** Publication date, `YYYYMMDD`. */
  readonly trade_date: string;
  /** Abstract. */
  readonly abstr: string | null;
  /** Report title. */
  readonly title: string;
  /** Report type. */
  readonly report_type: string | null;
  /** Author. */
  readonly author: string | null;
  /** Stock name. */
  readonly name: string | null;
  /** Stock code; null where the report is not about one stock. */
  readonly ts_code: string | null;
  /** Institution name. */
  readonly inst_csname: string | null;
  /** Industry name. */
  readonly ind_name: string | null;
  /** Link to the original. */
  readonly url: string | null;
}

export interface ResearchReportParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly trade_date?: Days;
  readonly abstr?: Texts;
  readonly title?: Texts;
  readonly report_type?: Texts;
  readonly author?: Texts;
  readonly name?: Texts;
  readonly ts_code?: Texts;
  readonly inst_csname?: Texts;
  readonly ind_name?: Texts;
  readonly url?: Texts;
  /** `as_of` gives what was announced on or before that day, by trade_date. */
  readonly as_of?: Days;
  readonly as_of_days?: "month_end" | "week_end";
  readonly as_of_start?: Day;
  readonly as_of_end?: Day;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Announcements. */
export interface AnnsDRow {
  /** Announcement date, `YYYYMMDD`. */
  readonly ann_date: string;
  /** Stock code, with or without suffix. */
  readonly ts_code: string;
  /** Stock name. */
  readonly name: string | null;
  /** Announcement title. */
  readonly title: string;
  /** Announcement link. */
  readonly url: string | null;
  /** Time the record was collected. */
  readonly rec_time: string | null;
}

export interface AnnsDParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ann_date?: Days;
  readonly ts_code?: Texts;
  readonly name?: Texts;
  readonly title?: Texts;
  readonly url?: Texts;
  readonly rec_time?: Texts;
  /** `as_of` gives what was announced on or before that day, by ann_date. */
  readonly as_of?: Days;
  readonly as_of_days?: "month_end" | "week_end";
  readonly as_of_start?: Day;
  readonly as_of_end?: Day;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Income statements. */
export interface IncomeRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Announcement date, `YYYYMMDD`. */
  readonly ann_date: string;
  /** Actual announcement date, of this revision, `YYYYMMDD`. */
  readonly f_ann_date: string | null;
  /** Last day of the reporting period, `YYYYMMDD`. */
  readonly end_date: string;
  /** Report type: 1 consolidated, 2 consolidated single quarter, ... 12. */
  readonly report_type: string | null;
  /** Company type: 1 general, 2 bank, 3 insurance, 4 securities. */
  readonly comp_type: string | null;
  /** Kind of period: 1 first quarter, 2 half year, 3 third quarter, 4 year. */
  readonly end_type: string | null;
  /** Basic earnings per share, in yuan per share. */
  readonly basic_eps: number | null;
  /** Diluted earnings per share, in yuan per share. */
  readonly diluted_eps: number | null;
  /** Total operating revenue, in yuan. */
  readonly total_revenue: number | null;
  /** Operating revenue, in yuan. */
  readonly revenue: number | null;
  /** Interest income, in yuan. */
  readonly int_income: number | null;
  /** Premiums earned, in yuan. */
  readonly prem_earned: number | null;
  /** Fee and commission income, in yuan. */
  readonly comm_income: number | null;
  /** Net fee and commission income, in yuan. */
  readonly n_commis_income: number | null;
  /** Other net operating income, in yuan. */
  readonly n_oth_income: number | null;
  /** Net income of other business, in yuan. */
  readonly n_oth_b_income: number | null;
  /** Insurance premium income, in yuan. */
  readonly prem_income: number | null;
  /** Premiums ceded, in yuan. */
  readonly out_prem: number | null;
  /** Change in unearned premium reserve, in yuan. */
  readonly une_prem_reser: number | null;
  /** Reinsurance premium income, in yuan. */
  readonly reins_income: number | null;
  /** Net income of securities brokerage, in yuan. */
  readonly n_sec_tb_income: number | null;
  /** Net income of securities underwriting, in yuan. */
  readonly n_sec_uw_income: number | null;
  /** Net income of asset management for clients, in yuan. */
  readonly n_asset_mg_income: number | null;
  /** Other business income, in yuan. */
  readonly oth_b_income: number | null;
  /** Net gain from changes in fair value, in yuan. */
  readonly fv_value_chg_gain: number | null;
  /** Net investment income, in yuan. */
  readonly invest_income: number | null;
  /** Investment income from associates and joint ventures, in yuan. */
  readonly ass_invest_income: number | null;
  /** Net exchange gain, in yuan. */
  readonly forex_gain: number | null;
  /** Total operating cost, in yuan. */
  readonly total_cogs: number | null;
  /** Operating cost, in yuan. */
  readonly oper_cost: number | null;
  /** Interest expense, in yuan. */
  readonly int_exp: number | null;
  /** Fee and commission expense, in yuan. */
  readonly comm_exp: number | null;
  /** Business tax and surcharges, in yuan. */
  readonly biz_tax_surchg: number | null;
  /** Selling expense, in yuan. */
  readonly sell_exp: number | null;
  /** Administrative expense, in yuan. */
  readonly admin_exp: number | null;
  /** Financial expense, in yuan. */
  readonly fin_exp: number | null;
  /** Asset impairment loss, in yuan. */
  readonly assets_impair_loss: number | null;
  /** Surrender payments, in yuan. */
  readonly prem_refund: number | null;
  /** Total claims paid, in yuan. */
  readonly compens_payout: number | null;
  /** Change in insurance liability reserve, in yuan. */
  readonly reser_insur_liab: number | null;
  /** Policy dividends, in yuan. */
  readonly div_payt: number | null;
  /** Reinsurance expense, in yuan. */
  readonly reins_exp: number | null;
  /** Operating expense, in yuan. */
  readonly oper_exp: number | null;
  /** Claims recovered from reinsurers, in yuan. */
  readonly compens_payout_refu: number | null;
  /** Insurance liability reserve recovered from reinsurers, in yuan. */
  readonly insur_reser_refu: number | null;
  /** Reinsurance expense recovered, in yuan. */
  readonly reins_cost_refund: number | null;
  /** Other business cost, in yuan. */
  readonly other_bus_cost: number | null;
  /** Operating profit, in yuan. */
  readonly operate_profit: number | null;
  /** Non-operating income, in yuan. */
  readonly non_oper_income: number | null;
  /** Non-operating expense, in yuan. */
  readonly non_oper_exp: number | null;
  /** Net loss on disposal of non-current assets, in yuan. */
  readonly nca_disploss: number | null;
  /** Profit before tax, in yuan. */
  readonly total_profit: number | null;
  /** Income tax, in yuan. */
  readonly income_tax: number | null;
  /** Net profit, minority interest included, in yuan. */
  readonly n_income: number | null;
  /** Net profit attributable to the parent's shareholders, in yuan. */
  readonly n_income_attr_p: number | null;
  /** Profit of minority shareholders, in yuan. */
  readonly minority_gain: number | null;
  /** Other comprehensive income, in yuan. */
  readonly oth_compr_income: number | null;
  /** Total comprehensive income, in yuan. */
  readonly t_compr_income: number | null;
  /** Comprehensive income attributable to the parent's shareholders, in yuan. */
  readonly compr_inc_attr_p: number | null;
  /** Comprehensive income attributable to minority shareholders, in yuan. */
  readonly compr_inc_attr_m_s: number | null;
  /** Earnings before interest and tax, in yuan. */
  readonly ebit: number | null;
  /** Earnings before interest, tax, depreciation and amortisation, in yuan. */
  readonly ebitda: number | null;
  /** Insurance business expense, in yuan. */
  readonly insurance_exp: number | null;
  /** Undistributed profit at the start of the year, in yuan. */
  readonly undist_profit: number | null;
  /** Distributable profit, in yuan. */
  readonly distable_profit: number | null;
  /** Research and development expense, in yuan. */
  readonly rd_exp: number | null;
  /** Financial expense: interest expense, in yuan. */
  readonly fin_exp_int_exp: number | null;
  /** Financial expense: interest income, in yuan. */
  readonly fin_exp_int_inc: number | null;
  /** Transfer from surplus reserve, in yuan. */
  readonly transfer_surplus_rese: number | null;
  /** Transfer from housing fund, in yuan. */
  readonly transfer_housing_imprest: number | null;
  /** Other transfers, in yuan. */
  readonly transfer_oth: number | null;
  /** Adjustment of profit of earlier years, in yuan. */
  readonly adj_lossgain: number | null;
  /** Appropriation to statutory surplus reserve, in yuan. */
  readonly withdra_legal_surplus: number | null;
  /** Appropriation to statutory welfare fund, in yuan. */
  readonly withdra_legal_pubfund: number | null;
  /** Appropriation to enterprise development fund, in yuan. */
  readonly withdra_biz_devfund: number | null;
  /** Appropriation to reserve fund, in yuan. */
  readonly withdra_rese_fund: number | null;
  /** Appropriation to discretionary surplus reserve, in yuan. */
  readonly withdra_oth_ersu: number | null;
  /** Bonus and welfare of employees, in yuan. */
  readonly workers_welfare: number | null;
  /** Profit distributable to shareholders, in yuan. */
  readonly distr_profit_shrhder: number | null;
  /** Dividends payable on preferred shares, in yuan. */
  readonly prfshare_payable_dvd: number | null;
  /** Dividends payable on ordinary shares, in yuan. */
  readonly comshare_payable_dvd: number | null;
  /** Ordinary dividends converted into share capital, in yuan. */
  readonly capit_comstock_div: number | null;
  /** Net profit less non-recurring items, before correction, in yuan. */
  readonly net_after_nr_lp_correct: number | null;
  /** Credit impairment loss, in yuan. */
  readonly credit_impa_loss: number | null;
  /** Net gain from hedging of net exposure, in yuan. */
  readonly net_expo_hedging_benefits: number | null;
  /** Other asset impairment loss, in yuan. */
  readonly oth_impair_loss_assets: number | null;
  /** Total operating cost, second definition, in yuan. */
  readonly total_opcost: number | null;
  /** Gain from derecognition of financial assets at amortised cost, in yuan. */
  readonly amodcost_fin_assets: number | null;
  /** Other income, in yuan. */
  readonly oth_income: number | null;
  /** Gain from asset disposal, in yuan. */
  readonly asset_disp_income: number | null;
  /** Net profit of continuing operations, in yuan. */
  readonly continued_net_profit: number | null;
  /** Net profit of discontinued operations, in yuan. */
  readonly end_net_profit: number | null;
  /** 1 for the newest revision. */
  readonly update_flag: string | null;
}

export interface IncomeParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly ann_date?: Days;
  readonly f_ann_date?: Days;
  readonly report_type?: Texts;
  readonly comp_type?: Texts;
  readonly end_type?: Texts;
  readonly update_flag?: Texts;
  readonly period?: Days;
  /** `as_of` gives what was announced on or before that day, by f_ann_date, else ann_date. */
  readonly as_of?: Days;
  readonly as_of_days?: "month_end" | "week_end";
  readonly as_of_start?: Day;
  readonly as_of_end?: Day;
  readonly latest?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Balance sheets. */
export interface BalancesheetRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Announcement date, `YYYYMMDD`. */
  readonly ann_date: string;
  /** Actual announcement date, of this revision, `YYYYMMDD`. */
  readonly f_ann_date: string | null;
  /** Last day of the reporting period, `YYYYMMDD`. */
  readonly end_date: string;
  /** Report type: 1 consolidated, 2 consolidated single quarter, ... 12. */
  readonly report_type: string | null;
  /** Company type: 1 general, 2 bank, 3 insurance, 4 securities. */
  readonly comp_type: string | null;
  /** Kind of period: 1 first quarter, 2 half year, 3 third quarter, 4 year. */
  readonly end_type: string | null;
  /** Share capital at the end of the period, in shares. */
  readonly total_share: number | null;
  /** Capital reserve, in yuan. */
  readonly cap_rese: number | null;
  /** Undistributed profit, in yuan. */
  readonly undistr_porfit: number | null;
  /** Surplus reserve, in yuan. */
  readonly surplus_rese: number | null;
  /** Special reserve, in yuan. */
  readonly special_rese: number | null;
  /** Cash and deposits, in yuan. */
  readonly money_cap: number | null;
  /** Financial assets held for trading, in yuan. */
  readonly trad_asset: number | null;
  /** Notes receivable, in yuan. */
  readonly notes_receiv: number | null;
  /** Accounts receivable, in yuan. */
  readonly accounts_receiv: number | null;
  /** Other receivables, in yuan. */
  readonly oth_receiv: number | null;
  /** Prepayments, in yuan. */
  readonly prepayment: number | null;
  /** Dividends receivable, in yuan. */
  readonly div_receiv: number | null;
  /** Interest receivable, in yuan. */
  readonly int_receiv: number | null;
  /** Inventories, in yuan. */
  readonly inventories: number | null;
  /** Deferred expenses, in yuan. */
  readonly amor_exp: number | null;
  /** Non-current assets due within one year, in yuan. */
  readonly nca_within_1y: number | null;
  /** Settlement reserve, in yuan. */
  readonly sett_rsrv: number | null;
  /** Loans to banks and other financial institutions, in yuan. */
  readonly loanto_oth_bank_fi: number | null;
  /** Premiums receivable, in yuan. */
  readonly premium_receiv: number | null;
  /** Reinsurance receivables, in yuan. */
  readonly reinsur_receiv: number | null;
  /** Reinsurance contract reserve receivable, in yuan. */
  readonly reinsur_res_receiv: number | null;
  /** Financial assets bought for resale, in yuan. */
  readonly pur_resale_fa: number | null;
  /** Other current assets, in yuan. */
  readonly oth_cur_assets: number | null;
  /** Total current assets, in yuan. */
  readonly total_cur_assets: number | null;
  /** Financial assets available for sale, in yuan. */
  readonly fa_avail_for_sale: number | null;
  /** Investments held to maturity, in yuan. */
  readonly htm_invest: number | null;
  /** Long-term equity investments, in yuan. */
  readonly lt_eqt_invest: number | null;
  /** Investment property, in yuan. */
  readonly invest_real_estate: number | null;
  /** Time deposits, in yuan. */
  readonly time_deposits: number | null;
  /** Other assets, in yuan. */
  readonly oth_assets: number | null;
  /** Long-term receivables, in yuan. */
  readonly lt_rec: number | null;
  /** Fixed assets, in yuan. */
  readonly fix_assets: number | null;
  /** Construction in progress, in yuan. */
  readonly cip: number | null;
  /** Construction materials, in yuan. */
  readonly const_materials: number | null;
  /** Disposal of fixed assets, in yuan. */
  readonly fixed_assets_disp: number | null;
  /** Productive biological assets, in yuan. */
  readonly produc_bio_assets: number | null;
  /** Oil and gas assets, in yuan. */
  readonly oil_and_gas_assets: number | null;
  /** Intangible assets, in yuan. */
  readonly intan_assets: number | null;
  /** Development expenditure, in yuan. */
  readonly r_and_d: number | null;
  /** Goodwill, in yuan. */
  readonly goodwill: number | null;
  /** Long-term deferred expenses, in yuan. */
  readonly lt_amor_exp: number | null;
  /** Deferred tax assets, in yuan. */
  readonly defer_tax_assets: number | null;
  /** Loans and advances granted, in yuan. */
  readonly decr_in_disbur: number | null;
  /** Other non-current assets, in yuan. */
  readonly oth_nca: number | null;
  /** Total non-current assets, in yuan. */
  readonly total_nca: number | null;
  /** Cash and deposits with the central bank, in yuan. */
  readonly cash_reser_cb: number | null;
  /** Deposits with banks and other financial institutions, in yuan. */
  readonly depos_in_oth_bfi: number | null;
  /** Precious metals, in yuan. */
  readonly prec_metals: number | null;
  /** Derivative assets, in yuan. */
  readonly deriv_assets: number | null;
  /** Reinsurers' share of unearned premium reserve, in yuan. */
  readonly rr_reins_une_prem: number | null;
  /** Reinsurers' share of outstanding claims reserve, in yuan. */
  readonly rr_reins_outstd_cla: number | null;
  /** Reinsurers' share of life insurance reserve, in yuan. */
  readonly rr_reins_lins_liab: number | null;
  /** Reinsurers' share of long-term health insurance reserve, in yuan. */
  readonly rr_reins_lthins_liab: number | null;
  /** Refundable deposits paid, in yuan. */
  readonly refund_depos: number | null;
  /** Policy loans, in yuan. */
  readonly ph_pledge_loans: number | null;
  /** Statutory capital deposits paid, in yuan. */
  readonly refund_cap_depos: number | null;
  /** Separate account assets, in yuan. */
  readonly indep_acct_assets: number | null;
  /** Deposits of clients' funds, in yuan. */
  readonly client_depos: number | null;
  /** Settlement reserve of clients, in yuan. */
  readonly client_prov: number | null;
  /** Exchange seat fees, in yuan. */
  readonly transac_seat_fee: number | null;
  /** Investments classified as receivables, in yuan. */
  readonly invest_as_receiv: number | null;
  /** Total assets, in yuan. */
  readonly total_assets: number | null;
  /** Long-term borrowings, in yuan. */
  readonly lt_borr: number | null;
  /** Short-term borrowings, in yuan. */
  readonly st_borr: number | null;
  /** Borrowings from the central bank, in yuan. */
  readonly cb_borr: number | null;
  /** Customer and interbank deposits taken, in yuan. */
  readonly depos_ib_deposits: number | null;
  /** Borrowings from banks and other financial institutions, in yuan. */
  readonly loan_oth_bank: number | null;
  /** Financial liabilities held for trading, in yuan. */
  readonly trading_fl: number | null;
  /** Notes payable, in yuan. */
  readonly notes_payable: number | null;
  /** Accounts payable, in yuan. */
  readonly acct_payable: number | null;
  /** Advances from customers, in yuan. */
  readonly adv_receipts: number | null;
  /** Financial assets sold for repurchase, in yuan. */
  readonly sold_for_repur_fa: number | null;
  /** Fees and commissions payable, in yuan. */
  readonly comm_payable: number | null;
  /** Payroll payable, in yuan. */
  readonly payroll_payable: number | null;
  /** Taxes payable, in yuan. */
  readonly taxes_payable: number | null;
  /** Interest payable, in yuan. */
  readonly int_payable: number | null;
  /** Dividends payable, in yuan. */
  readonly div_payable: number | null;
  /** Other payables, in yuan. */
  readonly oth_payable: number | null;
  /** Accrued expenses, in yuan. */
  readonly acc_exp: number | null;
  /** Deferred income, in yuan. */
  readonly deferred_inc: number | null;
  /** Short-term bonds payable, in yuan. */
  readonly st_bonds_payable: number | null;
  /** Payables to reinsurers, in yuan. */
  readonly payable_to_reinsurer: number | null;
  /** Insurance contract reserve, in yuan. */
  readonly rsrv_insur_cont: number | null;
  /** Client money of securities brokerage, in yuan. */
  readonly acting_trading_sec: number | null;
  /** Client money of securities underwriting, in yuan. */
  readonly acting_uw_sec: number | null;
  /** Non-current liabilities due within one year, in yuan. */
  readonly non_cur_liab_due_1y: number | null;
  /** Other current liabilities, in yuan. */
  readonly oth_cur_liab: number | null;
  /** Total current liabilities, in yuan. */
  readonly total_cur_liab: number | null;
  /** Bonds payable, in yuan. */
  readonly bond_payable: number | null;
  /** Long-term payables, in yuan. */
  readonly lt_payable: number | null;
  /** Special payables, in yuan. */
  readonly specific_payables: number | null;
  /** Provisions, in yuan. */
  readonly estimated_liab: number | null;
  /** Deferred tax liabilities, in yuan. */
  readonly defer_tax_liab: number | null;
  /** Deferred income, non-current, in yuan. */
  readonly defer_inc_non_cur_liab: number | null;
  /** Other non-current liabilities, in yuan. */
  readonly oth_ncl: number | null;
  /** Total non-current liabilities, in yuan. */
  readonly total_ncl: number | null;
  /** Deposits from banks and other financial institutions, in yuan. */
  readonly depos_oth_bfi: number | null;
  /** Derivative liabilities, in yuan. */
  readonly deriv_liab: number | null;
  /** Customer deposits, in yuan. */
  readonly depos: number | null;
  /** Agency business liabilities, in yuan. */
  readonly agency_bus_liab: number | null;
  /** Other liabilities, in yuan. */
  readonly oth_liab: number | null;
  /** Premiums received in advance, in yuan. */
  readonly prem_receiv_adva: number | null;
  /** Refundable deposits received, in yuan. */
  readonly depos_received: number | null;
  /** Policyholders' deposits and investments, in yuan. */
  readonly ph_invest: number | null;
  /** Unearned premium reserve, in yuan. */
  readonly reser_une_prem: number | null;
  /** Outstanding claims reserve, in yuan. */
  readonly reser_outstd_claims: number | null;
  /** Life insurance reserve, in yuan. */
  readonly reser_lins_liab: number | null;
  /** Long-term health insurance reserve, in yuan. */
  readonly reser_lthins_liab: number | null;
  /** Separate account liabilities, in yuan. */
  readonly indept_acc_liab: number | null;
  /** Pledged borrowings, in yuan. */
  readonly pledge_borr: number | null;
  /** Claims payable, in yuan. */
  readonly indem_payable: number | null;
  /** Policy dividends payable, in yuan. */
  readonly policy_div_payable: number | null;
  /** Total liabilities, in yuan. */
  readonly total_liab: number | null;
  /** Treasury shares, deducted, in yuan. */
  readonly treasury_share: number | null;
  /** General risk reserve, in yuan. */
  readonly ordin_risk_reser: number | null;
  /** Translation difference of foreign currency statements, in yuan. */
  readonly forex_differ: number | null;
  /** Unrecognised investment losses, in yuan. */
  readonly invest_loss_unconf: number | null;
  /** Minority interest, in yuan. */
  readonly minority_int: number | null;
  /** Shareholders' equity, minority interest excluded, in yuan. */
  readonly total_hldr_eqy_exc_min_int: number | null;
  /** Shareholders' equity, minority interest included, in yuan. */
  readonly total_hldr_eqy_inc_min_int: number | null;
  /** Total liabilities and shareholders' equity, in yuan. */
  readonly total_liab_hldr_eqy: number | null;
  /** Long-term payroll payable, in yuan. */
  readonly lt_payroll_payable: number | null;
  /** Other comprehensive income, in yuan. */
  readonly oth_comp_income: number | null;
  /** Other equity instruments, in yuan. */
  readonly oth_eqt_tools: number | null;
  /** Other equity instruments: preferred shares, in yuan. */
  readonly oth_eqt_tools_p_shr: number | null;
  /** Funds lent for margin trading, in yuan. */
  readonly lending_funds: number | null;
  /** Receivables, in yuan. */
  readonly acc_receivable: number | null;
  /** Short-term financing payable, in yuan. */
  readonly st_fin_payable: number | null;
  /** Payables, in yuan. */
  readonly payables: number | null;
  /** Assets held for sale, in yuan. */
  readonly hfs_assets: number | null;
  /** Liabilities held for sale, in yuan. */
  readonly hfs_sales: number | null;
  /** Financial assets at amortised cost, in yuan. */
  readonly cost_fin_assets: number | null;
  /** Financial assets at fair value through other comprehensive income, in yuan. */
  readonly fair_value_fin_assets: number | null;
  /** Construction in progress, total, in yuan. */
  readonly cip_total: number | null;
  /** Other payables, total, in yuan. */
  readonly oth_pay_total: number | null;
  /** Long-term payables, total, in yuan. */
  readonly long_pay_total: number | null;
  /** Debt investments, in yuan. */
  readonly debt_invest: number | null;
  /** Other debt investments, in yuan. */
  readonly oth_debt_invest: number | null;
  /** Other equity instrument investments, in yuan. */
  readonly oth_eq_invest: number | null;
  /** Other non-current financial assets, in yuan. */
  readonly oth_illiq_fin_assets: number | null;
  /** Other equity instruments: perpetual bonds, in yuan. */
  readonly oth_eq_ppbond: number | null;
  /** Receivables held for financing, in yuan. */
  readonly receiv_financing: number | null;
  /** Right-of-use assets, in yuan. */
  readonly use_right_assets: number | null;
  /** Lease liabilities, in yuan. */
  readonly lease_liab: number | null;
  /** Contract assets, in yuan. */
  readonly contract_assets: number | null;
  /** Contract liabilities, in yuan. */
  readonly contract_liab: number | null;
  /** Notes and accounts receivable, in yuan. */
  readonly accounts_receiv_bill: number | null;
  /** Notes and accounts payable, in yuan. */
  readonly accounts_pay: number | null;
  /** Other receivables, total, in yuan. */
  readonly oth_rcv_total: number | null;
  /** Fixed assets, total, in yuan. */
  readonly fix_assets_total: number | null;
  /** 1 for the newest revision. */
  readonly update_flag: string | null;
}

export interface BalancesheetParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly ann_date?: Days;
  readonly f_ann_date?: Days;
  readonly report_type?: Texts;
  readonly comp_type?: Texts;
  readonly end_type?: Texts;
  readonly update_flag?: Texts;
  readonly period?: Days;
  /** `as_of` gives what was announced on or before that day, by f_ann_date, else ann_date. */
  readonly as_of?: Days;
  readonly as_of_days?: "month_end" | "week_end";
  readonly as_of_start?: Day;
  readonly as_of_end?: Day;
  readonly latest?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Cash flow statements. */
export interface CashflowRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Announcement date, `YYYYMMDD`. */
  readonly ann_date: string;
  /** Actual announcement date, of this revision, `YYYYMMDD`. */
  readonly f_ann_date: string | null;
  /** Last day of the reporting period, `YYYYMMDD`. */
  readonly end_date: string;
  /** Company type: 1 general, 2 bank, 3 insurance, 4 securities. */
  readonly comp_type: string | null;
  /** Report type: 1 consolidated, 2 consolidated single quarter, ... 12. */
  readonly report_type: string | null;
  /** Kind of period: 1 first quarter, 2 half year, 3 third quarter, 4 year. */
  readonly end_type: string | null;
  /** Net profit, in yuan. */
  readonly net_profit: number | null;
  /** Financial expense, in yuan. */
  readonly finan_exp: number | null;
  /** Cash from sales of goods and services, in yuan. */
  readonly c_fr_sale_sg: number | null;
  /** Tax refunds received, in yuan. */
  readonly recp_tax_rends: number | null;
  /** Net increase in customer and interbank deposits, in yuan. */
  readonly n_depos_incr_fi: number | null;
  /** Net increase in borrowings from the central bank, in yuan. */
  readonly n_incr_loans_cb: number | null;
  /** Net increase in borrowings from other financial institutions, in yuan. */
  readonly n_inc_borr_oth_fi: number | null;
  /** Cash from premiums of direct insurance, in yuan. */
  readonly prem_fr_orig_contr: number | null;
  /** Net increase in policyholders' deposits, in yuan. */
  readonly n_incr_insured_dep: number | null;
  /** Net cash from reinsurance, in yuan. */
  readonly n_reinsur_prem: number | null;
  /** Net increase from disposal of trading financial assets, in yuan. */
  readonly n_incr_disp_tfa: number | null;
  /** Net increase in interest, fees and commissions received, in yuan. */
  readonly ifc_cash_incr: number | null;
  /** Net increase from disposal of financial assets available for sale, in yuan. */
  readonly n_incr_disp_faas: number | null;
  /** Net increase in interbank borrowings, in yuan. */
  readonly n_incr_loans_oth_bank: number | null;
  /** Net increase in repurchase funds, in yuan. */
  readonly n_cap_incr_repur: number | null;
  /** Other cash from operating activities, in yuan. */
  readonly c_fr_oth_operate_a: number | null;
  /** Cash inflow from operating activities, subtotal, in yuan. */
  readonly c_inf_fr_operate_a: number | null;
  /** Cash paid for goods and services, in yuan. */
  readonly c_paid_goods_s: number | null;
  /** Cash paid to and for employees, in yuan. */
  readonly c_paid_to_for_empl: number | null;
  /** Taxes paid, in yuan. */
  readonly c_paid_for_taxes: number | null;
  /** Net increase in loans and advances to customers, in yuan. */
  readonly n_incr_clt_loan_adv: number | null;
  /** Net increase in deposits with the central bank and other banks, in yuan. */
  readonly n_incr_dep_cbob: number | null;
  /** Cash paid for claims of direct insurance, in yuan. */
  readonly c_pay_claims_orig_inco: number | null;
  /** Cash paid for fees and commissions, in yuan. */
  readonly pay_handling_chrg: number | null;
  /** Cash paid for policy dividends, in yuan. */
  readonly pay_comm_insur_plcy: number | null;
  /** Other cash paid for operating activities, in yuan. */
  readonly oth_cash_pay_oper_act: number | null;
  /** Cash outflow from operating activities, subtotal, in yuan. */
  readonly st_cash_out_act: number | null;
  /** Net cash flow from operating activities, in yuan. */
  readonly n_cashflow_act: number | null;
  /** Other cash from investing activities, in yuan. */
  readonly oth_recp_ral_inv_act: number | null;
  /** Cash from investments recovered, in yuan. */
  readonly c_disp_withdrwl_invest: number | null;
  /** Cash from investment income, in yuan. */
  readonly c_recp_return_invest: number | null;
  /** Net cash from disposal of fixed, intangible and other long-term assets, in yuan. */
  readonly n_recp_disp_fiolta: number | null;
  /** Net cash from disposal of subsidiaries and other business units, in yuan. */
  readonly n_recp_disp_sobu: number | null;
  /** Cash inflow from investing activities, subtotal, in yuan. */
  readonly stot_inflows_inv_act: number | null;
  /** Cash paid for fixed, intangible and other long-term assets, in yuan. */
  readonly c_pay_acq_const_fiolta: number | null;
  /** Cash paid for investments, in yuan. */
  readonly c_paid_invest: number | null;
  /** Net cash paid for subsidiaries and other business units, in yuan. */
  readonly n_disp_subs_oth_biz: number | null;
  /** Other cash paid for investing activities, in yuan. */
  readonly oth_pay_ral_inv_act: number | null;
  /** Net increase in pledged loans, in yuan. */
  readonly n_incr_pledge_loan: number | null;
  /** Cash outflow from investing activities, subtotal, in yuan. */
  readonly stot_out_inv_act: number | null;
  /** Net cash flow from investing activities, in yuan. */
  readonly n_cashflow_inv_act: number | null;
  /** Cash from borrowings, in yuan. */
  readonly c_recp_borrow: number | null;
  /** Cash from bonds issued, in yuan. */
  readonly proc_issue_bonds: number | null;
  /** Other cash from financing activities, in yuan. */
  readonly oth_cash_recp_ral_fnc_act: number | null;
  /** Cash inflow from financing activities, subtotal, in yuan. */
  readonly stot_cash_in_fnc_act: number | null;
  /** Free cash flow to the firm, in yuan. */
  readonly free_cashflow: number | null;
  /** Cash paid to repay debt, in yuan. */
  readonly c_prepay_amt_borr: number | null;
  /** Cash paid for dividends, profits and interest, in yuan. */
  readonly c_pay_dist_dpcp_int_exp: number | null;
  /** Dividends and profits paid by subsidiaries to minority shareholders, in yuan. */
  readonly incl_dvd_profit_paid_sc_ms: number | null;
  /** Other cash paid for financing activities, in yuan. */
  readonly oth_cashpay_ral_fnc_act: number | null;
  /** Cash outflow from financing activities, subtotal, in yuan. */
  readonly stot_cashout_fnc_act: number | null;
  /** Net cash flow from financing activities, in yuan. */
  readonly n_cash_flows_fnc_act: number | null;
  /** Effect of exchange rates on cash, in yuan. */
  readonly eff_fx_flu_cash: number | null;
  /** Net increase in cash and cash equivalents, in yuan. */
  readonly n_incr_cash_cash_equ: number | null;
  /** Cash and cash equivalents at the start of the period, in yuan. */
  readonly c_cash_equ_beg_period: number | null;
  /** Cash and cash equivalents at the end of the period, in yuan. */
  readonly c_cash_equ_end_period: number | null;
  /** Cash from capital contributions, in yuan. */
  readonly c_recp_cap_contrib: number | null;
  /** Cash of subsidiaries from minority shareholders' contributions, in yuan. */
  readonly incl_cash_rec_saims: number | null;
  /** Unrecognised investment losses, in yuan. */
  readonly uncon_invest_loss: number | null;
  /** Provision for asset impairment, in yuan. */
  readonly prov_depr_assets: number | null;
  /** Depreciation of fixed, oil and gas and productive biological assets, in yuan. */
  readonly depr_fa_coga_dpba: number | null;
  /** Amortisation of intangible assets, in yuan. */
  readonly amort_intang_assets: number | null;
  /** Amortisation of long-term deferred expenses, in yuan. */
  readonly lt_amort_deferred_exp: number | null;
  /** Decrease in deferred expenses, in yuan. */
  readonly decr_deferred_exp: number | null;
  /** Increase in accrued expenses, in yuan. */
  readonly incr_acc_exp: number | null;
  /** Loss on disposal of fixed, intangible and other long-term assets, in yuan. */
  readonly loss_disp_fiolta: number | null;
  /** Loss on scrapping of fixed assets, in yuan. */
  readonly loss_scr_fa: number | null;
  /** Loss from changes in fair value, in yuan. */
  readonly loss_fv_chg: number | null;
  /** Investment loss, in yuan. */
  readonly invest_loss: number | null;
  /** Decrease in deferred tax assets, in yuan. */
  readonly decr_def_inc_tax_assets: number | null;
  /** Increase in deferred tax liabilities, in yuan. */
  readonly incr_def_inc_tax_liab: number | null;
  /** Decrease in inventories, in yuan. */
  readonly decr_inventories: number | null;
  /** Decrease in operating receivables, in yuan. */
  readonly decr_oper_payable: number | null;
  /** Increase in operating payables, in yuan. */
  readonly incr_oper_payable: number | null;
  /** Other, in yuan. */
  readonly others: number | null;
  /** Net cash flow from operating activities, indirect method, in yuan. */
  readonly im_net_cashflow_oper_act: number | null;
  /** Debt converted into capital, in yuan. */
  readonly conv_debt_into_cap: number | null;
  /** Convertible bonds due within one year, in yuan. */
  readonly conv_copbonds_due_within_1y: number | null;
  /** Fixed assets under finance leases, in yuan. */
  readonly fa_fnc_leases: number | null;
  /** Net increase in cash and cash equivalents, indirect method, in yuan. */
  readonly im_n_incr_cash_equ: number | null;
  /** Net increase in funds lent to other financial institutions, in yuan. */
  readonly net_dism_capital_add: number | null;
  /** Net cash received for securities brokerage, in yuan. */
  readonly net_cash_rece_sec: number | null;
  /** Credit impairment loss, in yuan. */
  readonly credit_impa_loss: number | null;
  /** Depreciation of right-of-use assets, in yuan. */
  readonly use_right_asset_dep: number | null;
  /** Other asset impairment loss, in yuan. */
  readonly oth_loss_asset: number | null;
  /** Cash at the end of the period, in yuan. */
  readonly end_bal_cash: number | null;
  /** Cash at the start of the period, in yuan. */
  readonly beg_bal_cash: number | null;
  /** Cash equivalents at the end of the period, in yuan. */
  readonly end_bal_cash_equ: number | null;
  /** Cash equivalents at the start of the period, in yuan. */
  readonly beg_bal_cash_equ: number | null;
  /** 1 for the newest revision. */
  readonly update_flag: string | null;
}

export interface CashflowParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly ann_date?: Days;
  readonly f_ann_date?: Days;
  readonly comp_type?: Texts;
  readonly report_type?: Texts;
  readonly end_type?: Texts;
  readonly update_flag?: Texts;
  readonly period?: Days;
  /** `as_of` gives what was announced on or before that day, by f_ann_date, else ann_date. */
  readonly as_of?: Days;
  readonly as_of_days?: "month_end" | "week_end";
  readonly as_of_start?: Day;
  readonly as_of_end?: Day;
  readonly latest?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Financial indicators. */
export interface FinaIndicatorRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Announcement date, `YYYYMMDD`. */
  readonly ann_date: string;
  /** Last day of the reporting period, `YYYYMMDD`. */
  readonly end_date: string;
  /** Basic earnings per share, in yuan per share. */
  readonly eps: number | null;
  /** Diluted earnings per share, in yuan per share. */
  readonly dt_eps: number | null;
  /** Total operating revenue per share, in yuan per share. */
  readonly total_revenue_ps: number | null;
  /** Operating revenue per share, in yuan per share. */
  readonly revenue_ps: number | null;
  /** Capital reserve per share, in yuan per share. */
  readonly capital_rese_ps: number | null;
  /** Surplus reserve per share, in yuan per share. */
  readonly surplus_rese_ps: number | null;
  /** Undistributed profit per share, in yuan per share. */
  readonly undist_profit_ps: number | null;
  /** Non-recurring profit and loss, in yuan. */
  readonly extra_item: number | null;
  /** Net profit less non-recurring items, in yuan. */
  readonly profit_dedt: number | null;
  /** Gross profit, in yuan. */
  readonly gross_margin: number | null;
  /** Current ratio. */
  readonly current_ratio: number | null;
  /** Quick ratio. */
  readonly quick_ratio: number | null;
  /** Conservative quick ratio. */
  readonly cash_ratio: number | null;
  /** Days of inventory turnover, in days. */
  readonly invturn_days: number | null;
  /** Days of receivables turnover, in days. */
  readonly arturn_days: number | null;
  /** Inventory turnover, in times. */
  readonly inv_turn: number | null;
  /** Receivables turnover, in times. */
  readonly ar_turn: number | null;
  /** Current assets turnover, in times. */
  readonly ca_turn: number | null;
  /** Fixed assets turnover, in times. */
  readonly fa_turn: number | null;
  /** Total assets turnover, in times. */
  readonly assets_turn: number | null;
  /** Net income from operating activities, in yuan. */
  readonly op_income: number | null;
  /** Net income from changes in value, in yuan. */
  readonly valuechange_income: number | null;
  /** Interest expense, in yuan. */
  readonly interst_income: number | null;
  /** Depreciation and amortisation, in yuan. */
  readonly daa: number | null;
  /** Earnings before interest and tax, in yuan. */
  readonly ebit: number | null;
  /** Earnings before interest, tax, depreciation and amortisation, in yuan. */
  readonly ebitda: number | null;
  /** Free cash flow to the firm, in yuan. */
  readonly fcff: number | null;
  /** Free cash flow to equity, in yuan. */
  readonly fcfe: number | null;
  /** Interest-free current liabilities, in yuan. */
  readonly current_exint: number | null;
  /** Interest-free non-current liabilities, in yuan. */
  readonly noncurrent_exint: number | null;
  /** Interest-bearing debt, in yuan. */
  readonly interestdebt: number | null;
  /** Net debt, in yuan. */
  readonly netdebt: number | null;
  /** Tangible assets, in yuan. */
  readonly tangible_asset: number | null;
  /** Working capital, in yuan. */
  readonly working_capital: number | null;
  /** Net operating working capital, in yuan. */
  readonly networking_capital: number | null;
  /** Total invested capital, in yuan. */
  readonly invest_capital: number | null;
  /** Retained earnings, in yuan. */
  readonly retained_earnings: number | null;
  /** Earnings per share on shares at the end of the period, in yuan per share. */
  readonly diluted2_eps: number | null;
  /** Net assets per share, in yuan per share. */
  readonly bps: number | null;
  /** Net operating cash flow per share, in yuan per share. */
  readonly ocfps: number | null;
  /** Retained earnings per share, in yuan per share. */
  readonly retainedps: number | null;
  /** Net cash flow per share, in yuan per share. */
  readonly cfps: number | null;
  /** Earnings before interest and tax per share, in yuan per share. */
  readonly ebit_ps: number | null;
  /** Free cash flow to the firm per share, in yuan per share. */
  readonly fcff_ps: number | null;
  /** Free cash flow to equity per share, in yuan per share. */
  readonly fcfe_ps: number | null;
  /** Net profit margin, in percent. */
  readonly netprofit_margin: number | null;
  /** Gross profit margin, in percent. */
  readonly grossprofit_margin: number | null;
  /** Cost of sales / sales, in percent. */
  readonly cogs_of_sales: number | null;
  /** Period expenses / sales, in percent. */
  readonly expense_of_sales: number | null;
  /** Net profit / total operating revenue, in percent. */
  readonly profit_to_gr: number | null;
  /** Selling expense / total operating revenue, in percent. */
  readonly saleexp_to_gr: number | null;
  /** Administrative expense / total operating revenue, in percent. */
  readonly adminexp_of_gr: number | null;
  /** Financial expense / total operating revenue, in percent. */
  readonly finaexp_of_gr: number | null;
  /** Asset impairment loss / total operating revenue, in percent. */
  readonly impai_ttm: number | null;
  /** Total operating cost / total operating revenue, in percent. */
  readonly gc_of_gr: number | null;
  /** Operating profit / total operating revenue, in percent. */
  readonly op_of_gr: number | null;
  /** Earnings before interest and tax / total operating revenue, in percent. */
  readonly ebit_of_gr: number | null;
  /** Return on equity, in percent. */
  readonly roe: number | null;
  /** Return on equity, weighted average, in percent. */
  readonly roe_waa: number | null;
  /** Return on equity, less non-recurring items, in percent. */
  readonly roe_dt: number | null;
  /** Return on total assets, before interest and tax, in percent. */
  readonly roa: number | null;
  /** Net profit / total assets, in percent. */
  readonly npta: number | null;
  /** Return on invested capital, in percent. */
  readonly roic: number | null;
  /** Return on equity, annualised, in percent. */
  readonly roe_yearly: number | null;
  /** Return on total assets before interest and tax, annualised, in percent. */
  readonly roa2_yearly: number | null;
  /** Return on average equity, as for share issues, in percent. */
  readonly roe_avg: number | null;
  /** Net income from operating activities / profit before tax. */
  readonly opincome_of_ebt: number | null;
  /** Net income from changes in value / profit before tax. */
  readonly investincome_of_ebt: number | null;
  /** Net non-operating income / profit before tax. */
  readonly n_op_profit_of_ebt: number | null;
  /** Income tax / profit before tax. */
  readonly tax_to_ebt: number | null;
  /** Net profit less non-recurring items / net profit. */
  readonly dtprofit_to_profit: number | null;
  /** Cash from sales of goods and services / operating revenue. */
  readonly salescash_to_or: number | null;
  /** Net operating cash flow / operating revenue. */
  readonly ocf_to_or: number | null;
  /** Net operating cash flow / net income from operating activities. */
  readonly ocf_to_opincome: number | null;
  /** Capital expenditure / depreciation and amortisation. */
  readonly capitalized_to_da: number | null;
  /** Liabilities / assets, in percent. */
  readonly debt_to_assets: number | null;
  /** Equity multiplier, in ratio. */
  readonly assets_to_eqt: number | null;
  /** Equity multiplier, DuPont analysis, in ratio. */
  readonly dp_assets_to_eqt: number | null;
  /** Current assets / total assets, in percent. */
  readonly ca_to_assets: number | null;
  /** Non-current assets / total assets, in percent. */
  readonly nca_to_assets: number | null;
  /** Tangible assets / total assets, in percent. */
  readonly tbassets_to_totalassets: number | null;
  /** Interest-bearing debt / total invested capital, in percent. */
  readonly int_to_talcap: number | null;
  /** Equity of the parent's shareholders / total invested capital, in percent. */
  readonly eqt_to_talcapital: number | null;
  /** Current liabilities / total liabilities, in percent. */
  readonly currentdebt_to_debt: number | null;
  /** Non-current liabilities / total liabilities, in percent. */
  readonly longdeb_to_debt: number | null;
  /** Net operating cash flow / current liabilities, in ratio. */
  readonly ocf_to_shortdebt: number | null;
  /** Liabilities / equity, in ratio. */
  readonly debt_to_eqt: number | null;
  /** Equity of the parent's shareholders / total liabilities, in ratio. */
  readonly eqt_to_debt: number | null;
  /** Equity of the parent's shareholders / interest-bearing debt, in ratio. */
  readonly eqt_to_interestdebt: number | null;
  /** Tangible assets / total liabilities, in ratio. */
  readonly tangibleasset_to_debt: number | null;
  /** Tangible assets / interest-bearing debt, in ratio. */
  readonly tangasset_to_intdebt: number | null;
  /** Tangible assets / net debt, in ratio. */
  readonly tangibleasset_to_netdebt: number | null;
  /** Net operating cash flow / total liabilities, in ratio. */
  readonly ocf_to_debt: number | null;
  /** Net operating cash flow / interest-bearing debt, in ratio. */
  readonly ocf_to_interestdebt: number | null;
  /** Net operating cash flow / net debt, in ratio. */
  readonly ocf_to_netdebt: number | null;
  /** Interest cover: earnings before interest and tax / interest expense, in ratio. */
  readonly ebit_to_interest: number | null;
  /** Long-term debt / working capital. */
  readonly longdebt_to_workingcapital: number | null;
  /** Earnings before interest, tax, depreciation and amortisation / total liabilities. */
  readonly ebitda_to_debt: number | null;
  /** Operating cycle, in days. */
  readonly turn_days: number | null;
  /** Net profit / total assets, annualised, in percent. */
  readonly roa_yearly: number | null;
  /** Net profit / total assets, DuPont analysis, in percent. */
  readonly roa_dp: number | null;
  /** Fixed assets, total, in yuan. */
  readonly fixed_assets: number | null;
  /** Operating profit before financial expense, in yuan. */
  readonly profit_prefin_exp: number | null;
  /** Non-operating profit, in yuan. */
  readonly non_op_profit: number | null;
  /** Operating profit / profit before tax. */
  readonly op_to_ebt: number | null;
  /** Non-operating profit / profit before tax. */
  readonly nop_to_ebt: number | null;
  /** Net operating cash flow / operating profit. */
  readonly ocf_to_profit: number | null;
  /** Cash and deposits / current liabilities. */
  readonly cash_to_liqdebt: number | null;
  /** Cash and deposits / interest-bearing current liabilities. */
  readonly cash_to_liqdebt_withinterest: number | null;
  /** Operating profit / current liabilities. */
  readonly op_to_liqdebt: number | null;
  /** Operating profit / total liabilities. */
  readonly op_to_debt: number | null;
  /** Return on invested capital, annualised, in percent. */
  readonly roic_yearly: number | null;
  /** Total fixed assets turnover, in times. */
  readonly total_fa_trun: number | null;
  /** Profit before tax / operating revenue, in percent. */
  readonly profit_to_op: number | null;
  /** Net income from operating activities, single quarter, in yuan. */
  readonly q_opincome: number | null;
  /** Net income from changes in value, single quarter, in yuan. */
  readonly q_investincome: number | null;
  /** Net profit less non-recurring items, single quarter, in yuan. */
  readonly q_dtprofit: number | null;
  /** Earnings per share, single quarter, in yuan per share. */
  readonly q_eps: number | null;
  /** Net profit margin, single quarter, in percent. */
  readonly q_netprofit_margin: number | null;
  /** Gross profit margin, single quarter, in percent. */
  readonly q_gsprofit_margin: number | null;
  /** Period expenses / sales, single quarter, in percent. */
  readonly q_exp_to_sales: number | null;
  /** Net profit / total operating revenue, single quarter, in percent. */
  readonly q_profit_to_gr: number | null;
  /** Selling expense / total operating revenue, single quarter, in percent. */
  readonly q_saleexp_to_gr: number | null;
  /** Administrative expense / total operating revenue, single quarter, in percent. */
  readonly q_adminexp_to_gr: number | null;
  /** Financial expense / total operating revenue, single quarter, in percent. */
  readonly q_finaexp_to_gr: number | null;
  /** Asset impairment loss / total operating revenue, single quarter, in percent. */
  readonly q_impair_to_gr_ttm: number | null;
  /** Total operating cost / total operating revenue, single quarter, in percent. */
  readonly q_gc_to_gr: number | null;
  /** Operating profit / total operating revenue, single quarter, in percent. */
  readonly q_op_to_gr: number | null;
  /** Return on equity, single quarter, in percent. */
  readonly q_roe: number | null;
  /** Return on equity less non-recurring items, single quarter, in percent. */
  readonly q_dt_roe: number | null;
  /** Net profit / total assets, single quarter, in percent. */
  readonly q_npta: number | null;
  /** Net income from operating activities / profit before tax, single quarter. */
  readonly q_opincome_to_ebt: number | null;
  /** Net income from changes in value / profit before tax, single quarter. */
  readonly q_investincome_to_ebt: number | null;
  /** Net profit less non-recurring items / net profit, single quarter. */
  readonly q_dtprofit_to_profit: number | null;
  /** Cash from sales of goods and services / operating revenue, single quarter. */
  readonly q_salescash_to_or: number | null;
  /** Net operating cash flow / operating revenue, single quarter, in percent. */
  readonly q_ocf_to_sales: number | null;
  /** Net operating cash flow / net income from operating activities, single quarter. */
  readonly q_ocf_to_or: number | null;
  /** Basic earnings per share, growth on a year earlier, in percent. */
  readonly basic_eps_yoy: number | null;
  /** Diluted earnings per share, growth on a year earlier, in percent. */
  readonly dt_eps_yoy: number | null;
  /** Net operating cash flow per share, growth on a year earlier, in percent. */
  readonly cfps_yoy: number | null;
  /** Operating profit, growth on a year earlier, in percent. */
  readonly op_yoy: number | null;
  /** Profit before tax, growth on a year earlier, in percent. */
  readonly ebt_yoy: number | null;
  /** Net profit of the parent's shareholders, growth on a year earlier, in percent. */
  readonly netprofit_yoy: number | null;
  /** Net profit of the parent's shareholders less non-recurring items, growth on a year earlier, in percent. */
  readonly dt_netprofit_yoy: number | null;
  /** Net operating cash flow, growth on a year earlier, in percent. */
  readonly ocf_yoy: number | null;
  /** Return on equity, diluted, growth on a year earlier, in percent. */
  readonly roe_yoy: number | null;
  /** Net assets per share, growth since the start of the year, in percent. */
  readonly bps_yoy: number | null;
  /** Total assets, growth since the start of the year, in percent. */
  readonly assets_yoy: number | null;
  /** Equity of the parent's shareholders, growth since the start of the year, in percent. */
  readonly eqt_yoy: number | null;
  /** Total operating revenue, growth on a year earlier, in percent. */
  readonly tr_yoy: number | null;
  /** Operating revenue, growth on a year earlier, in percent. */
  readonly or_yoy: number | null;
  /** Total operating revenue, single quarter, growth on a year earlier, in percent. */
  readonly q_gr_yoy: number | null;
  /** Total operating revenue, single quarter, growth on the quarter before, in percent. */
  readonly q_gr_qoq: number | null;
  /** Operating revenue, single quarter, growth on a year earlier, in percent. */
  readonly q_sales_yoy: number | null;
  /** Operating revenue, single quarter, growth on the quarter before, in percent. */
  readonly q_sales_qoq: number | null;
  /** Operating profit, single quarter, growth on a year earlier, in percent. */
  readonly q_op_yoy: number | null;
  /** Operating profit, single quarter, growth on the quarter before, in percent. */
  readonly q_op_qoq: number | null;
  /** Net profit, single quarter, growth on a year earlier, in percent. */
  readonly q_profit_yoy: number | null;
  /** Net profit, single quarter, growth on the quarter before, in percent. */
  readonly q_profit_qoq: number | null;
  /** Net profit of the parent's shareholders, single quarter, growth on a year earlier, in percent. */
  readonly q_netprofit_yoy: number | null;
  /** Net profit of the parent's shareholders, single quarter, growth on the quarter before, in percent. */
  readonly q_netprofit_qoq: number | null;
  /** Net assets, growth on a year earlier, in percent. */
  readonly equity_yoy: number | null;
  /** Research and development expense, in yuan. */
  readonly rd_exp: number | null;
  /** 1 for the newest revision. */
  readonly update_flag: string | null;
}

export interface FinaIndicatorParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly ann_date?: Days;
  readonly update_flag?: Texts;
  readonly period?: Days;
  /** `as_of` gives what was announced on or before that day, by ann_date. */
  readonly as_of?: Days;
  readonly as_of_days?: "month_end" | "week_end";
  readonly as_of_start?: Day;
  readonly as_of_end?: Day;
  readonly latest?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Dividends. */
export interface DividendRow {
  /** Stock code. */
  readonly ts_code: string;
  /** Period that the dividend belongs to, `YYYYMMDD`. */
  readonly end_date: string | null;
  /** Announcement date of the proposal, `YYYYMMDD`. */
  readonly ann_date: string | null;
  /** Stage: proposed, approved, implemented. */
  readonly div_proc: string | null;
  /** Bonus and conversion shares, in shares per share. */
  readonly stk_div: number | null;
  /** Bonus shares, in shares per share. */
  readonly stk_bo_rate: number | null;
  /** Shares converted from reserves, in shares per share. */
  readonly stk_co_rate: number | null;
  /** Cash dividend after tax, in yuan per share. */
  readonly cash_div: number | null;
  /** Cash dividend before tax, in yuan per share. */
  readonly cash_div_tax: number | null;
  /** Record date, `YYYYMMDD`. */
  readonly record_date: string | null;
  /** Ex-dividend and ex-rights date, `YYYYMMDD`. */
  readonly ex_date: string | null;
  /** Payment date, `YYYYMMDD`. */
  readonly pay_date: string | null;
  /** Listing date of the bonus shares, `YYYYMMDD`. */
  readonly div_listdate: string | null;
  /** Announcement date of the implementation, `YYYYMMDD`. */
  readonly imp_ann_date: string | null;
  /** Base date, `YYYYMMDD`. */
  readonly base_date: string | null;
  /** Base share capital, in ten thousand shares. */
  readonly base_share: number | null;
}

export interface DividendParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly ts_code?: Texts;
  readonly ann_date?: Days;
  readonly div_proc?: Texts;
  readonly record_date?: Days;
  readonly ex_date?: Days;
  readonly pay_date?: Days;
  readonly div_listdate?: Days;
  readonly imp_ann_date?: Days;
  readonly base_date?: Days;
  readonly period?: Days;
  /** `as_of` gives what was announced on or before that day, by imp_ann_date, else ex_date, else ann_date. */
  readonly as_of?: Days;
  readonly as_of_days?: "month_end" | "week_end";
  readonly as_of_start?: Day;
  readonly as_of_end?: Day;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** A method for each entity. With `fields`, a row has only these columns. */
export interface EntityMethods {
  /** Daily open, high, low, close, volume and turnover of stocks, as traded or with `adjust`. Today's bars are merged in. */
  daily<F extends keyof DailyRow = keyof DailyRow>(
    params?: DailyParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<DailyRow, F>>;
  /** Weekly open, high, low, close, volume and turnover of stocks, as traded or with `adjust`. */
  weekly<F extends keyof WeeklyRow = keyof WeeklyRow>(
    params?: WeeklyParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<WeeklyRow, F>>;
  /** Monthly open, high, low, close, volume and turnover of stocks, as traded or with `adjust`. */
  monthly<F extends keyof MonthlyRow = keyof MonthlyRow>(
    params?: MonthlyParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<MonthlyRow, F>>;
  /** Daily valuation, turnover rates, share counts and market values of stocks. */
  daily_basic<F extends keyof DailyBasicRow = keyof DailyBasicRow>(
    params?: DailyBasicParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<DailyBasicRow, F>>;
  /** Base factor of backward adjustment: price times factor makes prices comparable across dividends and splits. */
  adj_factor<F extends keyof AdjFactorRow = keyof AdjFactorRow>(
    params?: AdjFactorParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<AdjFactorRow, F>>;
  /** The highest and lowest price at which a stock may trade on a day. */
  stk_limit<F extends keyof StkLimitRow = keyof StkLimitRow>(
    params?: StkLimitParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<StkLimitRow, F>>;
  /** Suspension periods and types. One stock on one day can have several periods, hence several rows. */
  suspend_d<F extends keyof SuspendDRow = keyof SuspendDRow>(
    params?: SuspendDParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<SuspendDRow, F>>;
  /** The pre-market quote: one row for each security and day with the result of the opening call auction. */
  stk_auction_o<F extends keyof StkAuctionORow = keyof StkAuctionORow>(
    params?: StkAuctionOParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<StkAuctionORow, F>>;
  /** The post-market quote: one row for each security and day with the result of the closing call auction. */
  stk_auction_c<F extends keyof StkAuctionCRow = keyof StkAuctionCRow>(
    params?: StkAuctionCParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<StkAuctionCRow, F>>;
  /** Tick-by-tick trades of the call auctions of stocks and ETFs; equal ticks are kept. Price is the trade price. */
  stk_auction<F extends keyof StkAuctionRow = keyof StkAuctionRow>(
    params?: StkAuctionParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<StkAuctionRow, F>>;
  /** The list of indices with market, publisher, category and base. */
  index_basic<F extends keyof IndexBasicRow = keyof IndexBasicRow>(
    params?: IndexBasicParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<IndexBasicRow, F>>;
  /** Daily levels of all indices, industry indices included, for benchmarks and industry quotes. */
  index_daily<F extends keyof IndexDailyRow = keyof IndexDailyRow>(
    params?: IndexDailyParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<IndexDailyRow, F>>;
  /** Weights of index constituents. Broad-base indices are updated daily, industry indices on Fridays. */
  index_weight<F extends keyof IndexWeightRow = keyof IndexWeightRow>(
    params?: IndexWeightParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<IndexWeightRow, F>>;
  /** The industry classification system with its three levels. Editions of one source may share index codes. */
  index_classify<F extends keyof IndexClassifyRow = keyof IndexClassifyRow>(
    params?: IndexClassifyParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<IndexClassifyRow, F>>;
  /** When each stock entered and left each industry index: the basis of industry neutralisation. */
  index_member<F extends keyof IndexMemberRow = keyof IndexMemberRow>(
    params?: IndexMemberParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<IndexMemberRow, F> & AsOf>;
  /** Daily snapshots of the stock list, delisted stocks included, so that a universe can be built without survivorship bias. With no time parameter the latest snapshot is returned. */
  stock_list<F extends keyof StockListRow = keyof StockListRow>(
    params?: StockListParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<StockListRow, F> & AsOf>;
  /** Basic information about listed companies: one row for each, without history. */
  stock_company<F extends keyof StockCompanyRow = keyof StockCompanyRow>(
    params?: StockCompanyParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<StockCompanyRow, F>>;
  /** The names that stocks have carried, each with its first and last effective day. */
  namechange<F extends keyof NamechangeRow = keyof NamechangeRow>(
    params?: NamechangeParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<NamechangeRow, F> & AsOf>;
  /** Open and closed days with the previous trading day. Only the SSE calendar is held. */
  trade_cal<F extends keyof TradeCalRow = keyof TradeCalRow>(
    params?: TradeCalParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<TradeCalRow, F>>;
  /** Broker research reports on stocks and industries, by the day of publication. */
  research_report<F extends keyof ResearchReportRow = keyof ResearchReportRow>(
    params?: ResearchReportParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<ResearchReportRow, F> & AsOf>;
  /** Announcements of listed companies. The stock code can stand without its exchange suffix. */
  anns_d<F extends keyof AnnsDRow = keyof AnnsDRow>(
    params?: AnnsDParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<AnnsDRow, F> & AsOf>;
  /** Income statements of listed companies by announcement date, every report type and revision. */
  income<F extends keyof IncomeRow = keyof IncomeRow>(
    params?: IncomeParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<IncomeRow, F> & AsOf>;
  /** Balance sheets of listed companies by announcement date, every report type and revision. */
  balancesheet<F extends keyof BalancesheetRow = keyof BalancesheetRow>(
    params?: BalancesheetParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<BalancesheetRow, F> & AsOf>;
  /** Cash flow statements of listed companies by announcement date, every report type and revision. */
  cashflow<F extends keyof CashflowRow = keyof CashflowRow>(
    params?: CashflowParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<CashflowRow, F> & AsOf>;
  /** Per-share figures, margins, returns, turnover, solvency and growth, derived from the statements. */
  fina_indicator<F extends keyof FinaIndicatorRow = keyof FinaIndicatorRow>(
    params?: FinaIndicatorParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<FinaIndicatorRow, F> & AsOf>;
  /** Cash dividends and bonus shares from proposal to payment, by ex-date; proposals have no ex-date yet. */
  dividend<F extends keyof DividendRow = keyof DividendRow>(
    params?: DividendParams & { readonly fields?: readonly F[] },
  ): Answer<Pick<DividendRow, F> & AsOf>;
}
