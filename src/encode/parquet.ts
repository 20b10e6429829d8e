// A Parquet file, sent row group by row group: its footer, and the pages of each column.
import { ByteWriter } from "hyparquet-writer";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { MOST_VALUES } from "./dictionary.js";
import { parquetColumn, type Gathered, type DictionaryIndexes } from "./parquet-column.js";
import { columnsOf, presenceBitmap } from "../arrow-data.js";
import { NOTHING, type Encoder, type Head } from "./types.js";
import type { ColumnType } from "../catalog/types.js";

/** Rows of a row group: enough for dictionaries to pay off, few enough to hold in memory for each client. */
const MOST_ROWS = MOST_VALUES;
const ENOUGH_BYTES = 16 << 20;

const MAGIC = Buffer.from("PAR1");

/**
 * Text and codes are UTF8, numbers DOUBLE and INT64, dates UTF8 (`YYYYMMDD`) or DATE. The file's metadata contain entity
 * and version.
 */
export function parquetEncoder(head: Head): Encoder {
  const columns = head.columns.map(({ type }) => parquetColumn(type, head));
  const physical = head.columns.map(({ type }) => (type === "date" && head.dates === "date" ? DATE : PHYSICAL[type]));
  const groups: FileMetaData["row_groups"] = [];
  let offset = MAGIC.length;
  let rows = 0;

  /** The gathered rows as one row group. */
  function flush(): Uint8Array[] {
    if (rows === 0) return [];
    const start = offset;
    const chunks = columns.map((column, i) => {
      const made = columnChunk(head.columns[i]!.name, physical[i]!.type, column.take(), rows, offset);
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
        ...head.columns.map(({ name }, i) => ({ name, repetition_type: "OPTIONAL" as const, ...physical[i]! })),
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
    return groups.length > 0 ? bytes.getBytes() : withTypedList(bytes.getBytes());
  }

  const gatheredBytes = (): number => columns.reduce((sum, column) => sum + column.byteLength(), 0);

  return {
    isReusable: false,
    isCostly: false,
    separator: NOTHING,
    begin: () => MAGIC,
    segment: () => ({
      *batch(batch) {
        const sources = columnsOf(batch);
        for (let from = 0, to = 0; from < batch.numRows; from = to) {
          to = Math.min(batch.numRows, from + MOST_ROWS - rows);
          for (const [i, column] of columns.entries()) column.add(sources[i]!, from, to);
          rows += to - from;
          if (rows === MOST_ROWS || gatheredBytes() >= ENOUGH_BYTES) yield Buffer.concat(flush());
        }
      },
      end: () => [],
    }),
    end: () => Buffer.concat([...flush(), footer()]),
  };
}

// The pages of a column of a row group, and its metadata for the footer.

type FileMetaData = Parameters<typeof writeMetadata>[1];
type ColumnChunk = FileMetaData["row_groups"][number]["columns"][number];
type PageHeader = Parameters<typeof writePageHeader>[1];

const PHYSICAL = {
  code: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  date: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  float64: { type: "DOUBLE" },
  int64: { type: "INT64" },
} as const satisfies Record<ColumnType, object>;

const DATE = { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } } as const;

type Physical = typeof DATE.type | (typeof PHYSICAL)[ColumnType]["type"];

/**
 * The pages of a column with this many rows that start at `offset` in the file: the dictionary, if there is one, then
 * all values. Pages are not compressed: that would take several times as long as all other work.
 */
function columnChunk(name: string, type: Physical, gathered: Gathered, rows: number, offset: number) {
  const { missing, plain, dictionary, bounds } = gathered;
  const encoding = dictionary ? "RLE_DICTIONARY" : "PLAIN";
  const dictionaryPage = dictionary
    ? page("DICTIONARY_PAGE", [plain], {
        dictionary_page_header: { num_values: dictionary.distinct, encoding: "PLAIN" },
      })
    : [];
  const levels = definitionLevels(missing, rows);
  const data = page("DATA_PAGE_V2", [levels, dictionary ? packed(dictionary) : plain], {
    data_page_header_v2: {
      num_values: rows,
      num_nulls: missing.length,
      num_rows: rows,
      encoding,
      definition_levels_byte_length: levels.length,
      repetition_levels_byte_length: 0,
      is_compressed: false,
    },
  });
  const length = lengthOf(dictionaryPage) + lengthOf(data);
  const chunk: ColumnChunk = {
    file_offset: BigInt(offset),
    meta_data: {
      type,
      encodings: dictionary ? ["PLAIN", "RLE", encoding] : ["PLAIN", "RLE"],
      path_in_schema: [name],
      codec: "UNCOMPRESSED",
      num_values: BigInt(rows),
      total_compressed_size: BigInt(length),
      total_uncompressed_size: BigInt(length),
      data_page_offset: BigInt(offset + lengthOf(dictionaryPage)),
      ...(dictionary ? { dictionary_page_offset: BigInt(offset) } : {}),
      statistics: {
        null_count: BigInt(missing.length),
        ...(bounds ? { min_value: bounds[0], max_value: bounds[1] } : {}),
      },
    },
  };
  return { parts: [...dictionaryPage, ...data], length, chunk };
}

/** In a footer without row groups: the number of rows, and the empty list of row groups, whose elements have no type. */
const NO_ROW_GROUPS = Uint8Array.of(0x16, 0, 0x19, 0);
const STRUCT = 0x0c;

/**
 * Gives the empty list of row groups the type of its elements, which hyparquet-writer leaves out. arrow-rs refuses the file
 * without it (apache/arrow-rs#8826).
 */
function withTypedList(footer: Uint8Array): Uint8Array {
  const at = Buffer.from(footer.buffer, footer.byteOffset, footer.length).lastIndexOf(NO_ROW_GROUPS);
  if (at >= 0) footer[at + 3] = STRUCT;
  return footer;
}

const lengthOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0);

