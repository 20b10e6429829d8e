// What an encoder is: three functions that make the bytes of a response body.
import type { RecordBatch } from "apache-arrow";
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

/** Makes one response body: `begin`, then `batch` for each batch in order, then `end`. */
export interface Encoder {
  readonly contentType: string;
  /** Bytes before the first row. */
  begin(): Uint8Array;
  /**
   * Bytes of all rows of a batch. The returned array is the caller's own; nothing of the batch is kept.
   * Throws RangeError for a date outside the years 1 to 9999.
   */
  batch(batch: RecordBatch): Uint8Array;
  /** Bytes after the last row. */
  end(summary: Summary): Uint8Array;
}
