// What a read costs: the files that DuckDB opens and the rows of the row groups that it reads, by its own log of file
// accesses, against what the layout of the lake allows. So pruning cannot rot unseen.
import { join } from "node:path";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { toDuck } from "../../src/engine/statements.js";
import { batchesOf } from "./batches.js";
import { openLake, type Snapshot } from "../../src/lake/lake.js";
import type { DataFile } from "../../src/lake/manifest.js";
import type { Position } from "../../src/query/cursor.js";
import { planRead } from "../../src/query/plan.js";
import { parseRequest } from "../../src/query/request.js";
import { firstRows, rangesOf } from "../../src/query/scan.js";
import { render } from "../../src/query/sql.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";

const CODES = 400;
/** Days of each of the three date files. The copy by code covers the first two. */
const DAYS = 800;
/** Rows in a row group of a date file, and of a file of the copy by code. */
const DATE_GROUP = 122_880;
const CODE_GROUP = 10_240;
const FILE = CODES * DAYS;

let root: string;
let snapshot: Snapshot;
let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  root = await temporaryFolder();
  for (const part of [0, 1, 2]) {
    await publishRows(
      root,
      {
        adj_factor: `SELECT printf('%06d.SZ', c) AS ts_code, DATE '2015-01-01' + d::INT AS trade_date,
                            hash(c, d) % 1000000 / 1000 AS adj_factor
                     FROM range(${CODES}) a(c), range(${part * DAYS}, ${(part + 1) * DAYS}) b(d)`,
        stock_list: `SELECT printf('%06d.SZ', c) AS ts_code, 'name ' || hash(c) AS name, DATE '2015-01-01' + d::INT AS snapshot_date
                     FROM range(${CODES}) a(c), range(${part * DAYS}, ${(part + 1) * DAYS}) b(d)`,
      },
      { codeCopy: part === 1 },
    );
  }
  snapshot = (await openLake(root)).current();
  instance = await DuckDBInstance.create(":memory:", { threads: "1", enable_external_file_cache: "false" });
  connection = await instance.connect();
  await connection.run("CALL enable_logging('FileSystem', storage = 'memory')");
}, 120_000);
afterAll(() => {
  connection.disconnectSync();
  instance.closeSync();
});

interface Cost {
  /** Rows of the answer. */
  readonly answer: number;
  /** Files opened. */
  readonly files: number;
  /** Rows of the row groups of which something was read. */
  readonly rows: number;
  readonly bytes: number;
}

const pathOf = ({ path }: DataFile): string => join(root, "lake", path);

/** Reads like the server does: scan by scan, one row more than the limit. */
async function costOf(query: string, after: Position | null = null, entityName = "adj_factor"): Promise<Cost> {
  const entity = entityNamed(entityName)!;
  const request = parseRequest(entity, new URLSearchParams(query), { defaultLimit: null, maxLimit: null });
  const { scans, columns } = planRead(request, snapshot.files(entityName), after);
  const most = request.limit === null ? Infinity : request.limit + 1;
  await connection.run("CALL truncate_duckdb_logs()");
  let answer = 0;
  const paths = new Set<string>();
  for (const whole of scans) {
    if (answer >= most) break;
    const scan = most === Infinity ? whole : firstRows(whole, most - answer);
    for (const file of scan.files) paths.add(pathOf(file));
    let rows = 0;
    for await (const batch of batchesOf(connection, render(scan, pathOf), columns)) rows += batch.numRows;
    answer += rows;
    if (scan.bounds.exact) expect(rows).toBe(scan.bounds.atMost);
    else expect(rows).toBeLessThanOrEqual(scan.bounds.atMost);
  }
  return { answer, ...(await accesses([...paths])) };
}

