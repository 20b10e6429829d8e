// The record batches of one statement, read as the server reads them.
import type { DuckDBConnection } from "@duckdb/node-api";
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../../src/catalog/types.js";
import { fetchChunks } from "../../src/engine/chunks.js";
import { streamBatches } from "../../src/engine/stream.js";
import type { CountedStatement } from "../../src/query/statement.js";

export function batchesOf(
  connection: DuckDBConnection,
  statement: CountedStatement,
  columns: readonly Column[],
  ahead = { held: 0, most: 64 },
): AsyncGenerator<RecordBatch> {
  const chunks = fetchChunks(connection, statement, columns, (job) => job(), ahead);
  const waiting = [Promise.resolve({ connection, chunks })];
  return streamBatches(
    () => waiting.pop() ?? null,
    () => Promise.resolve(),
    columns,
    "none",
  );
}
