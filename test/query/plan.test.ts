// Plans as literals: what is read of which files, with which tests, in which order and how many rows at most.
import { describe, expect, test } from "vitest";
import { columnNamed, entityNamed } from "../../src/catalog/index.js";
import { fileList, type DataFile, type FileList } from "../../src/lake/manifest.js";
import type { Position } from "../../src/query/cursor.js";
import { planRead, type Plan } from "../../src/query/plan.js";
import { parseRequest } from "../../src/query/request.js";
import { firstRows, givesStoredRows, rangesOf, type Expression, type Scan } from "../../src/query/scan.js";

const file = (first: string | null, last: string | null, rows = 1_000_000): DataFile => ({
  ...{ path: `${first}.parquet`, sha256: "", bytes: 1, rows, first, last },
  ...{ firstCode: "000001.SZ", lastCode: "920001.BJ" },
});

const years = [file("20220104", "20221230"), file("20230103", "20231229")] as const;
const copy = file("20220104", "20231229", 500_000);
const lists: Readonly<Record<string, FileList>> = {
  daily: fileList("daily", years, [copy], [["20220104", "20221230"]]),
  income: fileList("income", [file("20220104", "20231229", 3_000)]),
  anns_d: fileList("anns_d", [file("20220104", "20231229", 3_000)]),
  namechange: fileList("namechange", years),
  index_weight: fileList("index_weight", years),
  stock_list: fileList("stock_list", years),
  stock_company: fileList("stock_company", [file(null, null, 5_000)]),
};

function plan(entity: string, query: string, after: Position | null = null): Plan {
  const limits = { defaultLimit: null, maxLimit: null };
  return planRead(parseRequest(entityNamed(entity)!, new URLSearchParams(query), limits), lists[entity]!, after);
}

const column = (entity: string, name: string): Expression => ({ column: columnNamed(entityNamed(entity)!, name)! });

/** What most scans of one column of `daily` have in common. */
const closes: Scan = {
  files: [years[0]],
  select: { what: "rows", columns: [column("daily", "close")], position: null },
  derived: null,
  tests: [],
  order: null,
  rowRange: null,
  limit: null,
  bounds: { atMost: 1_000_000, exact: true },
  wholeFiles: true,
};
const keys = ["trade_date", "ts_code"] as const;
const page = { ...closes.select, position: keys } as const;

