// Imported files against what the lake holds: what stays, what is replaced, what goes, and what the report says.
import { beforeEach, describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import type { ReplaceMode } from "../../src/catalog/replace.js";
import { importFiles, type ImportReport } from "../../src/store/import.js";
import { newLake } from "../support/lakes.js";
import { csvFile, MEMORY, servedRows } from "../support/upkeep.js";

let root: string;

beforeEach(async () => {
  root = await newLake();
});

interface File {
  readonly columns: string;
  readonly lines: readonly string[];
}

async function bring(entity: string, files: readonly File[], replace?: ReplaceMode): Promise<ImportReport> {
  const paths = await Promise.all(files.map(({ columns, lines }) => csvFile(columns, lines)));
  const options = { map: {}, set: {}, ...MEMORY, ...(replace && { replace }) };
  return importFiles(root, entityNamed(entity)!, paths, options);
}

const rowsOf = async (entity: string): Promise<readonly unknown[]> =>
  (await servedRows(root, entity)).map((row) => JSON.parse(row) as unknown);

const BARS = "ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount";
const bar = (code: string, day: string, close: number, vol = 1000): string =>
  `${code},${day},${close},${close},${close},${close},${close},0,0,${vol},${(vol * close) / 10}`;

describe("a file with some columns of rows that exist", () => {
  const full: File = { columns: BARS, lines: [bar("000001.SZ", "20240102", 10), bar("000002.SZ", "20240102", 20)] };

  test("changes these columns, keeps the others, and loses nothing", async () => {
    await bring("daily", [full]);
    const patch = { columns: "ts_code,trade_date,close", lines: ["000001.SZ,20240102,11", "000003.SZ,20240102,30"] };
    const report = await bring("daily", [patch]);
    expect(await rowsOf("daily")).toEqual([
      ["000001.SZ", "2024-01-02", 10, 10, 10, 11, 10, 0, 0, 1000, 1000],
      ["000002.SZ", "2024-01-02", 20, 20, 20, 20, 20, 0, 0, 1000, 2000],
      ["000003.SZ", "2024-01-02", null, null, null, 30, null, null, null, null, null],
    ]);
    expect(report.effects.lost).toEqual([]);
    expect(report.files[0]!.missing).toContain("open");
  });

  test("empties columns that it has without values, and the report counts the lost values of each", async () => {
    await bring("daily", [full]);
    const lines = ["000001.SZ,20240102,,", "000002.SZ,20240102,21,"];
    const { effects } = await bring("daily", [{ columns: "ts_code,trade_date,close,vol", lines }]);
    expect(effects.lost).toMatchObject([
      { column: "close", rows: 1 },
      { column: "vol", rows: 2 },
    ]);
    expect((await rowsOf("daily"))[0]).toEqual(["000001.SZ", "2024-01-02", 10, 10, 10, null, 10, 0, 0, null, 1000]);
  });

  test("left over from a merge of two tables: its close_x and close_y are named, and close keeps its values", async () => {
    await bring("daily", [full]);
    const columns = "ts_code,trade_date,open,close_x,close_y";
    const { files, effects } = await bring("daily", [{ columns, lines: ["000001.SZ,20240102,12,13,14"] }]);
    expect(files[0]!.warnings).toContain(
      "close_x, close_y not used: left over from a merge of two tables that both have close; rename one to close",
    );
    expect((await rowsOf("daily"))[0]).toEqual(["000001.SZ", "2024-01-02", 12, 10, 10, 10, 10, 0, 0, 1000, 1000]);
    expect(effects.lost).toEqual([]);
  });

  test("and files with others, imported together: each column comes from the last file that has it", async () => {
    await bring("daily", [full]);
    await bring("daily", [
      { columns: "ts_code,trade_date,close", lines: ["000001.SZ,20240102,11", "000004.SZ,20240102,40"] },
      { columns: "ts_code,trade_date,high,low", lines: ["000001.SZ,20240102,15,", "000002.SZ,20240102,25,19"] },
    ]);
    expect(await rowsOf("daily")).toEqual([
      ["000001.SZ", "2024-01-02", 10, 15, null, 11, 10, 0, 0, 1000, 1000],
      ["000002.SZ", "2024-01-02", 20, 25, 19, 20, 20, 0, 0, 1000, 2000],
      ["000004.SZ", "2024-01-02", null, null, null, 40, null, null, null, null, null],
    ]);
  });

  test("of dividends, in two files: a payment that each has once is joined, one that either has twice is not", async () => {
    const key = "ts_code,end_date,ann_date,div_proc,ex_date";
    const of = (code: string): string => `${code},20231231,20240301,实施,20240614`;
    await bring("dividend", [
      { columns: `${key},pay_date`, lines: [`${of("000001.SZ")},20240615`, `${of("000002.SZ")},20240615`] },
      {
        columns: `${key},cash_div`,
        lines: [`${of("000001.SZ")},0.7`, `${of("000002.SZ")},0.1`, `${of("000002.SZ")},0.2`],
      },
    ]);
    const rows = (await rowsOf("dividend")) as readonly (readonly unknown[])[];
    expect(rows.map((row) => [row[0], row[7], row[11]])).toEqual([
      ["000001.SZ", 0.7, "2024-06-15"],
      ["000002.SZ", 0.1, null],
      ["000002.SZ", 0.2, null],
    ]);
  });
});

describe("rows of one identity in one file", () => {
  const columns = "ts_code,ann_date,end_date,update_flag,eps,bps,roe";
  const key = "600519.SH,20240403,20231231,1";

  test.each([
    ["first", [`${key},59.49,35.3606,34.19`, `${key},,35.3604,`]],
    ["last", [`${key},,35.3604,`, `${key},59.49,35.3606,34.19`]],
  ])("the fuller one stays if it is %s, and values that are not used are counted", async (_, lines) => {
    const { files } = await bring("fina_indicator", [{ columns, lines }]);
    expect(files[0]).toMatchObject({
      ...{ rows: 1, duplicates: 0, conflicts: 1 },
      conflictColumns: [{ column: "bps", values: 1 }],
    });
    expect((await rowsOf("fina_indicator"))[0]).toEqual(expect.arrayContaining([59.49, 35.3606, 34.19]));
  });

  test("of several that are equally full the last stays", async () => {
    const lines = [`${key},1,2,3`, `${key},4,5,6`, `${key},7,8,`];
    const { files } = await bring("fina_indicator", [{ columns, lines }]);
    expect((await rowsOf("fina_indicator"))[0]).toEqual(expect.arrayContaining([4, 5, 6]));
    expect(files[0]!.conflictColumns).toEqual([
      { column: "eps", values: 2 },
      { column: "bps", values: 2 },
      { column: "roe", values: 1 },
    ]);
  });
});

describe("equal rows of one file", () => {
  const columns = "ts_code,end_date,ann_date,div_proc,cash_div,ex_date";
  const payment = (cash: number): string => `600519.SH,20231231,20240403,实施,${cash},20240619`;

  test("collapse and are counted, and two payments of one day that differ stay", async () => {
    const lines = [payment(30.876), payment(30.876), payment(19.106), payment(30.876)];
    const { files, rows } = await bring("dividend", [{ columns, lines }]);
    expect(files[0]).toMatchObject({ rows: 2, duplicates: 2, conflicts: 0 });
    expect(rows).toBe(2);
    expect(await rowsOf("dividend")).toHaveLength(2);
  });

  test("stay if they are ticks", async () => {
    const tick = "000001.SZ,20240102,STK,09:25:00,10,100,1,9";
    const tickColumns = "ts_code,trade_date,ts_type,time,price,vol,amount,pre_close";
    const { files } = await bring("stk_auction", [{ columns: tickColumns, lines: [tick, tick] }]);
    expect(files[0]).toMatchObject({ rows: 2, duplicates: 0 });
  });
});

describe("the final file of a day that leaves out rows of an earlier one", () => {
  const codes = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `00000${i + 1}.SZ`);
  const early: File = { columns: BARS, lines: codes(9).map((code) => bar(code, "20250107", 10, 0)) };
  const final: File = { columns: BARS, lines: codes(7).map((code) => bar(code, "20250107", 11)) };
  const other: File = { columns: BARS, lines: [bar("000009.SZ", "20250106", 9)] };

  test("leaves them in the lake, and the report names the day", async () => {
    await bring("daily", [other]);
    await bring("daily", [early]);
    const report = await bring("daily", [final]);
    expect(report).toMatchObject({ replaced: 7, removed: 0, added: 0 });
    expect(report.effects.mixed).toMatchObject({ mode: "day", units: [{ name: "20250107", fresh: 7, older: 2 }] });
    expect(await rowsOf("daily")).toHaveLength(10);
  });

  test("removes them if it stands for the whole day, and the report counts them", async () => {
    await bring("daily", [other]);
    await bring("daily", [early]);
    const report = await bring("daily", [final], "day");
    expect(report).toMatchObject({ replaced: 7, removed: 2, added: -2, effects: { mixed: null } });
    const rows = (await rowsOf("daily")) as readonly (readonly unknown[])[];
    expect(rows.map(([code, day, , , , close]) => [code, day, close])).toEqual([
      ["000009.SZ", "2025-01-06", 9],
      ...codes(7).map((code) => [code, "2025-01-07", 11]),
    ]);
  });

  test("in two files that are imported together: both stand for the day", async () => {
    await bring("daily", [early]);
    const halves = [final.lines.slice(0, 3), final.lines.slice(3)].map((lines) => ({ columns: BARS, lines }));
    expect(await bring("daily", halves, "day")).toMatchObject({ rows: 7, replaced: 7, removed: 2, superseded: 0 });
  });

  test("without any row it replaces nothing", async () => {
    await bring("daily", [early]);
    expect(await bring("daily", [{ columns: BARS, lines: [] }], "day")).toMatchObject({ removed: 0, version: null });
  });
});

