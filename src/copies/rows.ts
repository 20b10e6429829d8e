// Rows of a serving copy as record batches.
import { type Data, makeData, RecordBatch, type Schema, Struct } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import { ARROW_TYPES, schemaOf } from "../arrow-data.js";
import { type BatchPlace, type ColumnPlace, columnsAt, isText, WIDTHS } from "./layout.js";
import type { ByteRange, Copy } from "./open.js";
import type { Space } from "./space.js";

/** A column of a read: one of the copy by position, or the number of the row in its file. */
export type Source = number | "row";

/** Rows of one record batch of a copy, from inclusive to exclusive, counted from its first row. */
export interface Slice {
  readonly batch: BatchPlace;
  readonly from: number;
  readonly to: number;
}

/** Cuts rows of a file into slices of its record batches. */
export function slicesOf({ batches }: Copy, from: number, to: number): readonly Slice[] {
  const slices: Slice[] = [];
  for (let i = batches.find(from), start = from; i < batches.length && start < to; i++) {
    const batch = batches.at(i);
    const end = Math.min(to, batch.firstRow + batch.rows);
    if (start < end) slices.push({ batch, from: start - batch.firstRow, to: end - batch.firstRow });
    start = end;
  }
  return slices;
}

/** Reads slices as record batches with these columns, whose bytes are in `space`. */
export function sliceReader(copy: Copy, columns: readonly Column[], sources: readonly Source[]) {
  const schema = schemaOf(columns);
  return async (slice: Slice, space: Space): Promise<RecordBatch> => {
    const children = await readColumns(copy, columns, sources, slice, space);
    return batchOf(schema, slice.to - slice.from, children);
  };
}

export const batchOf = (schema: Schema, rows: number, children: readonly Data[]): RecordBatch =>
  new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: rows, nullCount: 0, children: [...children] }),
  );

/** A batch with the same rows and bytes of its own. */
export const copyOf = ({ schema, numRows, data }: RecordBatch): RecordBatch =>
  batchOf(
    schema,
    numRows,
    data.children.map(({ type, length, nullCount, nullBitmap, offset, values, valueOffsets }: Data) => {
      const present = nullCount === 0 ? { nullCount } : { nullCount, nullBitmap: nullBitmap.slice(), offset };
      const text = valueOffsets === undefined ? {} : { valueOffsets: (valueOffsets as Int32Array).slice() };
      return makeData({
        type,
        length,
        ...present,
        data: (values as Float64Array).slice(),
        ...text,
      } as unknown as Parameters<typeof makeData>[0]);
    }),
  );

/** Up to this many bytes, the text of a batch is read as a whole, together with its offsets. */
const SMALL_TEXT = 256 << 10;

async function readColumns(
  copy: Copy,
  columns: readonly Column[],
  sources: readonly Source[],
  slice: Slice,
  space: Space,
): Promise<readonly Data[]> {
  const stored = [...new Set(sources.filter((source) => source !== "row"))];
  const places = columnsAt(slice.batch, copy.index.columns);
  const typeOf = (source: number): Column["type"] => copy.index.columns[source]!.type;
  const ranges = stored.map((source) => rangesOf(slice, places[source]!, typeOf(source)));
  const read = await copy.read(ranges.flat(), space);
  let next = 0;
  const parts = new Map(stored.map((source, i) => [source, read.slice(next, (next += ranges[i]!.length))]));
  const texts = stored.filter((source) => isText(typeOf(source)));
  const offsetsOf = new Map(texts.map((source) => [source, int32(parts.get(source)![1]!)]));
  const missing = texts.filter((source) => parts.get(source)!.length === 2);
  const bytes = await copy.read(
    missing.map((source) => textRange(places[source]!, offsetsOf.get(source)!)),
    space,
  );
  const textOf = (source: number): TextData => {
    const offsets = offsetsOf.get(source)!;
    const all = parts.get(source)![2];
    return {
      data: all?.subarray(offsets[0], offsets.at(-1)) ?? bytes[missing.indexOf(source)]!,
      valueOffsets: rebased(offsets),
    };
  };
  const rows = slice.to - slice.from;
  return sources.map((source, i) => {
    if (source === "row") return rowNumbers(slice);
    const [bitmap, values] = parts.get(source)!;
    const { type } = columns[i]!;
    const data = isText(type) ? textOf(source) : { data: typed(type, values!) };
    return makeData({
      ...{ type: ARROW_TYPES[type], length: rows },
      ...presentIn(slice, places[source]!, bitmap!),
      ...data,
    } as Parameters<typeof makeData>[0]);
  });
}

interface TextData {
  readonly data: Uint8Array;
  readonly valueOffsets: Int32Array;
}

/** The bytes of a slice: of its bitmap, and of its values, or of the offsets of its text and, if it is small, all text. */
function rangesOf(
  { batch, from, to }: Slice,
  { nullCount, buffers }: ColumnPlace,
  type: Column["type"],
): readonly ByteRange[] {
  const at = (buffer: number): number => buffers[buffer]![0];
  const bitmap: ByteRange = nullCount === 0 ? [0, 0] : [at(0) + (from >> 3), at(0) + ((to + 7) >> 3)];
  if (isText(type)) {
    const offsets: ByteRange = [at(1) + from * 4, at(1) + (to + 1) * 4];
    const [start, end] = buffers[2]!;
    const isWhole = to - from === batch.rows || end - start <= SMALL_TEXT;
    return isWhole ? [bitmap, offsets, buffers[2]!] : [bitmap, offsets];
  }
  const width = WIDTHS[type];
  return [bitmap, [at(1) + from * width, at(1) + to * width]];
}

function textRange({ buffers }: ColumnPlace, offsets: Int32Array): ByteRange {
  const [at] = buffers[2]!;
  return [at + offsets[0]!, at + offsets.at(-1)!];
}

/** The validity of a slice, as Arrow has it. */
function presentIn(
  { batch, from, to }: Slice,
  { nullCount }: ColumnPlace,
  bitmap: Uint8Array,
): { readonly nullCount: number; readonly nullBitmap?: Uint8Array; readonly offset?: number } {
  if (nullCount === 0) return { nullCount };
  const bit = from & 7;
  const missing = to - from === batch.rows ? nullCount : to - from - countSet(bitmap, bit, to - from);
  return missing === 0 ? { nullCount: 0 } : { nullCount: missing, nullBitmap: bitmap, offset: bit };
}

const int32 = (bytes: Uint8Array): Int32Array => new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);

function typed(type: keyof typeof WIDTHS, bytes: Uint8Array): Int32Array | Float64Array | BigInt64Array {
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
