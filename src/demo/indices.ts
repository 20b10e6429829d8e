// The index store of the demo: broad and industry indices, weighted by tradable value, and the industry tree.
import { type Demo, type DemoEntity, selectOf, textList } from "./tables.js";
import { MOVED_LEAVES, YUAN } from "./quotes.js";
import { INDUSTRIES, LEAVES } from "./stocks.js";

/** Broad indices: code, name, market, publisher, category, base date, base point, listing date. */
const INDICES = [
  ["000001.SH", "上证指数", "SSE", "上海证券交易所", "综合指数", "1990-12-19", 100, "1991-07-15"],
  ["000016.SH", "上证50", "SSE", "中证指数有限公司", "规模指数", "2003-12-31", 1000, "2004-01-02"],
  ["000300.SH", "沪深300", "SSE", "中证指数有限公司", "规模指数", "2004-12-31", 1000, "2005-04-08"],
  ["000688.SH", "科创50", "SSE", "上海证券交易所", "规模指数", "2019-12-31", 1000, "2020-07-23"],
  ["000852.SH", "中证1000", "SSE", "中证指数有限公司", "规模指数", "2004-12-31", 1000, "2014-10-17"],
  ["000905.SH", "中证500", "SSE", "中证指数有限公司", "规模指数", "2004-12-31", 1000, "2007-01-15"],
  ["000985.CSI", "中证全指", "CSI", "中证指数有限公司", "规模指数", "2004-12-31", 1000, "2011-08-02"],
  ["399001.SZ", "深证成指", "SZSE", "深圳证券交易所", "综合指数", "1994-07-20", 1000, "1995-01-23"],
  ["399006.SZ", "创业板指", "SZSE", "深圳证券交易所", "规模指数", "2010-05-31", 1000, "2010-06-01"],
] as const;

type IndexCode = (typeof INDICES)[number][0];

/** Which stocks an index holds, as a condition over the helper table of stocks, and its level before the demo. */
const MEMBERS: Record<IndexCode, { readonly where: string; readonly start: number }> = {
  "000001.SH": { where: "suffix = 'SH' AND tier > 0", start: 3100 },
  "000016.SH": { where: "top", start: 2600 },
  "000300.SH": { where: "tier = 1", start: 3500 },
  "000688.SH": { where: "prefix = '688'", start: 1000 },
  "000852.SH": { where: "tier = 3", start: 6500 },
  "000905.SH": { where: "tier = 2", start: 5800 },
  "000985.CSI": { where: "tier > 0", start: 4700 },
  "399001.SZ": { where: "suffix = 'SZ'", start: 10500 },
  "399006.SZ": { where: "prefix IN ('300', '301')", start: 2200 },
};

/** The indices whose weights are published. */
const WEIGHTED: readonly IndexCode[] = ["000016.SH", "000300.SH", "000905.SH"];

const LEVEL_BEFORE_INDUSTRIES = 2500;

/**
 * `demo_industry(leaf, level, index_code, name, industry_code, parent_code)`: the three industries of each leaf.
 * `demo_index(ts_code, name, ...)`: every index; `demo_index_quote`: the index's days, levels in ten-thousandths.
 */
export async function makeIndices(demo: Demo): Promise<void> {
  await demo.table("industry", industries());
  await demo.table("index", indices());
  await demo.table("index_quote", indexQuotes());
}

