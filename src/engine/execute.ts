// How scans are run, decided here alone: cut into ranges or not, at once or as a stream, how the end is proven, and in which
// order the rows of several statements come.
import type { DuckDBConnection } from "@duckdb/node-api";
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import type { DataFile } from "../lake/manifest.js";
import { type Scan, rangesOf } from "../query/scan.js";
import { type Statement, render } from "../query/sql.js";
import { batchReader } from "./arrow.js";
import { type Chunks, type StreamOn, byCount, byMarker, fetchChunks } from "./chunks.js";
import { endWork, withPrepared } from "./statements.js";

/** What a scan is run on. */
interface Executor extends StreamOn {
  /** Where DuckDB finds a file. */
  readonly pathOf: (file: DataFile) => string;
}

/** Which rows will be taken: all of them, or some, of which nobody knows yet how many. */
export type Wanted = "all" | "some";

/**
 * The statements of a read. Where all rows are wanted, they are small enough for the next one to be decoded while the rows of
 * one are sent.
 */
export function* statementsOf(scans: Iterable<Scan>, wanted: Wanted): Generator<Scan, undefined> {
  for (const scan of scans) yield* wanted === "all" ? rangesOf(scan) : [scan];
}

/** A statement of no more rows is run in one go: all trading days of a stock, a page. Four chunks. */
const ROWS_AT_ONCE = 8_192;

/** Runs a scan that gives `columns` columns. The connection serves nothing else until `close`. */
export function execute(scan: Scan, columns: number, executor: Executor): Chunks {
  const { atMost, exact } = scan.bounds;
  const { pathOf } = executor;
  if (atMost <= ROWS_AT_ONCE) return runAtOnce(render(scan, pathOf), executor);
  if (exact) return fetchChunks(render(scan, pathOf), byCount(atMost), executor);
  return fetchChunks(render(scan, pathOf, "marked"), byMarker(columns), executor);
}

/**
 * Runs a statement that gives so few rows that all of them may lie in memory. It fails as a whole or is whole, and costs one
 * thread once.
 */
export function runAtOnce(statement: Statement, { connection, whenAdmitted }: Omit<StreamOn, "ahead">): Chunks {
  const whole = whenAdmitted(() => withPrepared(connection, statement, (prepared) => prepared.run()));
  whole.catch(() => undefined); // handled at the await
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

/** A statement that runs, and the connection that it runs on. */
export interface Running {
  readonly connection: DuckDBConnection;
  readonly chunks: Chunks;
}

/**
 * Yields the rows of the statements that `start` starts, in their order, in batches of up to 2,048 rows with these
 * columns; a batch is valid until the next one is asked for. Where all rows are wanted, the next statement runs while those of
 * one are read. `start` gives null where there is none any more; `done` takes each that was read to its end. Throws what
 * they and reading throw; what still runs is ended then.
 */
export async function* streamBatches(
  start: () => Promise<Running> | null,
  done: (running: Running) => Promise<void>,
  columns: readonly Column[],
  wanted: Wanted,
): AsyncGenerator<RecordBatch, void, undefined> {
  const toBatch = batchReader(columns);
  const running: Promise<Running>[] = [];
  const startNext = (): void => {
    const next = start();
    if (next === null) return;
    next.catch(() => undefined); // handled at the await
    running.push(next);
  };
  try {
    startNext();
    while (running.length > 0) {
      const current = await running[0]!;
      for (let next = await current.chunks.next(); next !== null; next = await current.chunks.next()) {
        if (wanted === "all" && running.length === 1) startNext();
        yield toBatch(next.chunk, next.rows);
      }
      await running.shift();
      await done(current);
      if (running.length === 0) startNext();
    }
  } finally {
    for (const one of await Promise.allSettled(running)) {
      if (one.status === "fulfilled") await one.value.chunks.close();
    }
  }
}
