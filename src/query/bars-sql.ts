// SQL of bars of weeks and months that are made of days: adjusted ones, each day with its own factor, and unstored ones.
import type { BarsSource, Grouping, Part, Rebuilding } from "./scan.js";

/** Writes the rows of a part with some columns. */
type SelectPart = (part: Part, columns: string) => string;

/** Bars as a table. `date` binds a date, `YYYYMMDD`. */
export function barsSql(bars: BarsSource, select: SelectPart, date: (value: string) => string): string {
  const all: SelectAll = (parts, columns, none) =>
    `(${parts.length === 0 ? `SELECT ${none} WHERE false` : parts.map((part) => select(part, columns)).join(" UNION ALL ")})`;
  return (bars.how === "rebuilt" ? rebuiltSql(bars, all) : groupedSql(bars, all, date)).replaceAll(/\s*\n\s*/g, " ");
}

/** Sums of floating-point numbers depend on their order, and a page must equal the whole. */
const BY_DAY = " ORDER BY trade_date";

/** The rows of some parts with some columns; if there are none, `none` says what the columns are. */
type SelectAll = (parts: readonly Part[], columns: string, none: string) => string;

/**
 * A value is null if it is null in a day that it depends on. The previous close is the close of the bar before, and after a
 * gap or at the beginning that of the first day.
 */
function groupedSql(
  { period, days, calendar, until, reach }: Grouping,
  all: SelectAll,
  date: (value: string) => string,
): string {
  const dayRows = all(days, "ts_code, trade_date, open, high, low, close, pre_close, vol, amount", "");
  const openDays = all(calendar, "cal_date, is_open", "NULL::DATE AS cal_date, NULL::BIGINT AS is_open");
  const whole = (aggregate: string, name: string, order = ""): string =>
    `CASE WHEN count(${name}) = count(*) THEN ${aggregate}(${name}${order}) END AS ${name}`;
  return `(WITH trading AS (SELECT date_trunc('${period}', cal_date) AS t_start, max(cal_date) AS t_last FROM ${openDays}
      WHERE is_open = 1 GROUP BY ALL),
    grouped AS (SELECT ts_code, date_trunc('${period}', trade_date) AS p_start, max(trade_date) AS last,
      first(open ORDER BY trade_date) AS open, ${whole("max", "high")}, ${whole("min", "low")},
      last(close ORDER BY trade_date) AS close, first(pre_close ORDER BY trade_date) AS first_pre_close,
      ${whole("sum", "vol", BY_DAY)}, ${whole("sum", "amount", BY_DAY)} FROM ${dayRows} GROUP BY ALL),
    followed AS (SELECT *, coalesce(CASE WHEN lag(p_start) OVER bars >= p_start - INTERVAL ${reach} ${period}
      THEN lag(close) OVER bars END, first_pre_close) AS pre_close
      FROM grouped WINDOW bars AS (PARTITION BY ts_code ORDER BY p_start))
    SELECT ts_code, coalesce(greatest(last, t_last), last) AS trade_date, close, open, high, low, pre_close,
      close - pre_close AS change, (close / nullif(pre_close, 0) - 1) * 100 AS pct_chg, vol, amount, 0::BIGINT AS file_row_number
    FROM followed LEFT JOIN trading ON p_start = t_start
    WHERE CASE WHEN t_last IS NULL THEN p_start + INTERVAL 1 ${period} ELSE greatest(last, t_last) END <= ${date(until)})`;
}

/**
 * Stored bars with prices adjusted backward. Where the days of a bar are all there and make up its open, high, low
 * and close, its prices are those of its adjusted days. Otherwise a single factor must have been valid in all of the
 * period, and for `pre_close` at the end of the period before too; if not, prices are null. All days are there if their
 * volumes add up, or if there are as many as factors and their volumes do not contradict the bar's. A factor was valid in
 * all of the period if there is one on the date of the bar, and the same one before the period or on its first weekday: a
 * day between without a factor can then be an ex-date only if a second one cancels it.
 */
