// The reference store of the demo (stock list, companies, names, calendar), the suspensions, and the reports store (broker
// research, company announcements, and the dividends that they announce).
import { type Demo, type DemoEntity, selectOf, textList } from "./tables.js";

const SURNAMES = [..."王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗"];

const GIVEN_NAMES = [
  "伟",
  "芳",
  "建国",
  "志强",
  "敏",
  "静",
  "文博",
  "晓明",
  "海燕",
  "国栋",
  "思远",
  "雨桐",
  "磊",
  "红梅",
];

const PROVINCES = [
  "北京",
  "上海",
  "广东",
  "浙江",
  "江苏",
  "山东",
  "四川",
  "湖北",
  "福建",
  "安徽",
  "湖南",
  "河南",
  "陕西",
];

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

const BROKERS = ["东岳证券", "长河证券", "南屏证券", "启明证券", "海岳证券", "云峰证券", "北辰证券", "信和证券"];

const REPORT_TYPES = ["公司研究", "深度研究", "点评报告", "调研纪要"];

const RATINGS = ["业绩符合预期", "盈利能力持续改善", "新业务放量在即", "短期承压，长期向好", "订单充足，产能释放"];

const NOTICES = [
  "关于召开股东大会的通知",
  "董事会决议公告",
  "监事会决议公告",
  "关于股份回购进展的公告",
  "关于对外担保的公告",
  "关于股东减持股份的预披露公告",
  "关于签订重大合同的公告",
  "投资者关系活动记录表",
];

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
