// What a quant sees with `as_of` and `latest`: only what was known, and only the newest of it.
import { tableFromIPC } from "apache-arrow";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";

let server: TestServer;

/** Announced, actually announced, period, flag, revenue. */
const INCOME: readonly (readonly [string, string, string, string, number])[] = [
  ["2024-04-20", "2024-04-20", "2024-03-31", "0", 100], // as it was first announced
  ["2024-04-20", "2024-04-20", "2024-03-31", "1", 101], // corrected later, under the same dates
  ["2024-08-25", "2024-08-25", "2024-06-30", "0", 200],
  ["2024-08-25", "2024-12-01", "2024-06-30", "1", 210], // corrected in December
  ["2024-10-25", "2024-10-25", "2024-09-30", "1", 300],
  ["2024-10-26", "2024-10-26", "2024-12-31", "1", 999], // of a period that has not ended
];

/** A company whose first report lacks the actual date. */
const UNDATED = `SELECT * FROM (VALUES ('000002.SZ', DATE '2024-04-30', NULL, DATE '2023-12-31', '1', '1', '0', 100::DOUBLE),
  ('000002.SZ', DATE '2024-04-30', DATE '2024-04-30', DATE '2023-12-31', '1', '1', '1', 777::DOUBLE)) u`;

beforeAll(async () => {
  const root = await temporaryFolder();
  const rows = INCOME.flatMap(([ann, actual, end, flag, revenue]) =>
    ["000001.SZ", "600519.SH"].map(
      (code) => `('${code}', DATE '${ann}', DATE '${actual}', DATE '${end}', '1', '1', '${flag}', ${revenue}::DOUBLE)`,
    ),
  );
  await publishRows(root, {
    income: `SELECT * FROM (VALUES ${rows.join(", ")})
      t(ts_code, ann_date, f_ann_date, end_date, report_type, comp_type, update_flag, total_revenue) UNION ALL ${UNDATED}`,
    dividend: `SELECT '000001.SZ' AS ts_code, DATE '2023-12-31' AS end_date, DATE '2024-04-01' AS ann_date, '实施' AS div_proc,
      DATE '2024-06-17' AS ex_date UNION ALL SELECT '600519.SH', DATE '2023-12-31', DATE '2024-04-01', '预案', NULL`,
    stock_list: `SELECT '000001.SZ' AS ts_code, '平安银行' AS name, DATE '2024-12-20' AS delist_date,
      DATE '2024-06-28' AS snapshot_date`,
    index_weight: `SELECT '000300.SH' AS index_code, c AS con_code, d AS trade_date, w::DOUBLE AS weight FROM (VALUES
      ('000001.SZ', DATE '2024-01-02', 60), ('600519.SH', DATE '2024-01-02', 40), ('600519.SH', DATE '2024-01-03', 100))
      t(c, d, w)`,
  });
  server = await serve(root);
});

const FIELDS = "fields=end_date,total_revenue,update_flag&ts_code=600519.SH";
const income = async (query: string) => (await server.json(`/api/v1/entities/income?${FIELDS}&${query}`)).rows;

