// Columns of `dividend`.
import { code, dateOrNull, number, text, yuanPerShare } from "./columns.js";
import type { Column } from "./types.js";

export const dividendColumns: readonly Column[] = [
  code("ts_code", "Stock code"),
  dateOrNull("end_date", "Period that the dividend belongs to"),
  dateOrNull("ann_date", "Announcement date of the proposal"),
  text("div_proc", "Stage: proposed, approved, implemented"),
  number("stk_div", "Bonus and conversion shares", { unit: "shares per share" }),
  number("stk_bo_rate", "Bonus shares", { unit: "shares per share" }),
  number("stk_co_rate", "Shares converted from reserves", { unit: "shares per share" }),
  yuanPerShare("cash_div", "Cash dividend after tax"),
  yuanPerShare("cash_div_tax", "Cash dividend before tax"),
  dateOrNull("record_date", "Record date"),
  dateOrNull("ex_date", "Ex-dividend and ex-rights date"),
  dateOrNull("pay_date", "Payment date"),
  dateOrNull("div_listdate", "Listing date of the bonus shares"),
  dateOrNull("imp_ann_date", "Announcement date of the implementation"),
  dateOrNull("base_date", "Base date"),
  number("base_share", "Base share capital", { unit: "ten thousand shares" }),
];
