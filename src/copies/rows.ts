// Rows of a serving copy as record batches.
import { type Data, makeData, RecordBatch, type Schema, Struct } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import { ARROW_TYPES, schemaOf } from "../arrow-data.js";
import type { BatchPlace, ColumnPlace } from "./layout.js";
import type { ByteRange, Copy } from "./open.js";

/** A column of a read: one of the copy by position, or the number of the row in its file. */
export type Source = number | "row";

/** Rows of one record batch of a copy, from inclusive to exclusive, counted from its first row. */
export interface Slice {
  readonly batch: BatchPlace;
  readonly from: number;
  readonly to: number;
}

/** Cuts rows of a file into slices of its record batches. */
export function slicesOf({ index }: Copy, from: number, to: number): readonly Slice[] {
  return index.batches.flatMap((batch) => {
    const [first, last] = [Math.max(from, batch.firstRow), Math.min(to, batch.firstRow + batch.rows)];
    return first < last ? [{ batch, from: first - batch.firstRow, to: last - batch.firstRow }] : [];
  });
}

/** Reads slices as record batches with these columns. */
export function sliceReader(copy: Copy, columns: readonly Column[], sources: readonly Source[]) {
  const schema = schemaOf(columns);
  return async (slice: Slice): Promise<RecordBatch> => {
    const children = await readColumns(copy, columns, sources, slice);
    return batchOf(schema, slice.to - slice.from, children);
  };
}

export const batchOf = (schema: Schema, rows: number, children: readonly Data[]): RecordBatch =>
  new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: rows, nullCount: 0, children: [...children] }),
  );

async function readColumns(
  copy: Copy,
  columns: readonly Column[],
  sources: readonly Source[],
  slice: Slice,
): Promise<readonly Data[]> {
  const stored = [...new Set(sources.filter((source) => source !== "row"))];
  const typeOf = (source: number): Column["type"] => copy.index.columns[source]!.type;
  const ranges = stored.map((source) => rangesOf(slice, slice.batch.columns[source]!, typeOf(source)));
  const read = await copy.read(ranges.flat());
  let next = 0;
  const parts = new Map(stored.map((source, i) => [source, read.slice(next, (next += ranges[i]!.length))]));
  // The offsets tell where the bytes of a string are.
  const texts = stored.filter((source) => isTextType(typeOf(source)));
  const offsetsOf = new Map(texts.map((source) => [source, int32(parts.get(source)![1]!)]));
  const missing = texts.filter((source) => parts.get(source)!.length === 2);
  const bytes = await copy.read(
    missing.map((source): ByteRange => {
      const [at] = slice.batch.columns[source]!.buffers[2]!;
      const offsets = offsetsOf.get(source)!;
      return [at + offsets[0]!, at + offsets.at(-1)!];
    }),
  );
  const bytesOf = new Map(texts.map((source) => [source, parts.get(source)![2] ?? bytes[missing.indexOf(source)]!]));
  const rows = slice.to - slice.from;
  return sources.map((source, i) => {
    if (source === "row") return rowNumbers(slice);
    const [bitmap, values] = parts.get(source)!;
    const place = slice.batch.columns[source]!;
    const bit = slice.from & 7;
    const nullCount = place.nullCount === 0 ? 0 : rows - countSet(bitmap!, bit, rows);
    const present = nullCount === 0 ? { nullCount } : { nullCount, nullBitmap: bitmap!, offset: bit };
    const { type } = columns[i]!;
    const data = isTextType(type)
      ? { data: bytesOf.get(source)!, valueOffsets: rebased(offsetsOf.get(source)!) }
      : { data: typed(type, values!) };
    return makeData({ type: ARROW_TYPES[type], length: rows, ...present, ...data } as Parameters<typeof makeData>[0]);
  });
}

const isTextType = (type: string): boolean => type === "text" || type === "code";
const WIDTHS = { date: 4, float64: 8, int64: 8 } as const;

/** The bytes of a slice: of its bitmap, and of its values, or of the offsets of its text; all of a whole batch. */
function rangesOf(
  { batch, from, to }: Slice,
  { nullCount, buffers }: ColumnPlace,
  type: Column["type"],
): readonly ByteRange[] {
  const at = (buffer: number): number => buffers[buffer]![0];
  const bitmap: ByteRange = nullCount === 0 ? [0, 0] : [at(0) + (from >> 3), at(0) + ((to + 7) >> 3)];
  if (type === "text" || type === "code") {
    const offsets: ByteRange = [at(1) + from * 4, at(1) + (to + 1) * 4];
    return to - from === batch.rows ? [bitmap, offsets, buffers[2]!] : [bitmap, offsets];
  }
  const width = WIDTHS[type];
  return [bitmap, [at(1) + from * width, at(1) + to * width]];
}

const int32 = (bytes: Uint8Array): Int32Array => new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);

function typed(type: Column["type"], bytes: Uint8Array): Int32Array | Float64Array | BigInt64Array {
  if (type === "date") return int32(bytes);
  const Values = type === "float64" ? Float64Array : BigInt64Array;
  return new Values(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length / 8);
}

/** Offsets that start at 0. */
const rebased = (offsets: Int32Array): Int32Array => {
  const first = offsets[0]!;
  return first === 0 ? offsets : offsets.map((offset) => offset - first);
};

function rowNumbers({ batch, from, to }: Slice): Data {
  const first = batch.firstRow + from;
  const data = BigInt64Array.from({ length: to - from }, (_, i) => BigInt(first + i));
  return makeData({ type: ARROW_TYPES.int64, length: to - from, nullCount: 0, data });
}

/** Bits that are set among `rows` bits from `first` on. */
function countSet(bitmap: Uint8Array, first: number, rows: number): number {
  let count = 0;
  for (let bit = first; bit < first + rows; bit++) count += (bitmap[bit >> 3]! >> (bit & 7)) & 1;
  return count;
}
