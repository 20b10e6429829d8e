// A DuckDB data chunk as an Arrow record batch: numbers and dates are views of DuckDB's memory, text is copied once.
import duckdb from "@duckdb/node-bindings";
import type { DuckDBDataChunk } from "@duckdb/node-api";
import {
  DateDay,
  Field,
  Float64,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  type Data,
  type DataType,
} from "apache-arrow";
import type { Column, ColumnType } from "../catalog/types.js";

const ARROW_TYPES = {
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

interface Vector {
  readonly chunk: DuckDBDataChunk;
  readonly handle: duckdb.Vector;
  readonly length: number;
  readonly nullCount: number;
  readonly nullBitmap: Uint8Array | undefined;
}

/**
 * The first `schema.fields.length` columns of a chunk. The batch's buffers are views of the chunk's memory; the chunk
 * lives as long as any of them.
 */
export function recordBatch(
  chunk: DuckDBDataChunk,
  schema: Schema,
  columns: readonly Column[],
  rows: number,
): RecordBatch {
  const handle = rawChunk(chunk);
  const children = columns.map((column, i) => CONVERTERS[column.type](readVector(chunk, handle, i, rows)));
  const data = makeData({ type: new Struct(schema.fields), length: rows, nullCount: 0, children });
  return new RecordBatch(schema, data);
}

/** The raw handle below the client's chunk class, whose own accessors make an object for every value. */
export function rawChunk(chunk: DuckDBDataChunk): duckdb.DataChunk {
  return (chunk as unknown as { chunk: duckdb.DataChunk }).chunk;
}

const CONVERTERS: Record<ColumnType, (vector: Vector) => Data> = {
  code: utf8,
  text: utf8,
  date: (v) => makeData({ type: ARROW_TYPES.date, ...shape(v), data: new Int32Array(...view(v, 4)) }),
  float64: (v) => makeData({ type: ARROW_TYPES.float64, ...shape(v), data: new Float64Array(...view(v, 8)) }),
  int64: (v) => makeData({ type: ARROW_TYPES.int64, ...shape(v), data: new BigInt64Array(...view(v, 8)) }),
};

const shape = ({ length, nullCount, nullBitmap }: Vector) => ({ length, nullCount, nullBitmap });

function view(vector: Vector, bytesPerValue: number): [ArrayBuffer, number, number] {
  const bytes = vectorBytes(vector, bytesPerValue);
  return [bytes.buffer as ArrayBuffer, bytes.byteOffset, vector.length];
}

const STRING_SLOT = 16;
const INLINE_BYTES = 12;

/** DuckDB's 16-byte string slots (length, then the bytes or a pointer to them) → Arrow offsets and bytes. */
function utf8(vector: Vector): Data {
  const { length, nullCount, nullBitmap } = vector;
  const slots = vectorBytes(vector, STRING_SLOT);
  const words = new Uint32Array(slots.buffer, slots.byteOffset, length * 4);
  const valueOffsets = new Int32Array(length + 1);
  let total = 0;
  for (let i = 0; i < length; i++) {
    if (nullBitmap === undefined || (nullBitmap[i >> 3]! >> (i & 7)) & 1) total += words[i * 4]!;
    valueOffsets[i + 1] = total;
  }
  const data = new Uint8Array(total);
  for (let i = 0; i < length; i++) {
    let to = valueOffsets[i]!;
    const end = valueOffsets[i + 1]!;
    if (end - to > INLINE_BYTES) {
      const pointer = slots.byteOffset + i * STRING_SLOT + 8;
      data.set(duckdb.get_data_from_pointer(slots.buffer as ArrayBuffer, pointer, end - to), to);
    } else {
      for (let from = i * STRING_SLOT + 4; to < end; from++, to++) data[to] = slots[from]!;
    }
  }
  return makeData({ type: ARROW_TYPES.text, length, nullCount, nullBitmap, valueOffsets, data });
}

/** Keeps a chunk's memory alive while any view of it is. */
const owners = new WeakMap<ArrayBufferLike, DuckDBDataChunk>();

function readVector(chunk: DuckDBDataChunk, handle: duckdb.DataChunk, index: number, length: number): Vector {
  const vector = duckdb.data_chunk_get_vector(handle, index);
  const bitmap = duckdb.vector_get_validity(vector, Math.ceil(length / 64) * 8) as Uint8Array | null;
  if (bitmap) owners.set(bitmap.buffer, chunk);
  const nullCount = bitmap ? length - countValid(bitmap, length) : 0;
  return { chunk, handle: vector, length, nullCount, nullBitmap: nullCount > 0 ? bitmap! : undefined };
}

function vectorBytes(vector: Vector, bytesPerValue: number): Uint8Array {
  const bytes = duckdb.vector_get_data(vector.handle, vector.length * bytesPerValue);
  owners.set(bytes.buffer, vector.chunk);
  return bytes;
}

function countValid(bitmap: Uint8Array, length: number): number {
  let count = 0;
  for (let i = 0; i < length >> 3; i++) count += BITS_SET[bitmap[i]!]!;
  for (let i = (length >> 3) << 3; i < length; i++) count += (bitmap[i >> 3]! >> (i & 7)) & 1;
  return count;
}

const BITS_SET = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);
