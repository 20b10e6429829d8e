// Files as other tools write them: spellings of codes, values, times and tables that must not be misread.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeFaults } from "../support/realdata.js";
import { openStaging, type Staging } from "./staging.js";

let box: Staging;
beforeAll(async () => {
  box = await openStaging();
});
afterAll(() => box.close());

const csv = (...lines: string[]): string => box.put("x.csv", lines.join("\n") + "\n");

describe("a code of a stock", () => {
  test("is rewritten from the spelling of other tools", async () => {
    const file = csv("symbol,datetime,close", "600519.SSE,2025-01-02,1488", "000001.SZSE,2025-01-02,11.43");
    expect(await box.rows(await box.stage("daily", file), "ts_code")).toEqual([["600519.SH"], ["000001.SZ"]]);
  });

  test.each([
    ["000002.XX", '"000002.XX" has the suffix XX, which is of no exchange here: SH, SZ, BJ'],
    ["600000.SZ", '"600000.SZ" is impossible: 600000 is a number of SH, not of SZ; it may mean 600000.SH'],
    ["300750.SSE", '"300750.SSE" is impossible: 300750 is a number of SZ, not of SH; it may mean 300750.SZ'],
    ["0001.SZ", '"0001.SZ" has 4 digits instead of 6; it may mean 000001.SZ'],
  ])("is refused as %s", async (code, reason) => {
    const file = csv("ts_code,trade_date,close", `${code},20250102,7`);
    expect(await box.refusal("daily", file)).toBe(`x.csv: row 1 (line 2), column ts_code: ${reason}`);
  });

  test("is not restricted where it may be an index", async () => {
    const file = csv("ts_code,trade_date,close", "000001.SH,20250102,3262", "801010.SI,20250102,2900");
    expect((await box.stage("index_daily", file)).warnings).toEqual([]);
    const odd = csv("ts_code,trade_date,close", "000001.XX,20250102,3262");
    expect((await box.stage("index_daily", odd)).warnings).toEqual([
      "1 row has a suffix that is of no known exchange, e.g. 000001.XX",
    ]);
  });
});

describe("a code without its exchange", () => {
  const bare = ["日期,股票代码,开盘,收盘", "2025-01-02,000001,11.73,11.43", "2025-01-02,600519,1524,1488"];

  test("is refused, and the message names the ways out", async () => {
    expect(await box.refusal("daily", csv(...bare))).toMatch(
      /"000001" is a code without its exchange.*--complete-codes/,
    );
  });

  test("is completed on request if it is the number of a stock", async () => {
    const staged = await box.stage("daily", csv(...bare), { completeCodes: true });
    expect(await box.rows(staged, "ts_code")).toEqual([["000001.SZ"], ["600519.SH"]]);
    for (const unknown of ["159915", "510300", "1"]) {
      const file = csv("code,date,close", `${unknown},20250102,1`);
      expect(await box.refusal("daily", file, { completeCodes: true })).toMatch(/without its exchange/);
    }
  });

  test("is never completed if it is an index", async () => {
    const file = csv("code,date,close", "000300,20250102,3800");
    expect(await box.refusal("index_daily", file, { completeCodes: true })).toMatch(/without its exchange/);
  });

  test("is completed by a column with its exchange", async () => {
    const vnpy = csv("symbol,exchange,datetime,close", "600519,SSE,2025-01-02,1488", "000001,SZSE,2025-01-02,11.43");
    const staged = await box.stage("daily", vnpy);
    expect(await box.rows(staged, "ts_code")).toEqual([["600519.SH"], ["000001.SZ"]]);
    expect(staged.ignored).toEqual([]);
    const index = csv("指数代码,成分券代码,日期,权重,交易所", "000300.SH,000001,20250102,1.5,深圳证券交易所");
    expect(await box.rows(await box.stage("index_weight", index), "index_code", "con_code")).toEqual([
      ["000300.SH", "000001.SZ"],
    ]);
  });

  test("gives way to --set once its column is put aside with --map", async () => {
    const file = csv("日期,股票代码,收盘", "2025-01-02,000001,11.43");
    const set = { ts_code: "000001.SZ" };
    expect(await box.refusal("daily", file, { set })).toMatch(
      /to ignore them, put the column aside with --map 股票代码=$/,
    );
    const staged = await box.stage("daily", file, { set, map: { 股票代码: "" } });
    expect(await box.rows(staged, "ts_code", "close")).toEqual([["000001.SZ", 11.43]]);
    expect(staged.ignored).toEqual(["股票代码"]);
  });
});

