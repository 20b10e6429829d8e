// A column of a record batch, gathered from several smaller batches.
import { DateDay, Float64, Int64, Utf8, type DataType } from "apache-arrow";
import { isPresent, presenceBitmap, type ColumnData } from "../arrow-data.js";
import type { Column, ColumnType } from "../catalog/types.js";
import { GrowingBytes } from "./growing-bytes.js";
import { requireDay, textOfDay } from "./rows-plain.js";
import { BUFFER_ALIGNMENT, NOTHING, type Head } from "./types.js";

export interface ArrowColumn {
  readonly type: DataType;
  /** Appends a copy of the values of a batch from row `from` to row `to`, exclusive. */
  add(source: ColumnData, from: number, to: number): void;
  /** Bytes gathered so far. */
  byteLength(): number;
  /** What was gathered, which belongs to the caller. */
  take(): Gathered;
}

/** A column of a record batch: its validity bitmap (empty if no value is missing), text offsets, values. */
export interface Gathered {
  readonly nullCount: number;
  readonly buffers: readonly GatheredBuffer[];
}

/** A buffer of a record batch. */
export interface GatheredBuffer {
  readonly length: number;
  /** With zeros after `length` bytes, up to the alignment of buffers. */
  readonly bytes: Uint8Array;
}

/** Bytes of a record batch are enough: larger ones take too much memory. */
export const ENOUGH_BYTES = 16 << 20;

/** Bytes of a date, also as text with its offset. */
const DATE_BYTES = 12;

/** An upper bound of the bytes of rows. */
const mostBytes = (sources: readonly ColumnData[], from: number, to: number): number =>
  sources.reduce((sum, { values, valueOffsets: offsets }) => {
    if (offsets !== undefined) return sum + offsets[to]! - offsets[from]! + 4 * (to - from);
    return sum + (to - from) * (values instanceof Int32Array ? DATE_BYTES : values.BYTES_PER_ELEMENT);
  }, 0);

/**
 * Where to stop adding rows from `from` on, at most at `to`. Rows are cut after the first one with which they have
 * ENOUGH_BYTES, however they arrive, so a range that may hold it is halved.
 */
export function rowsToAdd(
  columns: readonly ArrowColumn[],
  sources: readonly ColumnData[],
  from: number,
  to: number,
): number {
  const most = ENOUGH_BYTES - bytesOf(columns);
  let end = to;
  while (end - from > 1 && mostBytes(sources, from, end) >= most) end = from + ((end - from) >> 1);
  return end;
}

/** Bytes that are gathered. */
export const bytesOf = (columns: readonly ArrowColumn[]): number =>
  columns.reduce((sum, column) => sum + column.byteLength(), 0);

/** Takes the bytes out, with zeros at their end. */
function aligned(gathered: GrowingBytes): GatheredBuffer {
  const { length } = gathered;
  gathered.extend(-length & (BUFFER_ALIGNMENT - 1)).fill(0);
  return { length, bytes: gathered.handOver() };
}

const UTF8 = new Utf8();

const MAKERS: Record<ColumnType, (head: Pick<Head, "dates">) => ArrowColumn> = {
  code: () => textColumn(addText),
  text: () => textColumn(addText),
  date: ({ dates }) => (dates === "date" ? dayColumn() : textColumn(addDates)),
  float64: () => fixedColumn(new Float64(), 8),
  int64: () => fixedColumn(new Int64(), 8),
};

export function arrowColumn(column: Column, head: Pick<Head, "dates">): ArrowColumn {
  return MAKERS[column.type](head);
}

function dayColumn(): ArrowColumn {
  const column = fixedColumn(new DateDay(), 4);
  return {
    ...column,
    add(source, from, to) {
      requireDays(source, from, to);
      column.add(source, from, to);
    },
  };
}

