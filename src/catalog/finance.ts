// The finance store: the three statements, the indicators derived from them, and dividends.
import { date, number, text, yuanPerShare, stockCode } from "./columns.js";
import { balanceColumns } from "./finance-balance.js";
import { cashflowColumns } from "./finance-cashflow.js";
import { incomeColumns } from "./finance-income.js";
import { indicatorColumns } from "./finance-indicator.js";
import type { Entity, EntityColumn } from "./types.js";

const dividendColumns: readonly EntityColumn[] = [
  stockCode("ts_code", "Stock code", "股票代码"),
  date("end_date", "Period that the dividend belongs to", "分红所属报告期"),
  date("ann_date", "Announcement date of the proposal", "预案公告日"),
  text("div_proc", "Stage: proposed, approved, implemented", "实施进度：预案、股东大会通过、实施"),
  number("stk_div", "Bonus and conversion shares", "每股送转", { unit: "shares per share" }),
  number("stk_bo_rate", "Bonus shares", "每股送股", { unit: "shares per share" }),
  number("stk_co_rate", "Shares converted from reserves", "每股转增", { unit: "shares per share" }),
  yuanPerShare("cash_div", "Cash dividend after tax", "每股分红（税后）"),
  yuanPerShare("cash_div_tax", "Cash dividend before tax", "每股分红（税前）"),
  date("record_date", "Record date", "股权登记日"),
  date("ex_date", "Ex-dividend and ex-rights date", "除权除息日"),
  date("pay_date", "Payment date", "派息日"),
  date("div_listdate", "Listing date of the bonus shares", "红股上市日"),
  date("imp_ann_date", "Announcement date of the implementation", "实施公告日"),
  date("base_date", "Base date", "基准日"),
  number("base_share", "Base share capital", "基准股本", { unit: "ten thousand shares" }),
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
  snapshot: null,
  order: ["ann_date", "ts_code", "end_date", "f_ann_date", "report_type", "comp_type", "update_flag"],
  pointInTime: { rule: "announced", columns: ["f_ann_date", "ann_date"], periodEnd: "end_date" },
  revisions: {
    of: ["ts_code", "end_date", "report_type", "comp_type"],
    date: ["f_ann_date", "ann_date"],
    flag: "update_flag",
  },
  // The consolidated statement. The other types are those of a single quarter, of the parent company, or compared later.
  panel: { by: "newest", only: { column: "report_type", value: "1" } },
} as const satisfies Partial<Entity>;

export const FINANCE: readonly Entity[] = [
  {
    ...statement,
    name: "income",
    title: "Income statements",
    about: "Income statements of listed companies by announcement date, every report type and revision.",
    chinese: { title: "利润表", about: "上市公司利润表，按公告日期排列，包含所有报告类型与修订版本。" },
    columns: incomeColumns,
  },
  {
    ...statement,
    name: "balancesheet",
    title: "Balance sheets",
    about: "Balance sheets of listed companies by announcement date, every report type and revision.",
    chinese: { title: "资产负债表", about: "上市公司资产负债表，按公告日期排列，包含所有报告类型与修订版本。" },
    columns: balanceColumns,
  },
  {
    ...statement,
    name: "cashflow",
    title: "Cash flow statements",
    about: "Cash flow statements of listed companies by announcement date, every report type and revision.",
    chinese: { title: "现金流量表", about: "上市公司现金流量表，按公告日期排列，包含所有报告类型与修订版本。" },
    columns: cashflowColumns,
  },
  {
    ...finance,
    name: "fina_indicator",
    title: "Financial indicators",
    about: "Per-share figures, margins, returns, turnover, solvency and growth, derived from the statements.",
    chinese: { title: "财务指标", about: "由财务报表计算得出的每股指标、利润率、回报率、周转率、偿债能力与成长能力。" },
    columns: indicatorColumns,
    mainDate: "ann_date",
    identity: ["ts_code", "ann_date", "end_date", "update_flag"],
    identityIs: "row",
    snapshot: null,
    order: ["ann_date", "ts_code", "end_date", "update_flag"],
    pointInTime: { rule: "announced", columns: ["ann_date"], periodEnd: "end_date" },
    revisions: { of: ["ts_code", "end_date"], date: ["ann_date"], flag: "update_flag" },
    panel: { by: "newest", only: null },
  },
  {
    ...finance,
    name: "dividend",
    title: "Dividends",
    about: "Cash dividends and bonus shares from proposal to payment, by ex-date; proposals have no ex-date yet.",
    chinese: {
      title: "分红送股",
      about: "现金分红与送转股从预案到派发的全过程，按除权除息日排列；预案阶段尚无除权除息日。",
    },
    columns: dividendColumns,
    mainDate: "ex_date",
    // A company may pay two dividends on one day, e.g. an interim and a special one.
    identity: ["ts_code", "end_date", "ann_date", "div_proc", "ex_date"],
    identityIs: "group",
    snapshot: null,
    order: [
      "ex_date",
      "ts_code",
      ...dividendColumns.map((c) => c.name).filter((n) => n !== "ex_date" && n !== "ts_code"),
    ],
    // Stage, ex-date and payment details are known only when the implementation was announced. Where that date is missing,
    // they are known on the ex-date, which is never earlier; a proposal has no ex-date.
    pointInTime: { rule: "announced", columns: ["imp_ann_date", "ex_date", "ann_date"] },
    // Proposal, approval and implementation of a dividend are stages, all of which count.
    revisions: null,
  },
];
