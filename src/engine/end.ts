// How the end of a stream is proven: by the number of its rows where that is known, else by a last row that marks it.
import type { DuckDBDataChunk } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";
import type { Column } from "../catalog/types.js";
import type { CountedStatement } from "../query/statement.js";
import { rawChunk } from "./arrow.js";

/** The stream ended before its last row: what was read so far is not the whole answer. */
export class IncompleteStreamError extends Error {
  constructor() {
    super("the result ended before its last row");
    this.name = "IncompleteStreamError";
  }
}

/** The proof of one stream. */
export interface End {
  /** What has to be run. */
  readonly sql: string;
  /** Rows of data in the next chunk, which has `rows`. Throws IncompleteStreamError where it comes after the end. */
  rowsOf(chunk: DuckDBDataChunk, rows: number): number;
  /** Whether all rows were seen. */
  reached(): boolean;
}

export const endOf = ({ sql, count }: CountedStatement, columns: readonly Column[]): End =>
  count?.exact ? countedEnd(sql, count.atMost) : markedEnd(sql, columns);

function countedEnd(sql: string, all: number): End {
  let seen = 0;
  return {
    sql,
    rowsOf(_chunk, rows) {
      seen += rows;
      if (seen > all) throw new IncompleteStreamError();
      return rows;
    },
    reached: () => seen === all,
  };
}

/** Adds the marker: one more column that is true in one more row, which comes last. */
function markedEnd(sql: string, columns: readonly Column[]): End {
  const nulls = columns.map(() => "NULL").join(", ");
  let reached = false;
  return {
    sql: `SELECT *, false FROM (${sql}) UNION ALL SELECT ${nulls}, true`,
    rowsOf(chunk, rows) {
      if (reached) throw new IncompleteStreamError();
      const vector = duckdb.data_chunk_get_vector(rawChunk(chunk), columns.length);
      reached = duckdb.vector_get_data(vector, rows)[rows - 1] === 1;
      return reached ? rows - 1 : rows;
    },
    reached: () => reached,
  };
}
