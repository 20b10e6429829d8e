// The market store: prices, valuation, adjustment factors, price limits and suspensions of stocks.
import {
  code,
  date,
  lots,
  oneRowADay,
  percent,
  price,
  ratio,
  tenThousandShares,
  tenThousandUnits,
  text,
  thousandUnits,
} from "./columns.js";
import type { Adjustment, Column, Entity } from "./types.js";

const key: readonly Column[] = [code("ts_code", "Stock code"), date("trade_date", "Trading date")];

const open = price("open", "Open price");
const high = price("high", "High price");
const low = price("low", "Low price");
const close = price("close", "Close price");

const afterPrices: readonly Column[] = [
  price("pre_close", "Previous close"),
  price("change", "Price change"),
  percent("pct_chg", "Change in percent"),
  lots("vol", "Volume"),
  thousandUnits("amount", "Turnover"),
];

const longPeriodColumns: readonly Column[] = [...key, close, open, high, low, ...afterPrices];

/** `pre_close` is that of the row's own day after rights, so one factor fits all. Volume, turnover and percent stay. */
const adjustment: Adjustment = {
  prices: ["open", "high", "low", "close", "pre_close", "change"],
  factors: "adj_factor",
  factor: "adj_factor",
};

export const MARKET: readonly Entity[] = [
  {
    ...oneRowADay,
    name: "daily",
    title: "Daily quotes",
    about:
      "Daily open, high, low, close, volume and turnover of stocks, as traded or with `adjust`. Today's bars are merged in.",
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
    store: "market",
    columns: longPeriodColumns,
    gaps: "none",
    codeCopy: true,
    adjustment,
  },
  {
    ...oneRowADay,
    name: "monthly",
    title: "Monthly quotes",
    about: "Monthly open, high, low, close, volume and turnover of stocks, as traded or with `adjust`.",
    store: "market",
    columns: longPeriodColumns,
    gaps: "none",
    codeCopy: true,
    adjustment,
  },
  {
    ...oneRowADay,
    name: "daily_basic",
    title: "Daily valuation",
    about: "Daily valuation, turnover rates, share counts and market values of stocks.",
    store: "market",
    columns: [
      ...key,
      close,
      percent("turnover_rate", "Turnover rate"),
      percent("turnover_rate_f", "Turnover rate on free-float shares"),
      ratio("volume_ratio", "Volume ratio"),
      ratio("pe", "Price/earnings (total market value / net profit)"),
      ratio("pe_ttm", "Price/earnings, trailing twelve months"),
      ratio("pb", "Price/book"),
      ratio("ps", "Price/sales"),
      ratio("ps_ttm", "Price/sales, trailing twelve months"),
      percent("dv_ratio", "Dividend yield"),
      percent("dv_ttm", "Dividend yield, trailing twelve months"),
      tenThousandShares("total_share", "Total shares"),
      tenThousandShares("float_share", "Tradable shares"),
      tenThousandShares("free_share", "Free-float shares"),
      tenThousandUnits("total_mv", "Total market value"),
      tenThousandUnits("circ_mv", "Tradable market value"),
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
    store: "market",
    columns: [...key, ratio("adj_factor", "Adjustment factor")],
    gaps: "every_stock",
    codeCopy: true,
  },
  {
    ...oneRowADay,
    name: "stk_limit",
    title: "Price limits",
    about: "The highest and lowest price at which a stock may trade on a day.",
    store: "market",
    columns: [...key, price("up_limit", "Upper limit price"), price("down_limit", "Lower limit price")],
    gaps: "every_stock",
    codeCopy: true,
  },
  {
    ...oneRowADay,
    name: "suspend_d",
    title: "Suspensions",
    about: "Suspension periods and types. One stock on one day can have several periods, hence several rows.",
    store: "market",
    columns: [...key, text("suspend_timing", "Suspension period"), text("suspend_type", "Suspension type")],
    identityIs: "group",
    order: ["trade_date", "ts_code", "suspend_timing", "suspend_type"],
    gaps: "none",
    codeCopy: false,
  },
];
