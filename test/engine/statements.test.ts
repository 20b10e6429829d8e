import type { DuckDBPreparedStatement } from "@duckdb/node-api";
import { describe, expect, test } from "vitest";
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

describe("a prepared statement", () => {
  test("of few values is kept and gives what is asked with the new values", async () => {
    const first = await ask([1, 2, 3]);
    const second = await ask([7, 8, 200_000]);
    expect([first.found, second.found]).toEqual([
      [1, 2, 3],
      [7, 8],
    ]);
    expect(second.statement).toBe(first.statement);
  });

  test("of very many values takes no memory once it has run", async () => {
    for (const from of [0, 50_000]) {
      const { found, statement } = await ask(numbers(2_000, from));
      expect(found).toEqual(numbers(2_000, from));
      expect(statement.parameterCount).toBe(0);
    }
    const { statement } = await ask([1, 2]);
    expect(statement.parameterCount).toBe(2);
  });
});
