// The buffers of a batch's columns with their types: the Arrow library leaves them `any`.
import type { RecordBatch } from "apache-arrow";

export interface Source {
  /** One value a row; for text, the bytes of all rows. */
  readonly values: Uint8Array | Int32Array | Float64Array | BigInt64Array;
  /** Text only: where in `values` each row starts, and the end of the last. */
  readonly valueOffsets: Int32Array | undefined;
  readonly nullCount: number;
  /** Least significant bit first; read only where `nullCount` is not 0. */
  readonly nullBitmap: Uint8Array;
  /** The bit of `nullBitmap` that belongs to row 0. The other buffers start at row 0. */
  readonly offset: number;
}

/** The columns of a batch. Computes what `nullCount` leaves open. */
export function sourcesOf(batch: RecordBatch): readonly Source[] {
  return batch.data.children;
}

/** Whether the value of a row is there. */
export function isPresent({ nullCount, nullBitmap, offset }: Source, row: number): boolean {
  return nullCount === 0 || ((nullBitmap[(offset + row) >> 3]! >> ((offset + row) & 7)) & 1) === 1;
}

/** The bitmap of so many rows, of which some are missing. */
export function presenceBitmap(rows: number, missing: readonly number[]): Uint8Array {
  const bitmap = new Uint8Array(Math.ceil(rows / 8)).fill(255);
  for (const row of missing) bitmap[row >> 3]! &= ~(1 << (row & 7));
  return bitmap;
}
