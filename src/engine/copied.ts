// Rows from serving copies, and from DuckDB where there is no copy or it turns out to be damaged.
import type { RecordBatch } from "apache-arrow";
import type { EncodedRows } from "../copies/encoded.js";
import type { CopiedRows, ScanPart } from "../copies/store.js";
import { firstRows, type Scan } from "../query/scan.js";
import type { Running } from "./execute.js";
import { orInstead } from "./instead.js";

/** Starts a scan in DuckDB. */
type Start = (scan: Scan) => Promise<Running>;

/** Rows as they are or, if there is a form, encoded. */
export type Rows = RecordBatch | EncodedRows;

/** Reads the parts of a scan one after another, up to its limit. */
export function fromParts(parts: readonly ScanPart[], signal: AbortSignal, fromDuckdb: Start): Running<Rows> {
  const waiting = [...parts];
  let left = parts[0]!.scan.limit;
  let current: Running<Rows> | null = null;

  const start = async (part: ScanPart): Promise<Running<Rows>> => {
    const scan = left === null ? part.scan : firstRows(part.scan, left);
    return part.copied === null
      ? fromDuckdb(scan)
      : fromCopies(part.copied, left ?? Infinity, signal, () => fromDuckdb(scan));
  };
  return {
    async next() {
      for (;;) {
        if (current === null && (waiting.length === 0 || left === 0)) return null;
        current ??= await start(waiting.shift()!);
        const batch = await current.next();
        if (batch !== null) {
          if (left !== null) left -= batch.numRows;
          return batch;
        }
        await current.finish();
        current = null;
      }
    },
    finish: async () => closeAll(waiting),
    async close() {
      try {
        await current?.close();
      } finally {
        closeAll(waiting);
      }
    },
  };
}

export const closeAll = (parts: readonly ScanPart[]): void => parts.forEach(({ copied }) => copied?.close());

/** The first `most` rows. If a copy cannot be read, those that are still missing come from what `otherwise` starts. */
function fromCopies(
  { batches, close }: CopiedRows,
  most: number,
  signal: AbortSignal,
  otherwise: () => Promise<Running>,
): Running<Rows> {
  let rows = 0;
  const next = async (): Promise<Rows | null> => {
    if (rows === most) return null;
    const { done, value } = await batches.next();
    signal.throwIfAborted();
    if (done === true) return null;
    // What is encoded has no limit.
    const taken = "pieces" in value ? value.numRows : Math.min(most - rows, value.numRows);
    rows += taken;
    return "pieces" in value || taken === value.numRows ? value : value.slice(0, taken);
  };
  const end = async (): Promise<void> => {
    await batches.return();
    close();
  };
  return orInstead({ next, finish: end, close: end }, signal, otherwise);
}
