// The auction store: opening, closing and tick-by-tick call auctions.
import { number, oneRowADay, price, requiredCode, requiredDate, text } from "./columns.js";
import type { Entity, EntityColumn } from "./types.js";

/** No unit of volume and turnover is documented, so none is claimed. */
const columns: readonly EntityColumn[] = [
  requiredCode("ts_code", "Security code: a stock, an ETF or an index", "证券代码：股票、ETF或指数"),
  requiredDate("trade_date", "Trading date", "交易日期"),
  text("ts_type", "Type (STK or ETF)", "证券类型：STK为股票，ETF为基金"),
  text("time", "Time", "时间"),
  price("price", "Price", "价格"),
  number("vol", "Volume", "成交量"),
  number("amount", "Turnover", "成交额"),
  price("pre_close", "Previous close", "昨收价"),
];

const auction = { ...oneRowADay, store: "auction", columns, gaps: "every_day", codeCopy: true } as const;

export const AUCTION: readonly Entity[] = [
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
    identityIs: "group",
    order: ["trade_date", "ts_code", "ts_type", "time", "price", "vol", "amount", "pre_close"],
  },
];
