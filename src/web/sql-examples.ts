// Questions that a statement answers, as a beginning.
import type { TextKey } from "./texts.js";

interface Example {
  readonly title: TextKey;
  readonly sql: string;
  /** Values of its parameters, as they are typed. */
  readonly values: Readonly<Record<string, string>>;
}

export const EXAMPLES: readonly Example[] = [
  {
    title: "sqlBreadth",
    sql: `SELECT trade_date, count_if(pct_chg > 0) AS rising, count_if(pct_chg < 0) AS falling
FROM daily
WHERE trade_date >= $from
GROUP BY trade_date
ORDER BY trade_date`,
    values: { from: "20240101" },
  },
  {
    title: "sqlTurnover",
    sql: `SELECT year(trade_date) AS year, sum(amount) AS amount, count(DISTINCT trade_date) AS days
FROM daily
GROUP BY year
ORDER BY year`,
    values: {},
  },
  {
    title: "sqlVolatility",
    sql: `SELECT trade_date, ts_code, stddev(pct_chg) OVER days * sqrt(252) AS volatility
FROM daily
WHERE ts_code IN $codes
WINDOW days AS (PARTITION BY ts_code ORDER BY trade_date ROWS 19 PRECEDING)
QUALIFY count(*) OVER days = 20
ORDER BY trade_date, ts_code`,
    values: { codes: "000001.SZ, 600519.SH" },
  },
  {
    title: "sqlRank",
    sql: `SELECT trade_date, ts_code, pct_chg, percent_rank() OVER (PARTITION BY trade_date ORDER BY pct_chg) AS rank
FROM daily
WHERE trade_date >= $from
QUALIFY row_number() OVER (PARTITION BY trade_date ORDER BY pct_chg DESC, ts_code) <= 3
ORDER BY trade_date, rank DESC, ts_code`,
    values: { from: "20241201" },
  },
  {
    title: "sqlLimitUp",
    sql: `SELECT trade_date, count(*) AS stocks
FROM daily
JOIN stk_limit USING (ts_code, trade_date)
WHERE up_limit > 0 AND close >= up_limit
GROUP BY trade_date
ORDER BY trade_date`,
    values: {},
  },
  {
    title: "sqlMonths",
    sql: `SELECT trade_date, close, vol
FROM bars(daily, 'month')
WHERE ts_code = $code
ORDER BY trade_date`,
    values: { code: "600519.SH" },
  },
];
