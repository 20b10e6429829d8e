// The reports store: broker research reports and company announcements.
import { code, requiredCode, requiredDate, requiredText, text } from "./columns.js";
import type { Entity } from "./types.js";

export const REPORTS: readonly Entity[] = [
  {
    name: "research_report",
    title: "Research reports",
    about: "Broker research reports on stocks and industries, by the day of publication.",
    chinese: { title: "券商研报", about: "券商发布的个股与行业研究报告，按发布日期排列。" },
    store: "reports",
    columns: [
      requiredDate("trade_date", "Publication date", "发布日期"),
      text("abstr", "Abstract", "摘要"),
      requiredText("title", "Report title", "研报标题"),
      text("report_type", "Report type", "研报类型"),
      text("author", "Author", "作者"),
      text("name", "Stock name", "股票名称"),
      code("ts_code", "Stock code; null where the report is not about one stock", "股票代码；非单一股票的研报为空值"),
      text("inst_csname", "Institution name", "机构名称"),
      text("ind_name", "Industry name", "行业名称"),
      text("url", "Link to the original", "原文链接"),
    ],
    mainDate: "trade_date",
    code: "ts_code",
    // Weekly notes of one institution share their title across industries and have no stock code.
    identity: ["trade_date", "ts_code", "title", "inst_csname", "author", "ind_name", "url"],
    identityIs: "row",
    order: ["trade_date", "ts_code", "title", "inst_csname", "author", "ind_name", "url"],
    pointInTime: { rule: "announced", columns: ["trade_date"] },
    gaps: "none",
    codeCopy: false,
  },
  {
    name: "anns_d",
    title: "Announcements",
    about: "Announcements of listed companies. The stock code can stand without its exchange suffix.",
    chinese: { title: "上市公司公告", about: "上市公司的公告。股票代码可以不带交易所后缀。" },
    store: "reports",
    columns: [
      requiredDate("ann_date", "Announcement date", "公告日期"),
      requiredCode("ts_code", "Stock code, with or without suffix", "股票代码，可不带后缀"),
      text("name", "Stock name", "股票名称"),
      requiredText("title", "Announcement title", "公告标题"),
      text("url", "Announcement link", "公告链接"),
      text("rec_time", "Time the record was collected", "收录时间"),
    ],
    mainDate: "ann_date",
    code: "ts_code",
    identity: ["ann_date", "ts_code", "title", "url"],
    identityIs: "row",
    order: ["ann_date", "ts_code", "title", "url"],
    pointInTime: { rule: "announced", columns: ["ann_date"] },
    gaps: "none",
    codeCopy: false,
    bareCodes: true,
  },
];
