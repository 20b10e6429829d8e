// An Arrow IPC stream. Batches are gathered into record batches of thousands of rows, because readers pay for each one.
// They are not larger, because large buffers outlive the cheap garbage collections.
import { DateDay, Field, Message, Schema, Float64, Int64, Utf8, type DataType } from "apache-arrow";
import { BufferRegion, FieldNode, RecordBatch } from "apache-arrow/ipc/metadata/message";
import { columnsOf, isPresent, presenceBitmap, type ColumnData } from "../arrow-data.js";
import { NOTHING, type Encoder, type Head } from "./types.js";
import type { Column, ColumnType } from "../catalog/types.js";
import { GrowingBytes } from "./growing-bytes.js";
import { rowWriter } from "./rows.js";
import { requireDay } from "./rows-plain.js";

const ENOUGH_ROWS = 16_384;
const ENOUGH_BYTES = 16 << 20;

/** Alignment of every message and of every buffer of a record batch, in bytes. */
const MESSAGE_ALIGNMENT = 8;
const BUFFER_ALIGNMENT = 64;

/**
 * Text and codes are Utf8, numbers Float64 and Int64, dates Utf8 (`YYYYMMDD`) or Date32. The schema's metadata contain
 * entity and version.
 */
export function arrowEncoder(head: Head): Encoder {
  const columns = head.columns.map((column) => arrowColumn(column, head));
  const fields = head.columns.map(({ name }, i) => new Field(name, columns[i]!.type, true));
  const schema = new Schema(
    fields,
    new Map([
      ["entity", head.entity],
      ["data_version", head.dataVersion],
    ]),
  );
  let rows = 0;

  /** The gathered rows as one record batch. */
  function flush(): Uint8Array {
    if (rows === 0) return NOTHING;
    const taken = columns.map((column) => column.take());
    const buffers = taken.flatMap((column) => column.buffers);
    let bodyLength = 0;
    const regions = buffers.map(({ length }) => {
      const region = new BufferRegion(bodyLength, length);
      bodyLength = align(bodyLength + length, BUFFER_ALIGNMENT);
      return region;
    });
    const nodes = taken.map(({ nullCount }) => new FieldNode(rows, nullCount));
    const metadata = new RecordBatch(rows, nodes, regions, null);
    const { bytes, body } = message(Message.from(metadata, bodyLength), bodyLength);
    for (const [i, buffer] of buffers.entries()) {
      const { offset, length } = regions[i]!;
      bytes.set(buffer, body + offset);
      bytes.fill(0, body + offset + length, body + align(offset + length, BUFFER_ALIGNMENT));
    }
    rows = 0;
    return bytes;
  }

  const gatheredBytes = () => columns.reduce((sum, column) => sum + column.byteLength(), 0);

  return {
    isReusable: true,
    separator: NOTHING,
    begin: () => message(Message.from(schema), 0).bytes,
    segment: () => ({
      batch(batch) {
        const sources = columnsOf(batch);
        for (const [i, column] of columns.entries()) column.add(sources[i]!, batch.numRows);
        rows += batch.numRows;
        return rows >= ENOUGH_ROWS || gatheredBytes() >= ENOUGH_BYTES ? flush() : NOTHING;
      },
      end: flush,
    }),
    end: () => END_OF_STREAM,
  };
}

const END_OF_STREAM = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);

/** A message with space for its body, which starts at `body`: a marker, the length of the metadata, the metadata. */
function message(content: Message, bodyLength: number): { readonly bytes: Buffer; readonly body: number } {
  const metadata = Message.encode(content);
  const body = align(8 + metadata.length, MESSAGE_ALIGNMENT);
  const bytes = Buffer.allocUnsafeSlow(body + bodyLength);
  bytes.writeInt32LE(-1, 0);
  bytes.writeInt32LE(body - 8, 4);
  bytes.set(metadata, 8);
  bytes.fill(0, 8 + metadata.length, body);
  return { bytes, body };
}

const align = (length: number, to: number): number => Math.ceil(length / to) * to;

// A column of a record batch, gathered from several smaller batches.

interface ArrowColumn {
  readonly type: DataType;
  /** Appends a copy of all `rows` values of a batch. */
  add(source: ColumnData, rows: number): void;
  /** Bytes gathered so far. */
  byteLength(): number;
  /** What was gathered, valid until the next `add`, which starts a new column. */
  take(): Gathered;
}

/** A column of a record batch: its validity bitmap (empty if no value is missing), text offsets, values. */
interface Gathered {
  readonly nullCount: number;
  readonly buffers: readonly Uint8Array[];
}

const UTF8 = new Utf8();

const MAKERS: Record<ColumnType, (column: Column, head: Head) => ArrowColumn> = {
  code: () => textColumn(addText),
  text: () => textColumn(addText),
  date: (column, { dates }) => (dates === "date" ? dayColumn() : textColumn(dateAdder(column))),
  float64: () => fixedColumn(new Float64(), 8),
  int64: () => fixedColumn(new Int64(), 8),
};

function arrowColumn(column: Column, head: Head): ArrowColumn {
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