function page(type: PageHeader["type"], body: readonly Uint8Array[], header: Partial<PageHeader>): Uint8Array[] {
  const size = lengthOf(body);
  const bytes = new ByteWriter();
  writePageHeader(bytes, { type, uncompressed_page_size: size, compressed_page_size: size, ...header });
  return [bytes.getBytes(), ...body];
}

/** A bit per row that says whether it has a value: a single run if none is missing, otherwise a bitmap. */
function definitionLevels(missing: readonly number[], rows: number): Uint8Array {
  const bytes = new ByteWriter();
  if (missing.length === 0) {
    bytes.appendVarInt(rows << 1);
    bytes.appendUint8(1);
  } else {
    const bitmap = presenceBitmap(rows, missing);
    bitmap[bitmap.length - 1]! &= 0xff >> (bitmap.length * 8 - rows);
    bytes.appendVarInt((bitmap.length << 1) | 1);
    bytes.appendBytes(bitmap);
  }
  return bytes.getBytes();
}

/** Indexes of one or two bytes each, after their width: as runs if equal values are adjacent, otherwise bit-packed. */
function packed({ indexes, distinct }: DictionaryIndexes): Uint8Array {
  const width = distinct <= 256 ? 1 : 2;
  const bytes = new ByteWriter();
  bytes.appendUint8(width * 8);
  let runs = 1;
  for (let i = 1; i < indexes.length; i++) if (indexes[i] !== indexes[i - 1]) runs++;
  if (runs * (3 + width) < indexes.length * width) {
    for (let from = 0, to = 0; from < indexes.length; from = to) {
      while (indexes[to] === indexes[from] && to < indexes.length) to++;
      bytes.appendVarInt((to - from) << 1);
      bytes.appendUint8(indexes[from]!);
      if (width === 2) bytes.appendUint8(indexes[from]! >> 8);
    }
  } else {
    const eights = Math.ceil(indexes.length / 8);
    const all = width === 1 ? new Uint8Array(eights * 8) : new Uint16Array(eights * 8);
    all.set(indexes);
    bytes.appendVarInt((eights << 1) | 1);
    bytes.appendBytes(new Uint8Array(all.buffer));
  }
  return bytes.getBytes();
}
