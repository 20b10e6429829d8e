// The pages of a column of a row group of a Parquet file, and its metadata for the footer.
import { ByteWriter } from "hyparquet-writer";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import type { writeMetadata } from "hyparquet-writer/src/metadata.js";
import type { Column, ColumnType } from "../catalog/types.js";
import type { Gathered, DictionaryIndexes } from "./parquet-column.js";
import { presenceBitmap } from "../arrow-data.js";

export type FileMetaData = Parameters<typeof writeMetadata>[1];
type ColumnChunk = FileMetaData["row_groups"][number]["columns"][number];
type PageHeader = Parameters<typeof writePageHeader>[1];

export const PHYSICAL = {
  code: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  date: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  float64: { type: "DOUBLE" },
  int64: { type: "INT64" },
} as const satisfies Record<ColumnType, object>;

/**
 * The pages of a column with this many rows that start at `offset` in the file: the dictionary, if there is one, then
 * all values. Pages are not compressed: that would take several times as long as all other work.
 */
export function columnChunk({ name, type }: Column, gathered: Gathered, rows: number, offset: number) {
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
      type: PHYSICAL[type].type,
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
