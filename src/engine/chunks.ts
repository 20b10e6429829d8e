// The chunks of one statement, fetched on a thread of the pool while earlier chunks are processed. A streaming result
// of DuckDB that fails midway ends like a complete one, so its end must be proven: by the number of rows if it is
// known, otherwise by the completeness marker, which `query/sql.ts` adds as the last row.
import { setImmediate } from "node:timers/promises";
import type { DuckDBConnection, DuckDBDataChunk } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";
import { rawChunk } from "./arrow.js";
import { type BoundStatement, endWork, withPrepared } from "./statements.js";

/** The stream ended before its last row: what was read so far is incomplete. */
export class IncompleteStreamError extends Error {
  constructor() {
    super("the result ended before its last row");
    this.name = "IncompleteStreamError";
  }
}

/** Checks that one stream is complete. */
interface Completeness {
  /**
   * Rows of data in the next chunk, which has `rows` rows. Throws IncompleteStreamError if the chunk comes after the
   * end.
   */
  rowsOf(chunk: DuckDBDataChunk, rows: number): number;
  /** Whether every row was seen. */
  reached(): boolean;
}

/** Expects exactly `all` rows. */
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

/** Expects a last row with true in the column after the `columns` data columns; every other row has false there. */
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

/** Runs a job that occupies a thread as soon as it is admitted. */
export type WhenAdmitted = <T>(job: () => Promise<T>) => Promise<T>;

/** How many chunks are held that no reader has requested yet. Each stream may always hold one. */
export interface Ahead {
  held: number;
  readonly most: number;
}

/** Chunks that one stream fetches ahead: enough to keep both sides busy. */
const MOST_OF_ONE_STREAM = 64;

/** What a stream runs on. */
export interface StreamOn {
  readonly connection: DuckDBConnection;
  readonly whenAdmitted: WhenAdmitted;
  readonly ahead: Ahead;
}

interface Chunk {
  readonly chunk: DuckDBDataChunk;
  /** Rows of data; they come first in the chunk. */
  readonly rows: number;
}

export interface Chunks {
  /** The next chunk that has rows; null at the end. Throws IncompleteStreamError if the end was not reached. */
  next(): Promise<Chunk | null>;
  /** Ends the query if it still runs. Resolves when the connection is free. */
  close(): Promise<void>;
}

/** Runs a statement as a stream whose end `completeness` checks. The connection is busy until `close`. */
export function fetchChunks(
  statement: BoundStatement,
  completeness: Completeness,
  { connection, whenAdmitted, ahead }: StreamOn,
): Chunks {
  const ready: Chunk[] = [];
  let end: "none" | "reached" | { readonly error: unknown } = "none";
  let closed = false;
  let notify = (): void => undefined;

  const mayFetch = (): boolean => ready.length === 0 || (ready.length < MOST_OF_ONE_STREAM && ahead.held < ahead.most);
  const opened = whenAdmitted(() => withPrepared(connection, statement, (prepared) => prepared.stream()));
  const step = async (): Promise<DuckDBDataChunk | null> => {
    const result = await opened;
    return whenAdmitted(async () => (closed ? null : result.fetchChunk()));
  };

  let fetching: Promise<void> | null = null;
  async function fetch(): Promise<void> {
    try {
      while (!closed && end === "none" && mayFetch()) {
        const chunk = await step();
        const rows = chunk?.rowCount ?? 0;
        if (!chunk || rows === 0) end = completeness.reached() ? "reached" : { error: new IncompleteStreamError() };
        else {
          const dataRows = completeness.rowsOf(chunk, rows);
          if (dataRows > 0) {
            ready.push({ chunk, rows: dataRows });
            ahead.held++;
          }
        }
        notify();
      }
    } catch (error) {
      end = { error };
    }
    fetching = null;
    notify();
  }
  const fetchAhead = (): void => {
    if (end === "none" && !closed && mayFetch()) fetching ??= fetch();
  };
  fetchAhead();

  return {
    async next() {
      // Let the event loop deliver chunks that were fetched in the meantime, so that the next fetch can start.
      if (ready.length > 0) await setImmediate();
      while (ready.length === 0) {
        if (end === "reached") return null;
        if (end !== "none") throw end.error;
        await new Promise<void>((resolve) => (notify = resolve));
      }
      ahead.held--;
      const next = ready.shift()!;
      fetchAhead();
      return next;
    },
    async close() {
      closed = true;
      ahead.held -= ready.length;
      ready.length = 0;
      if (fetching === null) return;
      await endWork(connection, fetching);
      ahead.held -= ready.length;
      ready.length = 0;
    },
  };
}
