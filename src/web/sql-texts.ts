// The texts of the view for SQL, in both languages.

export const SQL_TEXTS = {
  sql: ["SQL", "SQL"],
  sqlAbout: [
    "One SELECT over one version of the data, in the SQL of DuckDB. Every entity is a table; dates are real dates.",
    "对一个数据版本执行一条 SELECT 语句，语法同 DuckDB。每张数据表即一张表，日期为日期类型。",
  ],
  sqlOff: ["This server runs no SQL.", "本服务器未启用 SQL。"],
  sqlOffHint: ["The operator allows it with --sql-processes.", "管理员可通过服务器设置启用。"],
  sqlForbidden: ["This token may not run SQL.", "该访问令牌无权执行 SQL。"],
  sqlForbiddenHint: [
    "The operator makes a token that may with: tapehouse token create NAME --sql",
    "请联系管理员创建可执行 SQL 的令牌。",
  ],
  sqlEntityForbidden: ["This token may not read an entity of the statement.", "语句用到了该访问令牌无权读取的数据表。"],
  statement: ["Statement", "语句"],
  statementHint: ["Ctrl+Enter or ⌘+Enter runs it.", "按组合键（控制键或⌘，加回车）即可执行。"],
  example: ["Example", "示例"],
  exampleNone: ["Choose one…", "请选择…"],
  sqlBreadth: ["Stocks that rose and fell, day by day", "每日上涨与下跌家数"],
  sqlTurnover: ["Turnover of each year", "每年成交额"],
  sqlVolatility: ["Volatility over 20 days, annualised", "20 日年化波动率"],
  sqlRank: ["The three best stocks of each day", "每日涨幅前三名"],
  sqlLimitUp: ["Stocks that closed at their upper limit", "每日收盘涨停家数"],
  sqlMonths: ["Monthly bars of a stock", "个股月线"],
  values: ["Values of the parameters", "参数值"],
  valuesHint: [
    "A number, a text, or several separated by commas; days as 20240105; “in quotes” it is always text; empty means NULL.",
    "数值、文本，或用逗号分隔的多个值；日期如 20240105；加引号则视为文本；留空表示空值。",
  ],
  sqlLimitHint: ["The table shows no more; a download has every row.", "表格最多显示这么多行；下载包含全部行。"],
  sqlCount: ["{n} rows, {more} · {version} · {ms} ms", "{n} 行，{more} · 版本 {version} · 耗时 {ms} 毫秒"],
  sqlTruncated: ["there are more: choose a higher limit, or download all", "还有更多：可提高行数上限，或下载全部"],
  sqlPlace: ["Line {line}, column {column}", "第 {line} 行，第 {column} 列"],
  sqlDetail: ["What the server says", "服务器原文"],
  lines: ["Lines", "曲线"],
  linesSummary: [
    "Chart of {names}: {n} days from {first} to {last}.",
    "曲线图：{names}。{first} 至 {last}，共 {n} 天。",
  ],
  linesMore: ["Only the first {n} lines are drawn.", "仅绘制前 {n} 条曲线。"],
} as const satisfies Record<string, readonly [english: string, chinese: string]>;
