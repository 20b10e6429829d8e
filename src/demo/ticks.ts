// Ticks of the opening call auction for stocks, funds and an index.
import { type Demo, type DemoEntity, selectOf } from "./tables.js";

/** The funds of the call auction: code and initial price. */
const FUNDS: readonly (readonly [string, number])[] = [
  ["159915.SZ", 2.2],
  ["159919.SZ", 3.9],
  ["510050.SH", 2.7],
  ["510300.SH", 3.8],
  ["510500.SH", 5.9],
  ["512880.SH", 1.1],
  ["588000.SH", 1.0],
];

/** Ticks are generated for as many of the last days as keep their number below this. */
const MOST_TICKS = 2_000_000;

/** Ticks of a security and day. The fifth, a duplicate of the fourth, is rare. */
const TICKS = "(VALUES (0, false), (1, false), (2, false), (3, false), (3, true))";
const TICKS_A_DAY = 4.01;
const TWINS = 0.01;

export function tickEntities(demo: Demo): DemoEntity[] {
  const { days, stocks } = demo.options;
  const { random } = demo;
  const first = Math.max(0, days - Math.floor(MOST_TICKS / (TICKS_A_DAY * (stocks + FUNDS.length + 1))));
  const u = (salt: string) => random.uniform(salt, "t", "i", "id");
  const known = (salt: string, value: string) => `CASE WHEN ${u(salt)} >= 0.01e0 THEN ${value} END`;
  const funds = FUNDS.map(([code, price], i) => `('${code}', ${price}e0, ${i})`).join(", ");
  const fundPrice = (factor: string) => `round(start * exp(0.1e0 * (${factor}1 + ${factor}2)), 3)`;
  return [
    {
      entity: "stk_auction",
      sql: selectOf(
        "stk_auction",
        {
          ts_code: "ts_code",
          trade_date: "day",
          ts_type: known("type", "kind"),
          time: known("time", `'09:2' || (i + 2) || ':0' || floor(${u("second")} * 10)::INTEGER`),
          price: known("price", "tick"),
          vol: "vol",
          amount: "round(vol * tick, 2)",
          pre_close: known("before", "before"),
        },
        `FROM (SELECT *, CASE i WHEN 3 THEN price ELSE round(before + (price - before) * (i + ${u("step")}) / 4, digits) END AS tick,
             (lots * (i + 1) // 4 + 1) * 100 AS vol
           FROM (
             SELECT ts_code, s AS id, t, 'STK' AS kind, o / 1e2 AS price, p / 1e2 AS before, shares // 20000 AS lots, 2 AS digits
               FROM demo_quote JOIN demo_stock USING (s) WHERE shares > 0 AND t >= ${first}
             UNION ALL SELECT code, 10000 + number, t, 'ETF', ${fundPrice("f")}, ${fundPrice("g")}, 20000, 3
               FROM demo_day, (VALUES ${funds}) fund(code, start, number) WHERE t >= ${first}
             UNION ALL SELECT ts_code, 20000, t, NULL, o / 1e4, p / 1e4, 0, 4
               FROM demo_index_quote JOIN demo_day USING (day) WHERE ts_code = '000300.SH' AND t >= ${first})
           CROSS JOIN ${TICKS} tick(i, twin) WHERE NOT twin OR ${u("twin")} < ${TWINS})
         JOIN demo_day USING (t)`,
      ),
    },
  ];
}
