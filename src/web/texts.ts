// Every text of the page, in both languages.
import type { Coverage } from "./types.js";

const TEXTS = {
  title: ["Tapehouse: market data", "Tapehouse · 市场数据"],
  skip: ["Skip to content", "跳到正文"],
  sections: ["Sections", "导航"],
  catalog: ["Catalog", "数据目录"],
  chart: ["Chart", "K线图"],
  query: ["Query", "数据查询"],
  reference: ["API reference", "接口文档（英文）"],
  language: ["Language", "语言"],
  theme: ["Appearance", "外观"],
  system: ["System", "跟随系统"],
  light: ["Light", "浅色"],
  dark: ["Dark", "深色"],
  version: ["Data version", "数据版本"],
  signIn: ["What is in this lake", "登录"],
  signInAbout: [
    "Daily quotes, valuation, auctions, indices, reference data, reports and financials, read-only. To look inside, give your access token. It stays in this tab and is forgotten when you close it.",
    "A股日线行情、估值、集合竞价、指数、基础资料、研报、公告和财务数据，只读。请输入访问令牌。令牌仅保存在当前标签页，关闭后自动清除。",
  ],
  token: ["Access token", "访问令牌"],
  tokenHint: [
    "The operator makes one with: tapehouse token create NAME",
    "令牌由管理员创建：tapehouse token create NAME",
  ],
  enter: ["Open", "登录"],
  leave: ["Forget token", "退出登录"],
  tokenRefused: ["This token is not accepted.", "访问令牌无效，请重新输入。"],
  loading: ["Loading…", "加载中…"],
  unreachable: ["The server cannot be reached, or its answer was cut.", "无法连接服务器，或响应中断，请重试。"],
  hint: ["Way out: ", "提示："],
  allowed: ["Accepted: ", "可选值："],
  search: ["Search entities and columns", "搜索数据表或字段"],
  found: ["{n} entities", "共 {n} 张数据表"],
  entity: ["Entity", "数据表"],
  first: ["First day", "起始日期"],
  last: ["Last day", "最新日期"],
  rows: ["Rows", "数据行数"],
  state: ["State", "状态"],
  available: ["available", "可用"],
  empty: ["no data yet", "暂无数据"],
  unavailable: ["unavailable at the moment", "暂时无法读取"],
  hidden: ["not covered by this token", "无权限"],
  total: [
    "{entities} of {all} entities with data · {rows} rows",
    "{all} 张数据表，其中 {entities} 张有数据，共 {rows} 行",
  ],
  noEntity: ["There is no such entity:", "没有这个数据表："],
  backToCatalog: ["All entities", "返回数据目录"],
  queryThis: ["Query this entity", "查询数据"],
  columns: ["Columns", "字段说明"],
  column: ["Column", "字段"],
  type: ["Type", "类型"],
  unit: ["Unit", "单位"],
  meaning: ["Meaning", "说明"],
  gaps: ["Completeness", "数据完整性"],
  gapsNone: ["No gaps: every expected row from {first} to {last} is there.", "{first} 至 {last} 数据完整，无缺失。"],
  gapsNotComputed: [
    "Rows of this entity are not expected on fixed days, so only gaps that the operator recorded are shown. There are none.",
    "该数据表没有固定的更新日，不做缺失检查；目前也没有登记的缺失。",
  ],
  gapsSome: ["Gaps: {n}, on {days} days", "共 {n} 处缺失，涉及 {days} 个交易日"],
  gapDays: [
    "{year}: {open} trading days, {missing} without any row, {partial} with missing rows",
    "{year}年：{open} 个交易日，{missing} 天无数据，{partial} 天数据不全",
  ],
  gapPick: ["Point at a day to read it.", "将鼠标移到日期上查看详情。"],
  gapList: ["Gaps as a list", "缺失明细"],
  gapMore: ["The first {n} of {all}.", "共 {all} 条，仅显示前 {n} 条。"],
  gapYears: ["By year", "按年统计"],
  year: ["Year", "年份"],
  openDays: ["Trading days", "交易日数"],
  missingDays: ["Without any row", "无数据天数"],
  partialDays: ["With missing rows", "数据不全天数"],
  code: ["Code", "代码"],
  kind: ["Kind", "缺失类型"],
  everyCode: ["whole market", "全市场"],
  noCalendar: [
    "This token does not cover the calendar, so every weekday is taken for a trading day.",
    "令牌无权访问交易日历，暂按周一至周五推算交易日。",
  ],
  complete: ["complete", "完整"],
  closed: ["closed or outside", "休市或超出数据范围"],
  few: ["1 code missing", "缺 1 只"],
  some: ["2–9 codes", "缺 2–9 只"],
  many: ["10 or more", "缺 10 只及以上"],
  none: ["no rows at all", "无数据"],
  dayMissing: ["{day}: {n} missing", "{day}：缺 {n} 只"],
  dayNone: ["{day}: no rows at all", "{day}：无数据"],
  dayComplete: ["{day}: complete", "{day}：完整"],
  dayClosed: ["{day}: closed or outside", "{day}：休市或超出数据范围"],
  stock: ["Stock: code or name", "股票代码或名称"],
  stockHint: [
    "Type a few letters, then choose with the arrow keys and Enter.",
    "输入代码或名称，用方向键选择，按回车键确认。",
  ],
  stocksFound: ["{n} stocks found", "找到 {n} 只股票"],
  adjustment: ["Adjustment", "复权方式"],
  adjustNone: ["None", "不复权"],
  adjustForward: ["Forward", "前复权"],
  adjustBackward: ["Backward", "后复权"],
  notAdjusted: ["not adjusted", "不复权"],
  adjustedForward: ["adjusted forward", "前复权"],
  adjustedBackward: ["adjusted backward", "后复权"],
  range: ["Range", "时间范围"],
  year1: ["1 year", "近1年"],
  year3: ["3 years", "近3年"],
  everything: ["All", "全部"],
  chartSummary: [
    "{code}, {adjust}: {n} days from {first} to {last}. Last close {close}, lowest {low}, highest {high}.",
    "{code}（{adjust}）：{first} 至 {last}，共 {n} 个交易日。最新收盘价 {close}，区间最低 {low}，区间最高 {high}。",
  ],
  chartKeys: ["Arrow keys move from day to day.", "按左右方向键逐日查看。"],
  chartEmpty: ["There are no daily rows of {code}.", "没有 {code} 的日线行情。"],
  open: ["Open", "开盘"],
  high: ["High", "最高"],
  low: ["Low", "最低"],
  close: ["Close", "收盘"],
  volume: ["Volume", "成交量（手）"],
  change: ["Change", "涨跌幅"],
  build: ["Question", "查询条件"],
  start: ["From", "开始日期"],
  end: ["To", "结束日期"],
  codes: ["Codes", "代码"],
  codesHint: ["Separated by commas; empty means all", "多个代码用逗号分隔，留空表示全部"],
  fields: ["Fields", "返回字段"],
  fieldsAll: ["all", "全部"],
  limit: ["Rows at most", "返回行数上限"],
  limitHint: ["Empty means every row; here {n} are shown at a time", "留空表示不限；页面每页显示 {n} 行"],
  order: ["Order", "排序"],
  ascending: ["Ascending", "升序"],
  descending: ["Descending", "降序"],
  asOf: ["Known on (as_of)", "时点（as_of）"],
  asOfHint: ["Only what was announced by then", "只返回该日及之前已公告的数据"],
  current: ["current", "最新版本"],
  run: ["Run", "查询"],
  results: ["Rows", "查询结果"],
  resultCount: ["{n} rows, {more} · {version} · {ms} ms", "{n} 行，{more} · 版本 {version} · 耗时 {ms} 毫秒"],
  truncated: ["truncated: more follow", "还有更多数据"],
  whole: ["whole", "已全部返回"],
  page: ["Page {n}", "第 {n} 页"],
  next: ["Next page", "下一页"],
  again: ["First page", "回到第一页"],
  noRows: ["No rows match.", "没有符合条件的数据。"],
  take: ["Take it with you", "代码示例"],
  takeAbout: [
    "The same request, for your own tools. Set TOKEN in the environment first.",
    "与当前查询等价的代码。运行前请将访问令牌写入环境变量 TOKEN。",
  ],
  copy: ["Copy", "复制"],
  copied: ["Copied", "已复制"],
  copyFailed: ["Select the text and copy it", "复制失败，请手动选择文本复制"],
  charts: ["Charts by", "图表由以下组件提供："],
  market: ["Market", "行情数据"],
  auction: ["Call auction", "集合竞价"],
  index: ["Index", "指数数据"],
  referenceStore: ["Reference", "基础数据"],
  reports: ["Reports", "研报公告"],
  finance: ["Financials", "财务数据"],
  failed: ["Request failed: {status}", "请求失败（{status}）"],
  troubleOf: ["{what}: {parameter}", "{what}：{parameter}"],
  howWritten: [
    "Codes look like 600519.SH, days like 20240105",
    "代码须带交易所后缀，如 600519.SH；日期格式如 20240105；行数为正整数",
  ],
  inUnit: ["{meaning} ({unit})", "{meaning}，单位：{unit}"],
  typeCode: ["code", "代码"],
  typeText: ["text", "文本"],
  typeDate: ["date", "日期"],
  typeNumber: ["float64", "数值"],
  typeInteger: ["int64", "整数"],
  orNull: ["{type}, null", "{type}，可为空"],
  noValue: ["null", "空值"],
  kindMissing: ["missing", "个股缺失"],
  kindMissingDay: ["missing_day", "全天无数据"],
} as const satisfies Record<string, readonly [english: string, chinese: string]>;