/** Four leaves make one industry of the first level, two make one of the second. */
function industries(): string {
  const codes = textList(INDUSTRIES.map(([code]) => code));
  const names = textList(INDUSTRIES.map(([, name]) => name));
  const digits = (number: string, width: number) => `lpad((${number})::VARCHAR, ${width}, '0')`;
  return `WITH leaf AS (SELECT unnest(range(0, ${LEAVES}))::INTEGER AS leaf),
    part AS (SELECT leaf, ${names}[1 + leaf // 4] AS name, '801' || ${codes}[1 + leaf // 4] || '.SI' AS top,
      ${digits("11 + leaf // 4", 2)} AS head, leaf // 2 % 2 AS half, leaf % 2 AS quarter FROM leaf)
    SELECT leaf, 'L1' AS level, top AS index_code, name, head || '0000' AS industry_code, '0' AS parent_code FROM part
    UNION ALL SELECT leaf, 'L2', '8013' || ${digits("leaf // 2", 2)} || '.SI', CASE half WHEN 0 THEN name ELSE '其他' || name END || 'Ⅱ',
      head || '0' || (half + 1) || '00', head || '0000' FROM part
    UNION ALL SELECT leaf, 'L3', '850' || ${digits("leaf + 100", 3)} || '.SI',
      CASE half WHEN 0 THEN name ELSE '其他' || name END || CASE quarter WHEN 0 THEN 'Ⅲ' ELSE '服务Ⅲ' END,
      head || '0' || (half + 1) || '0' || (quarter + 1), head || '0' || (half + 1) || '00' FROM part`;
}

function indices(): string {
  const rows = INDICES.map(([code, name, market, publisher, category, baseDate, basePoint, listDate]) => {
    const texts = [code, name, market, publisher, category].map((text) => `'${text}'`).join(", ");
    return `(${texts}, DATE '${baseDate}', ${basePoint}, DATE '${listDate}', ${MEMBERS[code].start})`;
  });
  return `SELECT * FROM (VALUES ${rows.join(", ")})
      i(ts_code, name, market, publisher, category, base_date, base_point, list_date, start)
    UNION ALL SELECT DISTINCT index_code, name, 'CSI', '申万宏源研究', '行业指数', DATE '1999-12-30', 1000, DATE '2003-10-16', ${LEVEL_BEFORE_INDUSTRIES}
      FROM demo_industry`;
}

/**
 * An index moves with the tradable value of its members relative to their previous closes. All sums are of integers below
 * 2^53, so their order does not matter. Stocks are first summed in cells of the same industry and the same broad indices.
 */
function indexQuotes(): string {
  const sums = [
    ...["p", "c", "o", "h", "l"].map((price) => `sum(${price} * weight) AS ${price}`),
    `sum(shares::DOUBLE) AS shares, sum(${YUAN}::DOUBLE) AS yuan`,
  ].join(", ");
  const again = ["p", "c", "o", "h", "l", "shares", "yuan"].map((sum) => `sum(${sum}) AS ${sum}`).join(", ");
  const cell = "md5(concat_ws('/', suffix, prefix, tier, top))";
  const members = INDICES.map(
    ([code]) => `SELECT '${code}' AS ts_code, cell FROM celled WHERE ${MEMBERS[code].where} GROUP BY cell`,
  );
  return `WITH celled AS (SELECT *, dense_rank() OVER (ORDER BY ${cell}) AS cell FROM demo_stock WHERE tier > 0),
    broad AS (SELECT t, cell, ${sums}
      FROM demo_quote JOIN (SELECT e, weight FROM demo_episode) USING (e) JOIN (SELECT s, cell FROM celled) USING (s) GROUP BY t, cell),
    narrow AS (SELECT t, leaf, ${sums}
      FROM demo_quote JOIN (SELECT e, weight, leaf FROM demo_episode) USING (e) GROUP BY t, leaf),
    total AS (
      SELECT ts_code, t, ${again} FROM broad JOIN (${members.join(" UNION ALL ")}) USING (cell) GROUP BY ts_code, t
      UNION ALL SELECT index_code, t, ${again} FROM narrow JOIN demo_industry USING (leaf) GROUP BY index_code, t),
    level AS (SELECT *, start * exp((sum(round(ln(c / p) * 1e12)::BIGINT) OVER past)::DOUBLE / 1e12) AS close
      FROM total JOIN demo_index USING (ts_code) JOIN demo_day USING (t) WHERE day > base_date
      WINDOW past AS (PARTITION BY ts_code ORDER BY t)),
    chained AS (SELECT ts_code, day, round(close * 1e4)::BIGINT AS c, p, o, h, l, c AS value, shares, yuan,
        lag(round(close * 1e4)::BIGINT, 1, round(start * 1e4)::BIGINT) OVER past AS before
      FROM level WINDOW past AS (PARTITION BY ts_code ORDER BY day))
    SELECT ts_code, day, before AS p, c, o,
      greatest(o, c) + (0.4e0 * (h - greatest(o, c)))::BIGINT AS h, least(o, c) - (0.4e0 * (least(o, c) - l))::BIGINT AS l, shares, yuan
    FROM (SELECT ts_code, day, before, c, shares, yuan,
        ${["o", "h", "l"].map((price) => `round(before::DOUBLE * ${price} / p)::BIGINT AS ${price}`).join(", ")} FROM chained)
    ORDER BY day, ts_code`;
}