describe("with as_of", () => {
  test("a correction under the same dates is left out, and the flag says what was newest then", async () => {
    expect(await income("as_of=20241130")).toEqual([
      ["20240331", 100, "1"],
      ["20240630", 200, "1"],
      ["20240930", 300, "1"],
    ]);
    expect(await income("as_of=20241201")).toEqual([
      ["20240331", 100, "1"],
      ["20240630", 200, "0"],
      ["20240630", 210, "1"],
      ["20240930", 300, "1"],
    ]);
  });

  test("a report without an actual date has the same dates as one that gives it", async () => {
    const revenue = async (query: string) =>
      (await server.json(`/api/v1/entities/income?ts_code=000002.SZ&fields=total_revenue,update_flag${query}`)).rows;
    expect(await revenue("&as_of=20240430")).toEqual([[100, "1"]]);
    expect(await revenue("&as_of=20240430&latest=true")).toEqual([[100, "1"]]);
    expect(await revenue("&latest=true")).toEqual([[777, "1"]]);
  });

  test("a dividend without the date of its implementation is known on its ex-date, a proposal when it is announced", async () => {
    const codes = async (asOf: string) =>
      (await server.json(`/api/v1/entities/dividend?fields=ts_code&as_of=${asOf}`)).rows.flat();
    expect(await codes("20240401")).toEqual(["600519.SH"]);
    expect(await codes("20240616")).toEqual(["600519.SH"]);
    expect(await codes("20240617")).toEqual(["000001.SZ", "600519.SH"]);
  });

  test("a filter by the flag is one by what it said then", async () => {
    expect(await income("as_of=20241130&update_flag=0")).toEqual([]);
    expect(await income("as_of=20241201&update_flag=0")).toEqual([["20240630", 200, "0"]]);
    expect(await income("update_flag=0")).toEqual([
      ["20240331", 100, "0"],
      ["20240630", 200, "0"],
    ]);
  });

  test("a period that has not ended is not known, whenever it was announced", async () => {
    expect(await income("as_of=20241230&period=20241231")).toEqual([]);
    expect(await income("as_of=20241231&period=20241231")).toEqual([["20241231", 999, "1"]]);
  });

  test("a delisting that lies ahead is not shown in the stock list", async () => {
    const delisted = async (query: string) =>
      (await server.json(`/api/v1/entities/stock_list?fields=delist_date&${query}`)).rows;
    expect(await delisted("as_of=20241219")).toEqual([[null]]);
    expect(await delisted("as_of=20241220")).toEqual([["20241220"]]);
    expect(await delisted("as_of=20241219&delist_date=null")).toEqual([[null]]);
    expect(await delisted("snapshot_date=20240628")).toEqual([["20241220"]]);
  });
});

describe("latest=true", () => {
  test("leaves the newest revision of each period, with and without as_of", async () => {
    expect(await income("latest=true")).toEqual([
      ["20240331", 101, "1"],
      ["20240630", 210, "1"],
      ["20240930", 300, "1"],
      ["20241231", 999, "1"],
    ]);
    expect(await income("latest=true&as_of=20241130")).toEqual([
      ["20240331", 100, "1"],
      ["20240630", 200, "1"],
      ["20240930", 300, "1"],
    ]);
    expect(await income("latest=false")).toHaveLength(INCOME.length);
  });

  test("keeps, without as_of, to the requested range", async () => {
    const weights = async (query: string) =>
      (await server.json(`/api/v1/entities/index_weight?fields=con_code,trade_date,weight&latest=true&${query}`)).rows;
    expect(await weights("end_date=20240102")).toEqual([
      ["000001.SZ", "20240102", 60],
      ["600519.SH", "20240102", 40],
    ]);
    expect(await weights("")).toEqual([
      ["000001.SZ", "20240102", 60],
      ["600519.SH", "20240103", 100],
    ]);
  });

  test.each(["asc", "desc"])("comes page by page as at once, %s", async (order) => {
    const query = `/api/v1/entities/income?latest=true&as_of=20241201&order=${order}`;
    const whole = await server.json(query);
    expect(whole.count).toBe(7);
    const rows = [];
    for (let cursor = ""; ;) {
      const page = await server.json(`${query}&limit=1${cursor}`);
      rows.push(...page.rows);
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(rows).toEqual(whole.rows);
  });

  test("comes in every format", async () => {
    const query = "/api/v1/entities/income?latest=true&fields=ts_code,total_revenue,update_flag&as_of=20241130";
    const { rows } = await server.json(query);
    const body = async (format: string) => (await server.get(`${query}&format=${format}`)).arrayBuffer();
    const table = tableFromIPC(new Uint8Array(await body("arrow")));
    expect(table.toArray().map((row) => Object.values(row as object))).toEqual(rows);
    const lines = Buffer.from(await body("csv"))
      .toString()
      .trim()
      .split(/\r?\n/)
      .slice(1);
    expect(lines).toEqual(rows.map((row) => row.join()));
    expect(Buffer.from(await body("parquet")).toString("latin1", 0, 4)).toBe("PAR1");
  });

  test.each([
    ["/api/v1/entities/income?latest=yes", "invalid_parameter", "true"],
    ["/api/v1/entities/daily?latest=true", "unknown_parameter", "order=desc&limit=1"],
  ])("%s is refused with the way out", async (path, code, part) => {
    const response = await server.get(path);
    expect(response.status).toBe(400);
    const problem = (await response.json()) as { code: string };
    expect(problem.code).toBe(code);
    expect(JSON.stringify(problem)).toContain(part);
  });
});
