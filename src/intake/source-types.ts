// The shape of an open file: one relation with named columns, each of a kind.
import { OperatorError } from "../errors.js";
import type { FileLimits } from "./limits.js";

export const SOURCE_KINDS = [
  "text",
  "integer",
  "float32",
  "float64",
  "decimal",
  /** With more digits than DuckDB can hold: it would read other numbers. */
  "wide decimal",
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
  [/^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/, "integer"],
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
  /** The name in the file. */
  readonly name: string;
  /** Its value, an expression over the relation. */
  readonly sql: string;
  readonly kind: SourceKind;
}

interface TextSize {
  /** The bytes of text in a row, as SQL. */
  readonly bytes: string;
  /** Throws an OperatorError if the file holds too many. */
  requireFew(total: number): void;
}

/** A note below the table of a CSV file. */
export interface Footnote {
  readonly text: string;
  /** The index of its column. */
  readonly column: number;
}

export interface Source {
  readonly format: SourceFormat;
  readonly columns: readonly SourceColumn[];
  /** The relation to select from, in the order of the file. `values` are bound to its parameters. */
  readonly relation: string;
  /** The path of the file, or a list of paths. */
  readonly values: readonly (string | readonly string[])[];
  /** Files of the same shape can be read as one relation of their paths. Null: this one is read by itself. */
  readonly shape: string | null;
  /** How many bytes it unpacks to. */
  readonly bytes: number;
  /** Null if its text is known to be within the limits. */
  readonly text: TextSize | null;
  /** The 1-based row as an expression over the relation; null if only the order of reading gives it. */
  readonly row: string | null;
  /** The location of a 1-based row in the file, e.g. `row 3 (line 4)`. */
  locate(row: number): Promise<string>;
  /** Explains an error during the read of the relation in terms of the file. */
  explain(error: unknown): Promise<OperatorError>;
  readonly footnotes: readonly Footnote[];
  /** The last record has no line end: it may have been cut short. */
  readonly openEnd: boolean;
  readonly warnings: readonly string[];
}

/** The file behind a source. */
export interface SourceFile {
  /** The path for DuckDB, without glob characters and not like a URL. */
  readonly path: string;
  /** Its name in messages. */
  readonly label: string;
  readonly size: number;
  /** A folder for temporary files. */
  readonly scratch: string;
  readonly limits: FileLimits;
  /** The columns of Parquet files by their schema, as far as they are known. */
  readonly described: Map<string, readonly SourceColumn[]>;
}

// Detects the content of a file by its first bytes, since file names can be wrong.

const SIGNATURES: readonly (readonly [string, RegExp])[] = [
  ["Parquet", /^PAR[1E]/],
  ["gzip", /^\x1f\x8b/],
  ["a zip archive or an Excel workbook", /^PK\x03\x04/],
  ["an old Excel workbook", /^\xd0\xcf\x11\xe0/],
  ["zstd", /^\x28\xb5\x2f\xfd/],
  ["xz", /^\xfd7zXZ/],
  ["bzip2", /^BZh[1-9]/],
  ["Arrow IPC (Feather)", /^(ARROW1|FEA1|\xff\xff\xff\xff)/],
  ["ORC", /^ORC/],
  ["HDF5", /^\x89HDF/],
  ["SQLite", /^SQLite format 3/],
  ["a DuckDB database", /^.{8}DUCK/s],
  ["a Python pickle", /^\x80[\x02-\x05]/],
  ["PDF", /^%PDF/],
];

/** Kinds of text. A byte order mark and whitespace may precede them. */
const TEXT_SIGNATURES: readonly (readonly [string, RegExp])[] = [
  ["HTML or XML", /^<[!?a-z]/i],
  ["JSON", /^(\{\s*["}]|\[\s*[[{\]"])/],
];

/** The kind of content by the first bytes of a file; null if it is unknown, as for plain text. */
function contentOf(head: Buffer): string | null {
  const bytes = head.toString("latin1");
  const binary = SIGNATURES.find(([, pattern]) => pattern.test(bytes));
  if (binary) return binary[0];
  const start = head.toString("utf8").replace(/^\ufeff?\s*/, "");
  return TEXT_SIGNATURES.find(([, pattern]) => pattern.test(start))?.[0] ?? null;
}

/** Refuses a file whose content is not `allowed`; `expected` is its name in the message. */
export function requireContent(head: Buffer, expected: string, allowed: string | null, label: string): void {
  const content = contentOf(head);
  if (content === allowed) return;
  const holds = content === null ? "" : `: it holds ${content}`;
  throw new OperatorError(`${label} is not ${expected}${holds}`);
}
