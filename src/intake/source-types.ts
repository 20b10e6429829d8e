// What a file looks like once it is open: one relation of named columns, each of a kind.
import type { CommandError } from "../errors.js";
import type { FileLimits } from "./limits.js";

export const SOURCE_KINDS = [
  "text",
  "whole",
  "float32",
  "float64",
  "decimal",
  "boolean",
  "date",
  "timestamp",
  "timestamptz",
  "time",
  "other",
] as const;

export type SourceKind = (typeof SOURCE_KINDS)[number];

const KINDS: readonly (readonly [RegExp, SourceKind])[] = [
  [/\[|^(STRUCT|MAP|UNION|BLOB|BIT|INTERVAL|VARIANT|GEOMETRY)/, "other"],
  [/^(VARCHAR|ENUM|UUID|JSON)/, "text"],
  [/^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/, "whole"],
  [/^FLOAT$/, "float32"],
  [/^DOUBLE$/, "float64"],
  [/^DECIMAL/, "decimal"],
  [/^BOOLEAN$/, "boolean"],
  [/^DATE$/, "date"],
  [/^TIMESTAMP WITH TIME ZONE$/, "timestamptz"],
  [/^TIMESTAMP(_S|_MS|_NS)?$/, "timestamp"],
  [/^TIME(_NS)?$/, "time"],
];

/** The kind of a DuckDB type, by its name. */
export function kindOf(duckType: string): SourceKind {
  return KINDS.find(([pattern]) => pattern.test(duckType))?.[1] ?? "other";
}

export type SourceFormat = "csv" | "parquet" | "json" | "ndjson";

export interface SourceColumn {
  /** As the file has it. */
  readonly name: string;
  /** Its value, an expression over the relation. */
  readonly sql: string;
  readonly kind: SourceKind;
}

/** A line of a CSV file that is no record: a note below the table. */
export interface Footnote {
  readonly text: string;
  /** The index of the column that it stands in. */
  readonly column: number;
}

export interface Source {
  readonly format: SourceFormat;
  readonly columns: readonly SourceColumn[];
  /** What to select from, in the order of the file; `values` are bound to its parameters. */
  readonly relation: string;
  readonly values: readonly string[];
  /** The 1-based row as an expression over the relation; null where only the order of reading tells it. */
  readonly row: string | null;
  /** Where a 1-based row stands in the file, e.g. `row 3 (line 4)`. */
  place(row: number): Promise<string>;
  /** A failure while the relation is read, told in the file's own terms. */
  explain(error: unknown): Promise<CommandError>;
  readonly footnotes: readonly Footnote[];
  /** The last record has no line end: it may have been cut short. */
  readonly openEnd: boolean;
  readonly warnings: readonly string[];
}

/** The file behind a source. */
export interface SourceFile {
  /** Where DuckDB reads it: no glob characters, nothing that looks like an address. */
  readonly path: string;
  /** What messages call it. */
  readonly label: string;
  readonly size: number;
  /** A folder for temporary files. */
  readonly scratch: string;
  readonly limits: FileLimits;
}
