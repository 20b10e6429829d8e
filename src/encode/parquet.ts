// A Parquet file, sent row group by row group: text in dictionaries, pages in Snappy.
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { RecordBatch } from "apache-arrow";
import type { Column, ColumnType } from "../catalog/types.js";
import { formatDays } from "../dates.js";
import { isPresent, sourcesOf, type Source } from "./source.js";
import { NOTHING, type Encoder, type Head } from "./types.js";

/** Rows of a row group: enough for dictionaries to pay, few enough to hold in memory for each client. */
const ROWS_PER_GROUP = 65_536;

const PHYSICAL = {
  code: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  date: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  float64: { type: "DOUBLE" },
  int64: { type: "INT64" },
} as const satisfies Record<ColumnType, object>;

type Value = string | number | bigint | null;

export function parquetEncoder(head: Head): Encoder {
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    createdBy: "tapehouse",
    schema: [
      { name: "root", num_children: head.columns.length },
      ...head.columns.map(({ name, type }) => ({ name, repetition_type: "OPTIONAL" as const, ...PHYSICAL[type] })),
    ],
    kvMetadata: [
      { key: "entity", value: head.entity },
      { key: "data_version", value: head.dataVersion },
    ],
  });
  const readers = head.columns.map(valueReader);
  let held: Value[][] = head.columns.map(() => []);

  const take = (): Uint8Array => {
    const written = bytes.getBytes().slice();
    bytes.index = 0;
    return written;
  };
  const writeGroup = (): void => {
    if (held[0]!.length === 0) return;
    const columnData = head.columns.map(({ name }, i) => ({ name, data: held[i]! }));
    void writer.write({ columnData, rowGroupSize: ROWS_PER_GROUP });
    held = head.columns.map(() => []);
  };

  const batch = (rows: RecordBatch): Uint8Array => {
    const sources = sourcesOf(rows);
    for (const [i, read] of readers.entries()) read(sources[i]!, rows.numRows, held[i]!);
    if (held[0]!.length < ROWS_PER_GROUP) return NOTHING;
    writeGroup();
    return take();
  };

  return {
    contentType: "application/vnd.apache.parquet",
    runsStandAlone: false,
    joint: NOTHING,
    begin: take,
    run: () => ({ batch, end: () => NOTHING }),
    end() {
      writeGroup();
      void writer.finish();
      return take();
    },
  };
}

/** Appends a column's values to a list; the type is decided once. */
function valueReader({ type }: Column): (source: Source, rows: number, to: Value[]) => void {
  const valueAt = VALUES[type]();
  return (source, rows, to) => {
    for (let row = 0; row < rows; row++) to.push(isPresent(source, row) ? valueAt(source, row) : null);
  };
}

/** Makes a function that reads one value which is there. */
const VALUES: Record<ColumnType, () => (source: Source, row: number) => Value> = {
  code: textReader,
  text: textReader,
  date: () => {
    const known = new Map<number, string>();
    return ({ values }, row) => {
      const days = (values as Int32Array)[row]!;
      let text = known.get(days);
      if (text === undefined) known.set(days, (text = formatDays(days)));
      return text;
    };
  },
  float64: () => (source, row) => {
    const value = (source.values as Float64Array)[row]!;
    return Number.isFinite(value) ? value : null;
  },
  int64: () => (source, row) => (source.values as BigInt64Array)[row]!,
};

function textReader(): (source: Source, row: number) => string {
  return ({ values, valueOffsets }, row) =>
    Buffer.from(
      values.buffer,
      values.byteOffset + valueOffsets![row]!,
      valueOffsets![row + 1]! - valueOffsets![row]!,
    ).toString();
}
