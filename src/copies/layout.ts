// The file of a serving copy: an Arrow IPC file, and before its footer what readers need to find rows and to trust them.
//
//   ARROW1, schema, record batches, end of stream | index, batches, checksums, trailer | footer, ARROW1
//
// Arrow readers follow the footer, so they never see the part in the middle.
import { crc32 } from "node:zlib";
import type { Schema } from "apache-arrow";
import { FileBlock, Footer } from "apache-arrow/ipc/metadata/file";
import { MetadataVersion } from "apache-arrow/enum";
import type { Column } from "../catalog/types.js";
import { BUFFER_ALIGNMENT } from "../encode/types.js";
import type { Clustering } from "../lake/manifest.js";

/** Bytes whose checksum is known: the unit that a read can trust. */
export const BLOCK = 32_768;

export interface BatchPlace {
  readonly firstRow: number;
  readonly rows: number;
  /** Where its body starts in the file. */
  readonly at: number;
  /** Of each column. */
  readonly nullCounts: readonly number[];
  /** The bytes of the values of each column of text, in order. */
  readonly textLengths: readonly number[];
}

/** The buffers of a column in a record batch, as byte positions in the file. */
export interface ColumnPlace {
  readonly nullCount: number;
  /** Validity bitmap (empty if no value is missing), offsets of text, values. */
  readonly buffers: readonly (readonly [from: number, to: number])[];
}

/** Consecutive rows with the same key: a date in days since 1970, a code, or null. */
export type Run<K> = readonly [key: K | null, firstRow: number];

export interface CopyIndex {
  /** Of the Parquet file with the same rows. */
  readonly sha256: string;
  readonly clustering: Clustering;
  readonly rows: number;
  /** Bytes of the file that have checksums: all before this index. */
  readonly bytes: number;
  readonly columns: readonly Pick<Column, "name" | "type">[];
  /** The columns by which the rows are sorted; `date` is null if the entity has no main date. */
  readonly date: string | null;
  readonly code: string;
  /** In a file by date; empty in one by code, or without a main date. */
  readonly dates: readonly Run<number>[];
  /** In a file by code; empty in one by date. */
  readonly codes: readonly Run<string>[];
}

const MAGIC = Buffer.from("ARROW1");
/** The beginning of a file is aligned like every message. */
export const HEAD = Buffer.concat([MAGIC, Buffer.alloc(58)]);

const OWN_MAGIC = "TAPECOPY";
/** Increased when the layout changes. It is part of the names of copies. */
export const REVISION = 1;
const CHECKSUM = 4;
/** Its own magic, revision, bytes of the index and of the batches, number of blocks, and the checksum of all before it. */
const TRAILER = 8 + 4 + 4 + 4 + 4 + CHECKSUM;
/** The length of the footer, and the magic. */
const END = 4 + MAGIC.length;

/** Where the columns of a batch are: in its body, each buffer is aligned. */
export function columnsAt(
  { rows, at, nullCounts, textLengths }: BatchPlace,
  columns: CopyIndex["columns"],
): ColumnPlace[] {
  let next = at;
  let texts = 0;
  return columns.map(({ type }, i): ColumnPlace => {
    const nullCount = nullCounts[i]!;
    const bitmap = nullCount === 0 ? 0 : Math.ceil(rows / 8);
    const lengths = isText(type) ? [bitmap, 4 * (rows + 1), textLengths[texts++]!] : [bitmap, WIDTHS[type] * rows];
    const buffers = lengths.map((length) => {
      const from = next;
      next = align(from + length);
      return [from, from + length] as const;
    });
    return { nullCount, buffers };
  });
}

/** Bytes of a value. */
export const WIDTHS = { date: 4, float64: 8, int64: 8 } as const;

export const isText = (type: Column["type"]): type is "code" | "text" => type === "code" || type === "text";

const align = (length: number): number => Math.ceil(length / BUFFER_ALIGNMENT) * BUFFER_ALIGNMENT;

function encodeWords(words: readonly number[]): Buffer {
  const bytes = Buffer.alloc(words.length * 4);
  for (const [i, word] of words.entries()) bytes.writeUInt32LE(word, i * 4);
  return bytes;
}

const decodeWords = (bytes: Buffer): Uint32Array =>
  Uint32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readUInt32LE(i * 4));

/** Rows, position, null counts, lengths of text. */
const batchWords = (columns: CopyIndex["columns"]): number =>
  2 + columns.length + columns.filter(({ type }) => isText(type)).length;