describe("the day of a moment in UTC is that in China, in every format", () => {
  const query = "SELECT '000001.SZ' AS ts_code, TIMESTAMPTZ '2025-01-01 16:00:00+00' AS trade_date, 11.43 AS \"close\"";
  test.each([
    ["CSV", () => csv("ts_code,trade_date,close", "000001.SZ,2025-01-01 16:00:00+00:00,11.43")],
    [
      "JSON",
      () => box.put("x.json", '[{"ts_code":"000001.SZ","trade_date":"2025-01-01T16:00:00.000Z","close":11.43}]'),
    ],
    [
      "NDJSON",
      () => box.put("x.ndjson", '{"ts_code":"000001.SZ","trade_date":"2025-01-01T16:00:00.000Z","close":11.43}\n'),
    ],
    ["Parquet", () => box.parquet("x.parquet", query)],
  ])("%s", async (_name, file) => {
    expect(await box.rows(await box.stage("daily", await file()), "trade_date")).toEqual([["2025-01-02"]]);
  });
});

test.each(["1970-01-01 00:00:00.020250102", "1970-01-01"])(
  "a number that was read as the moment %s is no day",
  async (day) => {
    expect(await box.refusal("daily", csv("ts_code,trade_date,close", `000001.SZ,${day},1.5`))).toBe(
      `x.csv: row 1 (line 2), column trade_date: "${day}" is not a date, but a number that was read as a moment: ` +
        "write the date itself, such as 20240102",
    );
  },
);

test("a decimal becomes the nearest double", async () => {
  const digits = "(range * 7919 // 10000)::VARCHAR || '.' || lpad((range * 7919 % 10000)::VARCHAR, 4, '0')";
  const query = (type: string): string =>
    `SELECT '000001.SZ' AS ts_code, DATE '2020-01-02' + range::INTEGER AS trade_date, (${digits})::${type} AS adj_factor ` +
    "FROM range(1, 2000)";
  const staged = await box.stage("adj_factor", await box.parquet("x.parquet", query("DECIMAL(38,18)")));
  expect(
    await box.writer.rows(`SELECT * EXCLUDE (__row, __file) FROM ${staged.table} EXCEPT ${query("DOUBLE")}`),
  ).toEqual([]);
});

describe("\\N", () => {
  test("is no value, as MySQL, Hive and ClickHouse write it", async () => {
    const file = csv("ts_code,start_date,name,end_date,change_reason", "000001.SZ,20240102,A,\\N,\\N");
    const [row] = await box.rows(await box.stage("namechange", file), "end_date", "change_reason");
    expect(row).toEqual([null, null]);
  });

  test("in a required column is missing; another value is shown as it is in the file", async () => {
    expect(await box.refusal("daily", csv("ts_code,trade_date,close", "\\N,20250102,1"))).toMatch(
      /ts_code: is missing$/,
    );
    expect(await box.refusal("daily", csv("ts_code,trade_date,close", "000001.SZ,20250102,a\\b"))).toMatch(
      /: "a\\b" is not a number$/,
    );
  });
});

test("bars of minutes are not daily bars", async () => {
  const reason =
    /has several rows of one day, e\.g\. 000001\.SZ 2025-01-02 at 09:31:00 and 09:33:00: daily holds one row/;
  const minutes = ["09:31:00", "09:32:00", "09:33:00"];
  const rows = minutes.map((time, i) => `000001.SZ,2025-01-02 ${time},${i + 1}`);
  expect(await box.refusal("daily", csv("code,datetime,close", ...rows))).toMatch(reason);
  const apart = minutes.map((time, i) => `000001.SZ,2025-01-02,${time},${i + 1}`);
  expect(await box.refusal("daily", csv("code,date,time,close", ...apart))).toMatch(reason);
  const query =
    "SELECT '000001.SZ' AS ts_code, TIMESTAMP '2025-01-02 09:31:00' + INTERVAL (range) MINUTE AS trade_date, " +
    'range AS "close" FROM range(3)';
  expect(await box.refusal("daily", await box.parquet("x.parquet", query))).toMatch(reason);
  const daily = csv("code,datetime,close", "000001.SZ,2025-01-02 15:00:00,1", "000001.SZ,2025-01-02 15:00:00,1");
  expect(await box.stage("daily", daily)).toMatchObject({ rows: 1, duplicates: 1 });
});

