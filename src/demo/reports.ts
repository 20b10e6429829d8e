// The reports store of the demo: broker research, company announcements, and the dividends that they announce.
import { type Demo, type DemoEntity, selectOf } from "./tables.js";
import { BROKERS, GIVEN_NAMES, NOTICES, RATINGS, REPORT_TYPES, SURNAMES } from "./words.js";

/** Research reports and single announcements a day for each hundred stocks, with bounds. */
const REPORTS_A_DAY = { perHundred: 3, least: 5, most: 120 };
const NOTICES_A_DAY = { perHundred: 6, least: 8, most: 200 };

const SITE = "https://example.com";

export function reportEntities(demo: Demo): DemoEntity[] {
  const { random, options } = demo;
  const aDay = ({ perHundred, least, most }: typeof REPORTS_A_DAY) =>
    Math.max(least, Math.min(most, Math.round((options.stocks * perHundred) / 100)));
  const u = (salt: string) => random.uniform(salt, "t", "i");
  const pick = (texts: readonly string[], salt: string) => random.pick(texts, salt, "t", "i");
  // Stocks are drawn from all; those that are not listed on that day are skipped.
  const drawn = (count: number, salt: string) =>
    `(SELECT t, day, i, ${random.below(options.stocks, salt, "t", "i")} AS s FROM demo_day, range(${count}) r(i))
     JOIN demo_stock USING (s)`;
  const listed = "t >= from_t AND t < to_t";
  const ownReport = `${u("industry")} > 0.12e0`;
  return [
    {
      entity: "research_report",
      sql: selectOf(
        "research_report",
        {
          trade_date: "day",
          abstr: `CASE WHEN ${u("abstract")} < 0.7e0 THEN '我们认为' ||
            CASE WHEN own THEN name ELSE industry END || ${pick(RATINGS, "abstract text")} || '，维持评级。' END`,
          title: `CASE WHEN own THEN name ELSE industry || '行业周报' END || '：' || ${pick(RATINGS, "title")}`,
          report_type: `CASE WHEN own THEN ${pick(REPORT_TYPES, "type")} ELSE '行业研究' END`,
          author: `CASE WHEN ${u("author")} < 0.9e0 THEN ${pick(SURNAMES, "surname")} || ${pick(GIVEN_NAMES, "given")} END`,
          name: "CASE WHEN own THEN name END",
          ts_code: "CASE WHEN own THEN ts_code END",
          inst_csname: pick(BROKERS, "broker"),
          ind_name: "industry",
          url: `'${SITE}/report/' || strftime(day, '%Y%m%d') || '/' || i`,
        },
        `FROM (SELECT t, i, day, ts_code, demo_stock.name, demo_industry.name AS industry, ${ownReport} AS own
           FROM ${drawn(aDay(REPORTS_A_DAY), "reported")} JOIN demo_industry ON demo_industry.leaf = demo_stock.leaf AND level = 'L1'
           WHERE ${listed})`,
      ),
    },
    {
      entity: "anns_d",
      sql: selectOf(
        "anns_d",
        {
          ann_date: "day",
          ts_code: "CASE WHEN hash(key) % 4 = 0 THEN bare ELSE ts_code END",
          name: "name",
          title: "name || '：' || title",
          url: `'${SITE}/notice/' || bare || '/' || strftime(day, '%Y%m%d') || '/' || key`,
          rec_time: `CASE WHEN hash(key) % 5 > 0 THEN strftime(day, '%Y-%m-%d') || ' ' ||
            lpad((16 + hash(key) % 7)::VARCHAR, 2, '0') || ':' || lpad((hash(key) % 60)::VARCHAR, 2, '0') || ':00' END`,
        },
        `FROM (
           SELECT day, ts_code, bare, name, ${pick(NOTICES, "notice")} AS title, 'n' || i AS key
             FROM ${drawn(aDay(NOTICES_A_DAY), "noticed")} WHERE ${listed}
           UNION ALL SELECT f_ann_day, stock.ts_code, bare, name,
             year || '年' || ['第一季度报告', '半年度报告', '第三季度报告', '年度报告'][part] ||
               CASE version WHEN 1 THEN '（更正后）' ELSE '' END, 'q' || q || '-' || version
             FROM demo_report JOIN demo_stock stock USING (s) WHERE f_ann_day >= (SELECT min(day) FROM demo_day)
           UNION ALL SELECT halted.day, ts_code, bare, name, '关于股票停牌的公告', 'h' || t
             FROM demo_halt JOIN demo_stock USING (s) JOIN demo_day halted USING (t))`,
      ),
    },
    dividends(),
  ];
}

/** The proposal of each year and, if it was paid, its implementation. */
function dividends(): DemoEntity {
  return {
    entity: "dividend",
    sql: selectOf(
      "dividend",
      {
        ts_code: "ts_code",
        end_date: "end_day",
        ann_date: "ann_day",
        div_proc: "stage",
        stk_div: "bonus",
        stk_bo_rate: "0",
        stk_co_rate: "bonus",
        cash_div: "round(cash * 0.9e0, 4)",
        cash_div_tax: "cash",
        record_date: "record_day",
        ex_date: "ex_day",
        pay_date: "ex_day",
        div_listdate: "CASE WHEN bonus > 0 THEN ex_day END",
        imp_ann_date: "imp_day",
        base_date: "record_day",
        base_share: "base_share",
      },
      `FROM (WITH proposal AS (SELECT r.s, r.ts_code, r.end_day, r.ann_day, r.shares / 1e4 AS base_share, coalesce(x.bonus, 0) AS bonus,
           coalesce(cash_now, 0) AS cash, x.from_t AS ex_t FROM demo_report r
           LEFT JOIN (SELECT s, from_t, bonus, cash_now, year FROM demo_episode JOIN demo_ex USING (s, bonus) WHERE demo_ex.t = from_t) x
             ON x.s = r.s AND x.year = r.year + 1
           WHERE r.part = 4 AND r.version = 0)
         SELECT *, '预案' AS stage, NULL AS record_day, NULL AS ex_day, NULL AS imp_day FROM proposal
         UNION ALL SELECT proposal.*, '实施', record.day, ex.day, announced.day FROM proposal
           JOIN demo_open ex ON ex.t = ex_t JOIN demo_open record ON record.t = ex_t - 1 JOIN demo_open announced ON announced.t = ex_t - 5)`,
    ),
  };
}
