// The buffers of Arrow columns with types: the Arrow library types them as `any`.
import { DateDay, type DataType, Field, Float64, Int64, type RecordBatch, Schema, Utf8 } from "apache-arrow";
import type { Column, ColumnType } from "./catalog/types.js";

export const ARROW_TYPES = {
  code: new Utf8(),
  text: new Utf8(),
  date: new DateDay(),
  float64: new Float64(),
  int64: new Int64(),
} as const satisfies Record<ColumnType, DataType>;

/** The Arrow schema of record batches with these columns. */
export function schemaOf(columns: readonly Column[]): Schema {
  return new Schema(columns.map((column) => new Field(column.name, ARROW_TYPES[column.type], true)));
}

/** The buffers of one column of a record batch. */
export interface ColumnData {
  /** One value per row; for text, the bytes of all rows. */
  readonly values: Uint8Array | Int32Array | Float64Array | BigInt64Array;
  /** Text only: where in `values` each row starts, and the end of the last one. */
  readonly valueOffsets: Int32Array | undefined;
  readonly nullCount: number;
  /** Least significant bit first; valid only if `nullCount` is not 0. */
  readonly nullBitmap: Uint8Array;
  /** The bit of `nullBitmap` that belongs to row 0. The other buffers start at row 0. */
  readonly offset: number;
}

/** The columns of a record batch. The library computes `nullCount` each time that it is asked. */
export const columnsOf = (batch: RecordBatch): readonly ColumnData[] =>
  batch.data.children.map(({ values, valueOffsets, nullCount, nullBitmap, offset }: ColumnData) => {
    return { values, valueOffsets, nullCount, nullBitmap, offset };
  });

/** Whether a row has a value. */
export function isPresent(
  { nullCount, nullBitmap, offset }: Pick<ColumnData, "nullCount" | "nullBitmap" | "offset">,
  row: number,
): boolean {
  const bit = offset + row;
  return nullCount === 0 || ((nullBitmap[bit >> 3]! >> (bit & 7)) & 1) === 1;
}

/** The validity bitmap of `rows` rows, given the missing ones. */
export function presenceBitmap(rows: number, missing: readonly number[]): Uint8Array {
  const bitmap = new Uint8Array(Math.ceil(rows / 8)).fill(255);
  for (const row of missing) bitmap[row >> 3]! &= ~(1 << (row & 7));
  return bitmap;
}
