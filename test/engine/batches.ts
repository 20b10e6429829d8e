// The record batches of one statement, read as the server reads them.
import type { DuckDBConnection } from "@duckdb/node-api";
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../../src/catalog/types.js";
import { batchReader } from "../../src/engine/arrow.js";
import { fetchChunks, type Ahead } from "../../src/engine/chunks.js";
import { batchesOf as batchesIn, inTurn, runningChunks } from "../../src/engine/execute.js";
import { byCount, byMarker } from "../../src/engine/chunks.js";
import type { Statement } from "../../src/query/sql.js";

/** A SELECT with the completeness marker after its rows, which have `columns` columns. */
export const marked = ({ sql, values }: Statement, columns: number): Statement => ({
  sql: `SELECT *, false FROM (${sql}) UNION ALL SELECT ${Array<string>(columns).fill("NULL").join(", ")}, true`,
  values,
});

/** Proven by `rows`, their number, where it is given, and by a marker otherwise. */
export function batchesOf(
  connection: DuckDBConnection,
  statement: Statement,
  columns: readonly Column[],
  { ahead = { held: 0, most: 64 }, rows }: { readonly ahead?: Ahead; readonly rows?: number } = {},
): AsyncGenerator<RecordBatch> {
  const on = { connection, whenAdmitted: <T>(job: () => Promise<T>) => job(), ahead };
  const chunks =
    rows === undefined
      ? fetchChunks(marked(statement, columns.length), byMarker(columns.length), on)
      : fetchChunks(statement, byCount(rows), on);
  const waiting = [Promise.resolve(runningChunks(chunks, batchReader(columns), () => chunks.close()))];
  return batchesIn(inTurn(() => waiting.pop() ?? null, "some"));
}
