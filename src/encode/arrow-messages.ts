// The messages of Arrow IPC: the schema, record batches, and the end of a stream.
import { CompressionType, Field, Message, Schema } from "apache-arrow";
import { BodyCompression, BufferRegion, FieldNode, RecordBatch } from "apache-arrow/ipc/metadata/message";
import type { Column } from "../catalog/types.js";
import type { ArrowColumn, Gathered } from "./arrow-columns.js";

/** Alignment of every message, in bytes. */
const MESSAGE_ALIGNMENT = 8;

export const END_OF_STREAM = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);

export function arrowSchema(
  columns: readonly Column[],
  gathered: readonly ArrowColumn[],
  metadata: Readonly<Record<string, string>>,
): Schema {
  const fields = columns.map(({ name }, i) => new Field(name, gathered[i]!.type, true));
  return new Schema(fields, new Map(Object.entries(metadata)));
}

/** With `alignment` bytes, so that the next message is aligned too. */
export const schemaMessage = (schema: Schema, alignment: 8 | 64 = MESSAGE_ALIGNMENT): Uint8Array =>
  head(Message.from(schema), alignment);

/** A record batch as a message: its head, and its body in pieces. */
export interface BatchMessage {
  readonly head: Uint8Array;
  readonly body: readonly Uint8Array[];
}

/**
 * `rows` gathered rows. Buffers are aligned to 64 bytes in the body, and the body to `alignment` bytes in the message: 64
 * only where messages themselves are aligned.
 */
export function batchMessage(
  rows: number,
  columns: readonly Gathered[],
  alignment: 8 | 64 = MESSAGE_ALIGNMENT,
): BatchMessage {
  const buffers = columns.flatMap((column) => column.buffers);
  const places = buffers.map(({ length, bytes }) => ({ length, room: bytes.length }));
  return { head: batchHead(rows, columns, places, { alignment }).head, body: buffers.map(({ bytes }) => bytes) };
}

/** The bytes of a buffer in a body, and those until the next one. */
export interface BufferPlace {
  readonly length: number;
  readonly room: number;
}

/** Each buffer is compressed with zstd. */
export const ZSTD = new BodyCompression(CompressionType.ZSTD);

/** The head of a record batch of which the buffers are at `places` in the body, one after the other. */
export function batchHead(
  rows: number,
  columns: readonly Pick<Gathered, "nullCount">[],
  places: readonly BufferPlace[],
  {
    alignment = MESSAGE_ALIGNMENT,
    compression = null,
  }: { readonly alignment?: 8 | 64; readonly compression?: BodyCompression | null },
): { readonly head: Uint8Array; readonly bodyLength: number } {
  let bodyLength = 0;
  const regions = places.map(({ length, room }) => {
    const region = new BufferRegion(bodyLength, length);
    bodyLength += room;
    return region;
  });
  const nodes = columns.map(({ nullCount }) => new FieldNode(rows, nullCount));
  const metadata = Message.from(new RecordBatch(rows, nodes, regions, compression), bodyLength);
  return { head: head(metadata, alignment), bodyLength };
}

/** What is before the body of a message: a marker, the length of the metadata, the metadata. */
function head(content: Message, alignment: number): Uint8Array {
  const metadata = Message.encode(content);
  const length = Math.ceil((8 + metadata.length) / alignment) * alignment;
  const bytes = Buffer.alloc(length);
  bytes.writeInt32LE(-1, 0);
  bytes.writeInt32LE(length - 8, 4);
  bytes.set(metadata, 8);
  return bytes;
}
