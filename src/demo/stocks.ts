// Helper tables of stocks: their listings, sizes, industries and names, and the events of their trading.
import { FACTOR_NUMBERS } from "./calendar.js";
import type { Demo } from "./tables.js";

interface Board {
  readonly prefix: string;
  readonly suffix: "SH" | "SZ" | "BJ";
  /** How many of 1,000 stocks are listed here. */
  readonly share: number;
  /** The k-th code is prefix + (first + k * step) modulo all codes of the prefix. */
  readonly first: number;
  readonly step: number;
  /** Daily price limit in percent. */
  readonly limit: number;
  /** No stock is listed before this day. */
  readonly opened: string;
}

const BOARDS: readonly Board[] = [
  { prefix: "600", suffix: "SH", share: 160, first: 0, step: 519, limit: 10, opened: "1990-12-19" },
  { prefix: "601", suffix: "SH", share: 50, first: 318, step: 81, limit: 10, opened: "2006-07-05" },
  { prefix: "603", suffix: "SH", share: 150, first: 288, step: 271, limit: 10, opened: "2012-01-05" },
  { prefix: "605", suffix: "SH", share: 30, first: 1, step: 167, limit: 10, opened: "2019-11-01" },
  { prefix: "688", suffix: "SH", share: 110, first: 1, step: 371, limit: 20, opened: "2019-07-22" },
  { prefix: "000", suffix: "SZ", share: 90, first: 1, step: 533, limit: 10, opened: "1991-04-03" },
  { prefix: "001", suffix: "SZ", share: 20, first: 201, step: 213, limit: 10, opened: "2015-12-28" },
  { prefix: "002", suffix: "SZ", share: 160, first: 1, step: 593, limit: 10, opened: "2004-06-25" },
  { prefix: "300", suffix: "SZ", share: 140, first: 1, step: 749, limit: 20, opened: "2009-10-30" },
  { prefix: "301", suffix: "SZ", share: 50, first: 11, step: 137, limit: 20, opened: "2021-03-26" },
  { prefix: "83", suffix: "BJ", share: 25, first: 472, step: 3167, limit: 30, opened: "2020-07-27" },
  { prefix: "920", suffix: "BJ", share: 15, first: 2, step: 97, limit: 30, opened: "2021-11-15" },
];

/** Two special codes that every demo has: a depositary receipt and a B share. */
const SPECIAL_CODES = ["689009.SH", "900901.SH"] as const;

/** Shenwan's 31 industries of the first level: the last three digits of the index code, and the name. */
export const INDUSTRIES: readonly (readonly [string, string])[] = [
  ["010", "农林牧渔"],
  ["030", "基础化工"],
  ["040", "钢铁"],
  ["050", "有色金属"],
  ["080", "电子"],
  ["110", "家用电器"],
  ["120", "食品饮料"],
  ["130", "纺织服饰"],
  ["140", "轻工制造"],
  ["150", "医药生物"],
  ["160", "公用事业"],
  ["170", "交通运输"],
  ["180", "房地产"],
  ["200", "商贸零售"],
  ["210", "社会服务"],
  ["230", "综合"],
  ["710", "建筑材料"],
  ["720", "建筑装饰"],
  ["730", "电力设备"],
  ["740", "国防军工"],
  ["750", "计算机"],
  ["760", "传媒"],
  ["770", "通信"],
  ["780", "银行"],
  ["790", "非银金融"],
  ["880", "汽车"],
  ["890", "机械设备"],
  ["950", "煤炭"],
  ["960", "石油石化"],
  ["970", "环保"],
  ["980", "美容护理"],
];

/** First halves of company names. */
const NAME_STARTS = [..."华中东南西北金天海江新国兴泰永恒瑞德安盛宏远长嘉广信博龙凤云"];

/** Second halves of company names. */
const NAME_MIDDLES = [..."宇源达通力创元丰润科林诚明辉阳和利康隆洋峰岭川河石森澜宁飞腾"];

/** Suffixes of company names. */
const NAME_ENDS = ["股份", "科技", "集团", "实业", "控股", "发展", "材料", "技术", "电子", "药业", "能源", "智能"];

/** Industries of the third level: four below each of the first. */
export const LEAVES = INDUSTRIES.length * 4;

/** The days between closes at the limit for a stock of a 10 percent board. On other boards it is four times as many. */
const LIMIT_EVERY = 125;

/** The golden section. Its multiples spread any number of stocks evenly over the boards. */
const GOLDEN = "0.6180339887498949e0";

/**
 * `demo_stock`: one row for each stock, numbered by code from s = 0. `list_t` and `delist_t` (the first day without it, or
 * null) are trading day numbers; `from_t` and `to_t` (exclusive) are the part within the demo, empty if delisted earlier.
 * Shares are counted in single shares, money in yuan.
 * `demo_name(s, name, start_day, end_day, ann_day, reason)`: the names a stock has carried; end_day null is today's.
 * `demo_ex(s, t, year, bonus, yield)`: ex-dates; bonus shares per share, and cash as a fraction of the previous close.
 * `demo_halt(s, t, until_t)`: suspensions of whole days, until_t exclusive.
 * `demo_locked(s, t, side)`: days that close at the upper (1) or lower (-1) limit.
 */
export async function makeStocks(demo: Demo): Promise<void> {
  await demo.table("code", codes(demo.options.stocks));
  await demo.table("stock", profiles(demo));
  await demo.table("name", names(demo));
  await demo.table("ex", exDates(demo));
  await demo.table("halt", halts(demo));
  await demo.table("locked", lockedDays(demo));
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
