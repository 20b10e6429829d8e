// Every text of the page, in both languages.
import type { Coverage } from "./types.js";

const TEXTS = {
  title: ["Tapehouse: market data", "Tapehouse：行情数据"],
  skip: ["Skip to content", "跳到正文"],
  sections: ["Sections", "栏目"],
  catalog: ["Catalog", "目录"],
  chart: ["Chart", "K线"],
  query: ["Query", "查询"],
  reference: ["API reference", "接口文档"],
  language: ["Language", "语言"],
  theme: ["Appearance", "外观"],
  system: ["System", "跟随系统"],
  light: ["Light", "浅色"],
  dark: ["Dark", "深色"],
  version: ["Data version", "数据版本"],
  signIn: ["What is in this lake", "这里有哪些数据"],
  signInAbout: [
    "Daily quotes, valuation, auctions, indices, reference data, reports and financials, read-only. To look inside, give your access token. It stays in this tab and is forgotten when you close it.",
    "日线行情、估值、集合竞价、指数、基础资料、研报公告与财务数据，只读。请输入访问令牌；令牌只保存在当前标签页，关闭即清除。",
  ],
  token: ["Access token", "访问令牌"],
  tokenHint: ["The operator makes one with: tapehouse token create NAME", "由管理员创建：tapehouse token create NAME"],
  enter: ["Open", "进入"],
  leave: ["Forget token", "清除令牌"],
  tokenRefused: ["This token is not accepted.", "令牌无效。"],
  loading: ["Loading…", "加载中…"],
  unreachable: ["The server cannot be reached, or its answer was cut.", "无法连接服务器，或应答中断。"],
  hint: ["Way out: ", "建议："],
  allowed: ["Accepted: ", "可用："],
  search: ["Search entities and columns", "搜索实体与字段"],
  found: ["{n} entities", "{n} 个实体"],
  entity: ["Entity", "实体"],
  first: ["First day", "首日"],
  last: ["Last day", "末日"],
  rows: ["Rows", "行数"],
  state: ["State", "状态"],
  available: ["available", "有数据"],
  empty: ["no data yet", "暂无数据"],
  unavailable: ["unavailable at the moment", "暂时无法读取"],
  hidden: ["not covered by this token", "令牌无权访问"],
  total: ["{entities} of {all} entities with data · {rows} rows", "{all} 个实体中 {entities} 个有数据 · 共 {rows} 行"],
  noEntity: ["There is no such entity:", "没有这个实体："],
  backToCatalog: ["All entities", "全部实体"],
  queryThis: ["Query this entity", "查询此实体"],
  columns: ["Columns", "字段"],
  column: ["Column", "字段"],
  type: ["Type", "类型"],
  unit: ["Unit", "单位"],
  meaning: ["Meaning", "含义"],
  gaps: ["Completeness", "数据完整性"],
  gapsNone: ["No gaps: every expected row from {first} to {last} is there.", "无缺口：{first} 至 {last} 数据完整。"],
  gapsNotComputed: [
    "Rows of this entity are not expected on fixed days, so only gaps that the operator recorded are shown. There are none.",
    "此实体没有固定的数据日，只显示人工登记的缺口。目前没有。",
  ],
  gapsSome: ["Gaps: {n}, on {days} days", "{n} 个缺口，涉及 {days} 天"],
  gapDays: [
    "{year}: {open} trading days, {missing} without any row, {partial} with missing rows",
    "{year}年：{open} 个交易日，{missing} 天全缺，{partial} 天部分缺",
  ],
  gapPick: ["Point at a day to read it.", "指向某一天查看详情。"],
  gapList: ["Gaps as a list", "缺口列表"],
  gapMore: ["The first {n} of {all}.", "显示前 {n} 条，共 {all} 条。"],
  gapYears: ["By year", "按年统计"],
  year: ["Year", "年份"],
  openDays: ["Trading days", "交易日"],
  missingDays: ["Without any row", "全缺"],
  partialDays: ["With missing rows", "部分缺"],
  code: ["Code", "代码"],
  kind: ["Kind", "类型"],
  everyCode: ["whole market", "全市场"],
  noCalendar: [
    "This token does not cover the calendar, so every weekday is taken for a trading day.",
    "令牌无权访问日历，按工作日推算交易日。",
  ],
  complete: ["complete", "完整"],
  closed: ["closed or outside", "休市或区间外"],
  few: ["1 code missing", "缺 1 只"],
  some: ["2–9 codes", "缺 2–9 只"],
  many: ["10 or more", "缺 10 只以上"],
  none: ["no rows at all", "全缺"],
  dayMissing: ["{day}: {n} missing", "{day}：缺 {n} 只"],
  dayNone: ["{day}: no rows at all", "{day}：全缺"],
  dayComplete: ["{day}: complete", "{day}：完整"],
  dayClosed: ["{day}: closed or outside", "{day}：休市或区间外"],
  stock: ["Stock: code or name", "股票代码或名称"],
  stockHint: ["Type a few letters, then choose with the arrow keys and Enter.", "输入几个字符，用方向键和回车选择。"],
  stocksFound: ["{n} stocks found", "找到 {n} 只股票"],
  adjustment: ["Adjustment", "复权"],
  adjustNone: ["None", "不复权"],
  adjustForward: ["Forward", "前复权"],
  adjustBackward: ["Backward", "后复权"],
  notAdjusted: ["not adjusted", "不复权"],
  adjustedForward: ["adjusted forward", "前复权"],
  adjustedBackward: ["adjusted backward", "后复权"],
  range: ["Range", "区间"],
  year1: ["1 year", "1年"],
  year3: ["3 years", "3年"],
  everything: ["All", "全部"],
  chartSummary: [
    "{code}, {adjust}: {n} days from {first} to {last}. Last close {close}, lowest {low}, highest {high}.",
    "{code}，{adjust}：{first} 至 {last} 共 {n} 天。最新收盘 {close}，最低 {low}，最高 {high}。",
  ],
  chartKeys: ["Arrow keys move from day to day.", "用左右方向键逐日查看。"],
  chartEmpty: ["There are no daily rows of {code}.", "没有 {code} 的日线数据。"],
  open: ["Open", "开"],
  high: ["High", "高"],
  low: ["Low", "低"],
  close: ["Close", "收"],
  volume: ["Volume", "量"],
  change: ["Change", "涨跌"],
  build: ["Question", "查询条件"],
  start: ["From", "起始日"],
  end: ["To", "截止日"],
  codes: ["Codes", "代码"],
  codesHint: ["Parted by commas; empty means all", "逗号分隔，留空为全部"],
  fields: ["Fields", "字段"],
  fieldsAll: ["all", "全部"],
  limit: ["Rows at most", "最多行数"],
  limitHint: ["Empty means every row; here {n} are shown at a time", "留空为全部；页面每次显示 {n} 行"],
  order: ["Order", "排序"],
  ascending: ["Ascending", "升序"],
  descending: ["Descending", "降序"],
  asOf: ["Known on (as_of)", "时点 (as_of)"],
  asOfHint: ["Only what was announced by then", "仅返回当时已公告的数据"],
  current: ["current", "当前"],
  run: ["Run", "查询"],
  results: ["Rows", "结果"],
  resultCount: ["{n} rows, {more} · {version} · {ms} ms", "{n} 行，{more} · {version} · {ms} 毫秒"],
  truncated: ["truncated: more follow", "已截断，还有更多"],
  whole: ["whole", "完整"],
  page: ["Page {n}", "第 {n} 页"],
  next: ["Next page", "下一页"],
  again: ["First page", "第一页"],
  noRows: ["No rows fit.", "没有符合条件的数据。"],
  take: ["Take it with you", "用代码获取"],
  takeAbout: [
    "The same request, for your own tools. Set TOKEN in the environment first.",
    "同一请求的代码形式，请先设置环境变量 TOKEN。",
  ],
  copy: ["Copy", "复制"],
  copied: ["Copied", "已复制"],
  copyFailed: ["Select the text and copy it", "请选中文本手动复制"],
  charts: ["Charts by", "图表："],
  market: ["Market", "行情"],
  auction: ["Call auction", "集合竞价"],
  index: ["Index", "指数"],
  referenceStore: ["Reference", "基础资料"],
  reports: ["Reports", "研报公告"],
  finance: ["Financials", "财务"],
} as const satisfies Record<string, readonly [english: string, chinese: string]>;

