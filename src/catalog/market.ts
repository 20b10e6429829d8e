// The market store: prices, valuation, adjustment factors, price limits and suspensions of stocks. The auction store:
// opening, closing and tick-by-tick call auctions.
import {
  lots,
  number,
  oneRowADay,
  percent,
  price,
  ratio,
  requiredCode,
  requiredDate,
  tenThousandShares,
  tenThousandUnits,
  text,
  thousandUnits,
  stockCode,
} from "./columns.js";
import type { Adjustment, Entity, EntityColumn, Period } from "./types.js";

const key: readonly EntityColumn[] = [
  stockCode("ts_code", "Stock code", "股票代码"),
  requiredDate("trade_date", "Trading date", "交易日期"),
];

const open = price("open", "Open price", "开盘价");
const high = price("high", "High price", "最高价");
const low = price("low", "Low price", "最低价");
const close = price("close", "Close price", "收盘价");

const afterPrices: readonly EntityColumn[] = [
  price("pre_close", "Previous close", "昨收价"),
  price("change", "Price change", "涨跌额"),
  percent("pct_chg", "Change in percent", "涨跌幅"),
  lots("vol", "Volume", "成交量"),
  thousandUnits("amount", "Turnover", "成交额"),
];

const longPeriodColumns: readonly EntityColumn[] = [...key, close, open, high, low, ...afterPrices];

/** `pre_close` is that of the row's own day after rights, so one factor fits all. Turnover and percent stay. */
const adjustment: Adjustment = {
  prices: ["open", "high", "low", "close", "pre_close", "change"],
  volume: "vol",
  factors: "adj_factor",
  factor: "adj_factor",
};

const adjustmentOf = (period: Period): Adjustment => ({ ...adjustment, days: { entity: "daily", period } });

/** No unit of volume and turnover is documented, so none is claimed. */
const auctionColumns: readonly EntityColumn[] = [
  requiredCode("ts_code", "Security code: a stock, an ETF or an index", "证券代码：股票、ETF或指数"),
  requiredDate("trade_date", "Trading date", "交易日期"),
  text("ts_type", "Type (STK or ETF)", "证券类型：STK为股票，ETF为基金"),
  text("time", "Time", "时间"),
  price("price", "Price", "价格"),
  number("vol", "Volume", "成交量"),
  number("amount", "Turnover", "成交额"),
  price("pre_close", "Previous close", "昨收价"),
];

const auction = {
  ...oneRowADay,
  store: "auction",
  columns: auctionColumns,
  gaps: "every_day",
  codeCopy: true,
} as const;