test("a snapshot of index weights replaces the constituents of its index and day, and no others", async () => {
  const columns = "index_code,con_code,trade_date,weight";
  const weight = (index: string, code: string, day: string): string => `${index},${code},${day},50`;
  const lines = [
    weight("000300.SH", "000001.SZ", "20240102"),
    weight("000300.SH", "000002.SZ", "20240102"),
    weight("000300.SH", "000001.SZ", "20240103"),
    weight("000905.SH", "000009.SZ", "20240102"),
  ];
  await bring("index_weight", [{ columns, lines }]);
  const file = { columns, lines: [weight("000300.SH", "000003.SZ", "20240102")] };
  expect(await bring("index_weight", [file], "snapshot")).toMatchObject({ replaced: 0, removed: 2 });
  expect(await rowsOf("index_weight")).toEqual([
    ["000300.SH", "000003.SZ", "2024-01-02", 50],
    ["000905.SH", "000009.SZ", "2024-01-02", 50],
    ["000300.SH", "000001.SZ", "2024-01-03", 50],
  ]);
});

test.each([
  [
    "index_basic",
    "day",
    "index_basic has no main date, so its rows belong to no day; it can be replaced with --replace snapshot or --replace code",
  ],
  [
    "daily",
    "snapshot",
    "daily is not published as whole lists, so it has no snapshots; it can be replaced with --replace day or --replace code",
  ],
] as const)("%s cannot be replaced by %s: the message names the modes that it has", async (entity, mode, message) => {
  await expect(bring(entity, [{ columns: "ts_code", lines: [] }], mode)).rejects.toThrow(message);
});
