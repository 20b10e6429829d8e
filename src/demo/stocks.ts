// Helper tables of stocks: their listings, sizes, industries and names.
import { FACTOR_NUMBERS } from "./days.js";
import type { Demo } from "./tables.js";
import { BOARDS, INDUSTRIES, NAME_ENDS, NAME_MIDDLES, NAME_STARTS, SPECIAL_CODES } from "./words.js";

/** Industries of the third level: four below each of the first. */
export const LEAVES = INDUSTRIES.length * 4;

/** The golden section. Its multiples spread any number of stocks evenly over the boards. */
const GOLDEN = "0.6180339887498949e0";

/**
 * `demo_stock`: one row for each stock, numbered by code from s = 0. `list_t` and `delist_t` (the first day without it, or
 * null) are trading day numbers; `from_t` and `to_t` (exclusive) are the part within the demo, empty if delisted earlier.
 * Shares are counted in single shares, money in yuan.
 * `demo_name(s, name, start_day, end_day, ann_day, reason)`: the names a stock has carried; end_day null is today's.
 */
export async function makeStocks(demo: Demo): Promise<void> {
  await demo.table("code", codes(demo.options.stocks));
  await demo.table("stock", profiles(demo));
  await demo.table("name", names(demo));
}

function codes(stocks: number): string {
  let share = 0;
  const boards = BOARDS.map((board) => {
    const low = share;
    share += board.share;
    const { prefix, suffix, first, step, limit, opened } = board;
    return `('${prefix}', '${suffix}', ${low}, ${share}, ${first}, ${step}, ${10 ** (6 - prefix.length)}, ${limit}, DATE '${opened}')`;
  });
  const special = SPECIAL_CODES.map((code) => `('${code}', '${code.slice(0, 3)}', '${code.slice(7)}')`);
  return `WITH board(prefix, suffix, low, high, first, step, size, lim, opened) AS (VALUES ${boards.join(", ")}),
    slot AS (SELECT i, floor(i * ${GOLDEN} % 1 * 1000) AS slot FROM range(${stocks - special.length}) r(i)),
    placed AS (SELECT board.*, row_number() OVER (PARTITION BY prefix ORDER BY i) - 1 AS k
      FROM slot JOIN board ON slot >= low AND slot < high),
    coded AS (
      SELECT prefix || lpad(((first + k * step) % size)::VARCHAR, (6 - len(prefix))::INTEGER, '0') || '.' || suffix AS ts_code,
        prefix, suffix, lim, opened FROM placed
      UNION ALL
      SELECT code, prefix, suffix, CASE WHEN prefix = '689' THEN 20 ELSE 10 END,
        CASE WHEN prefix = '689' THEN DATE '2020-10-29' ELSE DATE '1992-02-21' END
      FROM (VALUES ${special.join(", ")}) v(code, prefix, suffix))
    SELECT (row_number() OVER (ORDER BY ts_code) - 1)::INTEGER AS s, ts_code, prefix, suffix, lim::INTEGER AS lim,
      t + 1 - is_open AS opened_t
    FROM coded JOIN demo_calendar ON day = opened ORDER BY s`;
}

