// How a scan is run, decided here alone: cut into ranges or not, at once or as a stream, and how its end is proven.
import type { DataFile } from "../lake/manifest.js";
import { rangesOf, type Scan } from "../query/scan.js";
import { render, type Statement } from "../query/sql.js";
import { fetchChunks, type Chunks, type StreamOn } from "./chunks.js";
import { byCount, byMarker } from "./completeness.js";
import { endWork } from "./interrupt.js";
import { withPrepared } from "./prepared.js";

/** What a scan is run on. */
export interface Executor extends StreamOn {
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
  whole.catch(() => undefined); // thrown where it is awaited
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