describe("a plan", () => {
  test("of everything scans each file whole, and knows how many rows come", () => {
    expect(plan("daily", "fields=close")).toEqual({
      columns: [columnNamed(entityNamed("daily")!, "close")],
      positionColumns: 0,
      scans: [closes, { ...closes, files: [years[1]] }],
      cost: "heavy",
    });
  });

  test("is heavy if it compares with more than 5,000 values, however few rows it reads", () => {
    const costs = [5_000, 5_001].map((count) => {
      const codes = Array.from({ length: count }, (_, i) => `T${i}.SH`).join();
      return plan("daily", `ts_code=${codes}&trade_date=20220104`).cost;
    });
    expect(costs).toEqual(["light", "heavy"]);
  });

  test("of a range of dates tests those of the files that lie in it in part", () => {
    const { scans } = plan("daily", "fields=close&start_date=20220601&end_date=20231229");
    const from = { is: "between", columns: ["trade_date"], first: "20220601", last: null } as const;
    expect(scans).toEqual([
      { ...closes, tests: [from], bounds: { atMost: 1_000_000, exact: false }, wholeFiles: false },
      { ...closes, files: [years[1]] },
    ]);
  });

  test("of a page gives positions, and of the next one the rows beyond the last position", () => {
    const after = { date: "20230502", code: "600519.SH", row: 7 };
    const { columns, positionColumns, scans, cost } = plan("daily", "fields=close&limit=10", after);
    expect([columns.map(({ name }) => name), positionColumns]).toEqual([["close", "__date", "__code", "__row"], 3]);
    const beyond = {
      is: "beyond",
      keys: [
        { ...column("daily", "trade_date"), value: "20230502" },
        { ...column("daily", "ts_code"), value: "600519.SH" },
      ],
      row: 7,
      descending: false,
    } as const;
    const bounds = { atMost: 1_000_000, exact: false };
    const next = { ...closes, files: [years[1]], select: page, tests: [beyond], bounds, wholeFiles: false };
    expect(scans).toEqual([next]);
    expect(cost).toBe("light");
  });

  test("backwards reads ranges from the end, each sorted by its row numbers", () => {
    const { scans } = plan("daily", "fields=close&order=desc");
    const order = { columns: [], descending: true };
    expect(scans.slice(0, 3)).toEqual(
      [
        [508_480, 1_000_000],
        [16_960, 508_480],
        [0, 16_960],
      ].map(([from, to]) => ({
        ...{ ...closes, files: [years[1]], order, rowRange: [from, to], wholeFiles: false },
        bounds: { atMost: to! - from!, exact: true },
      })),
    );
    expect(scans).toHaveLength(6);
  });

  test("of one code takes the days that the code copy covers from there", () => {
    const { scans } = plan("daily", "fields=close&ts_code=600519.SH");
    const isCode = { is: "in", value: column("daily", "ts_code"), values: ["600519.SH"] } as const;
    const covered = { is: "between", columns: ["trade_date"], first: "20220104", last: "20221230" } as const;
    expect(scans).toEqual([
      {
        ...{ ...closes, files: [copy], tests: [covered, isCode], wholeFiles: false },
        bounds: { atMost: 361, exact: false },
      },
      { ...closes, files: [years[1]], tests: [isCode], bounds: { atMost: 361, exact: false } },
    ]);
  });

  test("of more values than are compared one by one sorts, because a join has no order", () => {
    const codes = ["000001.SZ", "000002.SZ", "000004.SZ", "000005.SZ", "000006.SZ"];
    const orderOf = (count: number): Scan["order"] =>
      plan("daily", `ts_code=${codes.slice(0, count).join()}&start_date=20230103`).scans[0]!.order;
    expect([orderOf(4), orderOf(5)]).toEqual([null, { columns: keys, descending: false }]);
  });

  test("as of a day tests the announcement, and hides what was not known yet", () => {
    const [scan] = plan("namechange", "fields=end_date&as_of=20230601").scans;
    const known = { is: "between", columns: ["ann_date", "start_date"], first: null, last: "20230601" };
    expect(scan!.tests).toContainEqual(known);
    const hidden = { knownFrom: "end_date", asOf: "20230601", before: null };
    expect(scan!.select).toMatchObject({ columns: [{ ...column("namechange", "end_date"), hidden }] });
    expect(givesStoredRows(scan!)).toBe(false);
  });

  test("of what was known about reports numbers their revisions, in one scan of all files", () => {
    const { scans, cost } = plan("income", "fields=update_flag&as_of=20230601&start_date=20230101&period=20221231");
    const upTo = (...columns: string[]) => ({ is: "between", columns, first: null, last: "20230601" });
    const isPeriod = { is: "in", value: column("income", "end_date"), values: ["20221231"] };
    expect(cost).toBe("light");
    expect(scans).toMatchObject([
      {
        files: lists["income"]!.byDate,
        select: { columns: [{ ...column("income", "update_flag"), newest: true }] },
        derived: {
          among: [upTo("f_ann_date", "ann_date"), upTo("end_date"), isPeriod],
          of: ["ts_code", "end_date", "report_type", "comp_type"],
          date: ["f_ann_date", "ann_date"],
          others: ["ann_date", "f_ann_date"],
          flag: { column: "update_flag", first: true },
        },
        tests: [{ is: "between", columns: ["ann_date"], first: "20230101", last: null }],
        order: { columns: ["ann_date", "ts_code"], descending: false },
      },
    ]);
    expect(givesStoredRows(scans[0]!)).toBe(false);
  });

  test("of the newest rows keeps to the range before, and to other filters after numbering them", () => {
    const { scans } = plan("index_weight", "fields=weight&latest=true&end_date=20221230&con_code=600519.SH");
    expect(scans).toMatchObject([
      {
        files: [years[0]],
        derived: {
          among: [
            { is: "between", columns: ["trade_date"], first: null, last: "20221230" },
            { is: "in", values: ["600519.SH"] },
          ],
          flag: null,
        },
        tests: [{ is: "newest" }],
      },
    ]);
  });

  test("of the stock list reads its latest day, or the last one up to as_of, wherever that lies in its file", () => {
    const [latest] = plan("stock_list", "fields=ts_code").scans;
    const between = (first: string | null, last: string | null) => ({
      ...{ is: "between", columns: ["snapshot_date"], first, last },
    });
    expect(latest).toMatchObject({ files: [years[1]], tests: [between("20231229", null)], order: null });
    const [asOf] = plan("stock_list", "fields=ts_code&as_of=20220601").scans;
    expect(asOf).toMatchObject({
      files: [years[0]],
      tests: [between(null, "20220601"), { is: "last", column: "snapshot_date", until: "20220601" }],
      order: { columns: ["snapshot_date", "ts_code"], descending: false },
    });
  });

  test("of a code that files may have without its suffix looks for both", () => {
    const [scan] = plan("anns_d", "ts_code=600519.SH").scans;
    expect(scan!.tests).toEqual([{ is: "in", value: column("anns_d", "ts_code"), values: ["600519.SH", "600519"] }]);
  });

  test("of a table without dates has positions of code and row", () => {
    const { positionColumns, scans } = plan("stock_company", "fields=ts_code&limit=5");
    expect(positionColumns).toBe(2);
    expect(scans[0]!.select).toMatchObject({ position: ["ts_code"] });
  });
});

describe("the first rows of a scan", () => {
  test("are no whole files, are not cut into ranges, and are no more than asked for", () => {
    const first = firstRows(closes, 101);
    expect(first).toEqual({ ...closes, limit: 101, bounds: { atMost: 101, exact: false }, wholeFiles: false });
    expect(rangesOf(first)).toEqual([first]);
    expect(rangesOf(closes).length).toBeGreaterThan(1);
  });
});

describe("rows as they are stored", () => {
  test("are those of whole files, without test, order, position, range or limit, and of stored columns", () => {
    const test = { is: "positive", column: "close" } as const;
    const derived = { column: { ...columnNamed(entityNamed("daily")!, "close")!, derived: "(1)" } };
    const others: readonly Partial<Scan>[] = [
      { wholeFiles: false },
      { tests: [test] },
      { order: { columns: [], descending: true } },
      { rowRange: [0, 5] },
      { limit: 5 },
      { select: page },
      { select: { what: "rows", columns: [derived], position: null } },
      { select: { what: "latest", code: "ts_code", date: "trade_date", value: "close", upTo: null } },
    ];
    expect([closes, ...others.map((other) => ({ ...closes, ...other }))].map(givesStoredRows)).toEqual([
      true,
      ...others.map(() => false),
    ]);
  });
});