export const MARKET: readonly Entity[] = [
  {
    ...oneRowADay,
    name: "daily",
    title: "Daily quotes",
    about:
      "Daily open, high, low, close, volume and turnover of stocks, as traded or with `adjust`. Today's bars are merged in.",
    chinese: {
      title: "日线行情",
      about: "股票每日开高低收价、成交量与成交额，可返回未复权价，也可用 `adjust` 返回复权价。当日行情并入其中。",
    },
    store: "market",
    columns: [...key, open, high, low, close, ...afterPrices],
    gaps: "every_stock",
    codeCopy: true,
    adjustment,
  },
  {
    ...oneRowADay,
    name: "weekly",
    title: "Weekly quotes",
    about: "Weekly open, high, low, close, volume and turnover of stocks, as traded or with `adjust`.",
    chinese: {
      title: "周线行情",
      about: "股票每周开高低收价、成交量与成交额，可返回未复权价，也可用 `adjust` 返回复权价。",
    },
    store: "market",
    columns: longPeriodColumns,
    gaps: "none",
    codeCopy: true,
    adjustment: adjustmentOf("week"),
  },
  {
    ...oneRowADay,
    name: "monthly",
    title: "Monthly quotes",
    about: "Monthly open, high, low, close, volume and turnover of stocks, as traded or with `adjust`.",
    chinese: {
      title: "月线行情",
      about: "股票每月开高低收价、成交量与成交额，可返回未复权价，也可用 `adjust` 返回复权价。",
    },
    store: "market",
    columns: longPeriodColumns,
    gaps: "none",
    codeCopy: true,
    adjustment: adjustmentOf("month"),
  },
  {
    ...oneRowADay,
    name: "daily_basic",
    title: "Daily valuation",
    about: "Daily valuation, turnover rates, share counts and market values of stocks.",
    chinese: { title: "每日指标", about: "股票每日的估值、换手率、股本与市值。" },
    store: "market",
    columns: [
      ...key,
      close,
      percent("turnover_rate", "Turnover rate", "换手率"),
      percent("turnover_rate_f", "Turnover rate on free-float shares", "换手率（自由流通股）"),
      ratio("volume_ratio", "Volume ratio", "量比"),
      ratio("pe", "Price/earnings (total market value / net profit)", "市盈率（总市值/净利润）"),
      ratio("pe_ttm", "Price/earnings, trailing twelve months", "市盈率TTM"),
      ratio("pb", "Price/book", "市净率"),
      ratio("ps", "Price/sales", "市销率"),
      ratio("ps_ttm", "Price/sales, trailing twelve months", "市销率TTM"),
      percent("dv_ratio", "Dividend yield", "股息率"),
      percent("dv_ttm", "Dividend yield, trailing twelve months", "股息率TTM"),
      tenThousandShares("total_share", "Total shares", "总股本"),
      tenThousandShares("float_share", "Tradable shares", "流通股本"),
      tenThousandShares("free_share", "Free-float shares", "自由流通股本"),
      tenThousandUnits("total_mv", "Total market value", "总市值"),
      tenThousandUnits("circ_mv", "Tradable market value", "流通市值"),
    ],
    gaps: "every_stock",
    codeCopy: true,
  },
  {
    ...oneRowADay,
    name: "adj_factor",
    title: "Adjustment factors",
    about:
      "Base factor of backward adjustment: price times factor makes prices comparable across dividends and splits.",
    chinese: { title: "复权因子", about: "后复权的基础因子：价格乘以因子后，分红送转前后的价格可以直接比较。" },
    store: "market",
    columns: [...key, ratio("adj_factor", "Adjustment factor", "复权因子")],
    gaps: "every_stock",
    codeCopy: true,
  },
  {
    ...oneRowADay,
    name: "stk_limit",
    title: "Price limits",
    about: "The highest and lowest price at which a stock may trade on a day.",
    chinese: { title: "涨跌停价格", about: "股票每个交易日允许成交的最高价与最低价。" },
    store: "market",
    columns: [
      ...key,
      price("up_limit", "Upper limit price", "涨停价"),
      price("down_limit", "Lower limit price", "跌停价"),
    ],
    gaps: "every_limit",
    codeCopy: true,
  },
  {
    ...oneRowADay,
    name: "suspend_d",
    title: "Suspensions",
    about: "Suspension periods and types. One stock on one day can have several periods, hence several rows.",
    chinese: { title: "停复牌信息", about: "股票停牌的时段与类型。同一股票同一天可能有多个时段，因此有多行。" },
    store: "market",
    columns: [
      ...key,
      text("suspend_timing", "Suspension period", "停牌时段"),
      text("suspend_type", "Suspension type", "停复牌类型"),
    ],
    identityIs: "group",
    panel: null,
    order: ["trade_date", "ts_code", "suspend_timing", "suspend_type"],
    gaps: "none",
    codeCopy: false,
  },
  {
    ...auction,
    name: "stk_auction_o",
    title: "Opening call auction",
    about: "The pre-market quote: one row for each security and day with the result of the opening call auction.",
    chinese: { title: "开盘集合竞价", about: "盘前行情：每只证券每个交易日一行，为开盘集合竞价的结果。" },
  },
  {
    ...auction,
    name: "stk_auction_c",
    title: "Closing call auction",
    about: "The post-market quote: one row for each security and day with the result of the closing call auction.",
    chinese: { title: "收盘集合竞价", about: "盘后行情：每只证券每个交易日一行，为收盘集合竞价的结果。" },
  },
  {
    ...auction,
    name: "stk_auction",
    title: "Call-auction trades",
    about:
      "Tick-by-tick trades of the call auctions of stocks and ETFs; equal ticks are kept. Price is the trade price.",
    chinese: { title: "集合竞价逐笔", about: "股票与ETF集合竞价的逐笔成交，完全相同的记录也会保留。价格为成交价。" },
    identityIs: "ticks",
    panel: null,
    order: ["trade_date", "ts_code", "ts_type", "time", "price", "vol", "amount", "pre_close"],
  },
];
