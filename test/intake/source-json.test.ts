import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStaging, type Staging } from "./staging.js";

let box: Staging;
beforeAll(async () => {
  box = await openStaging();
});
afterAll(() => box.close());

const RECORDS = [
  { ts_code: "000001.SZ", trade_date: "20240102", adj_factor: 1.5 },
  { ts_code: "600000.SH", trade_date: "20240103", adj_factor: null },
];
const COLUMNS = {
  ts_code: { "0": "000001.SZ", "1": "600000.SH" },
  trade_date: { "0": "20240102", "1": "20240103" },
  adj_factor: { "0": 1.5, "1": null },
};
const names = ["ts_code", "trade_date", "adj_factor"];
const lists = RECORDS.map((record) => Object.values(record));
const ROWS = [
  ["000001.SZ", "2024-01-02", 1.5],
  ["600000.SH", "2024-01-03", null],
];

describe("every way to write a table as JSON gives the same rows", () => {
  test.each([
    ["records", JSON.stringify(RECORDS)],
    ["records, indented", JSON.stringify(RECORDS, null, 2)],
    ["records after a byte order mark", `\ufeff${JSON.stringify(RECORDS)}`],
    [
      "records whose keys stand in another order",
      JSON.stringify(RECORDS.map((r) => Object.fromEntries(Object.entries(r).reverse()))),
    ],
    ["records that leave out what is null", JSON.stringify(RECORDS).replace(',"adj_factor":null', "")],
    ["columns of rows", JSON.stringify(COLUMNS)],
    ["columns of rows, indented", JSON.stringify(COLUMNS, null, 4)],
    ["columns, index and data", JSON.stringify({ columns: names, index: [0, 1], data: lists })],
    ["a table with its schema", JSON.stringify({ schema: { fields: [] }, data: RECORDS })],
    [
      "fields and items of a vendor's answer",
      JSON.stringify({ code: 0, msg: "", data: { fields: names, items: lists } }),
    ],
    [
      "our own envelope",
      JSON.stringify({ columns: names.map((name) => ({ name, dtype: "string" })), rows: lists, count: 2 }),
    ],
    ["lines of records in a .json", RECORDS.map((record) => JSON.stringify(record)).join("\n")],
  ])("%s", async (_name, content) => {
    expect(await box.rows(await box.stage("adj_factor", box.put("x.json", content)))).toEqual(ROWS);
  });

  test("lines of records with blank lines", async () => {
    const content = `${RECORDS.map((record) => JSON.stringify(record)).join("\n\n")}\n\n`;
    expect(await box.rows(await box.stage("adj_factor", box.put("x.ndjson", content)))).toEqual(ROWS);
  });

  test("one record alone", async () => {
    const content = JSON.stringify(RECORDS[0]);
    expect(await box.rows(await box.stage("adj_factor", box.put("x.json", content)))).toEqual(ROWS.slice(0, 1));
    expect(await box.rows(await box.stage("adj_factor", box.put("x.jsonl", content)))).toEqual(ROWS.slice(0, 1));
  });
});

describe("values are kept exactly", () => {
  const one = (value: string, column = "adj_factor"): string =>
    `[{"ts_code":"000001.SZ","trade_date":"20240102","adj_factor":1},{"ts_code":"000002.SZ","trade_date":"20240102","${column}":${value}}]`;

  test.each([
    ["1e3", 1000],
    ["-0.000001", -0.000001],
    ["13600000000000000", 13600000000000000],
    ["0.013600000000000001", 0.013600000000000001],
    ['"2.5"', 2.5],
    ["null", null],
    ["NaN", null],
    ["-Infinity", null],
    ['""', null],
  ])("the number %s", async (json, value) => {
    const rows = await box.rows(await box.stage("adj_factor", box.put("x.json", one(json))), "adj_factor");
    expect(rows[1]).toEqual([value]);
  });

  test("escapes, quotes and every plane of Unicode in text, and odd characters in keys", async () => {
    const name = 'a"b\\c\n中😀\u0007';
    const record = { ts_code: "000001.SZ", name, 'k/e~y"\\': 1, "": 2 };
    for (const content of [
      [record],
      { ts_code: { r: "000001.SZ" }, name: { r: name }, 'k/e~y"\\': { r: 1 }, "": { r: 2 } },
    ]) {
      const file = box.put("x.json", JSON.stringify(content));
      const staged = await box.stage("stock_list", file, { set: { snapshot_date: "20240102" } });
      expect(await box.rows(staged, "name")).toEqual([[name]]);
      expect(staged.ignored).toEqual(['k/e~y"\\', ""]);
    }
  });

  test("dates as milliseconds are accepted if they are midnight, even before 1970, and otherwise refused", async () => {
    const file = (ms: number): string =>
      box.put("x.json", JSON.stringify([{ ts_code: "000001.SZ", setup_date: ms, province: "x" }]));
    expect(await box.rows(await box.stage("stock_company", file(Date.UTC(2024, 0, 2))), "setup_date")).toEqual([
      ["2024-01-02"],
    ]);
    expect(await box.rows(await box.stage("stock_company", file(Date.UTC(1955, 9, 1))), "setup_date")).toEqual([
      ["1955-10-01"],
    ]);
    expect(await box.refusal("stock_company", file(1704124800000))).toMatch(
      /"1704124800000" is not a date; milliseconds/,
    );
    expect(await box.refusal("stock_company", file(1704153600))).toMatch(/"1704153600" is not a date/);
  });
});

