// Row groups that a scan does not need may be missing: DuckDB skips them by the same bounds, and what is missing is an
// error for it and never rows.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnNamed, entityNamed } from "../../src/catalog/index.js";
import { toDuck } from "../../src/engine/statements.js";
import type { Clustering, DataFile } from "../../src/lake/manifest.js";
import { neededGroups } from "../../src/query/row-groups.js";
import { rowsOf, scanOf, type Numbering, type Scan, type Test } from "../../src/query/scan.js";
import { render } from "../../src/query/sql.js";
import { rowGroupsOf } from "../../src/store/row-groups.js";
import { temporaryFolder } from "../support/folders.js";
import { sharedWriter } from "../support/upkeep.js";

const entity = entityNamed("adj_factor")!;
const code = columnNamed(entity, "ts_code")!;
const date = columnNamed(entity, "trade_date")!;

let connection: DuckDBConnection;
let close: () => void;
const files: Partial<Record<Clustering, DataFile>> = {};
const bytes = new Map<DataFile, Buffer>();
let folder: string;

/** 40,000 rows in row groups of 2,048: 100 codes, 396 days, and some rows without a code, a date or both. */
beforeAll(async () => {
  folder = await temporaryFolder();
  const instance = await DuckDBInstance.create(":memory:", { threads: "1", enable_external_file_cache: "false" });
  connection = await instance.connect();
  close = () => {
    connection.disconnectSync();
    instance.closeSync();
  };
  const orders = { byDate: "trade_date NULLS LAST, ts_code", byCode: "ts_code NULLS LAST, trade_date" };
  for (const clustering of ["byDate", "byCode"] as const) {
    const path = join(folder, `${clustering}.parquet`);
    await connection.run(
      `COPY (SELECT CASE WHEN i % 101 < 100 THEN printf('%06d.SZ', i % 101) END AS ts_code,
               CASE WHEN i // 101 < 380 THEN DATE '2023-01-01' + (i // 101)::INT END AS trade_date, i::DOUBLE AS adj_factor
             FROM range(40000) t(i) ORDER BY ${orders[clustering]})
       TO '${path}' (FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE 2048)`,
    );
    const content = await readFile(path);
    const rowGroups = await rowGroupsOf(await sharedWriter(), entity, clustering, path, content.length);
    const bounds = { first: null, last: null, firstCode: null, lastCode: null };
    const file = { path, sha256: "", bytes: content.length, rows: 40_000, ...bounds, rowGroups: rowGroups! };
    files[clustering] = file;
    bytes.set(file, content);
  }
}, 60_000);
afterAll(() => close());

const between = (first: string | null, last: string | null): Test => ({
  is: "between",
  columns: ["trade_date"],
  first,
  last,
});
const codesIn = (...values: readonly (string | null)[]): Test => ({ is: "in", value: { column: code }, values });
const daysIn = (...values: readonly (string | null)[]): Test => ({ is: "in", value: { column: date }, values });

const rowsWith = async (scan: Scan, path: string): Promise<readonly string[]> => {
  const { sql, values } = render(scan, () => path);
  const result = await connection.runAndReadAll(sql, values.map(toDuck));
  return result.getRows().map((row) => row.join(" "));
};

/** A copy of the file in which the row groups with these numbers are zeros. */
async function withHoles(file: DataFile, holes: readonly number[]): Promise<string> {
  const content = Buffer.from(bytes.get(file)!);
  const { groups } = file.rowGroups!;
  for (const hole of holes) content.fill(0, groups[hole - 1]?.end ?? 0, groups[hole]!.end);
  const path = join(folder, `holes-${holes.join("-")}.parquet`.slice(-200));
  await writeFile(path, content);
  return path;
}

const TESTS: Readonly<Record<string, readonly Test[]>> = {
  "a day": [between("20230301", "20230301")],
  "a range of days": [between("20230301", "20230420")],
  "days from one on": [between("20231201", null)],
  "days up to one": [between(null, "20230110")],
  "no day": [between("20250101", "20250131")],
  "some days": [daysIn("20230105", "20231105", "20240101")],
  "a code": [codesIn("000042.SZ")],
  "four codes": [codesIn("000001.SZ", "000002.SZ", "000050.SZ", "000099.SZ")],
  "a code that is not there": [codesIn("000042.SH")],
  "a code and a range of days": [codesIn("000042.SZ"), between("20230301", "20230420")],
  "two ranges": [between("20230301", null), between("20230101", "20230420")],
};

