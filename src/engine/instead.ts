// Rows that are read again from elsewhere if reading them fails.
import type { RecordBatch } from "apache-arrow";
import type { Running } from "./execute.js";

/** Reads `first`. If that fails, what `otherwise` starts gives the rows that are still missing. Both have the same order. */
export function orInstead<B extends { readonly numRows: number }>(
  first: Running<B>,
  signal: AbortSignal,
  otherwise: () => Promise<Running>,
): Running<B | RecordBatch> {
  let rows = 0;
  let instead: Running | null = null;

  /** The first `rows` rows were read before. */
  const nextInstead = async (from: Running): Promise<RecordBatch | null> => {
    for (;;) {
      const batch = await from.next();
      if (batch === null || rows === 0) return batch;
      const skipped = Math.min(rows, batch.numRows);
      rows -= skipped;
      if (skipped < batch.numRows) return batch.slice(skipped);
    }
  };

  return {
    async next() {
      if (instead !== null) return nextInstead(instead);
      try {
        const batch = await first.next();
        rows += batch?.numRows ?? 0;
        return batch;
      } catch {
        signal.throwIfAborted();
        await first.close();
        instead = await otherwise();
        return nextInstead(instead);
      }
    },
    finish: () => (instead ?? first).finish(),
    close: () => (instead ?? first).close(),
  };
}
