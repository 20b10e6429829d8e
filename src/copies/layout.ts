// The file of a serving copy: an Arrow IPC file, and before its footer what readers need to find rows and to trust them.
//
//   ARROW1, schema, record batches, end of stream | index, checksums, trailer | footer, ARROW1
//
// Arrow readers follow the footer, so they never see the part in the middle.
import { crc32 } from "node:zlib";
import type { Schema } from "apache-arrow";
import { FileBlock, Footer } from "apache-arrow/ipc/metadata/file";
import { MetadataVersion } from "apache-arrow/enum";
import type { Column } from "../catalog/types.js";
import type { Clustering } from "../lake/manifest.js";

/** Bytes whose checksum is known: the unit that a read can trust. */
export const BLOCK = 32_768;

/** The buffers of a column in a record batch, as byte positions in the file. */
export interface ColumnPlace {
  readonly nullCount: number;
  /** Validity bitmap (empty if no value is missing), offsets of text, values. */
  readonly buffers: readonly (readonly [from: number, to: number])[];
}

export interface BatchPlace {
  readonly firstRow: number;
  readonly rows: number;
  readonly columns: readonly ColumnPlace[];
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
  readonly batches: readonly BatchPlace[];
  /** In a file by date; empty in one by code, or without a main date. */
  readonly dates: readonly Run<number>[];
  /** In a file by code; empty in one by date. */
  readonly codes: readonly Run<string>[];
}

const MAGIC = Buffer.from("ARROW1");
/** The beginning of a file is aligned like every message. */
export const HEAD = Buffer.concat([MAGIC, Buffer.alloc(58)]);

const OWN_MAGIC = "TAPECOPY";
const REVISION = 1;
const CHECKSUM = 4;
/** Its own magic, revision, bytes of the index, number of blocks, and the checksum of index, checksums and these. */
const TRAILER = 8 + 4 + 4 + 4 + CHECKSUM;
/** The length of the footer, and the magic. */
const END = 4 + MAGIC.length;

/** What follows the end of the stream. `footerAt` says where record batches are: offset, metadata and body bytes. */
export function endOfFile(
  index: CopyIndex,
  checksums: readonly number[],
  schema: Schema,
  blocks: readonly { readonly at: number; readonly metadata: number; readonly body: number }[],
): Buffer {
  const text = Buffer.from(JSON.stringify(index));
  const own = Buffer.alloc(text.length + checksums.length * CHECKSUM + TRAILER);
  text.copy(own);
  for (const [i, checksum] of checksums.entries()) own.writeUInt32LE(checksum, text.length + i * CHECKSUM);
  const trailer = own.subarray(own.length - TRAILER);
  trailer.write(OWN_MAGIC);
  trailer.writeUInt32LE(REVISION, 8);
  trailer.writeUInt32LE(text.length, 12);
  trailer.writeUInt32LE(checksums.length, 16);
  trailer.writeUInt32LE(crc32(own.subarray(0, -CHECKSUM)), 20);
  const batches = blocks.map(({ at, metadata, body }) => new FileBlock(metadata, body, at));
  const footer = Footer.encode(new Footer(schema, MetadataVersion.V5, batches, []));
  const end = Buffer.alloc(END);
  end.writeInt32LE(footer.length);
  MAGIC.copy(end, 4);
  return Buffer.concat([own, footer, end]);
}

/** Reads `length` bytes at a position; fewer at the end of the file. */
type ReadAt = (at: number, length: number) => Promise<Buffer>;

export interface KnownCopy {
  readonly index: CopyIndex;
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
  const [textLength, blocks] = [trailer.readUInt32LE(12), trailer.readUInt32LE(16)];
  const length = textLength + blocks * CHECKSUM;
  if (length > trailerAt) return null;
  const own = await readAt(trailerAt - length, length + TRAILER);
  if (crc32(own.subarray(0, -CHECKSUM)) !== trailer.readUInt32LE(20)) return null;
  return {
    index: JSON.parse(own.toString("utf8", 0, textLength)) as CopyIndex,
    checksums: Uint32Array.from({ length: blocks }, (_, i) => own.readUInt32LE(textLength + i * CHECKSUM)),
  };
}