function profiles(demo: Demo): string {
  const { days } = demo.options;
  const u = (salt: string) => demo.random.uniform(salt, "s");
  const name = [NAME_STARTS, NAME_MIDDLES, NAME_ENDS].map((words, i) => demo.random.pick(words, `name${i}`, "s"));
  const raw = FACTOR_NUMBERS.map((j) => `${u(`a${j}`)} + ${u(`b${j}`)} - ${j === 1 ? 0.3 : 1}::DOUBLE AS raw${j}`);
  return `WITH born AS (SELECT *,
      least(opened_t, ${days - 40}) AS lo, CASE WHEN s % 10 = 3 THEN ${Math.floor(days * 0.85)} ELSE 0 END AS hi FROM demo_code),
    listed AS (SELECT * EXCLUDE (lo, hi, opened_t), CASE
        WHEN lo >= 0 THEN lo + floor(${u("list")} * (${days - 30} - lo))::INTEGER
        WHEN hi > 0 THEN 1 + floor(${u("list")} * hi)::INTEGER
        ELSE lo + floor(${u("list")} * -lo)::INTEGER END AS list_t FROM born),
    gone AS (SELECT *, CASE
        WHEN s % 25 = 7 AND list_t < 0 THEN floor(${days} * (0.3e0 + 0.5e0 * ${u("delist")}))::INTEGER
        WHEN s % 50 = 11 AND list_t < -300 THEN -1 - floor(250 * ${u("delist")})::INTEGER END AS delist_t FROM listed),
    sized AS (SELECT *, greatest(list_t, 0) AS from_t, greatest(0, least(coalesce(delist_t, ${days}), ${days})) AS to_t,
        round(exp(1.8e0 + 2.1e0 * ${u("price")}) * CASE WHEN lim > 10 THEN 2 ELSE 1 END * CASE WHEN ${u("dear")} < 0.05e0 THEN 5 ELSE 1 END, 2) AS price0,
        exp(21.8e0 + 5.5e0 * pow(${u("size")}, 3)) AS value0, ${raw.join(", ")} FROM gone),
    whole AS (SELECT *, sqrt(${FACTOR_NUMBERS.map((j) => `raw${j} * raw${j}`).join(" + ")}) AS norm,
        (floor(value0 / price0 / 10000) * 10000)::BIGINT AS shares0, ${u("yield")} AS yield_u,
        s % 7 = 6 AS loser, s % 7 <> 6 AND ${u("payer")} < 0.75e0 AS payer FROM sized),
    ranked AS (SELECT s, (row_number() OVER (ORDER BY value0 DESC, s))::INTEGER AS place, count(*) OVER () AS n
      FROM whole WHERE list_t < 0 AND (delist_t IS NULL OR delist_t >= 0) AND prefix <> '900' AND suffix <> 'BJ'),
    tiered AS (SELECT s, CASE WHEN place <= least(300, ceil(n * 0.3e0)) THEN 1
        WHEN place <= least(300, ceil(n * 0.3e0)) + least(500, ceil(n * 0.3e0)) THEN 2
        WHEN place <= least(300, ceil(n * 0.3e0)) + least(500, ceil(n * 0.3e0)) + 1000 THEN 3 ELSE 4 END AS tier,
        place <= greatest(5, least(75, ceil(n * 0.1e0))) AS leader FROM ranked)
    SELECT s, ts_code, left(ts_code, 6) AS bare, prefix, suffix, lim, list_t, delist_t, from_t, greatest(from_t, to_t) AS to_t,
      ${name.join(" || ")} || CASE WHEN prefix = '900' THEN 'B股' ELSE '' END AS name,
      CASE WHEN prefix = '900' THEN 0 ELSE coalesce(tier, 4) END AS tier,
      coalesce(leader, false) AND suffix = 'SH' AS top,
      ${demo.random.below(LEAVES, "industry", "s")} AS leaf,
      CASE WHEN s % 12 = 5 AND to_t - greatest(list_t, 0) > 40
        THEN from_t + 10 + floor((to_t - from_t - 20) * ${u("move")})::INTEGER END AS move_t,
      price0, shares0,
      (shares0 * (0.35e0 + 0.65e0 * ${u("float")}))::BIGINT AS float0, 0.4e0 + 0.5e0 * ${u("free")} AS free_part,
      exp(-5.4e0 + 2.4e0 * ${u("turnover")}) AS turnover,
      CASE WHEN list_t >= 0 THEN 1 ELSE round(exp(least(3, list_t / -2500e0) * ${u("factor")}), 4) END AS adj0,
      loser, payer, CASE WHEN payer THEN 0.006e0 + 0.03e0 * yield_u ELSE 0 END AS yield,
      CASE WHEN payer THEN (0.02e0 + 0.03e0 * yield_u) / 250 + 0.0002e0 ELSE 0 END AS drift,
      CASE WHEN lim > 10 THEN 0.135e0 ELSE 0.078e0 END AS scale,
      ${FACTOR_NUMBERS.map((j) => `round(raw${j} / norm, 6) AS c${j}`).join(", ")},
      12 + 90 * pow(${u("pe")}, 2) AS pe0, 1 + 5 * ${u("pb")} AS pb0,
      CASE WHEN loser THEN -0.02e0 - 0.2e0 * ${u("margin")} ELSE 0.04e0 + 0.26e0 * ${u("margin")} END AS margin,
      -0.06e0 + 0.26e0 * ${u("growth")} AS growth,
      CASE WHEN delist_t IS NOT NULL THEN greatest(delist_t - 100, list_t + 5)
        WHEN s % 15 = 4 AND to_t - from_t > 50 THEN from_t + 10 + floor((to_t - from_t) * 0.4e0 * ${u("st")})::INTEGER END AS st_t,
      CASE WHEN delist_t IS NULL AND s % 15 = 4 AND to_t - from_t > 50 AND s % 4 < 3
        THEN to_t - 20 - floor((to_t - from_t) * 0.3e0 * ${u("unst")})::INTEGER END AS unst_t
    FROM whole LEFT JOIN tiered USING (s) ORDER BY s`;
}

/** Names: with ST added and removed, a last name before delisting, and occasional new names. */
function names(demo: Demo): string {
  const old = demo.random.pick(NAME_ENDS, "former", "s");
  const renamed = `s % 9 = 2 AND st_t IS NULL AND to_t - from_t > 30`;
  return `WITH start AS (
      SELECT s, list_t AS t, CASE WHEN ${renamed} THEN left(name, 2) || '老' || right(${old}, 1) ELSE name END AS name, '其他' AS reason FROM demo_stock
      UNION ALL SELECT s, from_t + (to_t - from_t) // 3, name, '改名' FROM demo_stock WHERE ${renamed}
      UNION ALL SELECT s, st_t, CASE WHEN s % 2 = 0 THEN 'ST' ELSE '*ST' END || left(name, 2), CASE WHEN s % 2 = 0 THEN 'ST' ELSE '*ST' END
        FROM demo_stock WHERE st_t IS NOT NULL
      UNION ALL SELECT s, unst_t, name, '撤销ST' FROM demo_stock WHERE unst_t IS NOT NULL
      UNION ALL SELECT s, delist_t - 30, left(name, 2) || '退', '终止上市' FROM demo_stock WHERE delist_t - 30 > st_t)
    SELECT s, name, day AS start_day, lead(day) OVER (PARTITION BY s ORDER BY day) - 1 AS end_day,
      CASE WHEN reason <> '其他' AND ${demo.random.uniform("name", "s", "t + 10000")} < 0.7e0 THEN day - 2 END AS ann_day, reason
    FROM start JOIN demo_open USING (t) ORDER BY day, s`;
}
