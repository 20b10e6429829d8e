// The helper table of fundamentals: earnings and assets of each stock and quarter, and when they were announced.
import type { Demo } from "./tables.js";

/** Quarters before the first day, so that trailing years are known from the start. */
const QUARTERS_BEFORE = 9;

/**
 * `demo_report`: one row for each stock, quarter and version (0: first announced, 1: revised); amounts in cents since the
 * start of the year; `known_t` is the first trading day after its announcement. `q` is year * 4 + quarter - 1.
 */
export async function makeReports(demo: Demo): Promise<void> {
  const { until } = demo.options;
  const u = (salt: string, ...keys: string[]) => demo.random.uniform(salt, "s", ...keys);
  await demo.table(
    "report",
    `WITH quarter AS (
      SELECT (end_day - INTERVAL 1 DAY)::DATE AS end_day, year(end_day - INTERVAL 1 DAY) AS year, quarter(end_day - INTERVAL 1 DAY) AS part
      FROM (SELECT unnest(generate_series(
          date_trunc('quarter', min(day)) - INTERVAL ${3 * QUARTERS_BEFORE} MONTH,
          max(day) + INTERVAL 1 DAY, INTERVAL 3 MONTH)) AS end_day FROM demo_day)),
    due AS (SELECT stock.*, quarter.*, (year * 4 + part - 1)::INTEGER AS q, year - 1988 AS y,
        CASE part WHEN 1 THEN make_date(year, 4, 20) + floor(10 * ${u("ann", "year * 4 + part")})::INTEGER
          WHEN 2 THEN make_date(year, 8, 10) + floor(21 * ${u("ann", "year * 4 + part")})::INTEGER
          WHEN 3 THEN make_date(year, 10, 15) + floor(16 * ${u("ann", "year * 4 + part")})::INTEGER
          ELSE make_date(year + 1, 3, 1) + floor(50 * ${u("ann", "year * 4 + part")})::INTEGER END AS ann_day
      FROM demo_stock stock CROSS JOIN quarter
      JOIN demo_open listed ON listed.t = list_t LEFT JOIN demo_open gone ON gone.t = delist_t
      WHERE end_day > listed.day - 750 AND (gone.day IS NULL OR end_day < gone.day - 60)),
    single AS (SELECT *, CASE WHEN loser THEN value0_cents / 3 ELSE value0_cents / pe0 / margin END
          * pow(1 + growth, year - ${Number(until.slice(0, 4)) - 3}) * (0.85e0 + 0.3e0 * ${u("year", "y")})
          * [0.22e0, 0.25e0, 0.25e0, 0.28e0][part] * (0.95e0 + 0.1e0 * ${u("revenue", "q")}) AS sales,
        CASE WHEN ${u("bad", "y")} < 0.06e0 THEN -0.05e0 ELSE margin END * (0.9e0 + 0.2e0 * ${u("profit", "q")}) AS net
      FROM (SELECT *, price0 * shares0 * 100 AS value0_cents FROM due)),
    summed AS (SELECT *, sales::BIGINT AS q_revenue, (sales * net)::BIGINT AS q_profit,
        (sum(sales::BIGINT) OVER year_to_date)::BIGINT AS revenue, (sum((sales * net)::BIGINT) OVER year_to_date)::BIGINT AS profit,
        (sum(sales::BIGINT) OVER four)::BIGINT AS revenue_ttm, (sum((sales * net)::BIGINT) OVER four)::BIGINT AS profit_ttm,
        greatest(value0_cents / pb0 * 0.2e0, value0_cents / pb0 + 0.6e0 * (sum((sales * net)::BIGINT) OVER since)::DOUBLE)::BIGINT AS equity
      FROM single WINDOW year_to_date AS (PARTITION BY s, year ORDER BY q), four AS (PARTITION BY s ORDER BY q ROWS 3 PRECEDING),
        since AS (PARTITION BY s ORDER BY q)),
    balanced AS (SELECT *, (equity / (0.8e0 - 0.5e0 * ${u("debt")}))::BIGINT AS assets,
        (assets * (0.05e0 + 0.1e0 * ${u("cash")} + 0.04e0 * ${u("cash", "q")}))::BIGINT AS cash FROM summed),
    first AS (SELECT *, coalesce(last_value(CASE WHEN part = 4 THEN cash END IGNORE NULLS)
          OVER (PARTITION BY s ORDER BY q ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), cash) AS cash_before,
        last_value(CASE WHEN part = 4 THEN revenue END IGNORE NULLS) OVER past AS revenue_year,
        last_value(CASE WHEN part = 4 THEN profit END IGNORE NULLS) OVER past AS profit_year,
        lag(revenue, 4) OVER past AS revenue_before, lag(profit, 4) OVER past AS profit_before,
        lag(equity, 4) OVER past AS equity_before,
        ann_day + 60 + floor(200 * ${u("revision", "q")})::INTEGER AS revised_day, ${u("revised", "q")} < 0.03e0 AS revised
      FROM balanced WINDOW past AS (PARTITION BY s ORDER BY q)),
    paid AS (SELECT s, day, bonus FROM demo_ex JOIN demo_open USING (t)),
    grown AS (SELECT first.s, first.q, round(shares0 * exp(coalesce(sum(round(ln(1 + bonus) * 1e12)::BIGINT), 0)::DOUBLE / 1e12))::BIGINT AS shares
      FROM first LEFT JOIN paid ON paid.s = first.s AND paid.day <= end_day
      GROUP BY first.s, first.q, shares0),
    versioned AS (SELECT *, version = 1 OR NOT (revised AND revised_day <= DATE '${day(until)}') AS newest,
        CASE version WHEN 1 THEN revised_day ELSE ann_day END AS f_ann_day, 1 - 0.02e0 * version AS factor
      FROM first JOIN grown USING (s, q), (VALUES (0), (1)) v(version)
      WHERE ann_day <= DATE '${day(until)}' AND (version = 0 OR (revised AND revised_day <= DATE '${day(until)}')))
    SELECT s, ts_code, q, year, part, version, newest, end_day, ann_day, f_ann_day, t + 1 AS known_t, shares, leaf,
      ${["revenue", "profit", "q_revenue", "q_profit", "equity", "assets", "cash"].map((column) => `(${column} * factor)::BIGINT AS ${column}`).join(", ")},
      cash_before, revenue_ttm, profit_ttm, revenue_year, profit_year, revenue_before, profit_before, equity_before
    FROM versioned JOIN demo_calendar ON demo_calendar.day = ann_day ORDER BY ann_day, s, q, f_ann_day`,
  );
}

function day(compact: string): string {
  return `${compact.slice(0, 4)}-${compact.slice(4, 6)}-${compact.slice(6)}`;
}