const encodeBatches = (batches: readonly BatchPlace[]): Buffer =>
  encodeWords(
    batches.flatMap(({ rows, at, nullCounts, textLengths }) => [
      ...[rows, at / BUFFER_ALIGNMENT],
      ...nullCounts,
      ...textLengths,
    ]),
  );

/** The record batches of a copy, in order. They are decoded when they are needed: a large file has many. */
export interface BatchTable {
  readonly length: number;
  /** The number of the batch that has a row. */
  find(row: number): number;
  at(i: number): BatchPlace;
}

function decodeBatches(bytes: Buffer, columns: CopyIndex["columns"]): BatchTable {
  const width = batchWords(columns);
  const words = decodeWords(bytes);
  const length = words.length / width;
  const firstRows = new Float64Array(length);
  for (let i = 1; i < length; i++) firstRows[i] = firstRows[i - 1]! + words[(i - 1) * width]!;
  return {
    length,
    find(row) {
      let [low, high] = [0, length];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (firstRows[middle]! <= row) low = middle;
        else high = middle;
      }
      return low;
    },
    at(i) {
      const [rows, at, ...others] = words.subarray(i * width, (i + 1) * width) as unknown as [
        number,
        number,
        ...number[],
      ];
      const [nullCounts, textLengths] = [others.slice(0, columns.length), others.slice(columns.length)];
      return { firstRow: firstRows[i]!, rows, at: at * BUFFER_ALIGNMENT, nullCounts, textLengths };
    },
  };
}

/** What follows the end of the stream. `blocks` says where record batches are: offset, metadata and body bytes. */
export function endOfFile(
  index: CopyIndex,
  places: readonly BatchPlace[],
  checksums: readonly number[],
  schema: Schema,
  blocks: readonly { readonly at: number; readonly metadata: number; readonly body: number }[],
): Buffer {
  const text = Buffer.from(JSON.stringify(index));
  const trailer = Buffer.alloc(TRAILER);
  trailer.write(OWN_MAGIC);
  const batches = encodeBatches(places);
  for (const [i, word] of [REVISION, text.length, batches.length, checksums.length].entries()) {
    trailer.writeUInt32LE(word, 8 + 4 * i);
  }
  const own = Buffer.concat([text, batches, encodeWords(checksums), trailer]);
  own.writeUInt32LE(crc32(own.subarray(0, -CHECKSUM)), own.length - CHECKSUM);
  const footerBlocks = blocks.map(({ at, metadata, body }) => new FileBlock(metadata, body, at));
  const footer = Footer.encode(new Footer(schema, MetadataVersion.V5, footerBlocks, []));
  const end = Buffer.alloc(END);
  end.writeInt32LE(footer.length);
  MAGIC.copy(end, 4);
  return Buffer.concat([own, footer, end]);
}

/** Reads `length` bytes at a position; fewer at the end of the file. */
type ReadAt = (at: number, length: number) => Promise<Buffer>;

export interface KnownCopy {
  readonly index: CopyIndex;
  readonly batches: BatchTable;
  /** Of each block of the file, in order. */
  readonly checksums: Uint32Array;
}

/** Null if the file is no whole copy of this revision. */
export async function readEnd(size: number, readAt: ReadAt): Promise<KnownCopy | null> {
  if (size < HEAD.length + TRAILER + END) return null;
  const end = await readAt(size - END, END);
  if (!end.subarray(4).equals(MAGIC)) return null;
  const trailerAt = size - END - end.readInt32LE(0) - TRAILER;
  if (trailerAt < HEAD.length) return null;
  const trailer = await readAt(trailerAt, TRAILER);
  if (trailer.toString("latin1", 0, 8) !== OWN_MAGIC || trailer.readUInt32LE(8) !== REVISION) return null;
  const [textLength, batchesLength, blocks] = [12, 16, 20].map((at) => trailer.readUInt32LE(at)) as [
    number,
    number,
    number,
  ];
  const length = textLength + batchesLength + blocks * CHECKSUM;
  const bytes = trailerAt - length;
  if (bytes < HEAD.length || blocks !== Math.ceil(bytes / BLOCK)) return null;
  const own = await readAt(trailerAt - length, length + TRAILER);
  if (crc32(own.subarray(0, -CHECKSUM)) !== trailer.readUInt32LE(TRAILER - CHECKSUM)) return null;
  const index = JSON.parse(own.toString("utf8", 0, textLength)) as CopyIndex;
  const checksumsAt = textLength + batchesLength;
  if (index.bytes !== bytes || batchesLength % (4 * batchWords(index.columns)) !== 0) return null;
  return {
    index,
    batches: decodeBatches(own.subarray(textLength, checksumsAt), index.columns),
    checksums: decodeWords(own.subarray(checksumsAt, length)),
  };
}
