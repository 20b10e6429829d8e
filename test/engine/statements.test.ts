import type { DuckDBPreparedStatement } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { withPrepared } from "../../src/engine/statements.js";
import { duckdbInMemory } from "../support/duckdb.js";

const duckdb = duckdbInMemory({ threads: "1" });

/** Asks which of the first numbers are among `wanted`; gives the statement that was run too. */
async function ask(wanted: readonly number[]): Promise<{ found: unknown[]; statement: DuckDBPreparedStatement }> {
  const names = wanted.map((_, i) => `$${i + 1}::BIGINT`).join(", ");
  const sql = `SELECT i::INTEGER FROM range(100000) t(i) WHERE i IN (${names}) ORDER BY i`;
  return withPrepared(duckdb.connection, { sql, values: wanted }, async (statement) => {
    const result = await statement.run();
    return { found: (await result.getRowsJS()).flat(), statement };
  });
}

const numbers = (count: number, from: number): number[] => Array.from({ length: count }, (_, i) => from + i);

test("a statement gives what its values ask, and takes no memory once it has run", async () => {
  const few = await ask([7, 8, 200_000]);
  expect(few.found).toEqual([7, 8]);
  const many = await ask(numbers(2_000, 50_000));
  expect(many.found).toEqual(numbers(2_000, 50_000));
  for (const { statement } of [few, many]) expect(statement.parameterCount).toBe(0);
});
