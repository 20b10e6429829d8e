// The auction store: opening, closing and tick-by-tick call auctions.
import { code, date, number, oneRowADay, price, text } from "./columns.js";
import type { Column, Entity } from "./types.js";

/** No unit of volume and turnover is documented, so none is claimed. */
const columns: readonly Column[] = [
  code("ts_code", "Security code: a stock, an ETF or an index"),
  date("trade_date", "Trading date"),
  text("ts_type", "Type (STK or ETF)"),
  text("time", "Time"),
  price("price", "Price"),
  number("vol", "Volume"),
  number("amount", "Turnover"),
  price("pre_close", "Previous close"),
];

const auction = { ...oneRowADay, store: "auction", columns, gaps: "every_day", codeCopy: true } as const;

export const AUCTION: readonly Entity[] = [
  {
    ...auction,
    name: "stk_auction_o",
    title: "Opening call auction",
    about: "The pre-market quote: one row for each security and day with the result of the opening call auction.",
  },
  {
    ...auction,
    name: "stk_auction_c",
    title: "Closing call auction",
    about: "The post-market quote: one row for each security and day with the result of the closing call auction.",
  },
  {
    ...auction,
    name: "stk_auction",
    title: "Call-auction trades",
    about:
      "Tick-by-tick trades of the call auctions of stocks and ETFs; equal ticks are kept. Price is the trade price.",
    identityIs: "group",
    order: ["trade_date", "ts_code", "ts_type", "time", "price", "vol", "amount", "pre_close"],
  },
];