test("lines within a text end alike in every format, so that one title is one identity", async () => {
  const parquet = await box.parquet(
    "x.parquet",
    "SELECT DATE '2025-01-02' AS ann_date, '600519.SH' AS ts_code, '甲' || chr(13) || chr(10) || '乙' AS title",
  );
  for (const file of [
    box.put("lf.csv", 'ann_date,ts_code,title\n20250102,600519.SH,"甲\r\n乙"\n'),
    box.put("crlf.csv", 'ann_date,ts_code,title\r\n20250102,600519.SH,"甲\r\n乙"\r\n'),
    box.put("x.json", '[{"ann_date":"20250102","ts_code":"600519.SH","title":"甲\\r\\n乙"}]'),
    parquet,
  ]) {
    expect(await box.rows(await box.stage("anns_d", file), "title")).toEqual([["甲\n乙"]]);
  }
});

describe("a warning is given for", () => {
  test("a missing column that tells rows apart", async () => {
    const file = csv("ts_code,ann_date,end_date,report_type,total_revenue", "600519.SH,20240403,20231231,1,1.5");
    expect((await box.stage("income", file)).warnings).toEqual([
      expect.stringMatching(
        /^without .*update_flag.*, which tells? rows apart: a later file that has (it|them) adds its rows beside/,
      ),
    ]);
  });

  test("an answer that says that there is more", async () => {
    const answer = (more: boolean): string =>
      box.put(
        "x.json",
        `{"data":{"fields":["ts_code","trade_date","adj_factor"],"items":[["000001.SZ","20240102",1.5]],"has_more":${more}}}`,
      );
    expect((await box.stage("adj_factor", answer(true))).warnings).toEqual([
      "the file says that there are more rows than it holds: request the next page as well",
    ]);
    expect((await box.stage("adj_factor", answer(false))).warnings).toEqual([]);
  });
});

test.each([
  ["45659", "is a day number of Excel: give the column the format of a date, and save the file again"],
  ["45659.0", "is a day number of Excel: give the column the format of a date, and save the file again"],
])("the date %s is explained", async (day, reason) => {
  expect(await box.refusal("daily", csv("ts_code,trade_date,close", `000001.SZ,${day},1`))).toMatch(
    `"${day}" ${reason}`,
  );
});

test("Parquet with encrypted columns is refused as such, even if its footer can be read", async () => {
  const file = await box.parquet("x.parquet", "SELECT '000001.SZ' AS ts_code");
  const bytes = readFileSync(file);
  const end = bytes.length - 9; // Of the footer, before its stop byte.
  const algorithm = Buffer.from([0x0c, 0x10, 0x00, 0x00]); // Field 8: an empty structure.
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.readUInt32LE(bytes.length - 8) + algorithm.length - 1);
  const sealed = Buffer.concat([bytes.subarray(0, end), algorithm, length, Buffer.from("PAR1")]);
  expect(await box.refusal("daily", box.put("sealed.parquet", sealed))).toBe(
    "sealed.parquet is encrypted Parquet, which cannot be read: write it without encryption",
  );
});

describeFaults("decimal256", (fileIn) => {
  test.each(["dec50", "dec76"])("%s, with more digits than DuckDB holds, is refused", async (name) => {
    expect(await box.refusal("adj_factor", fileIn(`${name}.parquet`))).toMatch(/as a decimal of at most 38 digits$/);
  });
});

test.each([
  ["x.xlsx", "save the sheet as CSV UTF-8"],
  ["x.tsv", "rename it to .csv"],
  ["x.zip", "unpack it"],
  ["x.feather", "save it as Parquet"],
])("%s is refused with the way out", async (name, way) => {
  expect(await box.refusal("daily", box.put(name, "x"))).toContain(way);
});
