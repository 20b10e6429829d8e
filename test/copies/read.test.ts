// Serving copies hold what the Parquet files hold: whatever a scan asks, its rows are those that DuckDB reads.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type RecordBatch, tableFromIPC } from "apache-arrow";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { columnsOf, isPresent } from "../../src/arrow-data.js";
import { entityNamed } from "../../src/catalog/index.js";
import type { Column, Entity } from "../../src/catalog/types.js";
import { type Copy, openCopy } from "../../src/copies/open.js";
import { readCopies } from "../../src/copies/read.js";
import { copyPath } from "../../src/copies/names.js";
import { makeCopies } from "../../src/copier/copier.js";
import { readPage } from "../../src/engine/page.js";
import { openReader, type Reader } from "../../src/engine/reader.js";
import { createIntegrity } from "../../src/lake/integrity.js";
import { layoutOf } from "../../src/lake/layout.js";
import { openLake, type Snapshot } from "../../src/lake/lake.js";
import type { Position } from "../../src/query/cursor.js";
import { type Plan, planRead } from "../../src/query/plan.js";
import { parseRequest } from "../../src/query/request.js";
import { firstRows, rowsOf, scanOf, type Scan } from "../../src/query/scan.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { size } from "../support/size.js";

const never = new AbortController().signal;
const DAYS = 60;
const CODES = 40;

/** Some days lack some codes; prices and text are missing here and there. */
const DAILY = `SELECT printf('%06d.%s', c, CASE WHEN c % 2 = 0 THEN 'SZ' ELSE 'SH' END) AS ts_code,
    DATE '2024-01-01' + d::INT AS trade_date, CASE WHEN (c * d) % 7 = 0 THEN NULL ELSE c + d / 8 END AS open,
    c * 100 + d AS close, d AS vol
  FROM range(${CODES}) s(c), range(${DAYS}) t(d) WHERE (c * 31 + d * 17) % 11 <> 0`;
/** Several rows of a code on a day. */
const AUCTIONS = `SELECT printf('%06d.SZ', c) AS ts_code, DATE '2024-01-01' + d::INT AS trade_date,
    CASE WHEN k = 0 THEN NULL WHEN k = 1 THEN '' ELSE '集合"竞价"' END AS time, c + k AS price
  FROM range(10) s(c), range(20) t(d), range(3) r(k)`;
/** Without a date in the last rows. */
const DIVIDENDS = `SELECT CASE WHEN d < 15 THEN DATE '2024-01-01' + d::INT END AS ex_date, 'a' || d AS div_proc,
    printf('%06d.SZ', c) AS ts_code, CASE WHEN d % 3 > 0 THEN d END AS cash_div FROM range(10) s(c), range(20) t(d)`;

let reader: Reader;
let snapshot: Snapshot;
let folder: string;
const copies = new Map<string, Copy>();

beforeAll(async () => {
  const root = await temporaryFolder();
  await publishRows(root, { daily: DAILY, stk_auction: AUCTIONS, dividend: DIVIDENDS }, { codeCopy: true });
  // Rows of the newest days are only in files by date.
  await publishRows(root, { daily: DAILY.replaceAll("2024-01-01", "2024-06-01") });
  const layout = layoutOf(root);
  snapshot = (await openLake(root)).current();
  reader = await openReader({
    ...{ readable: { folder: layout.lake }, memory: "500MB", tempDirectory: root, spill: "1GB", threads: 1 },
    ...{ concurrency: 4, streams: 8, queue: 8, integrity: createIntegrity(layout) },
  });
  folder = join(root, "copies");
  await makeCopies(root, { folder, size: "auto", log: () => undefined, signal: never });
  for (const name of ["daily", "stk_auction", "dividend"]) {
    const list = snapshot.files(name);
    for (const file of [...list.byDate, ...list.byCode]) {
      copies.set(file.path, (await openCopy(copyPath(folder, file.path), file.sha256)) as Copy);
    }
  }
  return async () => {
    for (const copy of copies.values()) await copy.close();
    await reader.close();
  };
});

const entityOf = (name: string): Entity => entityNamed(name)!;

/** Values by row. A batch is valid until the next one, so they are taken out at once. */
async function valuesOf(batches: AsyncIterable<RecordBatch>): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  for await (const batch of batches) {
    const columns = columnsOf(batch);
    for (let row = 0; row < batch.numRows; row++) {
      rows.push(
        columns.map((column) => {
          if (!isPresent(column, row)) return null;
          const { values, valueOffsets } = column;
          if (valueOffsets === undefined) return values[row]!;
          return Buffer.from(values.buffer, values.byteOffset).toString(
            "utf8",
            valueOffsets[row],
            valueOffsets[row + 1],
          );
        }),
      );
    }
  }
  return rows;
}

