// Rows as text. What sets JSON, NDJSON and CSV apart is data here; the kernel does the work, plain TypeScript where it cannot.
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import { kernelRows } from "./rows-kernel.js";
import { plainRows } from "./rows-plain.js";

export interface RowStyle {
  /** What stands before each value, by column. */
  readonly prefixes: readonly string[];
  /** What stands after each row. */
  readonly suffix: string;
  /** `json`: strings in quotes, missing is `null`. `csv`: quotes where needed, missing is nothing. */
  readonly quoting: "json" | "csv";
}

/** Makes the bytes of all rows of a batch. */
export type RowWriter = (batch: RecordBatch) => Uint8Array;

/** The fastest row writer that this process can have. */
export function rowWriter(columns: readonly Column[], style: RowStyle): RowWriter {
  return kernelRows(columns, style) ?? plainRows(columns, style);
}
