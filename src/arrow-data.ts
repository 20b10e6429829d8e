// The buffers of Arrow columns with their types, which the Arrow library leaves `any`, for whoever reads record batches.
import type { RecordBatch } from "apache-arrow";

/** Of one column of a record batch. */
export interface ColumnData {
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

/** The columns of a record batch. Computes what `nullCount` leaves open. */
export const columnsOf = (batch: RecordBatch): readonly ColumnData[] => batch.data.children;

/** Whether a row has a value. */
export function isPresent(
  { nullCount, nullBitmap, offset }: Pick<ColumnData, "nullCount" | "nullBitmap" | "offset">,
  row: number,
): boolean {
  const bit = offset + row;
  return nullCount === 0 || ((nullBitmap[bit >> 3]! >> (bit & 7)) & 1) === 1;
}

/** The bitmap of some rows, of which some are missing. */
export function presenceBitmap(rows: number, missing: readonly number[]): Uint8Array {
  const bitmap = new Uint8Array(Math.ceil(rows / 8)).fill(255);
  for (const row of missing) bitmap[row >> 3]! &= ~(1 << (row & 7));
  return bitmap;
}
