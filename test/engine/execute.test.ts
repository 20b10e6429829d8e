// How scans are run, by what is known of the number of their rows: over a real file in a real DuckDB.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Column } from "../../src/catalog/types.js";
import { execute } from "../../src/engine/execute.js";
import { IncompleteStreamError } from "../../src/engine/chunks.js";
import { firstRows, rangesOf, rowsOf, scanOf, type Scan } from "../../src/query/scan.js";
import { duckdbInMemory } from "../support/duckdb.js";
import { temporaryFolder } from "../support/folders.js";

const ROWS = 600_000;
const column: Column = { name: "i", type: "int64", nullable: false };
const duckdb = duckdbInMemory({ threads: "1" });
let path: string;

beforeAll(async () => {
  path = join(await temporaryFolder(), "rows.parquet");
  await duckdb.connection.run(`COPY (SELECT i FROM range(${ROWS}) t(i)) TO '${path}'`);
});

const file = {
  path: "rows",
  sha256: "",
  bytes: 1,
  rows: ROWS,
  first: null,
  last: null,
  firstCode: null,
  lastCode: null,
};
const whole = scanOf([file], rowsOf([column]), { wholeFiles: true });

/** The number of rows of each chunk. */
async function sizesOf(scan: Scan): Promise<readonly number[]> {
  const ahead = { held: 0, most: 64 };
  const on = { connection: duckdb.connection, whenAdmitted: <T>(job: () => Promise<T>) => job(), ahead };
  const chunks = execute(scan, 1, { ...on, pathOf: () => path });
  const sizes: number[] = [];
  try {
    for (let next = await chunks.next(); next !== null; next = await chunks.next()) sizes.push(next.rows);
  } finally {
    await chunks.close();
  }
  return sizes;
}

const rowsOfScan = async (scan: Scan): Promise<number> => (await sizesOf(scan)).reduce((sum, rows) => sum + rows, 0);
const bounded = (bounds: Scan["bounds"]): Scan => ({ ...whole, bounds });

describe("a scan", () => {
  test("with a known number of rows is proven by that number", async () => {
    expect(await rowsOfScan(whole)).toBe(ROWS);
    for (const atMost of [ROWS - 1, ROWS + 1]) {
      await expect(rowsOfScan(bounded({ atMost, exact: true }))).rejects.toThrow(IncompleteStreamError);
    }
  });

  test("with a known upper bound is proven by a marker that is not one of its rows", async () => {
    expect(await rowsOfScan(bounded({ atMost: ROWS * 2, exact: false }))).toBe(ROWS);
  });

  test("of few rows is run at once, and needs no proof", async () => {
    expect(await sizesOf(firstRows(whole, 5_000))).toEqual([2048, 2048, 904]);
    expect(await sizesOf({ ...firstRows(whole, 5), bounds: { atMost: 7, exact: true } })).toEqual([5]);
  });
});

describe("the statements of a read", () => {
  const rangesIn = (scans: Iterable<Scan>): readonly Scan["rowRange"][] => [...scans].map((one) => one.rowRange);

  test("are ranges of its files, and yield every row", async () => {
    const ranges = rangesOf(whole);
    expect(rangesIn(ranges)).toEqual([
      [0, 245_760],
      [245_760, ROWS],
    ]);
    let rows = 0;
    for (const range of ranges) rows += await rowsOfScan(range);
    expect(rows).toBe(ROWS);
  });

  test("are the scan itself if not every row is looked at", () => {
    expect(rangesIn(rangesOf({ ...whole, wholeFiles: false }))).toEqual([null]);
  });
});
