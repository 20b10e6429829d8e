// How the end of a streamed result is proven: by the number of its rows where that is known, else by the completeness
// marker, which `query/sql.ts` adds as the last row. DuckDB ends a stream that failed midway like any other.
import type { DuckDBDataChunk } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";
import { rawChunk } from "./arrow.js";

/** The stream ended before its last row: what was read so far is not the whole answer. */
export class IncompleteStreamError extends Error {
  constructor() {
    super("the result ended before its last row");
    this.name = "IncompleteStreamError";
  }
}

/** The proof of one stream. */
export interface Completeness {
  /** Rows of data in the next chunk, which has `rows`. Throws IncompleteStreamError where it comes after the end. */
  rowsOf(chunk: DuckDBDataChunk, rows: number): number;
  /** Whether all rows were seen. */
  reached(): boolean;
}

/** Exactly `all` rows come. */
export function byCount(all: number): Completeness {
  let seen = 0;
  return {
    rowsOf(_chunk, rows) {
      seen += rows;
      if (seen > all) throw new IncompleteStreamError();
      return rows;
    },
    reached: () => seen === all,
  };
}

/** The last row has true in the column after the `columns` of data, where every other row has false. */
export function byMarker(columns: number): Completeness {
  let reached = false;
  return {
    rowsOf(chunk, rows) {
      if (reached) throw new IncompleteStreamError();
      const vector = duckdb.data_chunk_get_vector(rawChunk(chunk), columns);
      reached = duckdb.vector_get_data(vector, rows)[rows - 1] === 1;
      return reached ? rows - 1 : rows;
    },
    reached: () => reached,
  };
}
