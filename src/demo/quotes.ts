// The market and auction stores of the demo, and the price model. Every quote of a stock and day is generated once.
import { FACTOR_NUMBERS } from "./calendar.js";
import { LEAVES } from "./stocks.js";
import { type Demo, type DemoEntity, selectOf } from "./tables.js";

/** The daily noise in the log price of a stock, as a fraction of its scale. */
const NOISE = 0.05;

/** The scale of a stock under special treatment on a board with a limit of 10 percent: its own limit is 5 percent. */
const ST_SCALE = 0.036;

/** The gap of the open from the previous close: at most this part of the day's move, and this fraction of the price. */
const GAP = { ofMove: 0.35, noise: 0.008 };

/** Days in which the volume of a stock swings. */
const SWING = 12;

/** The volume of a day on which every price is the limit, as a fraction of the usual volume. */
const FLAT_VOLUME = 0.2;

/** A stock that changes its industry moves by this many leaves, to another industry of the first level. */
export const MOVED_LEAVES = 40;

/**
 * The price model. The adjusted log price of a stock moves by `scale * (c1*f1 + .. + c6*f6) + drift` a day, where the
 * vector c has length 1 and the factors move by no more than 1: so no close leaves the limits, and nothing needs
 * clipping. The close is a closed formula of the day, so days can be generated in any order.
 *
 * `demo_episode`: e numbers episodes by stock and time, from_t to to_t (exclusive). Prices are in cents: the last close
 * before (`last_close`) and that close after ex-dates (`pre0`). `flow` is the usual volume, `alive` 0 if the price does not move. `q` is the
 * newest announced report, `cash` the last dividend in yuan per share, paid on day `cash_t`.
 *
 * `demo_quote(e, s, t, p, c, o, h, l, shares)`: previous close, close, open, high, low in cents, volume in shares, day
 * by day. A day of suspension has a row with volume 0 at the reference price.
 */
export async function makeQuotes(demo: Demo): Promise<void> {
  await demo.table("episode", episodes(demo));
  const days = "SELECT e, unnest(range(from_t, to_t))::INTEGER AS t FROM demo_episode";
  // Rows are clustered by day, so that writing a file of a few days reads only these.
  await demo.table("grid", `FROM (${days}) ORDER BY t, e`);
  await demo.table("quote", quotes(demo));
  await demo.table("basis", basis());
}

