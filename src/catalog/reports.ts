// The reports store: broker research reports and company announcements.
import { code, codeOrNull, date, requiredText, text } from "./columns.js";
import type { Entity } from "./types.js";

export const REPORTS: readonly Entity[] = [
  {
    name: "research_report",
    title: "Research reports",
    about: "Broker research reports on stocks and industries, by the day of publication.",
    store: "reports",
    columns: [
      date("trade_date", "Publication date"),
      text("abstr", "Abstract"),
      requiredText("title", "Report title"),
      text("report_type", "Report type"),
      text("author", "Author"),
      text("name", "Stock name"),
      codeOrNull("ts_code", "Stock code; null where the report is not about one stock"),
      text("inst_csname", "Institution name"),
      text("ind_name", "Industry name"),
      text("url", "Link to the original"),
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
    store: "reports",
    columns: [
      date("ann_date", "Announcement date"),
      code("ts_code", "Stock code, with or without suffix"),
      text("name", "Stock name"),
      requiredText("title", "Announcement title"),
      text("url", "Announcement link"),
      text("rec_time", "Time the record was collected"),
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
