// Stages every real file as a data engineer would, and checks its rows, ignored and missing columns, and warnings.
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Scalar } from "../../src/engine/statements.js";
import { describeReal, realFile } from "../support/realdata.js";
import { openStaging, type Staging } from "./staging.js";
import { longTest } from "../support/size.js";

interface Case {
  readonly entity: string;
  readonly file: string;
  readonly set?: Record<string, string>;
  readonly rows: number;
  readonly ignored?: readonly string[];
  /** The columns that are missing, or how many. */
  readonly missing?: readonly string[] | number;
  readonly duplicates?: number;
  readonly conflicts?: number;
  readonly warnings?: readonly string[];
  /** Columns of the first row. */
  readonly first: Readonly<Record<string, Scalar>>;
}

const TRACES = ["version", "_ingested_at"];
const STOCKS = { snapshot_date: "20260106" };
const PING_AN = { ts_code: "000001.SZ", name: "平安银行" };

const CASES: readonly Case[] = [
  {
    entity: "adj_factor",
    file: "adj_factor/Yourdaylight__adj_factor_latest.csv",
    rows: 5464,
    ignored: TRACES,
    first: { ts_code: "000001.SZ", trade_date: "2025-12-18", adj_factor: 134.5794 },
  },
  {
    entity: "adj_factor",
    file: "adj_factor/zillionare__2024_adjust_factor.parquet",
    rows: 1_303_184,
    first: { ts_code: "000001.SZ", trade_date: "2024-01-02", adj_factor: 116.713 },
  },
  {
    entity: "daily",
    file: "daily/Bantorra0__daily.csv",
    rows: 6678,
    ignored: [""],
    first: { trade_date: "2018-08-15", pct_chg: -2.3333 },
  },
  {
    entity: "daily",
    file: "daily/Cryercipher__689009.SH_20241028_20251202.csv",
    rows: 268,
    first: { ts_code: "689009.SH", trade_date: "2024-10-28", close: 48.38 },
  },
  {
    entity: "daily",
    file: "daily/Yourdaylight__daily_latest.csv",
    rows: 5449,
    ignored: TRACES,
    first: { ts_code: "000001.SZ", amount: 916247.611 },
  },
  {
    entity: "daily",
    file: "daily/kingOfFps__000001.SZ.csv",
    rows: 6000,
    ignored: [""],
    warnings: ["exactly 6,000 rows: the pull may have hit a row limit"],
    first: { trade_date: "2023-04-28", open: 12.26 },
  },
  {
    entity: "daily",
    file: "daily/patterndetection__000001.SZ_wind.csv",
    rows: 2462,
    ignored: [
      ...["简称", "换手率(%)", "A股流通市值(元)", "B股流通市值(元)", "总市值(元)", "A股流通股本(股)"],
      ...["B股流通股本(股)", "总股本(股)", "市盈率", "市净率", "市销率", "市现率"],
    ],
    warnings: ["a line below the table was ignored: 数据来源: Wind"],
    first: { ts_code: "000001.SZ", trade_date: "2011-01-04", open: 5.12, vol: 358840.61, amount: 573343.724 },
  },
  {
    entity: "daily",
    file: "daily/zillionare__bars_hive/partition_key_year=2025/part-0.parquet",
    rows: 37_751,
    ignored: ["adjust", "name", "type", "type_name", "st", "up_limit", "down_limit"],
    missing: ["pre_close", "change", "pct_chg"],
    warnings: ["volume has no unit; it is read as lots"],
    first: { ts_code: "000001.SZ", trade_date: "2025-03-31", vol: 1116125.64, pre_close: null },
  },
  {
    entity: "stk_limit",
    file: "daily/zillionare__bars_hive/partition_key_year=2025/part-0.parquet",
    rows: 37_751,
    ignored: ["open", "high", "low", "close", "volume", "amount", "adjust", "name", "type", "type_name", "st"],
    first: { ts_code: "000001.SZ", up_limit: 12.49 },
  },
  {
    entity: "daily",
    file: "daily/zzdandyy_by_month/data_202001.csv",
    rows: 40,
    first: { ts_code: "000001.SZ", trade_date: "2020-01-02" },
  },
  {
    entity: "daily",
    file: "daily/zzdandyy_by_month/data_202207.csv",
    rows: 12_629,
    first: { ts_code: "000001.SZ", trade_date: "2022-07-01" },
  },
  {
    entity: "daily",
    file: "daily/zzdandyy_by_month/data_202502.csv",
    rows: 5383,
    first: { ts_code: "000001.SZ", trade_date: "2025-02-05" },
  },
  {
    entity: "daily_basic",
    file: "daily_basic/Yourdaylight__daily_basic_latest.csv",
    rows: 5449,
    ignored: TRACES,
    first: { ts_code: "601225.SH", dv_ratio: 6.4231 },
  },
  {
    entity: "daily_basic",
    file: "daily_basic/shwdbd__daily_basic_20191025.csv",
    rows: 3676,
    missing: ["dv_ratio", "dv_ttm"],
    first: { ts_code: "300360.SZ", dv_ratio: null },
  },
  {
    entity: "dividend",
    file: "dividend/xie011221__dividend.parquet",
    rows: 10_192,
    duplicates: 12,
    ignored: ["__index_level_0__"],
    missing: 12,
    first: { ts_code: "601318.SH", cash_div: 1.62, ex_date: "2025-06-30" },
  },
  {
    entity: "fina_indicator",
    file: "fina_indicator/Bancob__600519.SH_indiv_fin.csv",
    rows: 10,
    missing: 59,
    duplicates: 2,
    conflicts: 2,
    warnings: [
      "without update_flag, which tells rows apart: a later file that has it adds its rows beside these and replaces none of them",
    ],
    first: { ts_code: "600519.SH", ann_date: "2025-08-13", end_date: "2025-06-30", eps: 36.18 },
  },
  {
    entity: "fina_indicator",
    file: "fina_indicator/Yourdaylight__fina_indicator_latest.csv",
    rows: 3,
    ignored: TRACES,
    missing: 59,
    duplicates: 1,
    warnings: [
      "without update_flag, which tells rows apart: a later file that has it adds its rows beside these and replaces none of them",
    ],
    first: { ts_code: "002579.SZ", ann_date: "2024-10-29" },
  },
  {
    entity: "index_daily",
    file: "index_daily/Bancob__000300.SH_daily.csv",
    rows: 500,
    first: { ts_code: "000300.SH", trade_date: "2023-09-25", close: 3714.6037 },
  },
  {
    entity: "index_daily",
    file: "index_daily/hugo2046__index_daily.parquet",
    rows: 27_696,
    warnings: ["volume has no unit; it is read as lots"],
    first: { ts_code: "000016.SH", trade_date: "2005-01-04", close: 827.071 },
  },
  {
    entity: "index_weight",
    file: "index_weight/akaGD-13__index_weight.csv",
    rows: 300,
    ignored: ["", "prev", "pct_chg"],
    first: { index_code: "399300.SZ", con_code: "600519.SH", weight: 6.1717 },
  },
  {
    entity: "index_weight",
    file: "index_weight/xie011221__component.parquet",
    set: { index_code: "000016.SH" },
    rows: 638,
    ignored: ["__index_level_0__"],
    first: { index_code: "000016.SH", con_code: "601318.SH", trade_date: "2015-08-31" },
  },
  {
    entity: "namechange",
    file: "namechange/wp19991__namechange.json",
    rows: 9099,
    duplicates: 887,
    conflicts: 14,
    warnings: ["exactly 10,000 rows: the pull may have hit a row limit"],
    first: { ts_code: "600226.SH", name: "亨通股份", start_date: "2024-05-14", end_date: null },
  },
  {
    entity: "stk_limit",
    file: "stk_limit/Yourdaylight__stk_limit_latest.csv",
    rows: 7396,
    ignored: TRACES,
    warnings: ["41 rows have another exchange than their numbers tell, e.g. 900901.BJ, where 900901.SH is expected"],
    first: { ts_code: "000001.SZ", up_limit: 12.8, down_limit: 10.48 },
  },
  {
    entity: "stock_list",
    file: "stock_basic/Yourdaylight__stock_basic_latest.csv",
    set: STOCKS,
    rows: 5470,
    ignored: ["symbol", "area", "industry", "list_status"],
    first: { ...PING_AN, list_date: "1991-04-03", delist_date: null, snapshot_date: "2026-01-06" },
  },
  {
    entity: "stock_list",
    file: "stock_basic/k2o333__stock_basic.parquet",
    set: STOCKS,
    rows: 5456,
    ignored: [
      ...["symbol", "area", "industry", "fullname", "enname", "market", "exchange", "curr_type"],
      ...["list_status", "is_hs", "act_name", "act_ent_type"],
    ],
    first: { ...PING_AN, list_date: "1991-04-03", delist_date: null },
  },
  {
    entity: "stock_list",
    file: "stock_basic/wwy2020211__stock_basic.csv",
    set: STOCKS,
    rows: 4347,
    ignored: ["", "股票代码", "行业"],
    missing: ["list_date", "delist_date"],
    warnings: ["the text was decoded from GB18030"],
    first: PING_AN,
  },
  {
    entity: "stock_company",
    file: "stock_company/wp19991__stock_company.json",
    rows: 5500,
    ignored: ["exchange", "secretary", "city", "website", "email", "employees"],
    first: { ts_code: "688322.SH", chairman: "黄源浩", setup_date: "2013-01-18", reg_capital: 40000.1 },
  },
  {
    entity: "suspend_d",
    file: "suspend_d/Yourdaylight__suspend_d_latest.csv",
    rows: 14,
    ignored: TRACES,
    first: { ts_code: "300506.SZ", suspend_timing: null, suspend_type: "S" },
  },
  {
    entity: "trade_cal",
    file: "trade_cal/Bancob__trade_cal.csv",
    rows: 500,
    warnings: ["exchange is not in the file: SSE was assumed"],
    first: { exchange: "SSE", cal_date: "2023-09-25", is_open: 1, pretrade_date: "2023-09-22" },
  },
  {
    entity: "trade_cal",
    file: "trade_cal/Yourdaylight__trade_calendar.csv",
    rows: 9862,
    warnings: ["exchange is not in the file: SSE was assumed"],
    first: { exchange: "SSE", cal_date: "2026-12-31", pretrade_date: "2026-12-30" },
  },
  {
    entity: "trade_cal",
    file: "trade_cal/dazzleckc__trade_cal.parquet",
    rows: 13_162,
    first: { exchange: "SSE", cal_date: "1990-12-19", is_open: 1 },
  },
];