function episodes(demo: Demo): string {
  const sum = (column: string) => `(sum(round(${column} * 1e12)::BIGINT) OVER past)::DOUBLE / 1e12`;
  const before = "PARTITION BY s ORDER BY from_t ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING";
  return `WITH event AS (
      SELECT s, from_t AS t, false AS halted, 0 AS locked, coalesce(st_t <= from_t, false) AS st, ln(adj0) AS log_adj, leaf
        FROM demo_stock WHERE to_t > from_t
      UNION ALL BY NAME SELECT s, t, true AS halted FROM demo_halt
      UNION ALL BY NAME SELECT s, until_t AS t, false AS halted FROM demo_halt
      UNION ALL BY NAME SELECT s, t, side AS locked FROM demo_locked
      UNION ALL BY NAME SELECT s, t + 1 AS t, 0 AS locked FROM demo_locked
      UNION ALL BY NAME SELECT s, st_t AS t, true AS st FROM demo_stock WHERE st_t > from_t
      UNION ALL BY NAME SELECT s, unst_t AS t, false AS st FROM demo_stock WHERE unst_t IS NOT NULL
      UNION ALL BY NAME SELECT s, move_t AS t, (leaf + ${MOVED_LEAVES}) % ${LEAVES} AS leaf FROM demo_stock WHERE move_t IS NOT NULL
      UNION ALL BY NAME SELECT s, t, ln((1 + bonus) / (1 - yield)) AS log_adj, ln(1 + bonus) AS log_shares, yield, bonus FROM demo_ex
      UNION ALL BY NAME SELECT s, greatest(known_t, from_t) AS t, q FROM demo_report JOIN demo_stock USING (s) WHERE version = 0),
    change AS (SELECT s, t AS from_t, max(halted) AS halted, max(locked) AS locked, max(st) AS st, max(leaf) AS leaf, max(q) AS q,
        sum(log_adj) AS log_adj, sum(log_shares) AS log_shares, max(yield) AS yield, max(bonus) AS bonus
      FROM event JOIN (SELECT s, from_t, to_t FROM demo_stock) USING (s) WHERE t >= from_t AND t < to_t GROUP BY s, t),
    state AS (SELECT s, from_t, yield, bonus,
        lead(from_t) OVER past AS next_t,
        ${["halted", "locked", "st", "leaf", "q"].map((column) => `last_value(${column} IGNORE NULLS) OVER past AS ${column}`).join(", ")},
        round(exp(${sum("log_adj")}), 4) AS adj, exp(coalesce(${sum("log_shares")}, 0)) AS swell
      FROM change WINDOW past AS (PARTITION BY s ORDER BY from_t)),
    lasting AS (SELECT state.* EXCLUDE (next_t), coalesce(next_t, to_t) AS to_t, CASE WHEN st AND lim = 10 THEN 5 ELSE lim END AS lim,
        CASE WHEN st AND lim = 10 THEN ${ST_SCALE}::DOUBLE ELSE scale END AS scale, drift, price0, adj0, turnover, free_part,
        round(shares0 * swell)::BIGINT AS shares, round(float0 * swell)::BIGINT AS float,
        ${FACTOR_NUMBERS.map((j) => `c${j}`).join(", ")}
      FROM state JOIN demo_stock USING (s)),
    moved AS (SELECT e.*, ${FACTOR_NUMBERS.map((j) => `e.scale * c${j} AS k${j}`).join(", ")},
        ${dot("k", "first.g")} AS dot0, ${dot("k", "last.f")} AS dot1,
        round(1e9 * CASE WHEN halted THEN 0 WHEN locked <> 0 THEN ln(1 + locked * lim / 1e2)
          ELSE dot1 - dot0 + drift * (e.to_t - e.from_t) END)::BIGINT AS own
      FROM lasting e JOIN demo_day first ON first.t = e.from_t JOIN demo_day last ON last.t = e.to_t - 1),
    placed AS (SELECT * EXCLUDE (own),
        ln(price0 * adj0) + ((sum(own) OVER past) - own)::DOUBLE / 1e9 + ln(1e2 / adj) - dot0 - drift * from_t - scale * ${NOISE}::DOUBLE AS off,
        scale * ${(2 * NOISE) / 65536}::DOUBLE AS noise
      FROM moved WINDOW past AS (PARTITION BY s ORDER BY from_t)),
    priced AS (SELECT *, CASE WHEN NOT halted AND locked = 0
        THEN ${cents(`dot1`, "to_t", noiseBits(demo, "s", "to_t - 1"))} END AS free_close FROM placed),
    capped AS (SELECT *, last_value(free_close IGNORE NULLS) OVER before AS last_free,
        last_value(CASE WHEN free_close IS NOT NULL THEN adj END IGNORE NULLS) OVER before AS last_free_adj,
        CASE WHEN locked <> 0 THEN ${limitPrice("round(last_free * last_free_adj / adj)::INTEGER", "lim * locked")} END AS locked_close
      FROM priced WINDOW before AS (${before})),
    chained AS (SELECT * EXCLUDE (last_free, last_free_adj),
        coalesce(last_value(coalesce(free_close, locked_close) IGNORE NULLS) OVER before, round(price0 * 100)::INTEGER) AS last_close,
        coalesce(last_value(CASE WHEN NOT halted THEN adj END IGNORE NULLS) OVER before, adj0) AS last_adj
      FROM capped WINDOW before AS (${before})),
    paid AS (SELECT *, round(last_close * last_adj / adj)::INTEGER AS pre0, round(last_close * yield / 1e2, 4) AS cash_now,
        locked <> 0 AND ${demo.random.uniform("flat", "s", "from_t")} < 0.3e0 AS flat, halted OR locked <> 0 AS fixed FROM chained)
    SELECT (row_number() OVER (ORDER BY s, from_t) - 1)::INTEGER AS e, s, from_t, to_t, halted, locked, lim, leaf, q, adj,
      shares, float, (float // 10000)::DOUBLE AS weight, (float * free_part)::BIGINT AS free, float * turnover AS usual,
      CASE WHEN halted THEN 0 WHEN flat THEN ${FLAT_VOLUME} ELSE 1 END * float * turnover AS flow,
      CASE WHEN halted OR flat THEN 0 ELSE 1 END::DOUBLE AS alive,
      CASE WHEN fixed THEN ln(CASE WHEN halted THEN pre0 ELSE locked_close END) ELSE off END AS off,
      ${["noise", "drift", ...FACTOR_NUMBERS.map((j) => `k${j}`)].map((column) => `CASE WHEN fixed THEN 0 ELSE ${column} END AS ${column}`).join(", ")},
      last_close, pre0, yield, bonus, cash_now,
      last_value(cash_now / (1 + bonus) IGNORE NULLS) OVER past AS cash,
      last_value(CASE WHEN cash_now IS NOT NULL THEN from_t END IGNORE NULLS) OVER past AS cash_t
    FROM paid WINDOW past AS (PARTITION BY s ORDER BY from_t) ORDER BY e`;
}

