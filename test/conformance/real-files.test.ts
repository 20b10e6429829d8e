// Every real file: imported by the product's own code, served over HTTP, and compared value by value with the file.
import { readdirSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import type { ColumnType } from "../../src/catalog/types.js";
import { importFiles } from "../../src/store/import.js";
import { temporaryFolder } from "../support/folders.js";
import {
  describeReal,
  hasRealData,
  readSource,
  realFile,
  type SourceRow,
  type SourceValue,
} from "../support/realdata.js";
import { serve, type TestServer } from "../support/server.js";
import { size } from "../support/size.js";

interface Case {
  readonly entity: string;
  readonly files: readonly string[];
  /** Rows of the files together. */
  readonly rows: number;
  /** Source column → entity column, where they differ; the test's own, not the product's aliases. */
  readonly columns?: Readonly<Record<string, string>>;
  /** Factors by which the file's unit differs. */
  readonly scale?: Readonly<Record<string, number>>;
  /** What the command is told. */
  readonly map?: Readonly<Record<string, string>>;
  readonly set?: Readonly<Record<string, string>>;
  /** Rows of the file that are no data: footnotes. */
  readonly noData?: (row: SourceRow) => boolean;
}

const perStock = hasRealData ? readdirSync(realFile("daily/samuellee_per_stock")) : [];

const CASES: readonly Case[] = [
  { entity: "daily", files: ["daily/Yourdaylight__daily_latest.csv"], rows: 5449 },
  { entity: "daily", files: ["daily/Bantorra0__daily.csv"], rows: 6678, columns: { pct_change: "pct_chg" } },
  {
    entity: "daily",
    files: ["daily/Cryercipher__689009.SH_20241028_20251202.csv"],
    rows: 268,
    columns: { date: "trade_date" },
  },
  { entity: "daily", files: ["daily/kingOfFps__000001.SZ.csv"], rows: 6000 },
  {
    entity: "daily",
    files: [202001, 202207, 202502].map((month) => `daily/zzdandyy_by_month/data_${month}.csv`),
    rows: 40 + 12_629 + 5383,
  },
  {
    entity: "daily",
    files: ["daily/zillionare__bars_hive/partition_key_year=2025/part-0.parquet"],
    rows: 37_751,
    columns: { asset: "ts_code", date: "trade_date", volume: "vol" },
  },
  { entity: "daily", files: perStock.map((name) => `daily/samuellee_per_stock/${name}`), rows: 96_271 },
  {
    entity: "daily",
    files: ["daily/patterndetection__000001.SZ_wind.csv"],
    rows: 2462,
    columns: {
      代码: "ts_code",
      日期: "trade_date",
      "前收盘价(元)": "pre_close",
      "开盘价(元)": "open",
      "最高价(元)": "high",
      "最低价(元)": "low",
      "收盘价(元)": "close",
      "成交量(股)": "vol",
      "成交金额(元)": "amount",
      "涨跌(元)": "change",
      "涨跌幅(%)": "pct_chg",
    },
    scale: { vol: 0.01, amount: 0.001 },
    noData: (row) => !row["日期"],
  },
  { entity: "adj_factor", files: ["adj_factor/Yourdaylight__adj_factor_latest.csv"], rows: 5464 },
  {
    entity: "adj_factor",
    files: ["adj_factor/zillionare__2024_adjust_factor.parquet"],
    rows: 1_303_184,
    map: { asset: "ts_code", date: "trade_date", adjust: "adj_factor" },
    columns: { asset: "ts_code", date: "trade_date", adjust: "adj_factor" },
  },
  { entity: "daily_basic", files: ["daily_basic/shwdbd__daily_basic_20191025.csv"], rows: 3676 },
  { entity: "daily_basic", files: ["daily_basic/Yourdaylight__daily_basic_latest.csv"], rows: 5449 },
  { entity: "index_daily", files: ["index_daily/Bancob__000300.SH_daily.csv"], rows: 500 },
  {
    entity: "index_daily",
    files: ["index_daily/hugo2046__index_daily.parquet"],
    rows: 27_696,
    columns: { code: "ts_code", volume: "vol" },
  },
  { entity: "index_weight", files: ["index_weight/akaGD-13__index_weight.csv"], rows: 300 },
  {
    entity: "index_weight",
    files: ["index_weight/xie011221__component.parquet"],
    rows: 638,
    columns: { share_code: "con_code" },
    map: { share_code: "con_code" },
    set: { index_code: "000016.SH" },
  },
  { entity: "suspend_d", files: ["suspend_d/Yourdaylight__suspend_d_latest.csv"], rows: 14 },
  { entity: "stk_limit", files: ["stk_limit/Yourdaylight__stk_limit_latest.csv"], rows: 7396 },
  { entity: "trade_cal", files: ["trade_cal/Bancob__trade_cal.csv"], rows: 500 },
  { entity: "trade_cal", files: ["trade_cal/Yourdaylight__trade_calendar.csv"], rows: 9862 },
  { entity: "trade_cal", files: ["trade_cal/dazzleckc__trade_cal.parquet"], rows: 13_162 },
  {
    entity: "stock_list",
    files: ["stock_basic/Yourdaylight__stock_basic_latest.csv"],
    rows: 5470,
    set: { snapshot_date: "20251218" },
  },
  {
    entity: "stock_list",
    files: ["stock_basic/k2o333__stock_basic.parquet"],
    rows: 5456,
    set: { snapshot_date: "20251205" },
  },
  {
    entity: "stock_list",
    files: ["stock_basic/wwy2020211__stock_basic.csv"],
    rows: 4347,
    columns: { TS代码: "ts_code", 股票名称: "name" },
    set: { snapshot_date: "20210101" },
  },
  { entity: "namechange", files: ["namechange/wp19991__namechange.json"], rows: 10_000 },
  { entity: "stock_company", files: ["stock_company/wp19991__stock_company.json"], rows: 5500 },
  {
    entity: "dividend",
    files: ["dividend/xie011221__dividend.parquet"],
    rows: 10_204,
    columns: { share_code: "ts_code" },
  },
  { entity: "fina_indicator", files: ["fina_indicator/Yourdaylight__fina_indicator_latest.csv"], rows: 4 },
  {
    entity: "fina_indicator",
    files: ["fina_indicator/Bancob__600519.SH_indiv_fin.csv"],
    rows: 14,
    columns: { "*": "indiv_fin_" },
  },
];

type Value = string | number | null;

/** What a value of a file is, by the rules that a person would apply. */
function expected(value: SourceValue, type: ColumnType, scale = 1): Value {
  const text = value === null || value === undefined ? "" : String(value).trim();
  if (["", "nan", "NaN", "None", "N/A", "null"].includes(text)) return null;
  if (type === "date") return text.slice(0, 10).replaceAll("-", "").slice(0, 8);
  if (type === "float64" || type === "int64") return Number(text) * scale;
  return text;
}

const close = (a: Value, b: Value): boolean =>
  a === b || (typeof a === "number" && typeof b === "number" && Math.abs(a - b) <= Math.abs(b) * 1e-15);

/** The quick run leaves the largest out. */
const MOST_ROWS = size("REAL_ROWS", 5_000, Infinity);

/** The largest has 1.3 million rows, looked at one by one: a minute is not enough where the machine is busy. */
const LONG = 300_000;

describeReal("a real file, imported and read over HTTP, gives back its own values", () => {
  let root: string;
  let server: TestServer;
  beforeAll(async () => {
    root = await temporaryFolder();
    server = await serve(root);
  });

  test.each(
    CASES.filter(({ rows }) => rows <= MOST_ROWS).map(
      (c) => [c.files.length === 1 ? c.files[0]! : `${c.files.length} files of ${c.entity}`, c] as const,
    ),
  )(
    "%s",
    async (_name, { entity: name, files, rows, columns = {}, scale = {}, map = {}, set = {}, noData }) => {
      const entity = entityNamed(name)!;
      const paths = files.map(realFile);
      const report = await importFiles(root, entity, paths, { map, set, memory: "4GB" });
      expect(report.files.reduce((sum, file) => sum + file.rows + file.duplicates + file.conflicts, 0)).toBe(rows);
      await server.context.lake.refresh();

      const dated = entity.columns.every((column) => column.name !== entity.mainDate || !column.nullable);
      const range = dated && report.first ? `?start_date=${report.first}&end_date=${report.last}` : "";
      const served = await server.json(`/api/v1/entities/${name}${range}`);
      const byKey = new Map<string, Value[][]>();
      const at = new Map(served.columns.map((column, i) => [column.name, i]));
      const keyColumns = entity.identity.map((column) => at.get(column)!);
      for (const row of served.rows) {
        const key = JSON.stringify(keyColumns.map((i) => row[i]));
        byKey.set(key, [...(byKey.get(key) ?? []), row as Value[]]);
      }

      const prefix = columns["*"] ?? "";
      const wrong: string[] = [];
      const bySourceKey = new Map<string, boolean>();
      for (const path of paths) {
        for (const source of await readSource(path)) {
          if (noData?.(source)) continue;
          const values = new Map<string, Value>(Object.entries(set));
          for (const [from, value] of Object.entries(source)) {
            const to = columns[from] ?? from.replace(prefix, "");
            const column = entity.columns.find((candidate) => candidate.name === to);
            if (column) values.set(to, expected(value, column.type, scale[to]));
          }
          if (name === "trade_cal" && !values.has("exchange")) values.set("exchange", "SSE");
          const key = JSON.stringify(entity.identity.map((column) => values.get(column) ?? null));
          const found = (byKey.get(key) ?? []).some((row) =>
            [...values].every(([column, value]) => close(row[at.get(column)!]!, value)),
          );
          bySourceKey.set(key, found || (bySourceKey.get(key) ?? false));
        }
      }
      for (const [key, found] of bySourceKey) if (!found) wrong.push(key);
      expect(wrong.slice(0, 5)).toEqual([]);
      expect(bySourceKey.size).toBeGreaterThan(0);
    },
    LONG,
  );
});
