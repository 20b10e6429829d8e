// Rows of record batches in any order as one record batch.
import { type Data, DataType, makeData, type RecordBatch, type Schema } from "apache-arrow";
import { type ColumnData, columnsOf, isPresent, presenceBitmap } from "../arrow-data.js";
import { batchOf } from "./rows.js";

/** Rows by their batch and their number in it. A row with a negative number has no values. */
export interface Places {
  readonly batch: Int32Array;
  readonly row: Int32Array;
}

/** The rows from `from` to `to` of the places. */
export function gather(
  schema: Schema,
  batches: readonly RecordBatch[],
  places: Places,
  from: number,
  to: number,
): RecordBatch {
  const part = { batch: places.batch.subarray(from, to), row: places.row.subarray(from, to) };
  const columns = batches.map(columnsOf);
  const children = schema.fields.map(({ type }, i): Data =>
    gatherColumn(
      type as DataType,
      columns.map((one) => one[i]!),
      part,
    ),
  );
  return batchOf(schema, to - from, children);
}

/** One column of the rows; `sources` has it for each batch. */
export function gatherColumn(type: DataType, sources: readonly ColumnData[], places: Places): Data {
  const length = places.row.length;
  const missing = missingOf(sources, places);
  const present =
    missing.length === 0
      ? { nullCount: 0 }
      : { nullCount: missing.length, nullBitmap: presenceBitmap(length, missing) };
  const data = DataType.isUtf8(type) ? gatherText(sources, places) : gatherFixed(type, sources, places);
  return makeData({ type, length, ...present, ...data } as Parameters<typeof makeData>[0]);
}

function missingOf(sources: readonly ColumnData[], { batch, row }: Places): readonly number[] {
  const missing: number[] = [];
  const areWhole = sources.every(({ nullCount }) => nullCount === 0);
  for (let i = 0; i < row.length; i++) {
    const at = row[i]!;
    if (at < 0 || (!areWhole && !isPresent(sources[batch[i]!]!, at))) missing.push(i);
  }
  return missing;
}

type Fixed = Int32Array | Float64Array | BigInt64Array;

function gatherFixed(type: DataType, sources: readonly ColumnData[], { batch, row }: Places): { readonly data: Fixed } {
  const values = sources.map((source) => source.values as Float64Array);
  const Values = type.ArrayType as Float64ArrayConstructor;
  const data = new Values(row.length);
  for (let i = 0; i < data.length; i++) {
    const at = row[i]!;
    if (at >= 0) data[i] = values[batch[i]!]![at]!;
  }
  return { data };
}

function gatherText(
  sources: readonly ColumnData[],
  { batch, row }: Places,
): { readonly data: Uint8Array; readonly valueOffsets: Int32Array } {
  const valueOffsets = new Int32Array(row.length + 1);
  for (let i = 0; i < row.length; i++) {
    const at = row[i]!;
    const offsets = at < 0 ? null : sources[batch[i]!]!.valueOffsets!;
    valueOffsets[i + 1] = valueOffsets[i]! + (offsets === null ? 0 : offsets[at + 1]! - offsets[at]!);
  }
  const data = new Uint8Array(valueOffsets[row.length]!);
  for (let i = 0; i < row.length; i++) {
    if (row[i]! < 0) continue;
    const { values, valueOffsets: offsets } = sources[batch[i]!]!;
    const end = offsets![row[i]! + 1]!;
    let to = valueOffsets[i]!;
    for (let at = offsets![row[i]!]!; at < end; at++) data[to++] = values[at] as number;
  }
  return { data, valueOffsets };
}