/** `k1*f1 + .. + k6*f6` for factors named with a prefix such as `f` or `first.g`. */
function dot(loading: string, factor: string): string {
  return FACTOR_NUMBERS.map((j) => `${loading}${j} * ${factor}${j}`).join(" + ");
}

/** The close in cents of a day without limit or halt. `bits` are the random bits of the day, `elapsed` is its number + 1. */
function cents(factors: string, elapsed: string, bits: string): string {
  return `exp(off + (${factors}) + drift * (${elapsed}) + noise * (${bits} & 65535))::INTEGER`;
}

/** The random bits of a stock's day: the lowest 16 are the noise in its close. */
function noiseBits(demo: Demo, s: string, t: string): string {
  return demo.random.bits("quote", `${t} + 1`, s);
}

/** A price in cents moved by a limit in percent, rounded half up. */
function limitPrice(pre: string, percent: string): string {
  return `((${pre} * (100 + ${percent}) + 50) // 100)`;
}

function quotes(demo: Demo): string {
  const u = (shift: number) => `((bits >> ${shift}) & 255) * ${1 / 256}e0`;
  const block = (next: number) => demo.random.uniform("swing", "s", `t // ${SWING} + ${next}`);
  const swing = `(${block(0)} + (${block(1)} - ${block(0)}) * (t % ${SWING}) / ${SWING}e0)`;
  const gap = `rise * u1 * u1 * ${GAP.ofMove}e0 + p * (2e0 * u2 - 1e0) * abs(2e0 * u2 - 1e0) * ${GAP.noise}e0`;
  return `WITH close AS (SELECT e, s, t, lim, flow * busy * exp(1.4e0 * ${swing} - 0.7e0) AS flow, alive,
      ${noiseBits(demo, "s", "t")} AS bits,
      CASE WHEN t = from_t THEN pre0 ELSE ${cents(dot("k", "g"), "t", noiseBits(demo, "s", "t - 1"))} END AS p,
      ${cents(dot("k", "f"), "t + 1", "bits")} AS c
    FROM demo_grid JOIN demo_episode USING (e) JOIN demo_day USING (t)),
  bounds AS (SELECT e, s, t, p, c, flow, alive, (c - p)::DOUBLE AS rise, ${limitPrice("p", "lim")} AS up, ${limitPrice("p", "-lim")} AS down,
      ${u(16)} AS u1, ${u(24)} AS u2, ${u(32)} AS u3, ${u(40)} AS u4, ${u(48)} + ${u(56)} AS u5 FROM close),
  opened AS (SELECT *, least(up, greatest(down, CASE alive WHEN 0 THEN c ELSE p + (${gap})::INTEGER END)) AS o FROM bounds)
  SELECT e, s, t, p, c, o,
    least(up, greatest(o, c) + (alive * p * u3 * u3 * u3 * 0.02e0)::INTEGER) AS h,
    greatest(down, least(o, c) - (alive * p * u4 * u4 * u4 * 0.02e0)::INTEGER) AS l,
    (flow * exp(0.8e0 * u5 - 0.8e0) * (1e0 + 15e0 * abs(rise) / p))::BIGINT AS shares FROM opened`;
}

/** Turnover in yuan: the volume at the mean of the four prices. */
export const YUAN = "(shares * (o + h + l + c) * 0.0025e0)::BIGINT";

/**
 * `demo_basis`: the data of each episode for valuation: shares in ten thousands, and for each ratio the factor for a price
 * in cents or a volume in shares; null if there is no report yet, or a loss.
 */
function basis(): string {
  const own = (amount: string) => `x.shares / nullif(greatest(${amount} * 0.97e0, 0), 0)`;
  return `SELECT e, adj, x.shares / 1e4 AS total_share, float / 1e4 AS float_share, free / 1e4 AS free_share,
      1e2 / float AS turnover, 1e2 / free AS turnover_free, 1 / usual AS activity, x.cash * 1e4 AS dividend, cash_t,
      ${own("profit_year")} AS pe, ${own("profit_ttm")} AS pe_ttm, ${own("equity")} AS pb,
      x.shares / revenue_year AS ps, x.shares / revenue_ttm AS ps_ttm
    FROM demo_episode x LEFT JOIN demo_report r ON r.s = x.s AND r.q = x.q AND r.version = 0 ORDER BY e`;
}

