// Rows of several record batches in any order as one record batch.
import { type Data, type DataType, makeData, type RecordBatch, type Schema } from "apache-arrow";
import { type ColumnData, columnsOf, isPresent, presenceBitmap } from "../arrow-data.js";
import { batchOf } from "./rows.js";

/** Rows by their batch and their number in it. */
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
  const children = schema.fields.map((field, i): Data => {
    const sources = columns.map((one) => one[i]!);
    const missing = missingOf(sources, part);
    const present =
      missing.length === 0
        ? { nullCount: 0 }
        : { nullCount: missing.length, nullBitmap: presenceBitmap(to - from, missing) };
    const data = sources[0]?.valueOffsets === undefined ? gatherFixed(sources, part) : gatherText(sources, part);
    return makeData({ type: field.type as DataType, length: to - from, ...present, ...data } as Parameters<
      typeof makeData
    >[0]);
  });
  return batchOf(schema, to - from, children);
}

function missingOf(sources: readonly ColumnData[], { batch, row }: Places): readonly number[] {
  const missing: number[] = [];
  if (sources.every(({ nullCount }) => nullCount === 0)) return missing;
  for (let i = 0; i < row.length; i++) if (!isPresent(sources[batch[i]!]!, row[i]!)) missing.push(i);
  return missing;
}

type Fixed = Int32Array | Float64Array | BigInt64Array;

function gatherFixed(sources: readonly ColumnData[], { batch, row }: Places): { readonly data: Fixed } {
  const values = sources.map((source) => source.values as Float64Array);
  const Values = values[0]!.constructor as Float64ArrayConstructor;
  const data = new Values(row.length);
  for (let i = 0; i < data.length; i++) data[i] = values[batch[i]!]![row[i]!]!;
  return { data };
}

function gatherText(
  sources: readonly ColumnData[],
  { batch, row }: Places,
): { readonly data: Uint8Array; readonly valueOffsets: Int32Array } {
  const valueOffsets = new Int32Array(row.length + 1);
  for (let i = 0; i < row.length; i++) {
    const offsets = sources[batch[i]!]!.valueOffsets!;
    valueOffsets[i + 1] = valueOffsets[i]! + offsets[row[i]! + 1]! - offsets[row[i]!]!;
  }
  const data = new Uint8Array(valueOffsets[row.length]!);
  for (let i = 0; i < row.length; i++) {
    const { values, valueOffsets: offsets } = sources[batch[i]!]!;
    const end = offsets![row[i]! + 1]!;
    let to = valueOffsets[i]!;
    for (let at = offsets![row[i]!]!; at < end; at++) data[to++] = values[at] as number;
  }
  return { data, valueOffsets };
}
