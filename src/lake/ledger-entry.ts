// An entry of the ledger: what became of a drop, or which rows a command changed.

/**
 * `taken`: its rows were merged; `same`: its rows are served already; `refused`: none of its rows were merged;
 * `withdrawn`: its rows were merged and later taken back; `command`: no drop, but a command that changed rows.
 */
export type Outcome = "taken" | "same" | "refused" | "withdrawn" | "command";

/** What the rows of a file span: main dates, `YYYYMMDD`, and codes; null if they have none. */
export interface RowSpan {
  readonly first: string | null;
  readonly last: string | null;
  readonly firstCode: string | null;
  readonly lastCode: string | null;
}

/** Which rows a deletion removes: those that meet all conditions. */
export interface Selection {
  /** Column and value, or several values separated by commas, written as in a request. */
  readonly where: readonly (readonly [string, string])[];
  /** First and last main date; null if there is none. */
  readonly from: string | null;
  readonly to: string | null;
  /** All rows of the entity. Required if there is no condition. */
  readonly all: boolean;
}

/** A command that changed rows. Those of a deletion are known, so a repair can delete them again. */
export type Command =
  { readonly name: "import" | "revert" | "repair" } | { readonly name: "delete"; readonly selection: Selection };

export interface LedgerEntry {
  /** Relative to the inbox, with `/`; empty for a command. */
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970, with their fraction. */
  readonly mtime: number;
  /** Null if the content was not read. */
  readonly sha256: string | null;
  /** Null if the file is not in an entity's folder. */
  readonly entity: string | null;
  readonly outcome: Outcome;
  /** Rows of the file that were merged, without duplicates. */
  readonly rows: number;
  readonly duplicates: number;
  /** Columns of the file that were not used. */
  readonly ignored: readonly string[];
  /**
   * For all files that were imported together: rows added to the lake, and rows of the lake that were replaced. For a
   * command, those that it removed count as replaced.
   */
  readonly added: number;
  readonly replaced: number;
  /** Rows of these files that a later one of them replaced. */
  readonly superseded: number;
  /** First and last main date of all files that were imported together, `YYYYMMDD`. */
  readonly first: string | null;
  readonly last: string | null;
  /** For this file alone. Earlier releases did not record it. */
  readonly span?: RowSpan;
  readonly warnings: readonly string[];
  /** Why it was refused, not imported again, or withdrawn. */
  readonly reason: string | null;
  /** The version that it created, or that held its rows already; for a withdrawn drop, the one that took them back. */
  readonly data_version: string | null;
  /** For a withdrawn drop: the `data_version` of its entry as a taken one. */
  readonly withdrawn?: string;
  /** Only in the entry of a command, even if its rows were taken back. */
  readonly command?: Command;
  /** ISO 8601: when the entry was written. */
  readonly time: string;
}

/** An entry as the version that it describes holds it. */
export type VersionEntry = Omit<LedgerEntry, "data_version" | "withdrawn" | "time">;
