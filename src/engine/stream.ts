// The rows of several statements, one after another, as record batches.
import type { DuckDBConnection } from "@duckdb/node-api";
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import { batchReader } from "./arrow.js";
import type { Chunks } from "./chunks.js";
import type { Wanted } from "./execute.js";

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
    next.catch(() => undefined); // thrown where it is awaited
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
