// The rows of several statements, one after another, as record batches.
import type { DuckDBConnection } from "@duckdb/node-api";
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import { batchReader } from "./arrow.js";
import type { Chunks } from "./chunks.js";

/** A statement that runs, and the connection that it runs on. */
export interface Running {
  readonly connection: DuckDBConnection;
  readonly chunks: Chunks;
}

/** Which statements run while the rows of an earlier one are read: none, or the one that comes next. */
export type Overlap = "none" | "next";

/**
 * Yields the rows of the statements that `start` starts, in their order, in batches of up to 2,048 rows with these
 * columns; a batch is valid until the next one is asked for. `start` gives null where there is none any more; `done` takes
 * each that was read to its end. Throws what they and reading throw; what still runs is ended then.
 */
export async function* streamBatches(
  start: () => Promise<Running> | null,
  done: (running: Running) => Promise<void>,
  columns: readonly Column[],
  overlap: Overlap,
): AsyncGenerator<RecordBatch, void, undefined> {
  const toBatch = batchReader(columns);
  const running: Promise<Running>[] = [];
  const startNext = (): void => {
    const next = start();
    if (next === null) return;
    next.catch(() => undefined); // told where it is awaited
    running.push(next);
  };
  try {
    startNext();
    while (running.length > 0) {
      const current = await running[0]!;
      for (let next = await current.chunks.next(); next !== null; next = await current.chunks.next()) {
        if (overlap === "next" && running.length === 1) startNext();
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
