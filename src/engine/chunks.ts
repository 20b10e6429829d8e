// The chunks of one statement, fetched on a thread of the pool while those before them are worked on. A streaming result of
// DuckDB that fails midway ends like a whole one, so what was read is refused unless its end is proven: by the number of rows
// where that is known, else by the completeness marker, which `query/sql.ts` adds as the last row.
import { setImmediate } from "node:timers/promises";
import type { DuckDBConnection, DuckDBDataChunk } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";
import type { Statement } from "../query/sql.js";
import { rawChunk } from "./arrow.js";
import { endWork, withPrepared } from "./statements.js";

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

/** Does a job that occupies a thread, as soon as it is admitted. */
export type WhenAdmitted = <T>(job: () => Promise<T>) => Promise<T>;

/** How many chunks are held for readers that have not asked for them yet. Each stream may always hold one. */
export interface Ahead {
  held: number;
  readonly most: number;
}

/** Chunks that one stream fetches before they are asked for: what it takes to work steadily on two sides. */
const MOST_OF_ONE = 64;

/** What a stream runs on. */
export interface StreamOn {
  readonly connection: DuckDBConnection;
  readonly whenAdmitted: WhenAdmitted;
  readonly ahead: Ahead;
}

interface Chunk {
  readonly chunk: DuckDBDataChunk;
  /** Rows of data, which come first. */
  readonly rows: number;
}

export interface Chunks {
  /** The next chunk that has rows; null at the end. Throws IncompleteStreamError where the end was not reached. */
  next(): Promise<Chunk | null>;
  /** Ends the query where it still runs. Resolves when the connection is free. */
  close(): Promise<void>;
}

/** Runs a statement as a stream that `completeness` proves. The connection serves nothing else until `close`. */
export function fetchChunks(
  statement: Statement,
  completeness: Completeness,
  { connection, whenAdmitted, ahead }: StreamOn,
): Chunks {
  const ready: Chunk[] = [];
  let end: "none" | "reached" | { readonly error: unknown } = "none";
  let left = false;
  let tell = (): void => undefined;

  const hasRoom = (): boolean => ready.length === 0 || (ready.length < MOST_OF_ONE && ahead.held < ahead.most);
  const opened = whenAdmitted(() => withPrepared(connection, statement, (prepared) => prepared.stream()));
  const step = async (): Promise<DuckDBDataChunk | null> => {
    const result = await opened;
    return whenAdmitted(async () => (left ? null : result.fetchChunk()));
  };

  let fetching: Promise<void> | null = null;
  async function fetch(): Promise<void> {
    try {
      while (!left && end === "none" && hasRoom()) {
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
        tell();
      }
    } catch (error) {
      end = { error };
    }
    fetching = null;
    tell();
  }
  const goOn = (): void => {
    if (end === "none" && !left && hasRoom()) fetching ??= fetch();
  };
  goOn();

  return {
    async next() {
      // What was fetched meanwhile is known only in the loop's next round; until then nothing more is fetched.
      if (ready.length > 0) await setImmediate();
      while (ready.length === 0) {
        if (end === "reached") return null;
        if (end !== "none") throw end.error;
        await new Promise<void>((resolve) => (tell = resolve));
      }
      ahead.held--;
      const next = ready.shift()!;
      goOn();
      return next;
    },
    async close() {
      left = true;
      ahead.held -= ready.length;
      ready.length = 0;
      if (fetching === null) return;
      await endWork(connection, fetching);
      ahead.held -= ready.length;
      ready.length = 0;
    },
  };
}
