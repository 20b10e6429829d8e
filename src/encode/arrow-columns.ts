// A column of a record batch, gathered from several smaller batches.
import { DateDay, Float64, Int64, Utf8, type DataType } from "apache-arrow";
import { isPresent, presenceBitmap, type ColumnData } from "../arrow-data.js";
import type { Column, ColumnType } from "../catalog/types.js";
import { GrowingBytes } from "./growing-bytes.js";
import { rowWriter } from "./rows.js";
import { requireDay } from "./rows-plain.js";
import { NOTHING, type Head } from "./types.js";

export interface ArrowColumn {
  readonly type: DataType;
  /** Appends a copy of all `rows` values of a batch. */
  add(source: ColumnData, rows: number): void;
  /** Bytes gathered so far. */
  byteLength(): number;
  /** What was gathered, valid until the next `add`, which starts a new column. */
  take(): Gathered;
}

/** A column of a record batch: its validity bitmap (empty if no value is missing), text offsets, values. */
export interface Gathered {
  readonly nullCount: number;
  readonly buffers: readonly Uint8Array[];
}

const UTF8 = new Utf8();

const MAKERS: Record<ColumnType, (column: Column, head: Pick<Head, "dates">) => ArrowColumn> = {
  code: () => textColumn(addText),
  text: () => textColumn(addText),
  date: (column, { dates }) => (dates === "date" ? dayColumn() : textColumn(dateAdder(column))),
  float64: () => fixedColumn(new Float64(), 8),
  int64: () => fixedColumn(new Int64(), 8),
};

export function arrowColumn(column: Column, head: Pick<Head, "dates">): ArrowColumn {
  return MAKERS[column.type](column, head);
}

function dayColumn(): ArrowColumn {
  const column = fixedColumn(new DateDay(), 4);
  return {
    ...column,
    add(source, rows) {
      requireDays(source, rows);
      column.add(source, rows);
    },
  };
}

/** `width` is the number of bytes of a value. */
function fixedColumn(type: DataType, width: number): ArrowColumn {
  const values = new GrowingBytes();
  const missing = new MissingRows();
  return {
    type,
    add(source, rows) {
      const added = values.extend(rows * width);
      added.set(new Uint8Array(source.values.buffer, source.values.byteOffset, rows * width));
      // The slot of a missing value may contain anything, so it is cleared.
      missing.add(source, rows, (row) => added.fill(0, row * width, row * width + width));
    },
    byteLength: () => values.length,
    take() {
      const { nullCount, bitmap } = missing.take();
      return { nullCount, buffers: [bitmap, values.take()] };
    },
  };
}

/** Appends the bytes of all rows to `bytes`, and writes the end of each row to `ends`. */
type AddText = (source: ColumnData, bytes: GrowingBytes, ends: Int32Array) => void;

function textColumn(addBytes: AddText): ArrowColumn {
  const bytes = new GrowingBytes();
  const offsets = new GrowingBytes();
  const missing = new MissingRows();
  return {
    type: UTF8,
    add(source, rows) {
      if (offsets.length === 0) offsets.extend(4).fill(0);
      const added = offsets.extend(rows * 4);
      addBytes(source, bytes, new Int32Array(added.buffer, added.byteOffset, rows));
      missing.add(source, rows);
    },
    byteLength: () => bytes.length + offsets.length,
    take() {
      const { nullCount, bitmap } = missing.take();
      return { nullCount, buffers: [bitmap, offsets.take(), bytes.take()] };
    },
  };
}

const addText: AddText = ({ values, valueOffsets }, bytes, ends) => {
  const offsets = valueOffsets!;
  const start = offsets[0]!;
  const shift = bytes.length - start;
  for (let row = 0; row < ends.length; row++) ends[row] = offsets[row + 1]! + shift;
  bytes.add(new Uint8Array(values.buffer, values.byteOffset + start, offsets[ends.length]! - start));
};

/** Throws RangeError for a date outside the years 1 to 9999. */
function requireDays(source: ColumnData, rows: number): void {
  const days = source.values as Int32Array;
  for (let row = 0; row < rows; row++) if (isPresent(source, row)) requireDay(days[row]!);
}

/** Dates are written by the row writer: eight digits, or nothing if the value is missing. */
function dateAdder(column: Column): AddText {
  const write = rowWriter([column], { prefixes: [""], suffix: "", quoting: "csv", missing: "" });
  return (source, bytes, ends) => {
    const start = bytes.length;
    if (source.nullCount === 0) for (let row = 0; row < ends.length; row++) ends[row] = start + 8 * (row + 1);
    else {
      let end = start;
      for (let row = 0; row < ends.length; row++) ends[row] = end += isPresent(source, row) ? 8 : 0;
    }
    bytes.add(write([source], 0, ends.length));
  };
}

/** Collects which rows are missing; `take` returns them as an Arrow bitmap. */
class MissingRows {
  private rows = 0;
  private missing: number[] = [];

  add(source: ColumnData, rows: number, each?: (row: number) => void): void {
    if (source.nullCount > 0) {
      for (let row = 0; row < rows; row++) {
        if (isPresent(source, row)) continue;
        this.missing.push(this.rows + row);
        each?.(row);
      }
    }
    this.rows += rows;
  }

  take(): { readonly nullCount: number; readonly bitmap: Uint8Array } {
    const { rows, missing } = this;
    this.rows = 0;
    this.missing = [];
    if (missing.length === 0) return { nullCount: 0, bitmap: NOTHING };
    return { nullCount: missing.length, bitmap: presenceBitmap(rows, missing) };
  }
}
