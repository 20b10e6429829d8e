// A DuckDB data chunk as an Arrow record batch: its columns are copied into buffers that are reused for every chunk.
import duckdb from "@duckdb/node-bindings";
import type { DuckDBDataChunk } from "@duckdb/node-api";
import { makeData, RecordBatch, Struct, type Data, type DataType } from "apache-arrow";
import { ARROW_TYPES, schemaOf } from "../arrow-data.js";
import type { Column, ColumnType } from "../catalog/types.js";

/** The first `rows` rows of a chunk as a record batch. It is valid until the next call. */
export type BatchReader = (chunk: DuckDBDataChunk, rows: number) => RecordBatch;

/**
 * Creates a reader of chunks whose first columns are `columns`. It allocates nothing per chunk if no value is missing.
 */
export function batchReader(columns: readonly Column[]): BatchReader {
  const schema = schemaOf(columns);
  const type = new Struct(schema.fields);
  const readers = columns.map((column) => READERS[column.type]());
  let last: RecordBatch | undefined;
  return (chunk, rows) => {
    const handle = rawChunk(chunk);
    const children = readers.map((read, i) => read(duckdb.data_chunk_get_vector(handle, i), rows));
    if (last?.numRows === rows && children.every((child, i) => child === last!.data.children[i])) return last;
    return (last = new RecordBatch(schema, makeData({ type, length: rows, nullCount: 0, children })));
  };
}

/** The native handle behind the client's chunk class, whose own accessors create an object for every value. */
export function rawChunk(chunk: DuckDBDataChunk): duckdb.DataChunk {
  return (chunk as unknown as { chunk: duckdb.DataChunk }).chunk;
}

/** Copies the values of a vector. Returns the same object as before if only the contents of its buffers changed. */
type VectorReader = (vector: duckdb.Vector, rows: number) => Data;

const READERS: Record<ColumnType, () => VectorReader> = {
  code: () => reader(ARROW_TYPES.code, textStore()),
  text: () => reader(ARROW_TYPES.text, textStore()),
  date: () => reader(ARROW_TYPES.date, fixedStore(Int32Array)),
  float64: () => reader(ARROW_TYPES.float64, fixedStore(Float64Array)),
  int64: () => reader(ARROW_TYPES.int64, fixedStore(BigInt64Array)),
};

/** Copies the values of a vector into our buffers, which are replaced only if they are too small. */
type Store = (vector: duckdb.Vector, rows: number, present: Uint8Array | undefined) => Buffers;

interface Buffers {
  readonly data: Int32Array | Float64Array | BigInt64Array | Uint8Array;
  readonly valueOffsets?: Int32Array;
}

function reader(type: DataType, store: Store): VectorReader {
  let last: Data | undefined;
  return (vector, rows) => {
    const validity = duckdb.vector_get_validity(vector, Math.ceil(rows / 64) * 8) as Uint8Array | null;
    const nullCount = validity ? rows - countPresent(validity, rows) : 0;
    const nullBitmap = nullCount > 0 ? validity!.slice() : undefined;
    const buffers = store(vector, rows, nullBitmap);
    const isSame = last?.length === rows && last.values === buffers.data && last.valueOffsets === buffers.valueOffsets;
    if (isSame && nullCount === 0 && last!.nullCount === 0) return last!;
    return (last = makeData({ type, length: rows, nullCount, nullBitmap, ...buffers } as Parameters<
      typeof makeData
    >[0]));
  };
}

type FixedArray = Int32ArrayConstructor | Float64ArrayConstructor | BigInt64ArrayConstructor;

function fixedStore(Values: FixedArray): Store {
  let data = new Values(0);
  let bytes = new Uint8Array(0);
  return (vector, rows) => {
    if (rows > data.length) {
      data = new Values(capacityFor(rows, data.length));
      bytes = new Uint8Array(data.buffer);
    }
    bytes.set(duckdb.vector_get_data(vector, rows * Values.BYTES_PER_ELEMENT));
    return { data };
  };
}

const STRING_SLOT = 16;
const INLINE_BYTES = 12;

/** DuckDB's 16-byte string slots (length, then the bytes or a pointer to them) → Arrow offsets and bytes. */
function textStore(): Store {
  let valueOffsets = new Int32Array(0);
  let data = new Uint8Array(0);
  return (vector, rows, present) => {
    const slots = duckdb.vector_get_data(vector, rows * STRING_SLOT);
    const words = new Uint32Array(slots.buffer, slots.byteOffset, rows * 4);
    if (rows >= valueOffsets.length) valueOffsets = new Int32Array(capacityFor(rows, valueOffsets.length) + 1);
    let total = 0;
    for (let i = 0; i < rows; i++) {
      if (present === undefined || (present[i >> 3]! >> (i & 7)) & 1) total += words[i * 4]!;
      valueOffsets[i + 1] = total;
    }
    // The last short string is copied with all the bytes of its slot.
    if (total + INLINE_BYTES > data.length) data = new Uint8Array(capacityFor(total + INLINE_BYTES, data.length));
    for (let i = 0; i < rows; i++) {
      const to = valueOffsets[i]!;
      const length = valueOffsets[i + 1]! - to;
      if (length > INLINE_BYTES) {
        const pointer = slots.byteOffset + i * STRING_SLOT + 8;
        data.set(duckdb.get_data_from_pointer(slots.buffer as ArrayBuffer, pointer, length), to);
      } else if (length > 0) {
        putWord(words[i * 4 + 1]!, data, to);
        if (length > 4) putWord(words[i * 4 + 2]!, data, to + 4);
        if (length > 8) putWord(words[i * 4 + 3]!, data, to + 8);
      }
    }
    return { data, valueOffsets };
  };
}

/** Writes four bytes in little-endian order at any address: typed arrays only accept words at multiples of four. */
function putWord(word: number, data: Uint8Array, at: number): void {
  data[at] = word;
  data[at + 1] = word >>> 8;
  data[at + 2] = word >>> 16;
  data[at + 3] = word >>> 24;
}

/**
 * The first chunk gets exactly what it needs: it may be the only one. A later one gets enough for any further chunk.
 */
const capacityFor = (needed: number, before: number): number =>
  before === 0 ? needed : Math.max(needed, duckdb.vector_size(), before * 2);

function countPresent(bitmap: Uint8Array, rows: number): number {
  let count = 0;
  for (let i = 0; i < rows >> 3; i++) count += BITS_SET[bitmap[i]!]!;
  for (let i = (rows >> 3) << 3; i < rows; i++) count += (bitmap[i >> 3]! >> (i & 7)) & 1;
  return count;
}

const BITS_SET = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);
