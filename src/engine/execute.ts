// Decides how scans are run: whether they are cut into ranges, whether a statement is streamed, how its end is proven,
// and in which order the rows of several statements come.
import type { RecordBatch } from "apache-arrow";
import type { DataFile } from "../lake/manifest.js";
import type { Scan } from "../query/scan.js";
import { type Statement, render } from "../query/sql.js";
import type { BatchReader } from "./arrow.js";
import { type Chunks, type StreamOn, byCount, byMarker, fetchChunks } from "./chunks.js";
import { endWork, withPrepared } from "./statements.js";

/** What a scan runs on. */
interface Executor extends StreamOn {
  /** The path of a file, for DuckDB. */
  readonly pathOf: (file: DataFile) => string;
}

/** Which rows the caller will read: all of them, or an unknown number. */
export type Wanted = "all" | "some";

/**
 * A statement of at most this many rows (four chunks) is run without streaming: all trading days of a stock, or a page.
 */
const ROWS_AT_ONCE = 8_192;

/** Runs a scan that yields `columns` columns. The connection is busy until `close`. */
export function execute(scan: Scan, columns: number, executor: Executor): Chunks {
  const { atMost, exact } = scan.bounds;
  const { pathOf } = executor;
  // What is compared is in memory at the same time, and a stream would hold it until its last row was taken.
  if (atMost <= ROWS_AT_ONCE || scan.select.what === "changes") return runAtOnce(render(scan, pathOf), executor);
  if (exact) return fetchChunks(render(scan, pathOf), byCount(atMost), executor);
  return fetchChunks(render(scan, pathOf, "marked"), byMarker(columns), executor);
}

/** Runs a statement whose rows all fit in memory. It is complete or fails, and occupies a thread once. */
export function runAtOnce(statement: Statement, { connection, whenAdmitted }: Omit<StreamOn, "ahead">): Chunks {
  const whole = whenAdmitted(() => withPrepared(connection, statement, (prepared) => prepared.run()));
  whole.catch(() => undefined); // errors are thrown at the await
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

/** Rows that are being read: those of one scan. */
export interface Running<B = RecordBatch> {
  /** The next batch, which is valid until the one after it is requested; null after the last one. */
  next(): Promise<B | null>;
  /** Called after the last batch. */
  finish(): Promise<void>;
  /** Ends it before its last batch. */
  close(): Promise<void>;
}

/** The chunks of a statement as batches. `finish` is called after the last one. */
export function runningChunks(chunks: Chunks, toBatch: BatchReader, finish: () => Promise<void>): Running {
  return {
    async next() {
      const next = await chunks.next();
      return next === null ? null : toBatch(next.chunk, next.rows);
    },
    finish,
    close: () => chunks.close(),
  };
}

/**
 * The rows of all scans that `start` starts, in order. If all rows are wanted, the next scan is started while the current
 * one is read. `start` returns null after the last.
 */
export function inTurn<B>(start: () => Promise<Running<B>> | null, wanted: Wanted): Running<B> {
  const running: Promise<Running<B>>[] = [];
  const startNext = (): void => {
    const next = start();
    if (next === null) return;
    next.catch(() => undefined); // errors are thrown at the await
    running.push(next);
  };
  return {
    async next() {
      for (;;) {
        if (running.length === 0) startNext();
        if (running.length === 0) return null;
        const current = await running[0]!;
        const batch = await current.next();
        if (batch !== null) {
          if (wanted === "all" && running.length === 1) startNext();
          return batch;
        }
        void running.shift();
        await current.finish();
      }
    },
    finish: async () => undefined,
    async close() {
      for (const one of await Promise.allSettled(running)) {
        if (one.status === "fulfilled") await one.value.close();
      }
    },
  };
}

/** Yields all batches. Throws what reading them throws, and then ends what still runs. */
export async function* batchesOf<B>(running: Running<B>): AsyncGenerator<B, void, undefined> {
  try {
    for (let batch = await running.next(); batch !== null; batch = await running.next()) yield batch;
    await running.finish();
  } finally {
    await running.close();
  }
}