export type TextKey = keyof typeof TEXTS;
export type Language = "en" | "zh";

export const LANGUAGES: readonly (readonly [Language, string])[] = [
  ["en", "English"],
  ["zh", "中文"],
];

/** Names of the entities in Chinese; in English the catalog has them. */
const ENTITIES: Readonly<Record<string, string>> = {
  daily: "日线行情",
  weekly: "周线行情",
  monthly: "月线行情",
  daily_basic: "每日指标",
  adj_factor: "复权因子",
  stk_limit: "涨跌停价格",
  suspend_d: "停复牌",
  stk_auction_o: "开盘集合竞价",
  stk_auction_c: "收盘集合竞价",
  stk_auction: "集合竞价明细",
  index_basic: "指数列表",
  index_daily: "指数日线",
  index_weight: "指数成分权重",
  index_classify: "行业分类",
  index_member: "行业成分",
  stock_list: "股票列表",
  stock_company: "公司信息",
  namechange: "股票曾用名",
  trade_cal: "交易日历",
  research_report: "券商研报",
  anns_d: "上市公司公告",
  income: "利润表",
  balancesheet: "资产负债表",
  cashflow: "现金流量表",
  fina_indicator: "财务指标",
  dividend: "分红送股",
};

export type Translate = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string;

/** Texts of a language; `{name}` in a text is replaced by the value of that name. */
export const textsOf =
  (language: Language): Translate =>
  (key, values = {}) =>
    TEXTS[key][language === "en" ? 0 : 1].replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));

export const entityTitle = (language: Language, { name, title }: { name: string; title: string }): string =>
  language === "en" ? title : (ENTITIES[name] ?? title);

// Numbers and days as people read them, in the language of the page.

/** `20240105` as `2024-01-05`. */
export const dayText = (day: string): string => `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;

/** `2024-01-05` as `20240105`; what is written without dashes stays. */
export const dayValue = (text: string): string => text.replaceAll("-", "");

export const countText = (count: number): string => count.toLocaleString("en-US");

/** A million as `1M`: at most three digits. */
export const shortCount = (count: number): string =>
  count.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 });

export const priceText = (price: number): string =>
  price.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 3 });

/** What an entity is to the reader; nothing is known of one that the token does not cover. */
export function stateOf(coverage: Coverage | undefined): "hidden" | "available" | "unavailable" | "empty" {
  if (coverage === undefined) return "hidden";
  if (coverage.available) return "available";
  return coverage.rows === undefined ? "empty" : "unavailable";
}
