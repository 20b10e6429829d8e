// A statement that gives few rows is run to its end in one go: it fails as a whole or is whole, and costs one thread once.
import type { DuckDBConnection } from "@duckdb/node-api";
import type { Statement } from "../query/statement.js";
import type { Chunks, Turn } from "./chunks.js";
import { endWork } from "./interrupt.js";
import { withPrepared } from "./prepared.js";

/** Runs a statement that gives so few rows that all of them may lie in memory. As `fetchChunks` otherwise. */
export function runAtOnce(connection: DuckDBConnection, statement: Statement, turn: Turn): Chunks {
  const whole = turn(() => withPrepared(connection, statement, (prepared) => prepared.run()));
  whole.catch(() => undefined); // told where it is awaited
  let taken = 0;
  return {
    async next() {
      const result = await whole;
      if (taken === result.chunkCount) return null;
      const chunk = result.getChunk(taken++);
      return { chunk, rows: chunk.rowCount };
    },
    close: () => endWork(connection, whole),
  };
}
