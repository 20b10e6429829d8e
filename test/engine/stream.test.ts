import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Column } from "../../src/catalog/types.js";
import { IncompleteStreamError, streamBatches } from "../../src/engine/stream.js";

const columns: readonly Column[] = [{ name: "i", type: "int64", meaning: "a number", nullable: false }];
let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  connection = await instance.connect();
});
afterAll(() => {
  connection.disconnectSync();
  instance.closeSync();
});

async function readAll(sql: string, onBatch: (rows: number) => void = () => undefined): Promise<number> {
  let rows = 0;
  let next = 0n;
  for await (const batch of streamBatches(connection, { sql, values: [] }, columns)) {
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
      if (rows > 100_000) connection.interrupt();
    });
    await expect(reading).rejects.toThrow(IncompleteStreamError);
  });

  test("on whose connection another statement runs is refused", async () => {
    let second: Promise<unknown> | undefined;
    const reading = readAll("SELECT i FROM range(5000000) t(i)", () => {
      second ??= connection.run("SELECT 1");
    });
    await expect(reading).rejects.toThrow();
    await second;
  });

  test("that the reader leaves early stops its query", async () => {
    const sql = "SELECT i FROM range(100000000000) t(i)";
    for await (const batch of streamBatches(connection, { sql, values: [] }, columns)) {
      expect(batch.numRows).toBeGreaterThan(0);
      break;
    }
    expect(await readAll("SELECT i FROM range(10) t(i)")).toBe(10);
  });
});
