import type { DuckDBConnection } from "@duckdb/node-api";
import type { Int64, Vector } from "apache-arrow";
import { describe, expect, test, vi } from "vitest";
import type { Column } from "../../src/catalog/types.js";
import { fetchChunks, type Ahead, type Chunks, type WhenAdmitted } from "../../src/engine/chunks.js";
import { batchReader } from "../../src/engine/arrow.js";
import { batchesOf as batchesIn, inTurn, type Running, runAtOnce, runningChunks } from "../../src/engine/execute.js";
import { IncompleteStreamError, byMarker } from "../../src/engine/chunks.js";
import type { SqlValue } from "../../src/query/bindings.js";
import { duckdbInMemory } from "../support/duckdb.js";
import { batchesOf, marked } from "./batches.js";

const columns: readonly Column[] = [{ name: "i", type: "int64", nullable: false }];
const duckdb = duckdbInMemory({ threads: "1" });

const whenAdmitted: WhenAdmitted = (job) => job();

const streamOf = (connection: DuckDBConnection, sql: string, ahead: Ahead): Chunks =>
  fetchChunks(marked({ sql, values: [] }, 1), byMarker(1), { connection, whenAdmitted, ahead });

interface Outcome {
  readonly values: bigint[];
  /** Statements read to their end, and the most that were open at a time. */
  done: number;
  most: number;
  error: unknown;
  readonly ahead: Ahead;
}

async function readAll(sql: string, onBatch: (rows: number) => void = () => undefined): Promise<number> {
  let rows = 0;
  let next = 0n;
  for await (const batch of batchesOf(duckdb.connection, { sql, values: [] }, columns)) {
    for (const value of batch.getChildAt(0)!) if (value !== next++) throw new Error("rows are out of order");
    rows += batch.numRows;
    onBatch(rows);
  }
  return rows;
}

describe("a stream", () => {
  test.each([0, 1, 2047, 2048, 2049, 4096, 100_000])("of %i rows yields each of them once and in order", async (n) => {
    expect(await readAll(`SELECT i FROM range(${n}) t(i)`)).toBe(n);
  });

  test("that fails midway is refused, although the engine ends it like any other", async () => {
    const sql = "SELECT CASE WHEN i = 1000000 THEN error('broken')::BIGINT ELSE i END AS i FROM range(2000000) t(i)";
    await expect(readAll(sql)).rejects.toThrow();
  });

  test("that is interrupted is refused", async () => {
    const reading = readAll("SELECT i FROM range(50000000) t(i)", (rows) => {
      if (rows > 100_000) duckdb.connection.interrupt();
    });
    await expect(reading).rejects.toThrow(IncompleteStreamError);
  });

  test("on whose connection another statement runs is refused", async () => {
    let second: Promise<unknown> | undefined;
    const reading = readAll("SELECT i FROM range(5000000) t(i)", () => {
      second ??= duckdb.connection.run("SELECT 1");
    });
    await expect(reading).rejects.toThrow();
    await second;
  });

  test("that the reader leaves early stops its query", async () => {
    const sql = "SELECT i FROM range(100000000000) t(i)";
    for await (const batch of batchesOf(duckdb.connection, { sql, values: [] }, columns)) {
      expect(batch.numRows).toBeGreaterThan(0);
      break;
    }
    expect(await readAll("SELECT i FROM range(10) t(i)")).toBe(10);
  });
});

describe("a stream of which is known how many rows it has", () => {
  const read = async (n: number, atMost: number): Promise<number> => {
    let rows = 0;
    const statement = { sql: `SELECT i FROM range(${n}) t(i)`, values: [] };
    for await (const batch of batchesOf(duckdb.connection, statement, columns, { rows: atMost })) rows += batch.numRows;
    return rows;
  };

  test.each([0, 1, 2048, 100_000])("is whole where it has %i", async (n) => {
    expect(await read(n, n)).toBe(n);
  });

  test.each([
    [0, 1],
    [100_000, 100_001],
    [100_000, 99_999],
    [1, 0],
  ])("is refused where it has %i and not %i", async (n, atMost) => {
    await expect(read(n, atMost)).rejects.toThrow(IncompleteStreamError);
  });
});

