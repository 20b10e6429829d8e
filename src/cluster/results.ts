// Rows as a cluster sends them, as record batches with the types of the API: those that the same statement has here.
import { DataType, makeData, RecordBatch, Struct, Type, type Data } from "apache-arrow";
import { ARROW_TYPES, schemaOf } from "../arrow-data.js";
import type { Column, ColumnType } from "../catalog/types.js";
import { ClusterError } from "./errors.js";

/** A column as its type; null if the cluster sent another one. Its first value is the first of each buffer. */
type Reader = (data: Data) => Data | null;

/** Converts batches whose columns are `columns`, by position. Throws ClusterError for a value that does not fit. */
export function batchConverter(columns: readonly Column[]): (batch: RecordBatch) => RecordBatch {
  const schema = schemaOf(columns);
  const type = new Struct(schema.fields);
  return ({ data: { children: sent }, numRows: length }) => {
    if (sent.length !== columns.length)
      throw new ClusterError("incomplete", `the cluster sent ${sent.length} of ${columns.length} columns`);
    const children = columns.map((column, i) => READERS[column.type](sent[i]!) ?? refuse(column, sent[i]!));
    return new RecordBatch(schema, makeData({ type, length, nullCount: 0, children }));
  };
}

const refuse = ({ name, type }: Column, sent: Data): never => {
  throw new ClusterError("incomplete", `the cluster sent ${Type[sent.typeId]} for ${name}, which is ${type}`);
};

const text: Reader = (data) => {
  if (DataType.isUtf8(data.type)) return typed("text", data);
  if (!DataType.isLargeUtf8(data.type)) return null;
  return typed("text", data, { valueOffsets: Int32Array.from(data.valueOffsets as Iterable<bigint>, Number) });
};

const READERS: Record<ColumnType, Reader> = {
  code: text,
  text,
  date: (data) => (data.values instanceof Int32Array && DataType.isDate(data.type) ? typed("date", data) : null),
  float64: (data) => (data.values instanceof Float64Array ? finite(data, data.values) : null),
  int64(data) {
    if (DataType.isInt(data.type) && data.values instanceof BigInt64Array) return typed("int64", data);
    if (DataType.isBool(data.type)) return typed("int64", data, { data: bitsOf(data) });
    return DataType.isDecimal(data.type) ? typed("int64", data, { data: lowHalvesOf(data) }) : null;
  },
};

interface Changed {
  readonly data?: BigInt64Array;
  readonly valueOffsets?: Int32Array;
  readonly nullCount?: number;
  readonly nullBitmap?: Uint8Array;
}

const typed = (
  type: ColumnType,
  { length, nullCount, nullBitmap, values, valueOffsets }: Data,
  changed: Changed = {},
): Data =>
  makeData({
    ...{
      type: ARROW_TYPES[type],
      length,
      nullCount,
      nullBitmap,
      data: values as unknown,
      valueOffsets: valueOffsets as unknown,
    },
    ...changed,
  } as Parameters<typeof makeData>[0]);

/** Formats have no number that is not finite, so it is a missing value. */
function finite(data: Data, values: Float64Array): Data {
  const { length, nullCount } = data;
  const isOdd = (value: number): boolean => !Number.isFinite(value);
  if (!values.subarray(0, length).some(isOdd)) return typed("float64", data);
  const nullBitmap = nullCount > 0 ? data.nullBitmap.slice() : new Uint8Array((length + 7) >> 3).fill(255);
  for (let row = 0; row < length; row++) if (isOdd(values[row]!)) nullBitmap[row >> 3]! &= ~(1 << (row & 7));
  return typed("float64", data, { nullBitmap, nullCount: UNKNOWN });
}

/** The library counts them. */
const UNKNOWN = -1;

const bitsOf = ({ values, length }: Data): BigInt64Array => {
  const bytes = values as Uint8Array;
  return BigInt64Array.from({ length }, (_, row) => BigInt((bytes[row >> 3]! >> (row & 7)) & 1));
};

/** Of sums of whole numbers, 128 bits each. Throws ClusterError for one that needs more than 64. */
function lowHalvesOf(data: Data): BigInt64Array {
  const { length } = data;
  const { scale, bitWidth } = data.type as { readonly scale?: number; readonly bitWidth?: number };
  if (scale !== 0 || bitWidth !== 128) throw new ClusterError("incomplete", "the cluster sent numbers with fractions");
  const halves = new BigInt64Array((data.values as Uint32Array).slice(0, length * 4).buffer);
  return BigInt64Array.from({ length }, (_, row) => {
    const [low, high] = [halves[row * 2]!, halves[row * 2 + 1]!];
    if (high === low >> 63n || !data.getValid(row)) return low;
    throw new ClusterError(
      "failed",
      "a whole number of the result has more than 64 bits",
      "NUMERIC_VALUE_OUT_OF_RANGE",
    );
  });
}
