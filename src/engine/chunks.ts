// The chunks of one statement, fetched on a thread of the pool while those before them are worked on. DuckDB's streaming
// results end normally when they fail midway, so every statement gets a last row that marks its end: without it, what was
// read is refused.
import { setImmediate } from "node:timers/promises";
import type { DuckDBConnection, DuckDBDataChunk } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";
import type { Column } from "../catalog/types.js";
import type { Statement } from "../query/statement.js";
import { rawChunk } from "./arrow.js";
import { toDuck } from "./values.js";

/** The stream ended before its last row: what was read so far is not the whole answer. */
export class IncompleteStreamError extends Error {
  constructor() {
    super("the result ended before its last row");
    this.name = "IncompleteStreamError";
  }
}

/** Does one piece of work that occupies a thread, when it is its turn. */
export type Turn = <T>(job: () => Promise<T>) => Promise<T>;

/** How many chunks are held for readers that have not asked for them yet. Each stream may always hold one. */
export interface Ahead {
  held: number;
  readonly most: number;
}

/** Chunks that one stream fetches before they are asked for: what it takes to work steadily on two sides. */
const MOST_OF_ONE = 64;

export interface Chunk {
  readonly chunk: DuckDBDataChunk;
  /** Rows of data: without the marker. */
  readonly rows: number;
}

export interface Chunks {
  /** The next chunk that has rows; null at the end. Throws IncompleteStreamError where the end was not reached. */
  next(): Promise<Chunk | null>;
  /** Ends the query where it still runs. Resolves when the connection is free. */
  close(): Promise<void>;
}

/** Runs a statement whose columns are `columns` in this order. The connection serves nothing else until `close`. */
export function fetchChunks(
  connection: DuckDBConnection,
  statement: Statement,
  columns: readonly Column[],
  turn: Turn,
  ahead: Ahead,
): Chunks {
  const ready: Chunk[] = [];
  let end: "none" | "reached" | { readonly error: unknown } = "none";
  let left = false;
  let tell = (): void => undefined;

  const hasRoom = (): boolean => ready.length === 0 || (ready.length < MOST_OF_ONE && ahead.held < ahead.most);
  const opened = turn(() => connection.stream(withEndMarker(statement.sql, columns), statement.values.map(toDuck)));
  const step = async (): Promise<DuckDBDataChunk | null> => {
    const result = await opened;
    return turn(async () => (left ? null : result.fetchChunk()));
  };

  let fetching: Promise<void> | null = null;
  async function fetch(): Promise<void> {
    try {
      while (!left && end === "none" && hasRoom()) {
        const chunk = await step();
        const rows = chunk?.rowCount ?? 0;
        if (!chunk || rows === 0) throw new IncompleteStreamError();
        const isLast = lastRowIsMarker(chunk, columns.length, rows);
        if (isLast && ((await step())?.rowCount ?? 0) > 0) throw new IncompleteStreamError();
        const dataRows = isLast ? rows - 1 : rows;
        if (dataRows > 0) {
          ready.push({ chunk, rows: dataRows });
          ahead.held++;
        }
        if (isLast) end = "reached";
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
      connection.interrupt();
      await fetching;
      ahead.held -= ready.length;
      ready.length = 0;
    },
  };
}

/** Adds the marker: one more column that is true in one more row, which comes last. */
function withEndMarker(sql: string, columns: readonly Column[]): string {
  const nulls = columns.map(() => "NULL").join(", ");
  return `SELECT *, false FROM (${sql}) UNION ALL SELECT ${nulls}, true`;
}

function lastRowIsMarker(chunk: DuckDBDataChunk, markerColumn: number, rows: number): boolean {
  const vector = duckdb.data_chunk_get_vector(rawChunk(chunk), markerColumn);
  return duckdb.vector_get_data(vector, rows)[rows - 1] === 1;
}
