// What an encoder is: functions that make the bytes of a response body; and the row writer of those that write text.
import type { RecordBatch } from "apache-arrow";
import type { ColumnData } from "../arrow-data.js";
import type { Column } from "../catalog/types.js";

/** What is known before the first row. */
export interface Head {
  readonly entity: string;
  readonly dataVersion: string;
  /** The columns of every batch, by position. */
  readonly columns: readonly Column[];
}

/** What is known after the last row. */
export interface Summary {
  readonly count: number;
  readonly truncated: boolean;
  readonly nextCursor: string | null;
}

/** Makes one response body: `begin`, then segments of rows with `separator` between them, then `end`. */
export interface Encoder {
  /** Whether the bytes of a segment depend on its rows and columns alone: then they may be kept and used again. */
  readonly isReusable: boolean;
  /** What stands between two segments that hold rows. */
  readonly separator: Uint8Array;
  /** Bytes before the first row. */
  begin(): Uint8Array;
  /** Starts a segment; the one before it must have ended. */
  segment(): SegmentEncoder;
  /** Bytes after the last row. */
  end(summary: Summary): Uint8Array;
}

/** A segment is rows in order: `batch` for each record batch, then `end`. */
interface SegmentEncoder {
  /**
   * Bytes of the rows of a batch, or of those that are due. The returned array is the caller's own; nothing of the batch
   * is kept. Throws RangeError for a date outside the years 1 to 9999.
   */
  batch(batch: RecordBatch): Uint8Array;
  /** The bytes that are left. */
  end(): Uint8Array;
}

export const NOTHING = new Uint8Array(0);

/** What sets JSON, NDJSON and CSV apart, as data for one row writer. */
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
