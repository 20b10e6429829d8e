// Each check by a fault that it finds in an otherwise sound market, and by real files that pass it.
import { describe, expect, test } from "vitest";
import { CHECKS } from "../../src/catalog/checks.js";
import { ENTITIES, entityNamed } from "../../src/catalog/index.js";
import type { Finding } from "../../src/lake/findings.js";
import { importFiles } from "../../src/store/import.js";
import { checkLake } from "../../src/store/check-lake.js";
import { demoLake } from "../support/demo.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { describeReal, realFile } from "../support/realdata.js";
import { someOf } from "../support/size.js";

type Fields = Readonly<Record<string, string>>;

const select = (fields: Fields, from = ""): string =>
  `SELECT ${Object.entries(fields)
    .map(([name, sql]) => `${sql} AS "${name}"`)
    .join(", ")} ${from}`;

const DAY = { ts_code: "'000001.SZ'", trade_date: "DATE '2025-01-06'" };
const BAR = {
  ...{ ...DAY, open: "10.1", high: "10.6", low: "10.0", close: "10.5", pre_close: "10.0", change: "0.5" },
  ...{ pct_chg: "5.0", vol: "2000", amount: "2060" },
};
const VALUATION = {
  ...{ ...DAY, close: "10.5", turnover_rate: "1.2", total_share: "2000", float_share: "1500", free_share: "1000" },
  ...{ total_mv: "21000", circ_mv: "15750" },
};
const STOCKS = `SELECT * FROM (VALUES
  ('000001.SZ', DATE '2000-01-04', NULL), ('000002.SZ', DATE '2025-01-07', NULL), ('000003.SZ', NULL, DATE '2025-01-03')
) t(ts_code, list_date, delist_date), (VALUES (DATE '2025-01-03'), (DATE '2025-01-10')) d(snapshot_date)`;

/** 120 codes on each weekday of two weeks, and of the last day only what `last` leaves. */
const market = (name: string, fields: Fields, last = "true", lastFields: Fields = fields): Fields => {
  const from = "FROM range(DATE '2025-01-06', DATE '2025-01-18', INTERVAL 1 DAY) t(d), range(120) s(i)";
  const keys = { ts_code: "printf('%06d.SZ', i)", trade_date: "d::DATE" };
  const before = select({ ...fields, ...keys }, `${from} WHERE isodow(d) < 6 AND d < DATE '2025-01-17'`);
  const end = select({ ...lastFields, ...keys }, `${from} WHERE d = DATE '2025-01-17' AND ${last}`);
  return { [name]: `${before} UNION ALL ${end}` };
};

interface Case {
  readonly check: string;
  readonly rows: Fields;
  /** What the example of the finding shows. */
  readonly example: unknown;
  readonly count?: number;
}

const of = (check: string, name: string, base: Fields, change: Fields, example: unknown, others: Fields = {}): Case => {
  return { check, rows: { [name]: select({ ...base, ...change }), ...others }, example };
};

