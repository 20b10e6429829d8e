// Ten statements of a quantitative analyst, once for DuckDB and once for ClickHouse. `daily` and the others stand for tables.

export interface QuantStatement {
  readonly name: string;
  readonly sql: string;
  /** Where ClickHouse needs other words. */
  readonly chdb?: string;
}

const RETURNS = "SELECT ts_code, trade_date, close / lag(close, 20) OVER days - 1 AS momentum FROM daily";
const OF_DAYS = "WINDOW days AS (PARTITION BY ts_code ORDER BY trade_date)";

const BY_WEIGHT = `SELECT w.index_code AS index_code, d.trade_date AS trade_date, sum(w.weight * d.pct_chg) / sum(w.weight) AS index_return
  FROM daily d JOIN (SELECT DISTINCT trade_date FROM index_weight) x ON toStartOf(d.trade_date) = toStartOf(x.trade_date)
  JOIN index_weight w ON w.con_code = d.ts_code AND w.trade_date = x.trade_date GROUP BY 1, 2 ORDER BY 1, 2`;

const monthly = (first: string, last: string): string =>
  `SELECT ts_code, date_trunc('month', trade_date)::DATE AS month, ${first}(open, trade_date) AS open, max(high) AS high,
    min(low) AS low, ${last}(close, trade_date) AS close, sum(vol) AS vol FROM daily GROUP BY 1, 2 ORDER BY 1, 2`;

const REPORTS =
  "SELECT ts_code, ann_date, max(total_revenue) AS revenue FROM income WHERE total_revenue IS NOT NULL GROUP BY 1, 2";

/** Every statement has an order, so that answers can be compared. */
export const QUANT_STATEMENTS: readonly QuantStatement[] = [
  {
    name: "yearly turnover",
    sql: "SELECT year(trade_date) AS y, sum(amount) AS amount, count(*) AS n FROM daily GROUP BY 1 ORDER BY 1",
  },
  {
    name: "rolling 20-day volatility",
    sql: `SELECT trade_date, avg(vol) AS vol FROM (SELECT trade_date, stddev_samp(pct_chg) OVER days AS vol, count(*) OVER days AS n
      FROM daily WINDOW days AS (PARTITION BY ts_code ORDER BY trade_date ROWS BETWEEN 19 PRECEDING AND CURRENT ROW)) t
      WHERE n = 20 GROUP BY 1 ORDER BY 1`,
  },
  {
    name: "cross-sectional rank",
    sql: `SELECT ts_code, trade_date, place FROM (SELECT ts_code, trade_date, rank() OVER (PARTITION BY trade_date ORDER BY pct_chg DESC) AS place
      FROM daily) t WHERE place <= 10 ORDER BY trade_date, place, ts_code`,
  },
  {
    name: "limit-up counts",
    sql: `SELECT d.trade_date AS trade_date, count(*) AS n FROM daily d JOIN stk_limit l ON l.ts_code = d.ts_code AND l.trade_date = d.trade_date
      WHERE d.close >= l.up_limit GROUP BY 1 ORDER BY 1`,
  },
  {
    name: "index-weighted return",
    sql: BY_WEIGHT.replaceAll("toStartOf(", "date_trunc('month', "),
    chdb: BY_WEIGHT.replaceAll("toStartOf(", "toStartOfMonth("),
  },
  {
    name: "as-of join of reports",
    sql: `SELECT d.trade_date AS trade_date, count(*) AS n, sum(r.revenue) AS revenue FROM daily d ASOF JOIN (${REPORTS}) r
      ON d.ts_code = r.ts_code AND d.trade_date >= r.ann_date GROUP BY 1 ORDER BY 1`,
  },
  {
    name: "monthly resample",
    sql: monthly("arg_min", "arg_max"),
    chdb: monthly("argMin", "argMax").replace("date_trunc('month', trade_date)::DATE", "toStartOfMonth(trade_date)"),
  },
  {
    name: "20-day momentum",
    sql: `SELECT trade_date, avg(momentum) AS mean, count(*) AS n FROM (${RETURNS} ${OF_DAYS}) t WHERE momentum IS NOT NULL GROUP BY 1 ORDER BY 1`,
    chdb: `SELECT trade_date, avg(momentum) AS mean, count(*) AS n FROM (${RETURNS.replace(
      "lag(close, 20) OVER days",
      "any(close) OVER (PARTITION BY ts_code ORDER BY trade_date ROWS BETWEEN 20 PRECEDING AND 20 PRECEDING)",
    )}) t WHERE momentum IS NOT NULL AND isFinite(momentum) GROUP BY 1 ORDER BY 1`,
  },
  {
    name: "correlation with the market",
    sql: `SELECT d.ts_code AS ts_code, corr(d.pct_chg, i.pct_chg) AS c FROM daily d JOIN index_daily i ON i.trade_date = d.trade_date
      WHERE i.ts_code = '000001.SH' GROUP BY 1 HAVING count(*) > 20 ORDER BY 1`,
  },
  {
    name: "median of a ratio, by day",
    sql: "SELECT trade_date, quantile_cont(pe, 0.5) AS middle, count(pe) AS n FROM daily_basic WHERE pe > 0 GROUP BY 1 ORDER BY 1",
    chdb: "SELECT trade_date, quantileExactInclusive(0.5)(pe) AS middle, count(pe) AS n FROM daily_basic WHERE pe > 0 GROUP BY 1 ORDER BY 1",
  },
];

/** A statement over files instead of tables. `filesOf` gives the table function of an entity. */
export const overFiles = (sql: string, filesOf: (entity: string) => string): string =>
  sql.replaceAll(/\b(FROM|JOIN) ([a-z_]+)\b/g, (_, word: string, entity: string) => `${word} ${filesOf(entity)}`);