/** `width` is the number of bytes of a value. */
function fixedColumn(type: DataType, width: number): ArrowColumn {
  const values = new GrowingBytes();
  const missing = new MissingRows();
  return {
    type,
    add(source, from, to) {
      const added = values.extend((to - from) * width);
      const { buffer, byteOffset } = source.values;
      added.set(new Uint8Array(buffer, byteOffset + from * width, (to - from) * width));
      // The slot of a missing value may contain anything, so it is cleared.
      missing.add(source, from, to, (row) => added.fill(0, (row - from) * width, (row - from + 1) * width));
    },
    byteLength: () => values.length,
    take() {
      const { nullCount, bitmap } = missing.take();
      return { nullCount, buffers: [bitmap, aligned(values)] };
    },
  };
}

/** Appends the bytes of as many rows as `ends` has, starting with `from`, and writes to it the end of each. */
type AddText = (source: ColumnData, from: number, bytes: GrowingBytes, ends: Int32Array) => void;

function textColumn(addBytes: AddText): ArrowColumn {
  const bytes = new GrowingBytes();
  const offsets = new GrowingBytes();
  const missing = new MissingRows();
  return {
    type: UTF8,
    add(source, from, to) {
      if (offsets.length === 0) offsets.extend(4).fill(0);
      const added = offsets.extend((to - from) * 4);
      addBytes(source, from, bytes, new Int32Array(added.buffer, added.byteOffset, to - from));
      missing.add(source, from, to);
    },
    byteLength: () => bytes.length + offsets.length,
    take() {
      const { nullCount, bitmap } = missing.take();
      return { nullCount, buffers: [bitmap, aligned(offsets), aligned(bytes)] };
    },
  };
}

const addText: AddText = ({ values, valueOffsets }, from, bytes, ends) => {
  const offsets = valueOffsets!;
  const start = offsets[from]!;
  const shift = bytes.length - start;
  for (let i = 0; i < ends.length; i++) ends[i] = offsets[from + i + 1]! + shift;
  bytes.add(new Uint8Array(values.buffer, values.byteOffset + start, offsets[from + ends.length]! - start));
};

/** Throws RangeError for a date outside the years 1 to 9999. */
function requireDays(source: ColumnData, from: number, to: number): void {
  const days = source.values as Int32Array;
  for (let row = from; row < to; row++) if (isPresent(source, row)) requireDay(days[row]!);
}

/** Eight digits as the bits of one number, which is never NaN: a date is then written at once. */
const digits = new Float64Array(1);
const digitBytes = Buffer.from(digits.buffer);

/** Appends eight digits for each date, nothing if it is missing. Mostly a row has the same date as the one before. */
const addDates: AddText = (source, from, bytes, ends) => {
  const days = source.values as Int32Array;
  const start = bytes.length;
  const added = bytes.extend(ends.length * 8);
  const dates = new Float64Array(added.buffer, added.byteOffset, ends.length);
  let day: number | undefined;
  let used = 0;
  for (let i = 0; i < ends.length; i++) {
    if (isPresent(source, from + i)) {
      if (days[from + i] !== day) {
        day = days[from + i]!;
        digitBytes.write(textOfDay(day), "latin1");
      }
      dates[used++] = digits[0]!;
    }
    ends[i] = start + used * 8;
  }
  bytes.shrink((ends.length - used) * 8);
};

/** Collects which rows are missing; `take` returns them as an Arrow bitmap. */
class MissingRows {
  private rows = 0;
  private missing: number[] = [];

  add(source: ColumnData, from: number, to: number, each?: (row: number) => void): void {
    if (source.nullCount > 0) {
      for (let row = from; row < to; row++) {
        if (isPresent(source, row)) continue;
        this.missing.push(this.rows + row - from);
        each?.(row);
      }
    }
    this.rows += to - from;
  }

  take(): { readonly nullCount: number; readonly bitmap: GatheredBuffer } {
    const { rows, missing } = this;
    this.rows = 0;
    this.missing = [];
    if (missing.length === 0) return { nullCount: 0, bitmap: { length: 0, bytes: NOTHING } };
    const bitmap = presenceBitmap(rows, missing);
    const bytes = new Uint8Array(Math.ceil(bitmap.length / BUFFER_ALIGNMENT) * BUFFER_ALIGNMENT);
    bytes.set(bitmap);
    return { nullCount: missing.length, bitmap: { length: bitmap.length, bytes } };
  }
}
