// What the planner hands to the engine: SQL with bound values, and the files that it opens.
import type { Column } from "../catalog/types.js";
import type { DataFile } from "../lake/manifest.js";

/** A value that SQL may be given: never spliced into text, always bound. */
export type SqlValue = string | number | bigint | boolean | null | readonly string[];

/** A SELECT; values are bound to $1, $2, … */
export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** How many rows a statement gives by what is known of its files. */
export interface RowCount {
  readonly atMost: number;
  /** It gives just so many. */
  readonly exact: boolean;
}

export interface CountedStatement extends Statement {
  /** Absent where nothing is known of it. */
  readonly count?: RowCount;
}

/** One statement of a read. Its files are checked before it runs; `$1` is the list of their paths. */
export interface ReadStep extends CountedStatement {
  readonly files: readonly DataFile[];
}

/** A read of much holds its place for long: it queues where a small one passes. */
export type Width = "small" | "wide";

/** Rows of two files' smallest parts that are read: a day, or a code, is less. */
const SMALL_AT_MOST = 250_000;

/** `rows` are those that have to be looked at. */
export const widthOf = (rows: number): Width => (rows > SMALL_AT_MOST ? "wide" : "small");

/** Statements that are run one after another and all give these columns. */
export interface Read {
  readonly columns: readonly Column[];
  readonly steps: readonly ReadStep[];
}
