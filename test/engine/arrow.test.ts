import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import type { Column, ColumnType } from "../../src/catalog/types.js";
import { batchesOf } from "./batches.js";

const columns: readonly Column[] = (["text", "date", "float64", "int64"] as ColumnType[]).map((type) => ({
  name: type,
  type,
  nullable: true,
}));

test("a record batch holds the values of the chunk: short and long text, dates, numbers beyond 2^53, and nulls", async () => {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const sql = `SELECT * FROM (VALUES
      ('600519.SH', DATE '2024-02-29', '0.1', 9007199254740993),
      (NULL, NULL, NULL, NULL),
      ('', DATE '0001-01-01', '-0.0', -1),
      ('贵州茅台股份有限公司的公告', DATE '9999-12-31', '1e308', 0)) t(a, b, c, d)`;
  const rows: unknown[] = [];
  const typed = `SELECT a::VARCHAR, b::DATE, c::DOUBLE, d::BIGINT FROM (${sql})`;
  for await (const batch of batchesOf(connection, { sql: typed, values: [] }, columns)) {
    expect(batch.data.children.map((child) => child.nullCount)).toEqual([1, 1, 1, 1]);
    for (let i = 0; i < batch.numRows; i++) {
      const [text, days, number, integer] = [0, 1, 2, 3].map((c) => batch.getChildAt(c)!.get(i) as unknown);
      rows.push([text, days === null ? null : new Date(days as number).toISOString().slice(0, 10), number, integer]);
    }
  }
  connection.disconnectSync();
  instance.closeSync();
  expect(rows).toEqual([
    ["600519.SH", "2024-02-29", 0.1, 9007199254740993n],
    [null, null, null, null],
    ["", "0001-01-01", -0, -1n],
    ["贵州茅台股份有限公司的公告", "9999-12-31", 1e308, 0n],
  ]);
});