export type TextKey = keyof typeof TEXTS;
export type Language = "en" | "zh";

export const LANGUAGES: readonly (readonly [Language, string])[] = [
  ["en", "English"],
  ["zh", "中文"],
];

export type Translate = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string;

/** Texts of a language; `{name}` in a text is replaced by the value of that name. */
export const textsOf =
  (language: Language): Translate =>
  (key, values = {}) =>
    TEXTS[key][language === "en" ? 0 : 1].replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));

// Numbers and days as people read them, in the language of the page.

/** `20240105` as `2024-01-05`. */
export const dayText = (day: string): string => `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;

/** `2024-01-05` as `20240105`; what is written without dashes stays. */
export const dayValue = (text: string): string => text.replaceAll("-", "");

export const countText = (count: number): string => count.toLocaleString("en-US");

/** A million as `1M` or `100万`: at most three digits. */
export const shortCount = (language: Language, count: number): string =>
  count.toLocaleString(language === "en" ? "en-US" : "zh-CN", { notation: "compact", maximumSignificantDigits: 3 });

export const priceText = (price: number): string =>
  price.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 3 });

/** What an entity is to the reader; nothing is known of one that the token does not cover. */
export function stateOf(coverage: Coverage | undefined): "hidden" | "available" | "unavailable" | "empty" {
  if (coverage === undefined) return "hidden";
  if (coverage.available) return "available";
  return coverage.rows === undefined ? "empty" : "unavailable";
}