/** The rows of a scan from copies; null if DuckDB has to read them. */
async function fromCopies(scan: Scan, columns: readonly Column[]): Promise<unknown[][] | null> {
  const batches = readCopies(
    scan,
    scan.files.map(({ path }) => copies.get(path)!),
    columns,
  );
  return batches === null ? null : valuesOf(batches);
}

const fromDuckdb = (scan: Scan, columns: readonly Column[]): Promise<unknown[][]> =>
  valuesOf(reader.read({ columns, scans: [scan] }, never));

/** The last row of a page, from which the next one continues. */
async function endOfPage(plan: Plan, limit: number | null): Promise<Position | null> {
  const session = await reader.open(never, "light");
  try {
    const page = readPage(session, plan, limit);
    for (;;) {
      const { done, value } = await page.next();
      if (done) return value.last;
    }
  } finally {
    session.close();
  }
}

const day = fc
  .integer({ min: -3, max: 220 })
  .map((days) => new Date(Date.UTC(2024, 0, 1) + days * 86_400_000).toISOString().slice(0, 10).replaceAll("-", ""));
const code = fc
  .integer({ min: 0, max: CODES })
  .map((c) => `${String(c).padStart(6, "0")}.${c % 2 === 0 ? "SZ" : "SH"}`);
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  daily: ["ts_code", "trade_date", "open", "close", "vol", "amount"],
  stk_auction: ["ts_code", "trade_date", "time", "price"],
  dividend: ["ts_code", "ex_date", "div_proc", "cash_div"],
};
const question = fc.constantFrom("daily", "stk_auction", "dividend").chain((entity) =>
  fc.record({
    entity: fc.constant(entity),
    parameters: fc.record(
      {
        ts_code: fc.uniqueArray(code, { minLength: 1, maxLength: 12 }).map((codes) => codes.join(",")),
        dates: fc.tuple(day, day).map((days) => days.toSorted()),
        days: fc.array(day, { minLength: 1, maxLength: 3 }).map((days) => days.join(",")),
        order: fc.constantFrom("asc", "desc"),
        limit: fc.integer({ min: 1, max: 400 }).map(String),
        fields: fc.shuffledSubarray([...COLUMNS[entity]!], { minLength: 1 }).map((names) => names.join(",")),
      },
      { requiredKeys: [] },
    ),
    continued: fc.boolean(),
  }),
);

describe("a serving copy", () => {
  test("is read by other Arrow readers as it is", async () => {
    const [file] = snapshot.files("daily").byDate;
    const table = tableFromIPC(await readFile(copyPath(folder, file!.path)));
    const { columns } = entityOf("daily");
    const rows = await fromDuckdb(scanOf([file!], rowsOf(columns)), columns);
    expect(table.numRows).toBe(file!.rows);
    expect(table.getChild("close")!.toArray()).toEqual(Float64Array.from(rows, (row) => row[5] as number));
    expect(table.getChild("ts_code")!.get(7)).toBe(rows[7]![0]);
  });

  test("gives the rows that DuckDB gives, in the same order, or none", async () => {
    const answered = { copies: 0, duckdb: 0 };
    await fc.assert(
      fc.asyncProperty(question, async ({ entity: name, parameters, continued }) => {
        const entity = entityOf(name);
        const { dates, days, ...others } = parameters;
        const range = dates && !days ? { start_date: dates[0]!, end_date: dates[1]! } : {};
        const query = new URLSearchParams({ ...others, ...range, ...(days && { [entity.mainDate!]: days }) });
        const request = parseRequest(entity, query, { defaultLimit: null, maxLimit: null });
        const list = snapshot.files(name);
        const after = continued ? await endOfPage(planRead(request, list, null), request.limit) : null;
        const plan = planRead(request, list, after);
        for (const scan of plan.scans) {
          const limited = request.limit === null ? scan : firstRows(scan, request.limit + 1);
          const found = await fromCopies(limited, plan.columns);
          answered[found === null ? "duckdb" : "copies"]++;
          if (found !== null) expect(found).toEqual(await fromDuckdb(limited, plan.columns));
        }
      }),
      { numRuns: size("COPIED_SCANS", 300, 5_000), endOnFailure: true },
    );
    // Only what these questions never ask for is left to DuckDB.
    expect(answered.copies).toBeGreaterThan(answered.duckdb * 2);
  });
});
