// The reference store of the demo (stock list, companies, names, calendar), and the suspensions.
import { type Demo, type DemoEntity, selectOf } from "./tables.js";
import { textList } from "./random.js";
import { GIVEN_NAMES, PROVINCES, SURNAMES } from "./words.js";

/** With more snapshots than this, the stock list has daily ones only for the last days, and monthly ones before. */
const MOST_SNAPSHOTS = 2_000_000;
const DAILY_SNAPSHOTS = 250;

const SUSPENDED_HOURS = ["09:30-10:00", "13:00-13:30"];

export function referenceEntities(demo: Demo): DemoEntity[] {
  const { days, stocks } = demo.options;
  const { random } = demo;
  const entity = (name: string, expressions: Record<string, string>, from: string): DemoEntity => ({
    entity: name,
    sql: selectOf(name, expressions, from),
  });
  const person = (salt: string) =>
    `${random.pick(SURNAMES, salt, "s")} || ${random.pick(GIVEN_NAMES, `${salt} given`, "s")}`;
  const kept = days * stocks > MOST_SNAPSHOTS ? `WHERE t >= ${days - DAILY_SNAPSHOTS} OR day = month_end` : "";
  return [
    entity(
      "trade_cal",
      { exchange: "'SSE'", cal_date: "day", is_open: "is_open", pretrade_date: "pretrade" },
      `FROM demo_calendar WHERE day >= date_trunc('year', (SELECT min(day) FROM demo_day))`,
    ),
    entity(
      "stock_list",
      {
        ts_code: "ts_code",
        name: "n.name",
        list_date: "listed.day",
        delist_date: "CASE WHEN gone.day <= snapshot.day THEN gone.day END",
        snapshot_date: "snapshot.day",
      },
      `FROM (SELECT t, day FROM demo_day ${kept}) snapshot JOIN demo_stock ON list_t <= snapshot.t
       JOIN demo_name n ON n.s = demo_stock.s AND n.start_day <= snapshot.day AND (n.end_day IS NULL OR n.end_day >= snapshot.day)
       JOIN demo_open listed ON listed.t = list_t LEFT JOIN demo_open gone ON gone.t = delist_t`,
    ),
    entity(
      "stock_company",
      {
        ts_code: "ts_code",
        chairman: person("chairman"),
        manager: person("manager"),
        reg_capital: "shares0 / 1e4",
        setup_date: `day - 900 - ${random.below(5000, "setup", "s")}`,
        province: random.pick(PROVINCES, "province", "s"),
      },
      "FROM demo_stock JOIN demo_open ON demo_open.t = list_t",
    ),
    entity(
      "namechange",
      {
        ts_code: "ts_code",
        name: "n.name",
        start_date: "start_day",
        end_date: "end_day",
        ann_date: "ann_day",
        change_reason: "reason",
      },
      "FROM demo_name n JOIN demo_stock USING (s)",
    ),
    entity(
      "suspend_d",
      { ts_code: "ts_code", trade_date: "day", suspend_timing: "timing", suspend_type: "kind" },
      `FROM (
         SELECT s, unnest(range(t, until_t))::INTEGER AS t, NULL AS timing, 'S' AS kind FROM demo_halt
         UNION ALL SELECT s, until_t, NULL, 'R' FROM demo_halt WHERE until_t < ${days}
         UNION ALL SELECT s, t, unnest(
             CASE WHEN ${random.uniform("twice", "s", "t")} < 0.3 THEN ${textList(SUSPENDED_HOURS)} ELSE ${textList(SUSPENDED_HOURS.slice(0, 1))} END), 'S'
           FROM demo_locked WHERE ${random.uniform("hours", "s", "t")} < 0.1)
       JOIN demo_stock USING (s) JOIN demo_day USING (t)`,
    ),
  ];
}
