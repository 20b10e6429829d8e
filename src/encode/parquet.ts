// A Parquet file, sent row group by row group.
import { ByteWriter } from "hyparquet-writer";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import { MOST_VALUES } from "./dictionary.js";
import { parquetColumn } from "./parquet-column.js";
import { columnChunk, PHYSICAL, type FileMetaData } from "./parquet-pages.js";
import { columnsOf } from "../arrow-data.js";
import { NOTHING, type Encoder, type Head } from "./types.js";

/** Rows of a row group: enough for dictionaries to pay off, few enough to hold in memory for each client. */
const MOST_ROWS = MOST_VALUES;
const ENOUGH_BYTES = 16 << 20;

const MAGIC = Buffer.from("PAR1");

/**
 * Text, codes and dates (`YYYYMMDD`) are UTF8, numbers DOUBLE and INT64. The file's metadata contain entity and
 * version.
 */
export function parquetEncoder(head: Head): Encoder {
  const columns = head.columns.map(({ type }) => parquetColumn(type));
  const groups: FileMetaData["row_groups"] = [];
  let offset = MAGIC.length;
  let rows = 0;

  /** The gathered rows as one row group. */
  function flush(): Uint8Array[] {
    if (rows === 0) return [];
    const start = offset;
    const chunks = columns.map((column, i) => {
      const made = columnChunk(head.columns[i]!, column.take(), rows, offset);
      offset += made.length;
      return made;
    });
    const size = BigInt(offset - start);
    groups.push({
      columns: chunks.map(({ chunk }) => chunk),
      ...{ num_rows: BigInt(rows), total_byte_size: size, total_compressed_size: size },
    });
    rows = 0;
    return chunks.flatMap(({ parts }) => parts);
  }

  /** The footer with the metadata. */
  function footer(): Uint8Array {
    const bytes = new ByteWriter();
    writeMetadata(bytes, {
      version: 2,
      created_by: "tapehouse",
      schema: [
        { name: "root", num_children: head.columns.length },
        ...head.columns.map(({ name, type }) => ({ name, repetition_type: "OPTIONAL" as const, ...PHYSICAL[type] })),
      ],
      num_rows: groups.reduce((sum, group) => sum + group.num_rows, 0n),
      row_groups: groups,
      key_value_metadata: [
        { key: "entity", value: head.entity },
        { key: "data_version", value: head.dataVersion },
      ],
      metadata_length: 0,
    });
    bytes.appendBytes(MAGIC);
    return bytes.getBytes();
  }

  const gatheredBytes = (): number => columns.reduce((sum, column) => sum + column.byteLength(), 0);

  return {
    isReusable: false,
    separator: NOTHING,
    begin: () => MAGIC,
    segment: () => ({
      batch(batch) {
        const sources = columnsOf(batch);
        const due: Uint8Array[] = [];
        for (let from = 0, to = 0; from < batch.numRows; from = to) {
          to = Math.min(batch.numRows, from + MOST_ROWS - rows);
          for (const [i, column] of columns.entries()) column.add(sources[i]!, from, to);
          rows += to - from;
          if (rows === MOST_ROWS || gatheredBytes() >= ENOUGH_BYTES) due.push(Buffer.concat(flush()));
        }
        return due.length === 1 ? due[0]! : Buffer.concat(due);
      },
      end: () => NOTHING,
    }),
    end: () => Buffer.concat([...flush(), footer()]),
  };
}
