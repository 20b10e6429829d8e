// An Arrow IPC stream. Batches are gathered into record batches of thousands of rows, because readers pay for each one.
// They are not larger, because large buffers outlive the cheap garbage collections.
import { Field, Message, Schema } from "apache-arrow";
import { BufferRegion, FieldNode, RecordBatch } from "apache-arrow/ipc/metadata/message";
import { arrowColumn } from "./arrow-column.js";
import { columnsOf } from "../arrow-data.js";
import { NOTHING, type Encoder, type Head } from "./types.js";

const ENOUGH_ROWS = 16_384;
const ENOUGH_BYTES = 16 << 20;

/** Alignment of every message and of every buffer of a record batch, in bytes. */
const MESSAGE_ALIGNMENT = 8;
const BUFFER_ALIGNMENT = 64;

/**
 * Text, codes and dates (`YYYYMMDD`) are Utf8, numbers Float64 and Int64. The schema's metadata contain entity and
 * version.
 */
export function arrowEncoder(head: Head): Encoder {
  const columns = head.columns.map(arrowColumn);
  const fields = head.columns.map(({ name }, i) => new Field(name, columns[i]!.type, true));
  const schema = new Schema(
    fields,
    new Map([
      ["entity", head.entity],
      ["data_version", head.dataVersion],
    ]),
  );
  let rows = 0;

  /** The gathered rows as one record batch. */
  function flush(): Uint8Array {
    if (rows === 0) return NOTHING;
    const taken = columns.map((column) => column.take());
    const buffers = taken.flatMap((column) => column.buffers);
    let bodyLength = 0;
    const regions = buffers.map(({ length }) => {
      const region = new BufferRegion(bodyLength, length);
      bodyLength = align(bodyLength + length, BUFFER_ALIGNMENT);
      return region;
    });
    const nodes = taken.map(({ nullCount }) => new FieldNode(rows, nullCount));
    const metadata = new RecordBatch(rows, nodes, regions, null);
    const { bytes, body } = message(Message.from(metadata, bodyLength), bodyLength);
    for (const [i, buffer] of buffers.entries()) {
      const { offset, length } = regions[i]!;
      bytes.set(buffer, body + offset);
      bytes.fill(0, body + offset + length, body + align(offset + length, BUFFER_ALIGNMENT));
    }
    rows = 0;
    return bytes;
  }

  const gatheredBytes = () => columns.reduce((sum, column) => sum + column.byteLength(), 0);

  return {
    isReusable: true,
    separator: NOTHING,
    begin: () => message(Message.from(schema), 0).bytes,
    segment: () => ({
      batch(batch) {
        const sources = columnsOf(batch);
        for (const [i, column] of columns.entries()) column.add(sources[i]!, batch.numRows);
        rows += batch.numRows;
        return rows >= ENOUGH_ROWS || gatheredBytes() >= ENOUGH_BYTES ? flush() : NOTHING;
      },
      end: flush,
    }),
    end: () => END_OF_STREAM,
  };
}

const END_OF_STREAM = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);

/** A message with space for its body, which starts at `body`: a marker, the length of the metadata, the metadata. */
function message(content: Message, bodyLength: number): { readonly bytes: Buffer; readonly body: number } {
  const metadata = Message.encode(content);
  const body = align(8 + metadata.length, MESSAGE_ALIGNMENT);
  const bytes = Buffer.allocUnsafeSlow(body + bodyLength);
  bytes.writeInt32LE(-1, 0);
  bytes.writeInt32LE(body - 8, 4);
  bytes.set(metadata, 8);
  bytes.fill(0, 8 + metadata.length, body);
  return { bytes, body };
}

const align = (length: number, to: number): number => Math.ceil(length / to) * to;
