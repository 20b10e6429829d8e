// Streams that prove they are whole. DuckDB's streaming results end normally when they fail midway, so every
// statement gets a last row that marks its end: a stream without it is refused.
import type { DuckDBConnection, DuckDBDataChunk } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import type { Statement } from "../query/statement.js";
import { batchReader, rawChunk } from "./arrow.js";
import { toDuck } from "./values.js";

/** The stream ended before its last row: what was read so far is not the whole answer. */
export class IncompleteStreamError extends Error {
  constructor() {
    super("the result ended before its last row");
    this.name = "IncompleteStreamError";
  }
}

/** Adds the marker: one more column that is true in one more row, which comes last. */
export function withEndMarker(sql: string, columns: readonly Column[]): string {
  const nulls = columns.map(() => "NULL").join(", ");
  return `SELECT *, false FROM (${sql}) UNION ALL SELECT ${nulls}, true`;
}

/** Does one piece of work that occupies a thread, when it is its turn. */
export type Turn = <T>(job: () => Promise<T>) => Promise<T>;

/**
 * Runs one statement, whose columns are `columns` in this order, and yields its rows in order, in batches of up to
 * 2,048; a batch is valid until the next one is asked for. The connection must serve nothing else until the generator is done. The next chunk is fetched while the caller
 * works on the one before it; `turn` bounds how many threads all streams occupy, and none while a caller is slow.
 * Throws IncompleteStreamError where the end was not reached.
 */
export async function* streamBatches(
  connection: DuckDBConnection,
  statement: Statement,
  columns: readonly Column[],
  turn: Turn = (job) => job(),
): AsyncGenerator<RecordBatch, void, undefined> {
  const sql = withEndMarker(statement.sql, columns);
  const result = await turn(() => connection.stream(sql, statement.values.map(toDuck)));
  const toBatch = batchReader(columns);
  let left = false;
  let pending: Promise<DuckDBDataChunk | null> | undefined;
  const fetchAhead = (): void => {
    pending = turn(async () => (left ? null : result.fetchChunk()));
    pending.catch(() => undefined); // told where it is awaited; a caller that stops early never awaits it
  };
  try {
    fetchAhead();
    while (pending) {
      const chunk: DuckDBDataChunk | null = await pending;
      pending = undefined;
      const rows = chunk?.rowCount ?? 0;
      if (!chunk || rows === 0) throw new IncompleteStreamError();
      const ended = lastRowIsMarker(chunk, columns.length, rows);
      if (!ended) fetchAhead();
      const dataRows = ended ? rows - 1 : rows;
      if (dataRows > 0) yield toBatch(chunk, dataRows);
    }
    if (((await turn(() => result.fetchChunk()))?.rowCount ?? 0) > 0) throw new IncompleteStreamError();
  } finally {
    left = true;
    if (pending) {
      connection.interrupt();
      await pending.catch(() => undefined);
    }
  }
}

function lastRowIsMarker(chunk: DuckDBDataChunk, markerColumn: number, rows: number): boolean {
  const vector = duckdb.data_chunk_get_vector(rawChunk(chunk), markerColumn);
  return duckdb.vector_get_data(vector, rows)[rows - 1] === 1;
}
