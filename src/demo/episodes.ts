// The helper table of episodes: periods in which only the price of a stock changes.
import { FACTOR_NUMBERS } from "./days.js";
import type { Demo } from "./tables.js";
import { LEAVES } from "./stocks.js";

/** The daily noise in the log price of a stock, as a fraction of its scale. */
const NOISE = 0.05;

/** The scale of a stock under special treatment on a board with a limit of 10 percent: its own limit is 5 percent. */
const ST_SCALE = 0.036;

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
 */
export async function makeEpisodes(demo: Demo): Promise<void> {
  await demo.table("episode", episodes(demo));
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
export function dot(loading: string, factor: string): string {
  return FACTOR_NUMBERS.map((j) => `${loading}${j} * ${factor}${j}`).join(" + ");
}

/** The close in cents of a day without limit or halt. `bits` are the random bits of the day, `elapsed` is its number + 1. */
export function cents(factors: string, elapsed: string, bits: string): string {
  return `exp(off + (${factors}) + drift * (${elapsed}) + noise * (${bits} & 65535))::INTEGER`;
}

/** The random bits of a stock's day: the lowest 16 are the noise in its close. */
export function noiseBits(demo: Demo, s: string, t: string): string {
  return demo.random.bits("quote", `${t} + 1`, s);
}

/** A price in cents moved by a limit in percent, rounded half up. */
export function limitPrice(pre: string, percent: string): string {
  return `((${pre} * (100 + ${percent}) + 50) // 100)`;
}
