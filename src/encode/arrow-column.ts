// A column of an Arrow record batch that is gathered from several smaller batches.
import { Float64, Int64, makeData, Utf8, type Data, type DataType } from "apache-arrow";
import type { Column, ColumnType } from "../catalog/types.js";
import { GrowingBytes } from "./growing-bytes.js";
import { rowWriter } from "./rows.js";
import { isPresent, type Source } from "./source.js";

export interface ArrowColumn {
  readonly type: DataType;
  /** Appends a copy of all `rows` values of a batch. */
  add(source: Source, rows: number): void;
  /** Bytes gathered so far. */
  byteLength(): number;
  /** What was gathered, valid until the next `add`, which starts anew. */
  take(): Data;
}

const FLOAT64 = new Float64();
const INT64 = new Int64();
const UTF8 = new Utf8();

const MAKERS: Record<ColumnType, (column: Column) => ArrowColumn> = {
  code: () => textColumn(addText),
  text: () => textColumn(addText),
  date: (column) => textColumn(dateAdder(column)),
  float64: () =>
    numberColumn(FLOAT64, (shape, buffer) =>
      makeData({ type: FLOAT64, ...shape, data: new Float64Array(buffer, 0, shape.length) }),
    ),
  int64: () =>
    numberColumn(INT64, (shape, buffer) =>
      makeData({ type: INT64, ...shape, data: new BigInt64Array(buffer, 0, shape.length) }),
    ),
};

export function arrowColumn(column: Column): ArrowColumn {
  return MAKERS[column.type](column);
}

function numberColumn(type: DataType, make: (shape: Shape, buffer: ArrayBuffer) => Data): ArrowColumn {
  const values = new GrowingBytes();
  const missing = new MissingRows();
  return {
    type,
    add(source, rows) {
      const added = values.extend(rows * 8);
      added.set(new Uint8Array(source.values.buffer, source.values.byteOffset, rows * 8));
      // What lies in the slot of a missing value may be anything: it is nothing for a client to see.
      missing.add(source, rows, (row) => added.fill(0, row * 8, row * 8 + 8));
    },
    byteLength: () => values.length,
    take() {
      return make(missing.take(), values.take().buffer);
    },
  };
}

/** Appends the bytes of all rows to `bytes`, and writes to `ends` where in it each row ends. */
type AddText = (source: Source, bytes: GrowingBytes, ends: Int32Array) => void;

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
      const { buffer, length } = offsets.take();
      return makeData({
        type: UTF8,
        ...missing.take(),
        valueOffsets: new Int32Array(buffer, 0, length / 4),
        data: bytes.take(),
      });
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

/** Dates are written by the row writer: eight digits for each that is there, nothing for one that is missing. */
function dateAdder(column: Column): AddText {
  const write = rowWriter([column], { prefixes: [""], suffix: "", quoting: "csv" });
  return (source, bytes, ends) => {
    let end = bytes.length;
    for (let row = 0; row < ends.length; row++) {
      if (isPresent(source, row)) end += 8;
      ends[row] = end;
    }
    bytes.add(write([source], 0, ends.length));
  };
}

interface Shape {
  readonly length: number;
  readonly nullCount: number;
  readonly nullBitmap: Uint8Array | undefined;
}

/** Which of the rows gathered are missing, as an Arrow bitmap in the end. */
class MissingRows {
  private rows = 0;
  private missing: number[] = [];

  add(source: Source, rows: number, each?: (row: number) => void): void {
    if (source.nullCount > 0) {
      for (let row = 0; row < rows; row++) {
        if (isPresent(source, row)) continue;
        this.missing.push(this.rows + row);
        each?.(row);
      }
    }
    this.rows += rows;
  }

  take(): Shape {
    const { rows: length, missing } = this;
    this.rows = 0;
    this.missing = [];
    if (missing.length === 0) return { length, nullCount: 0, nullBitmap: undefined };
    const nullBitmap = new Uint8Array(Math.ceil(length / 64) * 8).fill(255);
    for (const row of missing) nullBitmap[row >> 3]! &= ~(1 << (row & 7));
    return { length, nullCount: missing.length, nullBitmap };
  }
}