export function indexEntities(): DemoEntity[] {
  const entity = (name: string, expressions: Record<string, string>, from: string): DemoEntity => ({
    entity: name,
    sql: selectOf(name, expressions, from),
  });
  return [
    entity(
      "index_basic",
      { ...columns("ts_code name market publisher category base_date base_point list_date") },
      "FROM demo_index",
    ),
    entity(
      "index_daily",
      {
        ts_code: "ts_code",
        trade_date: "day",
        ...{ close: "c / 1e4", open: "o / 1e4", high: "h / 1e4", low: "l / 1e4", pre_close: "p / 1e4" },
        change: "(c - p) / 1e4",
        pct_chg: "round((c - p) * 1e2 / p, 4)",
        vol: "shares / 1e2",
        amount: "yuan / 1e3",
      },
      "FROM demo_index_quote",
    ),
    entity("index_weight", columns("index_code con_code trade_date weight"), `FROM (${weights()})`),
    entity(
      "index_classify",
      {
        ...columns("index_code level industry_code parent_code"),
        industry_name: "name",
        is_pub: "CASE level WHEN 'L3' THEN '0' ELSE '1' END",
        src: "'SW2021'",
      },
      "FROM (SELECT DISTINCT * EXCLUDE (leaf) FROM demo_industry)",
    ),
    entity("index_member", columns("index_code con_code in_date out_date is_new"), `FROM (${members()})`),
  ];
}

/** Columns that carry the catalog's names already. */
function columns(names: string): Record<string, string> {
  return Object.fromEntries(names.split(" ").map((name) => [name, name]));
}

/** Weights on the last trading day of each month, by tradable value. The largest member gets the rounding difference. */
function weights(): string {
  const chosen = WEIGHTED.map(
    (code) => `SELECT '${code}' AS index_code, s FROM demo_stock WHERE ${MEMBERS[code].where}`,
  );
  return `WITH member AS (${chosen.join(" UNION ALL ")}),
    value AS (SELECT index_code, ts_code, day, c * weight AS value
      FROM demo_quote JOIN (SELECT e, weight FROM demo_episode) USING (e) JOIN demo_day USING (t)
      JOIN member USING (s) JOIN demo_stock USING (s) WHERE day = month_end),
    share AS (SELECT *, round(value * 1e6 / sum(value) OVER (PARTITION BY index_code, day))::BIGINT AS part,
        row_number() OVER (PARTITION BY index_code, day ORDER BY value DESC, ts_code) AS place FROM value)
    SELECT index_code, ts_code AS con_code, day AS trade_date,
      (part + CASE place WHEN 1 THEN 1000000 - sum(part) OVER (PARTITION BY index_code, day) ELSE 0 END)::DOUBLE / 1e4 AS weight
    FROM share`;
}

/** A stock is in its industry from its listing; some have moved from one to another. */
function members(): string {
  return `WITH stay AS (
      SELECT s, leaf, list_t AS in_t, coalesce(move_t, delist_t) AS out_t FROM demo_stock
      UNION ALL SELECT s, (leaf + ${MOVED_LEAVES}) % ${LEAVES}, move_t, delist_t FROM demo_stock WHERE move_t IS NOT NULL)
    SELECT index_code, ts_code AS con_code, entry.day AS in_date, leaving.day AS out_date,
      CASE WHEN out_t IS NULL THEN 'Y' ELSE 'N' END AS is_new
    FROM stay JOIN demo_stock USING (s) JOIN demo_industry ON demo_industry.leaf = stay.leaf
    JOIN demo_open entry ON entry.t = in_t LEFT JOIN demo_open leaving ON leaving.t = out_t`;
}
