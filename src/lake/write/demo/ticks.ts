// Trades of the opening call auction, tick by tick, of stocks, funds and an index.
import { type Demo, type DemoEntity, selectOf } from "./demo.js";
import { FUNDS } from "./words.js";

/** Ticks are made for as many of the last days as keep their number below this. */
export const MOST_TICKS = 2_000_000;
const TICKS_A_DAY = 4;

export function tickEntities(demo: Demo): DemoEntity[] {
  const { days, stocks } = demo.options;
  const { random } = demo;
  const first = Math.max(0, days - Math.floor(MOST_TICKS / (TICKS_A_DAY * (stocks + FUNDS.length))));
  const u = (salt: string) => random.uniform(salt, "t", "i", "id");
  const known = (salt: string, value: string) => `CASE WHEN ${u(salt)} >= 0.01e0 THEN ${value} END`;
  const funds = FUNDS.map(([code, price], i) => `('${code}', ${price}, ${i})`).join(", ");
  return [
    {
      entity: "stk_auction",
      sql: selectOf(
        "stk_auction",
        {
          ts_code: "ts_code",
          trade_date: "day",
          ts_type: known("type", "kind"),
          time: known("time", `'09:2' || (i + 2) || ':0' || least(9, floor(${u("second")} * 10)::INTEGER)`),
          price: known(
            "price",
            `CASE i WHEN 3 THEN price ELSE round(before + (price - before) * (i + ${u("step")}) / 4, digits) END`,
          ),
          vol: "lots * 100",
          amount: "round(lots * 100 * price, 2)",
          pre_close: known("before", "before"),
        },
        `FROM (
           SELECT ts_code, s AS id, t, 'STK' AS kind, o / 1e2 AS price, p / 1e2 AS before, shares // 20000 + 1 AS lots, 2 AS digits
             FROM demo_quote_by_day JOIN demo_stock USING (s) WHERE shares > 0 AND t >= ${first}
           UNION ALL SELECT code, 10000 + number, t, 'ETF', round(start * exp(0.1e0 * (f1 + f2)), 3), round(start * exp(0.1e0 * (g1 + g2)), 3), 20000, 3
             FROM demo_day, (VALUES ${funds}) fund(code, start, number) WHERE t >= ${first}
           UNION ALL SELECT ts_code, 20000, t, NULL, o / 1e4, p / 1e4, 1, 4
             FROM demo_index_quote JOIN demo_day USING (day) WHERE ts_code = '000300.SH' AND t >= ${first})
         JOIN demo_day USING (t) CROSS JOIN range(${TICKS_A_DAY}) r(i)`,
      ),
      sorted: false,
    },
  ];
}
