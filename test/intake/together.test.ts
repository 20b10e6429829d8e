// Files that are staged together give what each of them gives alone.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { rowsOfFile, stage, stageFiles, type ImportOptions, type Staged } from "../../src/intake/normalise.js";
import { size } from "../support/size.js";
import { openStaging, type Staging } from "./staging.js";

let box: Staging;
beforeAll(async () => {
  box = await openStaging();
});
afterAll(() => box.close());

const LIMITS = { rows: 8, unpacked: 1e6 };
const options = (label: string): ImportOptions => ({ map: {}, set: {}, limits: LIMITS, label, below: label });

/** Lines of code, date and close, in order. */
const lines = (rows: number, day: number): readonly string[] =>
  Array.from({ length: rows }, (_, i) => `00000${i + 1}.SZ,202401${String(day).padStart(2, "0")},${i + day}.5`);

const csv = (header: string, rows: readonly string[]): string => [header, ...rows, ""].join("\n");
const HEADER = "ts_code,trade_date,close";

/** How a file differs from a plain one, by what is wrong or odd about it. */
const CSV: Readonly<Record<string, (rows: readonly string[]) => string | Buffer>> = {
  plain: (rows) => csv(HEADER, rows),
  "in another order": (rows) => csv(HEADER, [...rows].reverse()),
  "with other columns": (rows) =>
    csv(
      "trade_date,close,ts_code",
      rows.map((row) => row.replace(/^(.*?),(.*)$/, "$2,$1")),
    ),
  "with an unused column": (rows) =>
    csv(
      `${HEADER},close_x`,
      rows.map((row) => `${row},1`),
    ),
  "without a column": (rows) =>
    csv(
      "ts_code,trade_date",
      rows.map((row) => row.replace(/,[^,]*$/, "")),
    ),
  "with a blank row": (rows) => csv(HEADER, [...rows, ",,"]),
  "with a bad number": (rows) => csv(HEADER, [...rows, "000009.SZ,20240131,x"]),
  "with a bad code": (rows) => csv(HEADER, ["600000.SZ,20240101,1", ...rows]),
  "with an odd code": (rows) => csv(HEADER, [...rows, "830799.SH,20240131,1"]),
  "with numbers that are not finite": (rows) => csv(HEADER, [...rows, "000009.SZ,20240131,inf"]),
  "with equal rows": (rows) => csv(HEADER, [...rows, ...rows.slice(0, 2)]),
  "with rows that contradict each other": (rows) => csv(HEADER, [...rows, ...rows.slice(0, 1).map((row) => `${row}9`)]),
  "with a row of too many cells": (rows) => csv(HEADER, [...rows, "000009.SZ,20240131,1,2"]),
  "with a note": (rows) => csv(HEADER, [...rows, "Source: a vendor,,"]),
  "without a last line end": (rows) => [HEADER, ...rows].join("\n"),
  "with two kinds of line ends": (rows) => csv(`${HEADER}\r`, rows),
  "in UTF-16": (rows) => Buffer.from(`\ufeff${csv(HEADER, rows)}`, "utf16le"),
  "with times": (rows) =>
    csv(
      `${HEADER},time`,
      rows.flatMap((row) => [`${row},09:31`, `${row},09:32`]),
    ),
  "with an exchange": (rows) =>
    csv(
      `${HEADER},exchange`,
      rows.map((row) => `${row.replace(".SZ", "")},SZ`),
    ),
  "with too many rows": () => csv(HEADER, lines(9, 1)),
  "without a date": (rows) =>
    csv(
      "ts_code,close",
      rows.map((row) => row.replace(/,\d{8},/, ",")),
    ),
  "that is Parquet": () => "PAR1",
};

/** Casts of the columns of a Parquet file; text is as in CSV. */
const PARQUET = [
  "close",
  "close::FLOAT",
  "close::DECIMAL(10,4)",
  "close::VARCHAR",
  "CASE WHEN ts_code < '000002' THEN close END",
];

interface Sample {
  readonly kind: string;
  readonly rows: number;
  readonly day: number;
  readonly isInFolder: boolean;
}

async function write({ kind, rows, day, isInFolder }: Sample, name: string): Promise<string> {
  const folder = isInFolder ? `trade_date=202401${String(day).padStart(2, "0")}/` : "";
  const make = CSV[kind];
  if (make) return box.put(`${folder}${name}.csv`, make(lines(rows, day)));
  if (kind === "ndjson") {
    const records = lines(rows, day).map((row) => row.split(","));
    const text = records
      .map(([code, date, close]) => JSON.stringify({ ts_code: code, trade_date: date, close }))
      .join("\n");
    return box.put(`${folder}${name}.ndjson`, `${text}\n`);
  }
  const source = `(SELECT '00000' || (range + 1) || '.SZ' AS ts_code, '20240101' AS trade_date, range + ${day}.5 AS close FROM range(${rows}))`;
  const file = await box.parquet(
    `${folder}${name}.parquet`,
    `SELECT ts_code, trade_date, ${kind} AS close FROM ${source}`,
  );
  return file;
}