describe("a file that is not a table, or not JSON, is refused in one line", () => {
  test.each([
    ["lists without names", "[[1,2],[3,4]]", /rows must be objects \{column: value\}, but one is of type array/],
    ["a stray value", '[{"ts_code":"000001.SZ"},3]', /one is of type (u?bigint)/],
    [
      "cut short",
      '[{"ts_code":"000001.SZ"},{"ts',
      /^x\.json is not readable as JSON: Malformed JSON in the file, at byte/,
    ],
    [
      "cut within columns",
      JSON.stringify(COLUMNS).slice(0, -9),
      /^x\.json is not readable as JSON: malformed at byte 114$/,
    ],
    ["rest after the end", `${JSON.stringify(RECORDS)} x`, /^x\.json is not readable as JSON: Malformed JSON/],
    [
      "columns of different rows",
      '{"ts_code":{"0":"a","1":"b"},"name":{"1":"x","0":"y"}}',
      /columns ts_code and name do not have the same/,
    ],
    ["nested objects", '{"a":{"0":1},"b":[1]}', /^x\.json is not a table: supported are records/],
    ["an error of a vendor", '{"code":40001,"msg":"no right"}', /^x\.json does not fit adj_factor/],
    [
      "no rows at all",
      "[]",
      /^x\.json does not fit adj_factor: it has no ts_code, trade_date, and it has no adj_factor. The file has no columns/,
    ],
  ])("%s", async (_name, content, message) => {
    const refusal = await box.refusal("adj_factor", box.put("x.json", content));
    expect(refusal).toMatch(message);
    expect(refusal).not.toContain(box.folder);
    expect(refusal).not.toContain("\n");
  });

  test("a bad value in columns of rows is reported with its row", async () => {
    const content = JSON.stringify(COLUMNS).replace("20240103", "20240231");
    expect(await box.refusal("adj_factor", box.put("x.json", content))).toMatch(/^x\.json: row 2, column trade_date: /);
    const broken = JSON.stringify(COLUMNS).replace("1.5", "1.5x");
    expect(await box.refusal("adj_factor", box.put("x.json", broken))).toBe(
      "x.json is not readable as JSON: row 1 is malformed",
    );
  });

  test("a bad line of NDJSON is reported with its number", async () => {
    const content = `${JSON.stringify(RECORDS[0])}\n{"ts_code": \n`;
    expect(await box.refusal("adj_factor", box.put("x.ndjson", content))).toBe(
      "x.ndjson is not readable as JSON: line 2 is malformed",
    );
  });

  test("a bad value is reported with its record", async () => {
    const content = RECORDS.map((record) => JSON.stringify({ ...record, adj_factor: "1,5" })).join("\n");
    expect(await box.refusal("adj_factor", box.put("x.ndjson", content))).toBe(
      'x.ndjson: record 1, column adj_factor: "1,5" is a number with a decimal comma: write it with a decimal point; 1 more row refused',
    );
  });
});

test("a large object of columns keeps the order of its rows, with little memory", async () => {
  const rows = 200_000;
  const column = (value: (i: number) => string): string =>
    `{${Array.from({ length: rows }, (_, i) => `"${i}": ${value(i)}`).join(", ")}}`;
  const file = box.put(
    "big.json",
    `{"ts_code": ${column((i) => `"${String(i % 5000).padStart(6, "0")}.SZ"`)},\n` +
      `"trade_date": ${column((i) => String(20240101 + Math.floor(i / 10_000)))}, "adj_factor": ${column(String)}}`,
  );
  await box.writer.run("SET memory_limit = '200MB'");
  const { table, conflicts, rows: kept } = await box.stage("adj_factor", file);
  expect([kept, conflicts]).toEqual([100_000, 100_000]);
  const [check] = await box.writer.rows(`SELECT count(*) FILTER (__row <> adj_factor + 1) AS wrong FROM ${table}`);
  expect(check).toEqual({ wrong: 0 });
});
