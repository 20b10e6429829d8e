// The messages of Arrow IPC: the schema, record batches, and the end of a stream.
import { Field, Message, Schema } from "apache-arrow";
import { BufferRegion, FieldNode, RecordBatch } from "apache-arrow/ipc/metadata/message";
import type { Column } from "../catalog/types.js";
import type { ArrowColumn, Gathered } from "./arrow-columns.js";

/** Alignment of every message and of every buffer of a record batch, in bytes. */
const MESSAGE_ALIGNMENT = 8;
const BUFFER_ALIGNMENT = 64;

export const END_OF_STREAM = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);

export function arrowSchema(
  columns: readonly Column[],
  gathered: readonly ArrowColumn[],
  metadata: Readonly<Record<string, string>>,
): Schema {
  const fields = columns.map(({ name }, i) => new Field(name, gathered[i]!.type, true));
  return new Schema(fields, new Map(Object.entries(metadata)));
}

export const schemaMessage = (schema: Schema): Uint8Array => message(Message.from(schema), 0).bytes;

/** A record batch as a message. */
export interface BatchMessage {
  readonly bytes: Uint8Array;
  /** Where its body starts in `bytes`. */
  readonly body: number;
  /** The buffers of all columns in order, relative to the body. */
  readonly regions: readonly { readonly offset: number; readonly length: number }[];
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
  const regions = buffers.map(({ length }) => {
    const region = new BufferRegion(bodyLength, length);
    bodyLength = align(bodyLength + length, BUFFER_ALIGNMENT);
    return region;
  });
  const nodes = columns.map(({ nullCount }) => new FieldNode(rows, nullCount));
  const metadata = new RecordBatch(rows, nodes, regions, null);
  const { bytes, body } = message(Message.from(metadata, bodyLength), bodyLength, alignment);
  for (const [i, buffer] of buffers.entries()) {
    const { offset, length } = regions[i]!;
    bytes.set(buffer, body + offset);
    bytes.fill(0, body + offset + length, body + align(offset + length, BUFFER_ALIGNMENT));
  }
  return { bytes, body, regions };
}

/** A message with space for its body, which starts at `body`: a marker, the length of the metadata, the metadata. */
function message(
  content: Message,
  bodyLength: number,
  alignment: number = MESSAGE_ALIGNMENT,
): { readonly bytes: Buffer; readonly body: number } {
  const metadata = Message.encode(content);
  const body = align(8 + metadata.length, alignment);
  const bytes = Buffer.allocUnsafeSlow(body + bodyLength);
  bytes.writeInt32LE(-1, 0);
  bytes.writeInt32LE(body - 8, 4);
  bytes.set(metadata, 8);
  bytes.fill(0, 8 + metadata.length, body);
  return { bytes, body };
}

const align = (length: number, to: number): number => Math.ceil(length / to) * to;
