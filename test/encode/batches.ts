// Record batches for the encoder tests, made from plain values as the engine would lay them out.
import { DateDay, Field, Float64, Int64, makeData, RecordBatch, Schema, Struct, Utf8, type Data } from "apache-arrow";
import type { Column, ColumnType } from "../../src/catalog/types.js";
import type { Encoder, Summary } from "../../src/encode/types.js";

export type Value = string | number | bigint | null;

export function column(name: string, type: ColumnType): Column {
  return { name, type, nullable: true };
}

/** A batch with one array of values a column; dates are days since 1970-01-01, int64 are bigints. */
export function batchOf(columns: readonly Column[], values: readonly (readonly Value[])[]): RecordBatch {
  const children = columns.map((c, i) => MAKERS[c.type](values[i]!));
  const schema = new Schema(columns.map((c, i) => new Field(c.name, children[i]!.type, true)));
  const length = values[0]!.length;
  return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length, nullCount: 0, children }));
}

const MAKERS: Record<ColumnType, (values: readonly Value[]) => Data> = {
  code: utf8,
  text: utf8,
  date: (values) =>
    makeData({ type: new DateDay(), ...shape(values), data: Int32Array.from(values, (v) => Number(v ?? 7)) }),
  float64: (values) =>
    makeData({ type: new Float64(), ...shape(values), data: Float64Array.from(values, (v) => Number(v ?? 7)) }),
  int64: (values) =>
    makeData({ type: new Int64(), ...shape(values), data: BigInt64Array.from(values, (v) => BigInt(v ?? 7)) }),
};

function utf8(values: readonly Value[]): Data {
  const parts = values.map((v) => Buffer.from(v === null ? "" : String(v)));
  const valueOffsets = new Int32Array(values.length + 1);
  for (const [i, part] of parts.entries()) valueOffsets[i + 1] = valueOffsets[i]! + part.length;
  return makeData({ type: new Utf8(), ...shape(values), valueOffsets, data: Buffer.concat(parts) });
}

/** Without a bitmap where nothing is missing. */
function shape(values: readonly Value[]) {
  const nullCount = values.filter((v) => v === null).length;
  if (nullCount === 0) return { length: values.length, nullCount, nullBitmap: undefined };
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 64) * 8);
  for (const [i, v] of values.entries()) if (v !== null) nullBitmap[i >> 3]! |= 1 << (i & 7);
  return { length: values.length, nullCount, nullBitmap };
}

/** The parts of a body of one segment: what stands before the rows, each batch, the end of the segment, the end. */
export function partsOf(encoder: Encoder, batches: readonly RecordBatch[], summary: Summary): Uint8Array[] {
  const begin = encoder.begin();
  const segment = encoder.segment();
  const encoded = batches.map((batch) => Buffer.concat([...segment.batch(batch)]));
  return [begin, ...encoded, Buffer.concat([...segment.end()]), encoder.end(summary)];
}