/** What staging has said about a file, and its rows; or why the file was refused. */
async function outcomeOf(found: Staged | Error): Promise<unknown> {
  if (found instanceof Error) return `${found.name}: ${found.message}`;
  const report = { ...found, table: "", number: 0 };
  const rows = await box.writer.rows(`SELECT * EXCLUDE (__row, __file) FROM ${rowsOfFile(found)} ORDER BY __row`);
  return { report, rows };
}

const sample = fc.record({
  kind: fc.oneof(
    { arbitrary: fc.constantFrom("plain", "close"), weight: 2 },
    { arbitrary: fc.constantFrom(...Object.keys(CSV), ...PARQUET, "ndjson"), weight: 3 },
  ),
  rows: fc.integer({ min: 0, max: 5 }),
  day: fc.integer({ min: 1, max: 30 }),
  isInFolder: fc.boolean(),
});

test("each file of any set has the report and the rows that it has alone", async () => {
  const entities = ["daily", "weekly"].map((name) => entityNamed(name)!);
  let set = 0;
  const property = fc.asyncProperty(fc.array(sample, { minLength: 2, maxLength: 8 }), async (samples) => {
    set++;
    const paths: string[] = [];
    for (const [i, one] of samples.entries()) paths.push(await write(one, `set-${set}-${i}`));
    for (const entity of entities) {
      const files = paths.map((path, number) => ({ ...options(path), path, number: 3 * number }));
      const together = await stageFiles(box.writer, entity, files, options(""), box.folder);
      for (const [i, path] of paths.entries()) {
        const alone = await stage(box.writer, entity, path, options(path), box.folder).catch(
          (error: unknown) => error as Error,
        );
        expect(await outcomeOf(together[i]!), path).toEqual(await outcomeOf(alone));
      }
    }
    const left = await box.writer.rows("SELECT table_name AS name FROM duckdb_tables() WHERE temporary");
    for (const { name } of left) await box.writer.run(`DROP TABLE ${String(name)}`);
  });
  await fc.assert(property, {
    numRuns: size("TOGETHER", 3, 40),
    // Which of several rows a message named used to depend on chance.
    examples: [
      [
        [
          { kind: "with times", rows: 4, day: 1, isInFolder: false },
          { kind: "close", rows: 1, day: 1, isInFolder: false },
        ],
      ],
    ],
  });
}, 600_000);

test("files with the same columns share a table, and those that raise a doubt share another", async () => {
  const entity = entityNamed("daily")!;
  const kinds = ["plain", "plain", "with equal rows", "in another order", "close", "close", "with a note"];
  const paths: string[] = [];
  for (const [i, kind] of kinds.entries()) {
    paths.push(await write({ kind, rows: 3, day: i + 1, isInFolder: false }, `shared-${i}`));
  }
  const files = paths.map((path, number) => ({ ...options(path), path, number }));
  const found = await stageFiles(box.writer, entity, files, options(""), box.folder);
  const tables = found.map((one) => (one instanceof Error ? one.message : one.table));
  const [first, , own, , parquet] = tables;
  // Those that were read by themselves are joined.
  expect(tables).toEqual([first, first, own, first, parquet, parquet, own]);
  expect(new Set(tables).size).toBe(3);
});

test("files whose folders give other values share a table too", async () => {
  const entity = entityNamed("daily")!;
  const kind = "without a date";
  const samples = [5, 6, 7].map((day) => ({ kind, rows: 2, day, isInFolder: true }));
  const paths = await Promise.all(samples.map((one, i) => write(one, `given-${i}`)));
  const files = paths.map((path, number) => ({ ...options(path), path, number }));
  const found = (await stageFiles(box.writer, entity, files, options(""), box.folder)) as readonly Staged[];
  expect(new Set(found.map(({ table }) => table)).size).toBe(1);
  expect(found.map(({ span }) => span.first)).toEqual(["20240105", "20240106", "20240107"]);
  expect(found.map(({ warnings }) => warnings[0])).toEqual(
    ["20240105", "20240106", "20240107"].map(
      (date) => `trade_date is not in the file: ${date} was taken from the name of its folder`,
    ),
  );
});

test("between two files, staging ends if the import must end", async () => {
  const entity = entityNamed("daily")!;
  const paths = [1, 2, 3].map((i) => box.put(`ended-${i}.csv`, csv("a,b", ["1,2"])));
  const files = paths.map((path, number) => ({ ...options(path), path, number }));
  let reads = 0;
  const proceed = (): void => {
    if (++reads === 3) throw new Error("the lot gives up its slot");
  };
  const staging = stageFiles(box.writer, entity, files, { ...options(""), proceed }, box.folder);
  await expect(staging).rejects.toThrow("the lot gives up its slot");
});
