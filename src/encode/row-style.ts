// What sets JSON, NDJSON and CSV apart, as data for one row writer.
import type { ColumnData } from "../arrow-data.js";

export interface RowStyle {
  /** What stands before each value, by column. */
  readonly prefixes: readonly string[];
  /** What stands after each row. */
  readonly suffix: string;
  /** `json`: strings in quotes, missing is `null`. `csv`: quotes where needed, missing is nothing. */
  readonly quoting: "json" | "csv";
}

/** Makes the bytes of the rows from `from` up to `to`, which is not among them. The array is the caller's own. */
export type RowWriter = (sources: readonly ColumnData[], from: number, to: number) => Uint8Array;
