// The messages of Arrow IPC: the schema, record batches, and the end of a stream.
import { Field, Message, Schema } from "apache-arrow";
import { BufferRegion, FieldNode, RecordBatch } from "apache-arrow/ipc/metadata/message";
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
  let bodyLength = 0;
  const regions = buffers.map(({ length, bytes }) => {
    const region = new BufferRegion(bodyLength, length);
    bodyLength += bytes.length;
    return region;
  });
  const nodes = columns.map(({ nullCount }) => new FieldNode(rows, nullCount));
  const metadata = Message.from(new RecordBatch(rows, nodes, regions, null), bodyLength);
  return { head: head(metadata, alignment), body: buffers.map(({ bytes }) => bytes) };
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
