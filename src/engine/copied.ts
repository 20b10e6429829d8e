// Rows from serving copies, and from DuckDB where a copy turns out to be damaged.
import type { RecordBatch } from "apache-arrow";
import { DamagedCopyError } from "../copies/open.js";
import type { Running } from "./execute.js";

/** Reads `batches`. If a copy is damaged, the rows that are still missing come from what `otherwise` starts. */
export function fromCopies(
  batches: AsyncGenerator<RecordBatch, void, undefined>,
  signal: AbortSignal,
  otherwise: () => Promise<Running>,
): Running {
  let rows = 0;
  let instead: Running | null = null;

  const nextCopied = async (): Promise<RecordBatch | null> => {
    const { done, value } = await batches.next();
    signal.throwIfAborted();
    if (done === true) return null;
    rows += value.numRows;
    return value;
  };
  /** The first `rows` rows were read from copies. */
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
        return await nextCopied();
      } catch (error) {
        if (!(error instanceof DamagedCopyError)) throw error;
        instead = await otherwise();
        return nextInstead(instead);
      }
    },
    finish: async () => instead?.finish(),
    async close() {
      await batches.return();
      await instead?.close();
    },
  };
}
