// Types of encoders, which produce the bytes of a response body, and of the row writers that some of them use.
import type { RecordBatch } from "apache-arrow";
import type { ColumnData } from "../arrow-data.js";
import type { Format } from "../catalog/formats.js";
import type { Column } from "../catalog/types.js";

/** What is known before the first row. */
export interface Head {
  readonly entity: string;
  readonly dataVersion: string;
  /** The columns of every batch, by position. */
  readonly columns: readonly Column[];
  /** `date`: dates use the format's own type for dates. Otherwise they are text, `YYYYMMDD`. */
  readonly dates?: "date" | null;
}

/** What the bytes of rows depend on, except for the rows and columns. */
export interface Form {
  readonly format: Format;
  readonly dates: "date" | null;
}

/** What is known after the last row. */
export interface Summary {
  readonly count: number;
  readonly truncated: boolean;
  readonly nextCursor: string | null;
}

type Pieces = Iterable<Uint8Array>;

/** Bytes that are ready, or will be. */
export type SomePieces = Pieces | AsyncIterable<Uint8Array>;

/** Produces one response body: `begin`, then segments of rows with `separator` between them, then `end`. */
export interface Encoder<P extends SomePieces = Pieces> {
  /** Whether the bytes of a segment depend only on its rows and columns, so that they can be cached. */
  readonly isReusable: boolean;
  /** Whether encoding rows takes much longer than reading them, so that it is worth another thread. */
  readonly isCostly: boolean;
  /** The bytes between two segments that have rows. */
  readonly separator: Uint8Array;
  /** Bytes before the first row. */
  begin(): Uint8Array;
  /**
   * Starts a segment; the previous one must have ended. `isContinued`: its first rows were encoded elsewhere, which only
   * encoders with `isCostly` allow.
   */
  segment(isContinued?: boolean): SegmentEncoder<P>;
  /** Bytes after the last row. */
  end(summary: Summary): Uint8Array;
}

/** A segment is rows in order: `batch` for each record batch, then `end`. */
export interface SegmentEncoder<P extends SomePieces> {
  /**
   * Bytes of the rows of a batch, or as many as are ready. The pieces belong to the caller; the batch is not referenced
   * once all were taken. Throws RangeError for a date outside the years 1 to 9999.
   */
  batch(batch: RecordBatch): P;
  /** The remaining bytes. */
  end(): P;
}

export const NOTHING = new Uint8Array(0);

/** The differences between JSON, NDJSON and CSV, as data for one row writer. */
export interface RowStyle {
  /** The bytes before each value, by column. */
  readonly prefixes: readonly string[];
  /** The bytes after each row. */
  readonly suffix: string;
  /** `json`: strings in quotes. `csv`: quotes if needed. */
  readonly quoting: "json" | "csv";
  /** The bytes of a missing value: at most four. */
  readonly missing: "null" | "" | '""';
}

/** Alignment of every buffer of an Arrow record batch, in bytes. */
export const BUFFER_ALIGNMENT = 64;

/** Rows that a row writer writes at once; more do not fit in the processor's cache. */
export const WINDOW = 4096;

/** Returns the bytes of the rows from `from` (inclusive) to `to` (exclusive). The array belongs to the caller. */
export type RowWriter = (sources: readonly ColumnData[], from: number, to: number) => Uint8Array;
