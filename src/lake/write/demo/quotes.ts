// The market and auction stores of the demo: every quote of every stock and day, made once in both orders.
import { type Demo, type DemoEntity, selectOf } from "./demo.js";
import { cents, dot, limitPrice, noiseBits } from "./episodes.js";

/** `demo_quote_by_day` holds the rows by day and stock, `demo_quote_by_code` the same rows by stock and day. */
const BY_DAY = "demo_quote_by_day";
const BY_CODE = "demo_quote_by_code";

/**
 * `demo_quote_*(e, s, t, p, c, o, h, l, shares, yuan)`: previous close, close, open, high, low in cents, volume in
 * shares and turnover in yuan. A day of suspension has a row with volume 0 at the reference price.
 */
export async function makeQuotes(demo: Demo): Promise<void> {
  const days = "SELECT e, unnest(range(from_t, to_t))::INTEGER AS t FROM demo_episode";
  await demo.table("grid", `${days} ORDER BY t, e`);
  await demo.table("quote_by_day", quotes(demo, "demo_grid"));
  await demo.table("quote_by_code", quotes(demo, `(${days} ORDER BY e)`));
  await demo.table("basis", basis());
}

function quotes(demo: Demo, grid: string): string {
  const u = (shift: number, size: number) => `((bits >> ${shift}) & ${2 ** size - 1}) / ${2 ** size}e0`;
  return `WITH close AS (SELECT e, s, t, lim, flow, halted, locked,
      ${noiseBits(demo, "s", "t")} AS bits,
      CASE WHEN t = from_t OR halted THEN pre0 ELSE ${cents(dot("k", "g"), "t", noiseBits(demo, "s", "t - 1"))} END AS p,
      coalesce(fixed, ${cents(dot("k", "f"), "t + 1", "bits")}) AS c
    FROM ${grid} grid JOIN demo_episode USING (e) JOIN demo_day USING (t)),
  bounds AS (SELECT e, s, t, bits, p, c, flow, halted, ${limitPrice("p", "lim")} AS up, ${limitPrice("p", "-lim")} AS down,
      halted OR (locked <> 0 AND ${u(16, 8)} < 0.3) AS flat FROM close),
  opened AS (SELECT *, CASE WHEN flat THEN c ELSE
      least(up, greatest(down, p + round((c - p) * ${u(16, 8)} + p * 0.012 * (${u(24, 8)} - 0.5))::INTEGER)) END AS o FROM bounds),
  bar AS (SELECT e, s, t, bits, p, c, o,
      CASE WHEN flat THEN c ELSE least(up, greatest(o, c) + (p * 0.02 * pow(${u(32, 8)}, 3))::INTEGER) END AS h,
      CASE WHEN flat THEN c ELSE greatest(down, least(o, c) - (p * 0.02 * pow(${u(40, 8)}, 3))::INTEGER) END AS l,
      CASE WHEN halted THEN 0 ELSE 100 + (flow * exp(1.4 * (${u(48, 8)} + ${u(56, 8)} - 1))
        * (1 + 15e0 * abs(c - p) / p) * CASE WHEN flat THEN 0.2 ELSE 1 END)::BIGINT END AS shares FROM opened)
  SELECT e, s, t, p, c, o, h, l, shares, (shares * ((o + h + l + c) / 4e2))::BIGINT AS yuan FROM bar`;
}

/** `demo_basis`: what valuation needs of each episode, money in yuan, profits null where there is no report yet. */
function basis(): string {
  const own = (profit: string) => `nullif(greatest(${profit} * 0.97e0 / 1e2, 0), 0)`;
  return `SELECT e, adj, x.shares / 1e4 AS total_share, float / 1e4 AS float_share, free / 1e4 AS free_share, flow, x.cash, cash_t,
      ${own("profit_year")} AS profit_year, ${own("profit_ttm")} AS profit_ttm, equity * 0.97e0 / 1e2 AS equity,
      revenue_year / 1e2 AS revenue_year, revenue_ttm / 1e2 AS revenue_ttm
    FROM demo_episode x LEFT JOIN demo_report r ON r.s = x.s AND r.q = x.q AND r.version = 0 ORDER BY e`;
}

const KEY = { ts_code: "ts_code", trade_date: "day" };

const CHANGE = {
  pre_close: "p / 1e2",
  change: "(c - p) / 1e2",
  pct_chg: "round((c - p) * 1e2 / p, 4)",
  vol: "shares / 1e2",
  amount: "yuan / 1e3",
};

const DAILY = { ...KEY, open: "o / 1e2", high: "h / 1e2", low: "l / 1e2", close: "c / 1e2", ...CHANGE };

const VALUE = "(c / 1e2 * total_share * 1e4)";

const DAILY_BASIC = {
  ...KEY,
  close: "c / 1e2",
  turnover_rate: "round(shares / 1e2 / float_share, 4)",
  turnover_rate_f: "round(shares / 1e2 / free_share, 4)",
  volume_ratio: "round(shares / flow, 2)",
  pe: `round(${VALUE} / profit_year, 4)`,
  pe_ttm: `round(${VALUE} / profit_ttm, 4)`,
  pb: `round(${VALUE} / equity, 4)`,
  ps: `round(${VALUE} / revenue_year, 4)`,
  ps_ttm: `round(${VALUE} / revenue_ttm, 4)`,
  dv_ratio: "round(cash * 1e4 / c, 4)",
  dv_ttm: "CASE WHEN t - cash_t < 245 THEN round(cash * 1e4 / c, 4) END",
  total_share: "total_share",
  float_share: "float_share",
  free_share: "free_share",
  total_mv: "round(c / 1e2 * total_share, 4)",
  circ_mv: "round(c / 1e2 * float_share, 4)",
};

/** The result of a call auction at `price`: so many percent of the day's volume in whole lots, in shares and yuan. */
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

/** One row a stock and day, in either order. */
export function dailyEntities(): DemoEntity[] {
  const daily = (entity: string, expressions: Record<string, string>, rest = ""): DemoEntity => {
    const from = (table: string) =>
      selectOf(entity, expressions, `FROM ${table} JOIN demo_stock USING (s) JOIN demo_day USING (t) ${rest}`);
    return { entity, sql: from(BY_DAY), byCode: from(BY_CODE), sorted: true };
  };
  const traded = "WHERE shares > 0";
  return [
    daily("daily", DAILY, traded),
    daily("daily_basic", DAILY_BASIC, `JOIN demo_basis USING (e) ${traded}`),
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

/** Weeks and months, summed up from the days. Dated on the last trading day of the demo in the week or month. */
export function periodEntities(): DemoEntity[] {
  const period = (entity: string, end: string): DemoEntity => ({
    entity,
    sql: selectOf(
      entity,
      DAILY,
      `FROM (SELECT s, ${end} AS day, arg_min(o, t) AS o, max(h) AS h, min(l) AS l, arg_max(c, t) AS c,
          round(arg_min(p, t) * arg_min(adj, t) / arg_max(adj, t))::INTEGER AS p, sum(shares) AS shares, sum(yuan) AS yuan
        FROM ${BY_CODE} JOIN demo_basis USING (e) JOIN demo_day USING (t) WHERE shares > 0 GROUP BY s, ${end})
      JOIN demo_stock USING (s)`,
    ),
    sorted: false,
  });
  return [period("weekly", "week_end"), period("monthly", "month_end")];
}
