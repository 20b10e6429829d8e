// What a row of the table of settings holds.
import type { Share } from "./setting-shares.js";
import type { Parser } from "./setting-values.js";

/** Commands that take settings as options. */
export type Command = "serve" | "ingest" | "follow" | "import" | "copies" | "doctor" | "sql";

export interface Setting<T> {
  readonly fallback: string;
  readonly meaning: string;
  readonly parse: Parser<T>;
  /** The commands that have the option. */
  readonly of: readonly Command[];
  /** What a shell offers for the value. */
  readonly offers?: readonly string[] | "files" | "folders";
  /** The value of the option without one; absent: it needs one. */
  readonly bare?: string;
  /** Absent: every worker gets the whole. */
  readonly share?: Share<T>;
}

export const setting = <T>(row: Setting<T>): Setting<T> => row;