const FAULTS: readonly Case[] = [
  of(
    "high-below-low",
    "daily",
    BAR,
    { high: "9.9", open: "9.95", close: "9.95", change: "-0.05", pct_chg: "-0.5" },
    {
      ...{ high: 9.9, low: 10 },
    },
  ),
  of("outside-high-low", "daily", BAR, { open: "10.7" }, { open: 10.7, high: 10.6, low: 10, close: 10.5 }),
  of("price-not-positive", "weekly", BAR, { low: "0", vol: "0" }, { low: 0 }),
  of("negative-volume", "daily", BAR, { vol: "-5" }, { vol: -5, amount: 2060 }),
  of("wrong-change", "daily", BAR, { change: "0.6", pct_chg: "6" }, { close: 10.5, pre_close: 10, change: 0.6 }),
  of("percent-as-fraction", "monthly", BAR, { pct_chg: "0.05" }, { change: 0.5, pct_chg: 0.05 }),
  of("wrong-percent", "daily", BAR, { pct_chg: "4" }, { pre_close: 10, change: 0.5, pct_chg: 4 }),
  of("turnover-off-price", "daily", BAR, { amount: "2060000" }, { vol: 2000, amount: 2_060_000 }),
  of("turnover-of-index", "index_daily", BAR, { vol: "2e9", amount: "2.06e10 * 10" }, { "amount * 10 / vol": 1030 }),
  {
    check: "price-jump",
    rows: {
      daily: `${select(BAR)} UNION ALL ${select({ ...BAR, trade_date: "DATE '2025-01-07'", open: "1050", high: "1060", low: "1000", close: "1050", pre_close: "1000", change: "50", amount: "206000" })}`,
    },
    example: { close: 1050, "close before": 10.5 },
  },
  of("negative-value", "daily_basic", VALUATION, { total_mv: "-1", circ_mv: "NULL" }, { total_mv: -1 }),
  of("part-above-whole", "daily_basic", VALUATION, { circ_mv: "30000" }, { total_mv: 21_000, circ_mv: 30_000 }),
  of("factor-not-positive", "adj_factor", DAY, { adj_factor: "0" }, { adj_factor: 0 }),
  of("limits-crossed", "stk_limit", DAY, { up_limit: "9", down_limit: "11" }, { up_limit: 9, down_limit: 11 }),
  {
    check: "weight-out-of-range",
    rows: {
      index_weight:
        "SELECT '000300.SH' AS index_code, con_code, DATE '2025-01-06' AS trade_date, weight " +
        "FROM (VALUES ('000001.SZ', 101), ('000002.SZ', -1)) t(con_code, weight)",
    },
    example: { con_code: "000001.SZ" },
    count: 2,
  },
  {
    check: "weights-sum",
    rows: {
      index_weight:
        "SELECT '000300.SH' AS index_code, con_code, DATE '2025-01-06' AS trade_date, weight " +
        "FROM (VALUES ('000001.SZ', 0.6), ('000002.SZ', 0.4)) t(con_code, weight)",
    },
    example: { sum: 1 },
  },
  of("future-day", "daily", BAR, { trade_date: "DATE '2099-01-05'" }, {}),
  of("closed-day", "daily", BAR, { trade_date: "DATE '2025-01-04'" }, {}),
  of("unknown-stock", "daily", BAR, { ts_code: "'999999.SZ'" }, {}, { stock_list: STOCKS }),
  of("before-listing", "daily", BAR, { ts_code: "'000002.SZ'" }, { list_date: "20250107" }, { stock_list: STOCKS }),
  of("after-delisting", "daily", BAR, { ts_code: "'000003.SZ'" }, { delist_date: "20250103" }, { stock_list: STOCKS }),
  of("traded-while-suspended", "daily", BAR, {}, { vol: 2000 }, { suspend_d: select({ ...DAY, suspend_type: "'S'" }) }),
  of(
    "beyond-limit",
    "daily",
    BAR,
    {},
    { high: 10.6, up_limit: 10.5 },
    {
      stk_limit: select({ ...DAY, up_limit: "10.5", down_limit: "9.5" }),
    },
  ),
  of(
    "announced-early",
    "income",
    { ts_code: "'000001.SZ'", ann_date: "DATE '2024-12-01'", end_date: "DATE '2024-12-31'" },
    {},
    { ann_date: "20241201", f_ann_date: null, end_date: "20241231" },
  ),
  of(
    "indicator-announced-early",
    "fina_indicator",
    { ts_code: "'000001.SZ'", ann_date: "DATE '2024-12-01'", end_date: "DATE '2024-12-31'" },
    {},
    { ann_date: "20241201", end_date: "20241231" },
  ),
  { check: "few-rows", rows: market("daily", BAR, "i < 30"), example: { rows: 30, "usual rows": 120 } },
  { check: "lost-column", rows: market("daily", BAR, "true", { ...BAR, vol: "NULL" }), example: { column: "vol" } },
];

async function findingsOf(root: string): Promise<Readonly<Record<string, readonly Finding[]>>> {
  const report = await checkLake(root, ENTITIES, { memory: "1GB", from: null, to: null, severity: null });
  return Object.fromEntries(report.entities.map(({ entity, findings }) => [entity, findings]));
}

async function lakeOf(rows: Fields): Promise<string> {
  const root = await temporaryFolder();
  await publishRows(root, rows);
  return root;
}

describe("a fault", () => {
  test.each(FAULTS)("is found by $check and by no other check", async ({ check, rows, example, count = 1 }) => {
    const found = Object.values(await findingsOf(await lakeOf(rows))).flat();
    const others = check === "weight-out-of-range" ? [] : found.filter((finding) => finding.check !== check);
    expect(others).toEqual([]);
    const finding = found.find((one) => one.check === check)!;
    expect(finding.count).toBe(count);
    expect(finding.examples[0]!.values).toMatchObject(example as object);
  });

  test("has a case for every check", () => {
    expect(FAULTS.map(({ check }) => check)).toEqual(CHECKS.map(({ id }) => id));
  });

  test("on a closed day is told from one on an open Saturday", async () => {
    const calendar = (open: number): string =>
      `SELECT 'SSE' AS exchange, DATE '2025-01-04' AS cal_date, ${open} AS is_open`;
    const daily = select({ ...BAR, trade_date: "DATE '2025-01-04'" });
    expect((await findingsOf(await lakeOf({ daily, trade_cal: calendar(1) })))["daily"]).toEqual([]);
    expect((await findingsOf(await lakeOf({ daily, trade_cal: calendar(0) })))["daily"]).toHaveLength(1);
  });

  test("is not seen in missing values, nor in a code without a stock list of its day", async () => {
    const empty = Object.fromEntries(Object.keys(BAR).map((name) => [name, "NULL"]));
    const stocks = STOCKS.replace("DATE '2025-01-03'), (DATE", "DATE '2025-01-07'), (DATE");
    const daily = select({ ...empty, ...DAY, ts_code: "'999999.SZ'" });
    expect((await findingsOf(await lakeOf({ daily, stock_list: stocks })))["daily"]).toEqual([]);
  });
});