function rebuiltSql({ period, bars, days, factors, volume }: Rebuilding, all: SelectAll): string {
  const start = (alias: string): string => `date_trunc('${period}', ${alias}.trade_date)`;
  const key = "NULL::VARCHAR AS ts_code, NULL::DATE AS trade_date";
  const barRows = all(bars, "*, file_row_number", key);
  const dayRows = all(
    days,
    "ts_code, trade_date, open, high, low, close, pre_close, vol",
    `${key}, ${[...RAW, "pre_close", "vol"].map((name) => `NULL::DOUBLE AS ${name}`).join(", ")}`,
  );
  const factorRows = all(factors, "ts_code, trade_date, adj_factor", `${key}, NULL::DOUBLE AS adj_factor`);
  const positive = `(SELECT ts_code, trade_date, adj_factor FROM ${factorRows} WHERE adj_factor > 0 AND isfinite(adj_factor))`;
  const inOrder = volume ? " ORDER BY d.trade_date" : "";
  // The factors are read twice by name, but only once from the files.
  return `(WITH valid AS MATERIALIZED (FROM ${positive}),
    rebuilt AS (SELECT d.ts_code AS d_code, ${start("d")} AS d_start, count(*) = count(v.adj_factor) AS complete,
      ${RAW.map((name) => `${AGGREGATES[name]("")} AS raw_${name}, ${AGGREGATES[name](" * v.adj_factor")} AS d_${name}`).join(", ")},
      arg_min(d.pre_close * v.adj_factor, d.trade_date) AS d_pre_close, count(*) AS d_days, sum(d.vol${inOrder}) AS d_vol,
      CASE WHEN count(d.vol) = count(*) THEN sum(d.vol / v.adj_factor${inOrder}) END AS d_adjusted_vol
      FROM ${dayRows} d LEFT JOIN valid v ON d.ts_code = v.ts_code AND d.trade_date = v.trade_date GROUP BY ALL),
    scales AS (SELECT *, lag(last_factor) OVER (PARTITION BY f_code ORDER BY f_start) AS before FROM (
      SELECT v.ts_code AS f_code, ${start("v")} AS f_start, arg_max(adj_factor, trade_date) AS last_factor, count(*) AS f_days, min(trade_date) AS f_first, max(trade_date) AS f_last,
        CASE WHEN min(adj_factor) = max(adj_factor) THEN min(adj_factor) END AS scale FROM valid v GROUP BY ALL)),
    joined AS (SELECT b.*, s.before, s.scale IS NOT NULL AS single, r.* EXCLUDE (d_code, d_start),
      coalesce(r.complete AND ${RAW.map((name) => `abs(b.${name} - r.raw_${name}) <= 1e-6 * abs(b.${name})`).join(" AND ")}, false) AS equal,
      coalesce(${addsUp(1e-6)}, false) OR (d_days = f_days AND coalesce(${addsUp(1e-3)}, true)) AS there,
      CASE WHEN s.f_last >= b.trade_date AND (s.scale = s.before OR s.f_first <= ${FIRST_WEEKDAY}) THEN s.scale END AS scale
      FROM ${barRows} b LEFT JOIN rebuilt r ON b.ts_code = d_code AND ${start("b")} = d_start
      LEFT JOIN scales s ON b.ts_code = f_code AND ${start("b")} = f_start),
    adjusted AS (SELECT * REPLACE (${RAW.map((name) => `CASE WHEN equal AND (single OR there) THEN d_${name} ELSE ${name} * scale END AS ${name}`).join(", ")},
      CASE WHEN equal AND there THEN d_pre_close WHEN scale = before THEN pre_close * scale END AS pre_close${volume ? ADJUSTED_VOLUME : ""}) FROM joined)
    SELECT * REPLACE (close - pre_close AS change, (close / nullif(pre_close, 0) - 1) * 100 AS pct_chg) FROM adjusted)`;
}

/** Whether the volume of a bar is the sum of its days; the bar may be in lots and the days in shares, or the reverse. */
const addsUp = (tolerance: number): string =>
  `(${[1, 100, 0.01].map((unit) => `abs(b.vol - d_vol * ${unit}) <= ${tolerance} * b.vol`).join(" OR ")})`;

/** By the shares of the days, since the volume of bars may be in another unit. */
const ADJUSTED_VOLUME =
  ", CASE WHEN vol = 0 THEN vol WHEN equal AND there THEN vol * (d_adjusted_vol / nullif(d_vol, 0)) ELSE vol / scale END AS vol";

/** The first weekday of a period. */
const FIRST_WEEKDAY = "s.f_start + INTERVAL 1 DAY * CASE isodow(s.f_start) WHEN 6 THEN 2 WHEN 7 THEN 1 ELSE 0 END";

const RAW = ["open", "high", "low", "close"] as const;

/** A price of a bar from those of its days. */
const AGGREGATES: Readonly<Record<(typeof RAW)[number], (times: string) => string>> = {
  open: (times) => `arg_min(d.open${times}, d.trade_date)`,
  high: (times) => `max(d.high${times})`,
  low: (times) => `min(d.low${times})`,
  close: (times) => `arg_max(d.close${times}, d.trade_date)`,
};