/** Rounds to four decimals, in a third of the time of DuckDB's round with a number of decimals. */
const rounded = (value: string) => `round((${value}) * 1e4) / 1e4`;

const KEY = { ts_code: "ts_code", trade_date: "day" };

const CHANGE = {
  pre_close: "p / 1e2",
  change: "(c - p) / 1e2",
  pct_chg: rounded("(c - p) * 1e2 / p"),
  vol: "shares / 1e2",
  amount: `${YUAN} / 1e3`,
};

const DAILY = { ...KEY, open: "o / 1e2", high: "h / 1e2", low: "l / 1e2", close: "c / 1e2", ...CHANGE };

const DAILY_BASIC = {
  ...KEY,
  close: "c / 1e2",
  turnover_rate: rounded("shares * b.turnover"),
  turnover_rate_f: rounded("shares * turnover_free"),
  volume_ratio: "round(shares * activity * 1e2) / 1e2",
  pe: rounded("c * pe"),
  pe_ttm: rounded("c * pe_ttm"),
  pb: rounded("c * pb"),
  ps: rounded("c * ps"),
  ps_ttm: rounded("c * ps_ttm"),
  dv_ratio: rounded("dividend / c"),
  dv_ttm: `CASE WHEN t - cash_t < 245 THEN ${rounded("dividend / c")} END`,
  total_share: "total_share",
  float_share: "float_share",
  free_share: "free_share",
  total_mv: rounded("c / 1e2 * total_share"),
  circ_mv: rounded("c / 1e2 * float_share"),
};

/** The result of a call auction at `price`: a percentage of the day's volume in complete lots, in shares and yuan. */
function auction(time: string, price: string, percent: number): Record<string, string> {
  const lots = `(shares * ${percent} // 10000 + 1)`;
  return {
    ...KEY,
    ts_type: "'STK'",
    time: `'${time}'`,
    price: `${price} / 1e2`,
    vol: `${lots} * 100`,
    amount: `${lots} * ${price}`,
    pre_close: "p / 1e2",
  };
}

/** One row for each stock and day. */
export function dailyEntities(): DemoEntity[] {
  const daily = (entity: string, expressions: Record<string, string>, rest: string): DemoEntity => ({
    entity,
    sql: selectOf(entity, expressions, `FROM demo_quote JOIN demo_stock USING (s) JOIN demo_day USING (t) ${rest}`),
  });
  const traded = "WHERE shares > 0";
  return [
    daily("daily", DAILY, traded),
    daily("daily_basic", DAILY_BASIC, `JOIN demo_basis b USING (e) ${traded}`),
    daily("adj_factor", { ...KEY, adj_factor: "adj" }, "JOIN demo_basis USING (e)"),
    daily(
      "stk_limit",
      { ...KEY, up_limit: `${limitPrice("p", "x.lim")} / 1e2`, down_limit: `${limitPrice("p", "-x.lim")} / 1e2` },
      "JOIN demo_episode x USING (e)",
    ),
    daily("stk_auction_o", auction("09:25:00", "o", 2), traded),
    daily("stk_auction_c", auction("15:00:00", "c", 3), traded),
  ];
}

/** Weekly and monthly bars, aggregated from daily ones. Dated on the last trading day of the demo in the period. */
export function periodEntities(): DemoEntity[] {
  const period = (entity: string, end: string): DemoEntity => ({
    entity,
    sql: selectOf(
      entity,
      { ...DAILY, amount: "yuan / 1e3" },
      `FROM (SELECT s, ${end} AS day, arg_min(o, t) AS o, max(h) AS h, min(l) AS l, arg_max(c, t) AS c,
          round(arg_min(p, t) * arg_min(adj, t) / arg_max(adj, t))::INTEGER AS p, sum(shares::DOUBLE) AS shares, sum(${YUAN}::DOUBLE) AS yuan
        FROM demo_quote JOIN demo_basis USING (e) JOIN demo_day USING (t) WHERE shares > 0 GROUP BY s, ${end})
      JOIN demo_stock USING (s)`,
    ),
  });
  return [period("weekly", "week_end"), period("monthly", "month_end")];
}
