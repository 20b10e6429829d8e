import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import type { RecordBatch } from "apache-arrow";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Column, ColumnType } from "../../src/catalog/types.js";
import { formatDays } from "../../src/dates.js";
import { parquetEncoder } from "../../src/encode/parquet.js";
import { temporaryFolder } from "../support/folders.js";
import { noPython, python } from "../support/python.js";
import { batchOf, column, partsOf, type Value } from "./batches.js";

let folder: string;
let instance: DuckDBInstance;
let duckdb: DuckDBConnection;

beforeAll(async () => {
  folder = await temporaryFolder();
  instance = await DuckDBInstance.create(":memory:");
  duckdb = await instance.connect();
});

afterAll(() => {
  duckdb.disconnectSync();
  instance.closeSync();
});

const summary = { count: 0, truncated: false, nextCursor: null };

const encoded = (columns: readonly Column[], batches: readonly RecordBatch[], dates: "date" | null = null): Buffer =>
  Buffer.concat(
    partsOf(
      parquetEncoder({ entity: "daily", dataVersion: "2026-01-05T09:30:00.000+08:00", columns, dates }),
      batches,
      summary,
    ),
  );

let written = 0;

async function fileOf(bytes: Uint8Array): Promise<string> {
  const path = join(folder, `${written++}.parquet`);
  await writeFile(path, bytes);
  return path;
}

/** The columns of a file, each value as its bits or its text. */
async function columnsIn(path: string): Promise<readonly (readonly (string | null)[])[]> {
  const reader = await duckdb.runAndReadAll(`SELECT * FROM read_parquet('${path}')`);
  const rows = reader.getRows() as Value[][];
  return reader.columnNames().map((_, i) => rows.map((row) => shown(row[i]!)));
}

const rowsOf = async (sql: string): Promise<readonly unknown[][]> => (await duckdb.runAndReadAll(sql)).getRowsJson();

const bits = Buffer.alloc(8);

function shown(value: Value): string | null {
  if (typeof value !== "number") return value === null ? null : String(value);
  bits.writeDoubleBE(value);
  return bits.toString("hex");
}

/** What must come back. */
const wanted = (columns: readonly Column[], values: readonly (readonly Value[])[]) =>
  columns.map(({ type }, i) =>
    values[i]!.map((value) => {
      if (type === "date" && value !== null) return formatDays(Number(value));
      return type === "float64" && !Number.isFinite(value) ? null : shown(value);
    }),
  );

const FIRST_DAY = -719_162;
const LAST_DAY = 2_932_896;
const LONG = "市场回顾与展望。".repeat(4_000); // about 100 kB

const ARBITRARY: Record<ColumnType, fc.Arbitrary<Value>> = {
  code: fc.stringMatching(/^\d{2}\.(SZ|SH|BJ)$/),
  text: fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("", "x".repeat(31), "x".repeat(32), `${"x".repeat(40)}y`, `${"x".repeat(40)}z`, LONG, `${LONG}!`),
  ),
  date: fc.oneof(fc.integer({ min: FIRST_DAY, max: LAST_DAY }), fc.integer({ min: 19_700, max: 19_705 })),
  float64: fc.oneof(fc.double(), fc.constantFrom(0, -0, NaN, Infinity, -Infinity, Number.MIN_VALUE, 9.87, 9.88)),
  int64: fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: 0n, max: 3n })),
};

