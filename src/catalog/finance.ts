// The finance store: the three statements, the indicators derived from them, and dividends.
import { code, dateOrNull, number, text, yuanPerShare } from "./columns.js";
import { balanceColumns } from "./finance-balance.js";
import { cashflowColumns } from "./finance-cashflow.js";
import { incomeColumns } from "./finance-income.js";
import { indicatorColumns } from "./finance-indicator.js";
import type { Column, Entity } from "./types.js";

const dividendColumns: readonly Column[] = [
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

const finance = {
  store: "finance",
  code: "ts_code",
  gaps: "none",
  codeCopy: false,
  filterAliases: { period: "end_date" },
} as const satisfies Partial<Entity>;

/** A period is reported in several types and revised later, so that many rows share one period. */
const statement = {
  ...finance,
  mainDate: "ann_date",
  identity: ["ts_code", "end_date", "ann_date", "f_ann_date", "report_type", "comp_type", "update_flag"],
  identityIs: "row",
  order: ["ann_date", "ts_code", "end_date", "f_ann_date", "report_type", "comp_type", "update_flag"],
  pointInTime: { rule: "announced", columns: ["f_ann_date", "ann_date"] },
} as const satisfies Partial<Entity>;

export const FINANCE: readonly Entity[] = [
  {
    ...statement,
    name: "income",
    title: "Income statements",
    about: "Income statements of listed companies by announcement date, every report type and revision.",
    columns: incomeColumns,
  },
  {
    ...statement,
    name: "balancesheet",
    title: "Balance sheets",
    about: "Balance sheets of listed companies by announcement date, every report type and revision.",
    columns: balanceColumns,
  },
  {
    ...statement,
    name: "cashflow",
    title: "Cash flow statements",
    about: "Cash flow statements of listed companies by announcement date, every report type and revision.",
    columns: cashflowColumns,
  },
  {
    ...finance,
    name: "fina_indicator",
    title: "Financial indicators",
    about: "Per-share figures, margins, returns, turnover, solvency and growth, derived from the statements.",
    columns: indicatorColumns,
    mainDate: "ann_date",
    identity: ["ts_code", "ann_date", "end_date", "update_flag"],
    identityIs: "row",
    order: ["ann_date", "ts_code", "end_date", "update_flag"],
    pointInTime: { rule: "announced", columns: ["ann_date"] },
  },
  {
    ...finance,
    name: "dividend",
    title: "Dividends",
    about: "Cash dividends and bonus shares from proposal to payment, by ex-date; proposals have no ex-date yet.",
    columns: dividendColumns,
    mainDate: "ex_date",
    // A company may pay two dividends on one day, e.g. an interim and a special one.
    identity: ["ts_code", "end_date", "ann_date", "div_proc", "ex_date"],
    identityIs: "group",
    order: [
      "ex_date",
      "ts_code",
      ...dividendColumns.map((c) => c.name).filter((n) => n !== "ex_date" && n !== "ts_code"),
    ],
    // Ex-date and payment details are known only when the implementation was announced. A row without any
    // announcement date is known on its ex-date, which is never earlier.
    pointInTime: { rule: "announced", columns: ["imp_ann_date", "ann_date", "ex_date"] },
  },
];