describeReal("real files", () => {
  let box: Staging;
  beforeAll(async () => {
    box = await openStaging();
  });
  afterAll(() => box.close());

  test.each(CASES)("$file is staged as $entity", async ({ entity, file, set = {}, first, ...wanted }) => {
    const staged = await box.stage(entity, realFile(file), { set, label: file });
    expect({
      ...staged,
      missing: typeof wanted.missing === "number" ? staged.missing.length : staged.missing,
    }).toMatchObject({
      rows: wanted.rows,
      ignored: wanted.ignored ?? [],
      missing: wanted.missing ?? [],
      duplicates: wanted.duplicates ?? 0,
      conflicts: wanted.conflicts ?? 0,
      warnings: wanted.warnings ?? [],
    });
    const [count] = await box.writer.rows(`SELECT count(*) AS rows FROM ${staged.table}`);
    expect(count).toEqual({ rows: wanted.rows });
    const [row] = await box.writer.rows(`SELECT * FROM ${staged.table} ORDER BY __row LIMIT 1`);
    expect(row).toMatchObject(first);
    await box.writer.run(`DROP TABLE ${staged.table}`);
  });

  test("a log of changes is not a list of names", async () => {
    const file = "namechange/dazzleckc__stocks_changelog.parquet";
    expect(await box.refusal("namechange", realFile(file), { label: "log.parquet" })).toBe(
      "log.parquet does not fit namechange: it has no name, start_date, " +
        "and it has none of end_date, ann_date, change_reason. " +
        "The file has code, field, old_value, new_value, detected_at. " +
        "Rename columns with tapehouse import namechange FILE --map NAME=name,NAME=start_date,NAME=change_reason, " +
        "or give every row the same value with --set name=TEXT,start_date=YYYYMMDD,change_reason=TEXT, " +
        "or for a drop with a folder, inbox/namechange/start_date=YYYYMMDD/",
    );
  });

  longTest("D24: every file of a stock's history is staged, old Beijing codes included", async () => {
    const folder = realFile("daily/samuellee_per_stock");
    let rows = 0;
    for (const file of readdirSync(folder)) {
      const staged = await box.stage("daily", `${folder}/${file}`);
      expect([file, staged.ignored, staged.missing, staged.conflicts]).toEqual([file, [], [], 0]);
      expect(staged.warnings.filter((warning) => warning.includes("Beijing"))).toEqual([]);
      rows += staged.rows;
      await box.writer.run(`DROP TABLE ${staged.table}`);
    }
    expect(rows).toBe(96_271);
  });
});