describe("the table of checks", () => {
  test("names entities and columns of the catalog, and each check once", () => {
    expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
    for (const check of CHECKS) {
      for (const name of check.entities) {
        const columns = entityNamed(name)!.columns.map((column) => column.name);
        if (check.of === "rows") expect(columns, check.id).toEqual(expect.arrayContaining([...check.shows]));
      }
    }
  });

  test("says what is wrong in both languages, without a full stop", () => {
    for (const { says, chinese } of CHECKS) {
      expect(says).toMatch(/^[a-z][\x20-\x7e]+[^.]$/);
      expect(chinese).toMatch(/^\p{Script=Han}.*[^。]$/u);
    }
  });
});

test("the demo market passes every check", async () => {
  const found = await findingsOf(await demoLake({ days: 120 }));
  expect(Object.keys(found)).toContain("index_weight");
  expect(Object.values(found).flat()).toEqual([]);
});

interface RealFiles {
  readonly entity: string;
  readonly files: readonly string[];
  readonly map?: Fields;
  readonly set?: Fields;
  /** What is wrong with them indeed. */
  readonly faults?: Readonly<Record<string, number>>;
}

const REAL: readonly RealFiles[] = [
  { entity: "daily", files: ["daily/Yourdaylight__daily_latest.csv"] },
  { entity: "daily", files: ["daily/Cryercipher__689009.SH_20241028_20251202.csv"] },
  // The open of 3 August 1992 is above the high, and 1.3 million of turnover do not buy 5.7 million shares.
  {
    entity: "daily",
    files: ["daily/Bantorra0__daily.csv"],
    faults: { "outside-high-low": 1, "turnover-off-price": 1 },
  },
  { entity: "daily", files: [202001, 202207, 202502].map((month) => `daily/zzdandyy_by_month/data_${month}.csv`) },
  {
    entity: "daily",
    files: ["daily/zillionare__bars_hive/partition_key_year=2025/part-0.parquet"],
    map: { asset: "ts_code", date: "trade_date", volume: "vol" },
  },
  // Adjusted prices: before the latest dividends they are not the prices at which the stock was traded.
  { entity: "daily", files: ["daily/patterndetection__000001.SZ_wind.csv"], faults: { "turnover-off-price": 1303 } },
  ...["Yourdaylight__daily_basic_latest", "shwdbd__daily_basic_20191025"].map((name) => {
    return { entity: "daily_basic", files: [`daily_basic/${name}.csv`] };
  }),
  { entity: "adj_factor", files: ["adj_factor/Yourdaylight__adj_factor_latest.csv"] },
  { entity: "stk_limit", files: ["stk_limit/Yourdaylight__stk_limit_latest.csv"] },
  { entity: "index_daily", files: ["index_daily/Bancob__000300.SH_daily.csv"] },
  // Volume in shares and turnover in yuan, and one change that is not close minus pre_close.
  {
    entity: "index_daily",
    files: ["index_daily/hugo2046__index_daily.parquet"],
    faults: { "turnover-of-index": 4616, "wrong-change": 1 },
  },
  { entity: "index_weight", files: ["index_weight/akaGD-13__index_weight.csv"] },
  { entity: "fina_indicator", files: ["fina_indicator/Yourdaylight__fina_indicator_latest.csv"] },
];

describeReal("real files", () => {
  test.each(someOf(REAL, 5))(
    "of $entity pass, but for what is wrong with them: $files",
    async ({ entity, files, ...rest }) => {
      const root = await temporaryFolder();
      await importFiles(root, entityNamed("trade_cal")!, [realFile("trade_cal/dazzleckc__trade_cal.parquet")], {
        ...{ map: {}, set: {}, memory: "2GB" },
      });
      const { map = {}, set = {}, faults = {} } = rest;
      const options = { map, set, memory: "2GB" };
      const { findings } = await importFiles(root, entityNamed(entity)!, files.map(realFile), options);
      expect(Object.fromEntries(findings.map(({ check, count }) => [check, count]))).toEqual(faults);
    },
  );
});
