// Date and code of each row of a batch, compared without creating a string or an object per row.
import type { RecordBatch } from "apache-arrow";

/** Codes, concatenated. */
export interface Codes {
  readonly codes: Uint8Array;
  /** Where in `codes` each code starts, and the end of the last one. */
  readonly offsets: Int32Array;
}

export interface Keys extends Codes {
  readonly rows: number;
  /** Days since 1970-01-01. */
  readonly dates: Int32Array;
}

/** The keys in two adjacent columns: date, then code. */
export function keysOf(batch: RecordBatch, dateColumn: number): Keys {
  const [date, code] = [batch.data.children[dateColumn]!, batch.data.children[dateColumn + 1]!];
  return {
    rows: batch.numRows,
    dates: date.values as Int32Array,
    codes: code.values as Uint8Array,
    offsets: code.valueOffsets as Int32Array,
  };
}

/** Compares two rows by date and then by code, the order of the lake: negative, 0 or positive. */
export function compareKeys(a: Keys, i: number, b: Keys, j: number): number {
  return a.dates[i]! - b.dates[j]! || compareCodes(a, i, b, j);
}

/** Compares the bytes of two codes. */
export function compareCodes(a: Codes, i: number, b: Codes, j: number): number {
  let p = a.offsets[i]!;
  let q = b.offsets[j]!;
  const endOfA = a.offsets[i + 1]!;
  const endOfB = b.offsets[j + 1]!;
  while (p < endOfA && q < endOfB) {
    const difference = a.codes[p++]! - b.codes[q++]!;
    if (difference !== 0) return difference;
  }
  return endOfA - p - (endOfB - q);
}