/** What the log says of these files, beside what their footers say of their row groups. */
async function accesses(paths: readonly string[]): Promise<Omit<Cost, "answer">> {
  if (paths.length === 0) return { files: 0, rows: 0, bytes: 0 };
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE accesses AS SELECT path, op, pos, bytes
     FROM duckdb_logs_parsed('FileSystem') WHERE path LIKE '%.parquet'`,
  );
  const list = paths.map((path) => `'${path}'`).join(", ");
  const reader = await connection.runAndReadAll(
    `WITH groups AS (
       SELECT file_name, row_group_id, any_value(row_group_num_rows) AS rows,
              min(start) AS start, max(start + total_compressed_size) AS stop
       FROM (SELECT *, coalesce(dictionary_page_offset, data_page_offset) AS start FROM parquet_metadata([${list}]))
       GROUP BY ALL),
     touched AS (
       SELECT DISTINCT file_name, row_group_id, rows FROM groups, accesses
       WHERE op = 'READ' AND path = file_name AND pos < stop AND pos + bytes > start)
     SELECT (SELECT count(DISTINCT path) FROM accesses WHERE op = 'OPEN')::INTEGER,
            coalesce((SELECT sum(rows) FROM touched), 0)::INTEGER,
            coalesce((SELECT sum(bytes) FROM accesses WHERE op = 'READ'), 0)::INTEGER`,
  );
  const [files, rows, bytes] = reader.getRows()[0] as [number, number, number];
  return { files, rows, bytes };
}

const COVERED = "start_date=20150101&end_date=20190519";

test("the lake of these tests is as they say", () => {
  const { byDate, byCode, codeRanges } = snapshot.files("adj_factor");
  expect(byDate.map(({ first, last, rows }) => [first, last, rows])).toEqual([
    ["20150101", "20170310", FILE],
    ["20170311", "20190519", FILE],
    ["20190520", "20210727", FILE],
  ]);
  expect([byCode.length, codeRanges.length]).toEqual([11, 2]);
});

describe("a wide pull", () => {
  test("reads every date file once and no copy", async () => {
    expect(await costOf("")).toMatchObject({ answer: 3 * FILE, files: 3, rows: 3 * FILE });
  });

  test("of a few columns leaves the others on the disk", async () => {
    const [all, one] = [await costOf(""), await costOf("fields=trade_date")];
    expect(one.answer).toBe(all.answer);
    expect(one.bytes * 4).toBeLessThan(all.bytes);
  });
});

describe("a cross-section", () => {
  test.each(["20150101", "20161231", "20180101", "20210727"])("of %s reads its row group of its file", async (day) => {
    const cost = await costOf(`start_date=${day}&end_date=${day}`);
    expect(cost).toMatchObject({ answer: CODES, files: 1 });
    expect(cost.rows).toBeLessThanOrEqual(DATE_GROUP);
    expect(await costOf(`trade_date=${day}`)).toEqual(cost);
  });

  test("of some codes reads no more, whatever the copy by code holds", async () => {
    const codes = Array.from({ length: 200 }, (_, i) => `${String(i * 2).padStart(6, "0")}.SZ`);
    const cost = await costOf(`trade_date=20160101&ts_code=${codes.join(",")}`);
    expect(cost).toMatchObject({ answer: 200, files: 1 });
    expect(cost.rows).toBeLessThanOrEqual(DATE_GROUP);
  });
});

describe("a range of dates", () => {
  test("within a file reads the row groups that it touches", async () => {
    const cost = await costOf("start_date=20170401&end_date=20170430");
    expect(cost).toMatchObject({ answer: 30 * CODES, files: 1 });
    expect(cost.rows).toBeLessThanOrEqual(DATE_GROUP);
  });

  test("across files opens these, each where it is touched", async () => {
    const cost = await costOf("start_date=20170301&end_date=20170320");
    expect(cost).toMatchObject({ answer: 20 * CODES, files: 2 });
    expect(cost.rows).toBeLessThanOrEqual(2 * DATE_GROUP);
  });

  test.each(["start_date=20300101", "end_date=20100101"])("beside all rows opens nothing: %s", async (query) => {
    expect(await costOf(query)).toEqual({ answer: 0, files: 0, rows: 0, bytes: 0 });
  });
});

describe("the series of a code", () => {
  test("reads one file of the copy by code, where that one code lies", async () => {
    const cost = await costOf(`ts_code=000100.SZ&${COVERED}`);
    expect(cost).toMatchObject({ answer: 2 * DAYS, files: 1 });
    expect(cost.rows).toBeLessThanOrEqual(2 * CODE_GROUP);
  });

  test("takes only the days that the copy lacks from their date file", async () => {
    const cost = await costOf("ts_code=000100.SZ");
    expect(cost).toMatchObject({ answer: 3 * DAYS, files: 2 });
    expect(cost.rows).toBeLessThanOrEqual(2 * CODE_GROUP + FILE);
  });

  test("of some codes reads their row groups", async () => {
    const cost = await costOf(`ts_code=000010.SZ,000200.SZ,000390.SZ&${COVERED}`);
    expect(cost).toMatchObject({ answer: 3 * 2 * DAYS, files: 3 });
    expect(cost.rows).toBeLessThanOrEqual(3 * 2 * CODE_GROUP);
  });

  test("backwards, and as a page, reads no more", async () => {
    for (const how of ["order=desc", "limit=50", "order=desc&limit=50"]) {
      const cost = await costOf(`ts_code=000100.SZ&${COVERED}&${how}`);
      expect(cost.files).toBe(1);
      expect(cost.rows).toBeLessThanOrEqual(2 * CODE_GROUP);
    }
  });

  test("that lies in no file opens nothing", async () => {
    expect(await costOf("ts_code=999999.SZ")).toEqual({ answer: 0, files: 0, rows: 0, bytes: 0 });
  });

  test("on one day reads one row group", async () => {
    const cost = await costOf("ts_code=000100.SZ&trade_date=20160101");
    expect(cost).toMatchObject({ answer: 1, files: 1 });
    expect(cost.rows).toBeLessThanOrEqual(DATE_GROUP);
  });
});

describe("a page", () => {
  const at = (date: string, row: number): Position => ({ date, code: "000100.SZ", row });

  test("at the beginning reads the first row group", async () => {
    const cost = await costOf("limit=100");
    expect(cost).toMatchObject({ answer: 101, files: 1 });
    expect(cost.rows).toBeLessThanOrEqual(DATE_GROUP);
  });

  test.each([
    ["early", at("20150501", 120 * CODES + 100)],
    ["in the second file", at("20180501", 416 * CODES + 100)],
    ["near the end", at("20210701", 773 * CODES + 100)],
  ])("%s costs what the first one costs", async (_, after) => {
    const cost = await costOf("limit=100", after);
    expect(cost).toMatchObject({ answer: 101, files: 1 });
    expect(cost.rows).toBeLessThanOrEqual(DATE_GROUP);
  });

  test.each([
    ["from the end", null],
    ["in the second file", at("20180501", 416 * CODES + 100)],
  ])("backwards %s reads the end of a file", async (_, after) => {
    const cost = await costOf("limit=100&order=desc", after);
    expect(cost).toMatchObject({ answer: 101, files: 1 });
    expect(cost.rows).toBeLessThanOrEqual(DATE_GROUP);
  });
});

describe("in files of a day each", () => {
  const ROWS = 3_000;
  const DAYS = 12;

  beforeAll(async () => {
    for (let day = 0; day < DAYS; day++) {
      await publishRows(root, {
        stk_limit: `SELECT printf('%06d.SZ', c) AS ts_code, DATE '2024-01-01' + ${day} AS trade_date, c AS up_limit
                    FROM range(${ROWS}) t(c)`,
      });
    }
    snapshot = (await openLake(root)).current();
    expect(snapshot.files("stk_limit").byDate).toHaveLength(DAYS);
  });

  test("a page opens the files that it needs, and none before it", async () => {
    const cost = await costOf("limit=100", null, "stk_limit");
    expect(cost.answer).toBe(101);
    expect(cost.files).toBeLessThanOrEqual(2);
    const after = { date: "20240110", code: "000005.SZ", row: 5 };
    const later = await costOf("limit=100", after, "stk_limit");
    expect(later.answer).toBe(101);
    expect(later.files).toBeLessThanOrEqual(2);
  });

  test("a page of rare rows goes on in longer and longer scans", async () => {
    const cost = await costOf("limit=100&ts_code=000007.SZ", null, "stk_limit");
    expect(cost).toMatchObject({ answer: DAYS, files: DAYS, rows: DAYS * ROWS });
  });

  test("a day and a range of days open just these", async () => {
    expect(await costOf("trade_date=20240105", null, "stk_limit")).toMatchObject({
      answer: ROWS,
      files: 1,
      rows: ROWS,
    });
    const range = await costOf("start_date=20240103&end_date=20240105", null, "stk_limit");
    expect(range).toMatchObject({ answer: 3 * ROWS, files: 3, rows: 3 * ROWS });
  });
});

describe("a table of snapshots", () => {
  test.each([
    ["the latest one", ""],
    ["the latest one up to a day", "as_of=20180601"],
  ])("asked for %s reads a row group or two of one file", async (_, query) => {
    const cost = await costOf(query, null, "stock_list");
    expect(cost).toMatchObject({ answer: CODES, files: 1 });
    expect(cost.rows).toBeLessThanOrEqual(2 * DATE_GROUP);
  });
});

describe("a statement without ORDER BY", () => {
  const codes = (count: number): string => Array.from({ length: count }, (_, i) => `0001${10 + i}.SZ`).join();

  test.each([
    ["adj_factor", "", true],
    ["adj_factor", "start_date=20160101&end_date=20160301", true],
    ["adj_factor", `ts_code=${codes(4)}&start_date=20200101&end_date=20200102`, true],
    ["adj_factor", `ts_code=${codes(5)}&start_date=20200101&end_date=20200102`, false],
    ["adj_factor", "trade_date=20150101,20150102,20150103,20150104,20150105", false],
    ["stock_list", "as_of=20210727", true],
    ["stock_list", "as_of=20200101", false],
    ["stock_list", `snapshot_date=20150101&ts_code=${codes(9)}`, false],
  ])("of %s?%s has no scan that loses the order", async (entityName, query, isUnsorted) => {
    const request = parseRequest(entityNamed(entityName)!, new URLSearchParams(query), {
      defaultLimit: null,
      maxLimit: null,
    });
    const { scans } = planRead(request, snapshot.files(entityName), null);
    expect(scans.length).toBeGreaterThan(0);
    for (const scan of scans.flatMap(rangesOf)) {
      const { sql, values } = render(scan, pathOf);
      const prepared = await connection.prepare(`EXPLAIN ${sql}`);
      prepared.bind(values.map(toDuck));
      const plan = JSON.stringify((await prepared.runAndReadAll()).getRows());
      expect([sql.includes(" ORDER BY "), plan.includes("JOIN")]).toEqual([!isUnsorted, !isUnsorted]);
    }
  });
});