describe("a statement that is run in one go", () => {
  const sizesOf = (rows: number): number[] => {
    const sizes = Array.from({ length: Math.floor(rows / 2048) }, () => 2048);
    return rows % 2048 === 0 ? sizes : [...sizes, rows % 2048];
  };
  const reading = async (sql: string, values: readonly SqlValue[] = []): Promise<number[]> => {
    const chunks = runAtOnce({ sql, values }, { connection: duckdb.connection, whenAdmitted });
    const sizes: number[] = [];
    for (let next = await chunks.next(); next !== null; next = await chunks.next()) sizes.push(next.rows);
    return sizes;
  };

  test.each([0, 1, 5000])("gives %i rows once", async (n) => {
    expect(await reading(`SELECT i FROM range(${n}) t(i)`)).toEqual(sizesOf(n));
  });

  test("may be asked again with other values, between others of many kinds and after one that failed", async () => {
    const sqlOf = (kind: number): string => `SELECT i, ${kind} AS kind FROM range($1::BIGINT) t(i)`;
    const kinds = Array.from({ length: 40 }, (_, kind) => kind);
    for (const n of [3, 5000, 0]) {
      for (const kind of kinds) expect(await reading(sqlOf(kind), [n + kind])).toEqual(sizesOf(n + kind));
      for (const kind of [39, 38]) expect(await reading(sqlOf(kind), [kind])).toEqual([kind]);
      await expect(reading(sqlOf(39), ["no number"])).rejects.toThrow();
      expect(await reading(sqlOf(39), [n + 1])).toEqual(sizesOf(n + 1));
    }
  });

  test("fails before its first row where any of them fails", async () => {
    const sql = "SELECT CASE WHEN i = 4999 THEN error('broken')::BIGINT ELSE i END AS i FROM range(5000) t(i)";
    await expect(reading(sql)).rejects.toThrow("broken");
  });

  test("ends when the reader leaves", async () => {
    const sql = "SELECT count(*) FROM range(100000000000) t(i) WHERE i % 7 = 1";
    const chunks = runAtOnce({ sql, values: [] }, { connection: duckdb.connection, whenAdmitted });
    const next = chunks.next();
    const refused = expect(next).rejects.toThrow();
    await chunks.close();
    await refused;
    expect(await reading("SELECT 1")).toEqual([1]);
  });
});

describe("chunks", () => {
  const MANY = "SELECT i FROM range(400000) t(i)";

  test("are fetched before they are asked for, as many as there is room for", async () => {
    const ahead = { held: 0, most: 5 };
    const chunks = streamOf(duckdb.connection, MANY, ahead);
    await vi.waitFor(() => expect(ahead.held).toBe(5));
    let rows = 0;
    for (let next = await chunks.next(); next !== null; next = await chunks.next()) {
      rows += next.rows;
      expect(ahead.held).toBeLessThanOrEqual(5);
    }
    expect([rows, ahead.held]).toEqual([400_000, 0]);
  });

  test("come one by one where others hold all the room", async () => {
    const ahead = { held: 9, most: 9 };
    let rows = 0;
    for await (const batch of batchesOf(duckdb.connection, { sql: MANY, values: [] }, columns, { ahead })) {
      expect(ahead.held).toBeLessThanOrEqual(10);
      rows += batch.numRows;
    }
    expect([rows, ahead.held]).toEqual([400_000, 9]);
  });

  test("that nobody takes any more give their room back", async () => {
    const ahead = { held: 0, most: 50 };
    const chunks = streamOf(duckdb.connection, MANY, ahead);
    await chunks.next();
    await chunks.close();
    expect(ahead.held).toBe(0);
    expect(await readAll("SELECT i FROM range(10) t(i)")).toBe(10);
  });
});

describe("statements that overlap", () => {
  const run = async (sqls: string[], onBatch: (first: bigint) => void = () => undefined): Promise<Outcome> => {
    const ahead = { held: 0, most: 64 };
    const outcome: Outcome = { values: [], done: 0, most: 0, error: null, ahead };
    const toBatch = batchReader(columns);
    let open = 0;
    const start = (): Promise<Running> | null => {
      const sql = sqls.shift();
      if (sql === undefined) return null;
      outcome.most = Math.max(outcome.most, ++open);
      return duckdb.connect().then((own) => {
        return runningChunks(streamOf(own, sql, ahead), toBatch, async () => {
          open--;
          outcome.done++;
          own.disconnectSync();
        });
      });
    };
    try {
      for await (const batch of batchesIn(inTurn(start, "all"))) {
        const values = [...(batch.getChildAt(0) as Vector<Int64>)] as bigint[];
        outcome.values.push(...values);
        onBatch(values[0]!);
      }
    } catch (error) {
      outcome.error = error;
    }
    return outcome;
  };

  const rangeSql = (from: number, to: number): string => `SELECT i FROM range(${from}, ${to}) t(i)`;

  test("give their rows in their order, two at work at a time", async () => {
    const bounds = [0, 1, 5_000, 5_000, 90_000, 90_001, 200_000];
    const { values, done, most, error } = await run(bounds.slice(1).map((to, i) => rangeSql(bounds[i]!, to)));
    expect(error).toBeNull();
    expect(values.length).toBe(200_000);
    expect(values.every((value, i) => value === BigInt(i))).toBe(true);
    expect([done, most]).toEqual([6, 2]);
  });

  test("fail where the rows of the one that fails would begin, not before", async () => {
    const { values, done, error } = await run([rangeSql(0, 300_000), "SELECT error('broken')::BIGINT AS i"]);
    expect(String(error)).toContain("broken");
    expect([values.length, done]).toEqual([300_000, 1]);
  });

  test("are all ended where the reader leaves", async () => {
    const { error, done, ahead } = await run([rangeSql(0, 300_000), rangeSql(300_000, 99_000_000_000)], (first) => {
      if (first >= 300_000n) throw new Error("enough");
    });
    expect([String(error), done, ahead.held]).toEqual(["Error: enough", 1, 0]);
  });
});
