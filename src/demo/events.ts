// Helper tables of events: ex-dates, suspensions, and closes at the limit.
import type { Demo } from "./tables.js";

/** The days between closes at the limit for a stock of a 10 percent board. On other boards it is four times as many. */
const LIMIT_EVERY = 125;

/**
 * `demo_ex(s, t, year, bonus, yield)`: ex-dates; bonus shares per share, and cash as a fraction of the previous close.
 * `demo_halt(s, t, until_t)`: suspensions of whole days, until_t exclusive.
 * `demo_locked(s, t, side)`: days that close at the upper (1) or lower (-1) limit.
 */
export async function makeEvents(demo: Demo): Promise<void> {
  await demo.table("ex", exDates(demo));
  await demo.table("halt", halts(demo));
  await demo.table("locked", lockedDays(demo));
}

function exDates(demo: Demo): string {
  const u = (salt: string) => demo.random.uniform(salt, "s", "year - 1990");
  return `WITH year AS (SELECT DISTINCT year(day) AS year FROM demo_day),
    paid AS (SELECT s, from_t, to_t, year, yield, make_date(year, 6, 1) + floor(59 * ${u("ex")})::INTEGER AS planned
      FROM demo_stock, year WHERE payer AND ${u("pays")} < 0.9e0)
    SELECT s, year, t + 1 - is_open AS t,
      CASE WHEN ${u("bonus")} < 0.2e0 THEN [0.2e0, 0.3e0, 0.4e0, 0.5e0, 1.0e0][1 + floor(5 * ${u("ratio")})::INTEGER]::DOUBLE ELSE 0 END AS bonus,
      yield * (0.7e0 + 0.6e0 * ${u("yield")}) AS yield
    FROM paid JOIN demo_calendar ON day = planned
    WHERE t + 1 - is_open BETWEEN from_t + 5 AND to_t - 5 ORDER BY s, t`;
}

function halts(demo: Demo): string {
  const { days } = demo.options;
  const u = (salt: string) => demo.random.uniform(salt, "s", "block");
  return `WITH block AS (SELECT unnest(range(0, ${Math.ceil(days / 250)}))::INTEGER AS block),
    drawn AS (SELECT s, from_t, to_t, block * 250 + floor(200 * ${u("halt")})::INTEGER AS t,
      CASE WHEN ${u("long")} < 0.12e0 THEN 10 + floor(30 * ${u("length")}) ELSE 1 + floor(5 * ${u("length")}) END::INTEGER AS length
      FROM demo_stock, block WHERE ${u("halts")} < 0.6e0)
    SELECT s, t, t + length AS until_t FROM drawn WHERE t > from_t + 5 AND t + length < to_t - 12
    UNION ALL SELECT s, ${days - 3}, ${days} FROM demo_stock WHERE s % 40 = 9 AND from_t < ${days - 12} AND to_t = ${days}
    ORDER BY s, t`;
}

function lockedDays(demo: Demo): string {
  const { days } = demo.options;
  const u = (salt: string) => demo.random.uniform(salt, "s", "block");
  const every = `CASE WHEN lim > 10 THEN ${4 * LIMIT_EVERY} ELSE ${LIMIT_EVERY} END`;
  return `WITH block AS (SELECT unnest(range(0, ${Math.ceil(days / LIMIT_EVERY)}))::INTEGER AS block),
    drawn AS (SELECT s, from_t, to_t, block * ${every} + 2 + floor((${every} - 6) * ${u("lock")})::INTEGER AS t,
      CASE WHEN (block + s) % 2 = 0 THEN 1 ELSE -1 END AS side FROM demo_stock, block)
    SELECT s, t, side FROM drawn d WHERE t > from_t + 5 AND t < to_t - 5
      AND NOT EXISTS (SELECT 1 FROM demo_halt h WHERE h.s = d.s AND d.t >= h.t - 1 AND d.t <= h.until_t + 1)
      AND NOT EXISTS (SELECT 1 FROM demo_ex x WHERE x.s = d.s AND x.t BETWEEN d.t - 2 AND d.t + 2)
    ORDER BY s, t`;
}