/** Columns that have all values, some, few or none, and where the batches are cut. */
const table = fc
  .array(
    fc.record({
      type: fc.constantFrom<ColumnType>("code", "text", "date", "float64", "int64"),
      present: fc.constantFrom(0, 1, 8, 10),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .chain((kinds) =>
    fc.record({
      columns: fc.constant(kinds.map(({ type }, i) => column(`c${i}`, type))),
      rows: fc.array(
        fc.tuple(
          ...kinds.map(({ type, present }) =>
            fc.tuple(fc.nat(9), ARBITRARY[type]).map(([chance, value]) => (chance < present ? value : null)),
          ),
        ),
        { maxLength: 60 },
      ),
      cuts: fc.array(fc.nat(60), { maxLength: 5 }),
    }),
  )
  .map(({ columns, rows, cuts }) => {
    const values = columns.map((_, i) => rows.map((row) => row[i]!));
    const ends = [...cuts.filter((cut) => cut < rows.length).sort((a, b) => a - b), rows.length];
    const batches = ends.map((end, i) => batchOf(columns, values).slice(i === 0 ? 0 : ends[i - 1], end));
    return { columns, values, batches };
  });

test("DuckDB reads back the values of any rows, however they come in batches", async () => {
  await fc.assert(
    fc.asyncProperty(table, async ({ columns, values, batches }) => {
      const path = await fileOf(encoded(columns, batches));
      expect(await columnsIn(path)).toEqual(wanted(columns, values));
    }),
    { numRuns: 200 },
  );
});

test("DuckDB reads dates of any day as DATE on request, and their bounds", async () => {
  const columns = [column("d", "date"), column("none", "date"), column("close", "float64")];
  const days = [null, FIRST_DAY, LAST_DAY, 0, -1, 19_724, 19_724, null];
  const values = [days, days.map(() => null), days.map((_, i) => i / 2)];
  const path = await fileOf(encoded(columns, [batchOf(columns, values)], "date"));
  const types = await rowsOf(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${path}')`);
  expect(types).toEqual([
    ["d", "DATE"],
    ["none", "DATE"],
    ["close", "DOUBLE"],
  ]);
  const found = await rowsOf(`SELECT d - DATE '1970-01-01', none, close FROM '${path}'`);
  expect(found).toEqual(days.map((day, i) => [day === null ? null : String(day), null, i / 2]));
  const bounds = `SELECT stats_min_value, stats_max_value, stats_null_count FROM parquet_metadata('${path}') LIMIT 1`;
  expect(await rowsOf(bounds)).toEqual([["0001-01-01", "9999-12-31", "2"]]);
  expect(await rowsOf(`SELECT count(*) FROM '${path}' WHERE d < DATE '1970-01-01'`)).toEqual([["2"]]);
});

test.skipIf(noPython !== null)("pyarrow and polars read them too", async () => {
  const paths: string[] = [];
  for (const { columns, values, batches } of fc.sample(table, 60)) {
    const path = await fileOf(encoded(columns, batches));
    await writeFile(`${path}.json`, JSON.stringify(wanted(columns, values)));
    paths.push(path);
  }
  expect(await python(["test/python/parquet_values.py", ...paths], {})).toBe("60 files\n");
});

describe("a file of several row groups", () => {
  const columns = [
    column("ts_code", "code"),
    column("trade_date", "date"),
    column("title", "text"),
    column("close", "float64"),
    column("pe", "float64"),
    column("vol", "int64"),
    column("nothing", "int64"),
  ];
  const ROWS = 150_000;
  const rows = Array.from({ length: ROWS }, (_, i) => i);
  const values: readonly (readonly Value[])[] = [
    rows.map((i) => `${String(i % 5_000).padStart(6, "0")}.SZ`),
    rows.map((i) => 19_000 + Math.floor(i / 5_000)),
    rows.map((i) => (i % 3 === 0 ? null : i % 7 === 0 ? "" : `第${i}号公告`)),
    rows.map((i) => (i % 10_000) / 100),
    rows.map((i) => (i % 1_000 < 300 ? null : i % 11 === 0 ? NaN : i / 7)),
    rows.map((i) => BigInt(i) * 1_000_003n),
    rows.map(() => null),
  ];
  const whole = batchOf(columns, values);
  const cut = (size: (from: number) => number): RecordBatch[] => {
    const batches: RecordBatch[] = [];
    for (let from = 0; from < ROWS; from += size(from))
      batches.push(whole.slice(from, Math.min(ROWS, from + size(from))));
    return batches;
  };

  test.each<[string, (from: number) => number]>([
    ["of the engine's size", () => 2_048],
    ["of odd sizes", (from) => 1 + ((from * 7_919) % 3_001)],
    ["larger than a row group", () => 100_001],
  ])("has all rows in order, from batches %s", async (_, size) => {
    const path = await fileOf(encoded(columns, cut(size)));
    const groups = `SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata('${path}') ORDER BY 1`;
    expect((await rowsOf(groups)).map((row) => Number(row[1]))).toEqual([65_536, 65_536, 18_928]);
    const found = await columnsIn(path);
    for (const [i, one] of wanted(columns, values).entries()) expect(found[i]!.join() === one.join()).toBe(true);
  });

  test("stores repeated values once, and the minimum and maximum of dates", async () => {
    const path = await fileOf(
      encoded(
        columns,
        cut(() => 2_048),
      ),
    );
    const told = await rowsOf(
      `SELECT path_in_schema, contains(encodings, 'DICTIONARY'), stats_null_count, stats_min_value, stats_max_value
       FROM parquet_metadata('${path}') WHERE row_group_id = 1`,
    );
    expect(told).toEqual([
      ["ts_code", true, "0", null, null],
      ["trade_date", true, "0", "20220121", "20220203"],
      ["title", false, "21845", null, null],
      ["close", true, "0", null, null],
      [
        "pe",
        false,
        String(values[4]!.slice(65_536, 131_072).filter((v) => v === null || Number.isNaN(v)).length),
        null,
        null,
      ],
      ["vol", false, "0", null, null],
      ["nothing", false, "65536", null, null],
    ]);
    const [[size]] = (await rowsOf(`SELECT sum(total_compressed_size) FROM parquet_metadata('${path}')`)) as [[string]];
    expect(Number(size)).toBeLessThan(encoded(columns, []).length + ROWS * 45);
  });
});

test("a column of text that begins with a dictionary has one in every row group, even if nothing repeats there", async () => {
  const columns = [column("ts_code", "code"), column("name", "text")];
  const codes = Array.from({ length: 67_000 }, (_, i) => `${i % 5_000}.SZ`);
  const names = codes.map((_, i) => (i < 66_000 ? null : `${i % 100}`));
  const path = await fileOf(encoded(columns, [batchOf(columns, [codes, names])]));
  const encodings = `SELECT path_in_schema, row_group_id, contains(encodings, 'DICTIONARY') FROM parquet_metadata('${path}') ORDER BY ALL`;
  expect(await rowsOf(encodings)).toEqual([
    ["name", "0", false],
    ["name", "1", true],
    ["ts_code", "0", true],
    ["ts_code", "1", true],
  ]);
});

test("a row group ends early if texts are huge", async () => {
  const columns = [column("abstract", "text")];
  const texts = Array.from({ length: 40 }, (_, i) => `${i}${"x".repeat(1_000_000)}`);
  const path = await fileOf(
    encoded(
      columns,
      texts.map((text) => batchOf(columns, [[text]])),
    ),
  );
  expect(await rowsOf(`SELECT row_group_num_rows FROM parquet_metadata('${path}')`)).toEqual([["17"], ["17"], ["6"]]);
  expect((await columnsIn(path))[0]!.every((text, i) => text === texts[i])).toBe(true);
});

test("a file names its entity and version, even without rows", async () => {
  const columns = [column("ts_code", "code"), column("close", "float64")];
  const path = await fileOf(encoded(columns, []));
  expect(await rowsOf(`SELECT count(*) FROM '${path}'`)).toEqual([["0"]]);
  const told = `SELECT decode(key), decode(value) FROM parquet_kv_metadata('${path}') ORDER BY 1`;
  expect(await rowsOf(told)).toEqual([
    ["data_version", "2026-01-05T09:30:00.000+08:00"],
    ["entity", "daily"],
  ]);
  expect(await rowsOf(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${path}')`)).toEqual([
    ["ts_code", "VARCHAR"],
    ["close", "DOUBLE"],
  ]);
});

test("the list of row groups of a file without rows names the type of its elements, as readers in Rust demand", () => {
  const footer = encoded([column("ts_code", "code")], []);
  // Field 3, the number of rows: 0; field 4, the row groups: a list of no structs.
  expect(footer.includes(Buffer.of(0x16, 0, 0x19, 0x0c))).toBe(true);
  expect(footer.includes(Buffer.of(0x16, 0, 0x19, 0))).toBe(false);
});

test.each(["date", null] as const)("a date outside the years 1 to 9999 is an error: %s", (dates) => {
  const columns = [column("d", "date")];
  for (const day of [FIRST_DAY - 1, LAST_DAY + 1, -(2 ** 31), 2 ** 31 - 1]) {
    expect(() => encoded(columns, [batchOf(columns, [[day]])], dates)).toThrow(RangeError);
  }
});
