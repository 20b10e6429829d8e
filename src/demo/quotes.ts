// The market and auction stores of the demo. Every quote of a stock and day is generated once.
import { type Demo, type DemoEntity, selectOf } from "./tables.js";
import { cents, dot, limitPrice, noiseBits } from "./episodes.js";

/**
 * `demo_quote(e, s, t, p, c, o, h, l, shares)`: previous close, close, open, high, low in cents, volume in shares, day
 * by day. A day of suspension has a row with volume 0 at the reference price.
 */
export async function makeQuotes(demo: Demo): Promise<void> {
  const days = "SELECT e, unnest(range(from_t, to_t))::INTEGER AS t FROM demo_episode";
  // Rows are clustered by day, so that writing a file of a few days reads only these.
  await demo.table("grid", `FROM (${days}) ORDER BY t, e`);
  await demo.table("quote", quotes(demo));
  await demo.table("basis", basis());
}

function quotes(demo: Demo): string {
  const u = (shift: number) => `((bits >> ${shift}) & 255) * ${1 / 256}e0`;
  return `WITH close AS (SELECT e, s, t, lim, flow, alive,
      ${noiseBits(demo, "s", "t")} AS bits,
      CASE WHEN t = from_t THEN pre0 ELSE ${cents(dot("k", "g"), "t", noiseBits(demo, "s", "t - 1"))} END AS p,
      ${cents(dot("k", "f"), "t + 1", "bits")} AS c
    FROM demo_grid JOIN demo_episode USING (e) JOIN demo_day USING (t)),
  bounds AS (SELECT e, s, t, p, c, flow, alive, (c - p)::DOUBLE AS rise, ${limitPrice("p", "lim")} AS up, ${limitPrice("p", "-lim")} AS down,
      ${u(16)} AS u1, ${u(24)} AS u2, ${u(32)} AS u3, ${u(40)} AS u4, ${u(48)} + ${u(56)} AS u5 FROM close),
  opened AS (SELECT *, least(up, greatest(down, c - (alive * (rise * u1 + p * (u2 - 0.5e0) * 0.012e0))::INTEGER)) AS o FROM bounds)
  SELECT e, s, t, p, c, o,
    least(up, greatest(o, c) + (alive * p * u3 * u3 * u3 * 0.02e0)::INTEGER) AS h,
    greatest(down, least(o, c) - (alive * p * u4 * u4 * u4 * 0.02e0)::INTEGER) AS l,
    (flow * exp(1.4e0 * u5 - 1.4e0) * (1e0 + 15e0 * abs(rise) / p))::BIGINT AS shares FROM opened`;
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