describe.each(["byDate", "byCode"] as const)("a file that is ordered %s", (clustering) => {
  const scanWith = (tests: readonly Test[], differs: Partial<Scan> = {}): Scan =>
    scanOf([files[clustering]!], { ...rowsOf(entity.columns), position: ["trade_date", "ts_code"] } as Scan["select"], {
      tests,
      ...differs,
    });
  const column = clustering === "byDate" ? "trade_date" : "ts_code";
  const isOn = (test: Test): boolean =>
    (test.is === "between" && test.columns[0] === column) || (test.is === "in" && test.value.column.name === column);

  test.each(Object.entries(TESTS))("has the rows for %s in the needed row groups", async (_, tests) => {
    const file = files[clustering]!;
    for (const order of [null, { columns: ["trade_date", "ts_code"], descending: true }]) {
      const scan = scanWith(tests, { order });
      const needed = neededGroups(scan)(file);
      const all = file.rowGroups!.groups.map((_, number) => number);
      expect(needed !== null).toBe(tests.some(isOn));
      if (needed === null) continue;
      expect(needed.length).toBeLessThan(all.length);
      const path = await withHoles(
        file,
        all.filter((number) => !needed.includes(number)),
      );
      expect(await rowsWith(scan, path)).toEqual(await rowsWith(scan, file.path));
    }
  });

  test("is never read as other rows where a row group is missing", async () => {
    const file = files[clustering]!;
    const all = file.rowGroups!.groups.map((_, number) => number);
    const tests = [...Object.values(TESTS), [], [codesIn(null)], [daysIn(null, "20230301")]];
    for (const hole of all.filter((number) => number % 4 === 0)) {
      const path = await withHoles(file, [hole]);
      for (const some of tests) {
        const scan = scanWith(some);
        const expected = await rowsWith(scan, file.path);
        const rows = await rowsWith(scan, path).catch((error: unknown) => error as Error);
        if (!(rows instanceof Error)) expect(rows).toEqual(expected);
        const needed = neededGroups(scan)(file);
        if (rows instanceof Error) expect(needed === null || needed.includes(hole)).toBe(true);
      }
    }
  });

  test("is needed whole where DuckDB may look at all rows", () => {
    const file = files[clustering]!;
    const many = Array.from({ length: 5 }, (_, i) => `00004${i}.SZ`);
    const hidden = { column: date, hidden: { knownFrom: "trade_date", asOf: "20230101", before: null } };
    const cases: Readonly<Record<string, readonly Test[]>> = {
      "no test": [],
      "many codes": [codesIn(...many)],
      "a missing code": [codesIn(null, "000042.SZ")],
      "a missing date": [daysIn(null)],
      "the first of several dates": [
        { is: "between", columns: ["trade_date", "ts_code"], first: "20230101", last: null },
      ],
      "a value that is hidden": [{ is: "in", value: hidden, values: ["20230301"] }],
      "the last day": [between("20230301", "20230301"), { is: "last", column: "trade_date", until: "20230301" }],
    };
    for (const [name, tests] of Object.entries(cases)) {
      expect([name, neededGroups(scanWith(tests))(file)]).toEqual([name, null]);
    }
  });

  test("is needed for the rows among which revisions are numbered", async () => {
    const file = files[clustering]!;
    const among = clustering === "byDate" ? [between("20230301", "20230310")] : [codesIn("000042.SZ", "000043.SZ")];
    const numbering = {
      how: "numbered",
      of: ["ts_code"],
      date: ["trade_date"],
      others: ["adj_factor"],
      flag: null,
    } as const;
    const derived: Numbering = { ...numbering, among };
    const scan = scanWith([{ is: "newest" }], { derived, order: { columns: ["ts_code"], descending: false } });
    const needed = neededGroups(scan)(file)!;
    const all = file.rowGroups!.groups.map((_, number) => number);
    const path = await withHoles(
      file,
      all.filter((number) => !needed.includes(number)),
    );
    expect(needed.length).toBeLessThan(all.length / 4);
    expect(await rowsWith(scan, path)).toEqual(await rowsWith(scan, file.path));
  });
});
