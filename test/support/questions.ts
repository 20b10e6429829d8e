// Random questions in SQL over the tables of `sql-market.ts`. The same seed gives the same questions.

type Kind = "float" | "int" | "date" | "text" | "bool";

export function questions(seed: number, count: number): readonly string[] {
  let state = seed;
  const below = (n: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const pick = <T>(...choices: readonly T[]): T => choices[below(choices.length)]!;

  const COLUMNS: Record<Kind, readonly string[]> = {
    float: ["close", "open", "pre_close", "vol", "pct_chg"],
    int: ["year(trade_date)", "length(ts_code)", "month(trade_date)"],
    date: ["trade_date"],
    text: ["ts_code"],
    bool: ["close > open", "vol IS NULL"],
  };
  const column = (kind: Kind): string => pick(...COLUMNS[kind]);

  const DEEPER: Record<Kind, (depth: number) => string> = {
    float: (d) =>
      pick(
        () => `(${value("float", d)} ${pick("+", "-", "*")} ${value(pick("float", "int"), d)})`,
        () => `(${value("float", d)} / nullif(${value(pick("float", "int"), d)}, 0))`,
        () => `${pick("abs", "round", "floor", "ceil")}(${value("float", d)})`,
        () => `sqrt(abs(${value("float", d)}))`,
        () => `ln(1 + abs(${value("float", d)}))`,
        () => `${pick("greatest", "least")}(${value("float", d)}, ${value("float", d)})`,
        () => `coalesce(${value("float", d)}, ${pick("0", "1.5", "-2e0")})`,
        () => `CASE WHEN ${value("bool", d)} THEN ${value("float", d)} ELSE ${value("float", d)} END`,
        () => `(-${value("float", d)})`,
        () => `CAST(${value("int", d)} AS DOUBLE)`,
      )(),
    int: (d) =>
      pick(
        () => `(${value("int", d)} ${pick("+", "-", "*")} ${below(50)})`,
        () => `(${value("int", d)} ${pick("%", "//")} ${1 + below(7)})`,
        () => `${pick("day", "quarter", "dayofweek", "isodow", "week", "dayofyear")}(${value("date", d)})`,
        () => `extract(${pick("year", "month", "day")} FROM ${value("date", d)})`,
        () => `length(${value("text", d)})`,
        () => `(${value("date", d)} - DATE '2023-12-${10 + below(20)}')`,
        () => `CAST(floor(${pick("close", "open", "vol")}) AS BIGINT)`,
        () => `CAST(${value("bool", d)} AS INT)`,
        () => `date_diff('day', DATE '2020-02-29', ${value("date", d)})`,
      )(),
    date: (d) =>
      pick(
        () => `(${value("date", d)} ${pick("+", "-")} ${below(400)})`,
        () => `CAST(date_trunc('${pick("month", "quarter", "year", "week")}', ${value("date", d)}) AS DATE)`,
        () => `last_day(${value("date", d)})`,
      )(),
    text: (d) =>
      pick(
        () => `(${value("text", d)} || ${pick("'x'", "'é''中'", "'\\'", "ts_code")})`,
        () => `${pick("left", "right")}(${value("text", d)}, ${below(8)})`,
        () => `substr(${value("text", d)}, ${1 + below(6)}, ${below(5)})`,
        () => `CAST(${value(pick("int", "date"), d)} AS VARCHAR)`,
        () => `CASE WHEN ${value("bool", d)} THEN ${value("text", d)} ELSE NULL END`,
      )(),
    bool: (d) =>
      pick(
        () => `(${value("float", d)} ${comparison()} ${value(pick("float", "int"), d)})`,
        () => `(${value("date", d)} ${comparison()} '2024-01-0${1 + below(9)}')`,
        () => `(${value("text", d)} ${pick("LIKE", "NOT LIKE")} ${pick("'%1%'", "'0000_1.S_'", "'%SH'")})`,
        () => `(${value("bool", d)} ${pick("AND", "OR")} ${value("bool", d)})`,
        () => `(NOT ${value("bool", d)})`,
        () => `(${value("int", d)} ${pick("IN", "NOT IN")} (1, 2, 3, ${below(40)}))`,
        () => `(${value("float", d)} BETWEEN ${below(10)} AND ${10 + below(30)})`,
        () => `(${value("text", d)} IS ${pick("", "NOT ")}DISTINCT FROM ${value("text", d)})`,
        () => `${pick("starts_with", "contains", "ends_with")}(${value("text", d)}, '${pick("0", "S", "Z")}')`,
        () => `(${value(pick("float", "text"), d)} IS ${pick("", "NOT ")}NULL)`,
      )(),
  };
  const comparison = (): string => pick("<", ">", "<=", ">=", "=", "<>");
  const value = (kind: Kind, depth = 2): string =>
    depth === 0 || below(3) === 0 ? column(kind) : DEEPER[kind](depth - 1);

  const aggregate = (): string =>
    pick(
      () => "count(*)",
      () => `count(${pick("", "DISTINCT ")}${value(pick("float", "text", "int"), 1)})`,
      () => `sum(${value(pick("float", "int"), 1)})`,
      () => `sum(${value("float", 1)}) FILTER (WHERE ${value("bool", 1)})`,
      () => `avg(${value(pick("float", "int"), 1)})`,
      () => `${pick("min", "max")}(${value(pick("float", "text", "date", "int"), 1)})`,
      () => `${pick("stddev", "var_samp", "stddev_pop", "var_pop", "median")}(${column("float")})`,
      () => `quantile_cont(${column("float")}, ${pick("0.1", "0.25", "0.9")})`,
      () => `${pick("bool_and", "bool_or")}(${value("bool", 1)})`,
      () => `100e0 * sum(${column("float")}) / nullif(count(${column("float")}), 0)`,
    )();
  const direction = (): string => pick("", " DESC", " NULLS FIRST", " DESC NULLS LAST");
  const window = (): string => {
    const over = `PARTITION BY ${pick("ts_code", "left(ts_code, 5)")} ORDER BY ${pick("", "pct_chg DESC NULLS FIRST, ")}trade_date, ts_code`;
    const rows = ` ROWS BETWEEN ${pick("UNBOUNDED", String(below(5)))} PRECEDING AND ${pick("CURRENT ROW", `${below(3)} FOLLOWING`)}`;
    return pick(
      () => `${pick("row_number", "rank", "dense_rank")}() OVER (${over})`,
      () => `${pick("lag", "lead")}(${value("float", 1)}, ${1 + below(3)}) OVER (${over})`,
      () => `lag(${column("float")}, 1, 0e0) OVER (${over})`,
      () => `${pick("sum", "avg", "min", "max", "count")}(${column("float")}) OVER (${over}${pick("", rows)})`,
      () => `sum(${value("int", 1)}) OVER (${over}${rows})`,
    )();
  };
  const where = (): string => (below(3) === 0 ? "" : ` WHERE ${value("bool")}`);
  const keys = (): string =>
    `ORDER BY trade_date${direction()}, ts_code${direction()}${pick("", ` LIMIT ${below(60)} OFFSET ${below(5)}`)}`;

  const SHAPES: readonly (() => string)[] = [
    () =>
      `SELECT ts_code, trade_date, ${value(pick("float", "int", "text", "bool", "date"), 3)} AS v FROM daily${where()} ${keys()}`,
    () => `SELECT * FROM daily${where()} ${keys()}`,
    () =>
      `SELECT ${value("text", 1)} AS k, ${aggregate()} AS a, ${aggregate()} AS b FROM daily${where()} GROUP BY k ORDER BY k${direction()}`,
    () => {
      const key = value(pick("int", "date"), 1);
      return `SELECT ${key} AS k, ${aggregate()} AS a FROM daily${where()} GROUP BY 1 HAVING count(*) > ${below(4)} ORDER BY 1${direction()}`;
    },
    () => `SELECT ${aggregate()} AS a, ${aggregate()} AS b, ${aggregate()} AS c FROM daily${where()}`,
    () => `SELECT trade_date, ts_code, ${window()} AS w, ${window()} AS x FROM daily${where()} ${keys()}`,
    () => `SELECT d.trade_date, d.ts_code, s.chairman, ${value("float").replaceAll("ts_code", "d.ts_code").replaceAll("trade_date", "d.trade_date")} AS v
      FROM daily d ${pick("JOIN", "LEFT JOIN")} stock_company s ON d.ts_code = s.ts_code AND s.province <> '浙江' ${keys().replace("trade_date", "d.trade_date").replace("ts_code", "d.ts_code")}`,
    () => `SELECT province, count(*) AS n, ${aggregate().replaceAll("trade_date", "d.trade_date")} AS a FROM daily d JOIN stock_company s USING (ts_code)
      GROUP BY province ORDER BY n${direction()}, province`,
    () => `WITH m AS (SELECT ts_code, avg(${column("float")}) AS mean FROM daily GROUP BY ts_code)
      SELECT d.ts_code, d.trade_date, close - m.mean AS off FROM daily d JOIN m ON m.ts_code = d.ts_code ORDER BY 1, 2${direction()}`,
    () => `SELECT DISTINCT ${value("text", 1)} AS k FROM daily${where()} ORDER BY k${direction()}`,
    () => `SELECT ts_code, trade_date FROM daily WHERE close > ${10 + below(20)} ${pick("UNION ALL", "UNION", "EXCEPT", "INTERSECT")}
      SELECT ts_code, trade_date FROM daily WHERE open < ${20 + below(20)} ORDER BY 1, 2 DESC`,
    () =>
      `SELECT ts_code, trade_date, vol FROM daily WHERE ts_code ${pick("IN", "NOT IN")} (SELECT ts_code FROM stock_company WHERE setup_date > DATE '200${below(9)}-06-01') ${keys()}`,
    () =>
      `SELECT ts_code, trade_date FROM daily WHERE close > (SELECT ${pick("avg", "max", "median")}(open) FROM daily) ${keys()}`,
    () => `SELECT c.cal_date, sum(c.is_open * ${1 + below(9)}) AS n, max(q.a) AS a FROM trade_cal c
      LEFT JOIN (SELECT trade_date, ${aggregate().replace(/^(bool_|min|max).*/, "count(*)")} AS a FROM daily${where()} GROUP BY trade_date) q ON q.trade_date = c.cal_date
      GROUP BY c.cal_date ORDER BY c.cal_date`,
  ];
  return Array.from({ length: count }, (_, i) => SHAPES[i % SHAPES.length]!());
}
