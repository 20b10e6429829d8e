// An Arrow IPC stream whose buffers are compressed with zstd, each by itself, as the format defines it. They are compressed
// on other threads.
import { giveBuffer, takeBuffer } from "../buffers.js";
import { zstdFrame } from "../zstd.js";
import { arrowStream, type GatheredBatch } from "./arrow.js";
import type { GatheredBuffer } from "./arrow-columns.js";
import { batchHead, ZSTD, type BufferPlace } from "./arrow-messages.js";
import type { Encoder, Head } from "./types.js";

/** Buffers of a response that are compressed at the same time. */
const CONCURRENT_BUFFERS = 3;
/** Fewer bytes than this would not become fewer. */
const WORTHWHILE = 64;

/** The length before the bytes of a buffer, and what it is if they are not compressed. */
const LENGTH_BYTES = 8;
const NOT_COMPRESSED = -1n;
/** Of a buffer in the body, in bytes. Readers unpack it, so more is of no use. */
const ALIGNMENT = 8;

/** Only where Node has zstd. The rows and their record batches are those of `arrowEncoder`. */
export function compressedArrowEncoder(head: Head): Encoder<AsyncIterable<Uint8Array>> {
  const { frame, gathering } = arrowStream(head);
  return {
    ...frame,
    segment: () => ({ batch: (batch) => written(gathering.add(batch)), end: () => written(gathering.rest()) }),
  };
}

async function* written(batches: Iterable<GatheredBatch>): AsyncGenerator<Uint8Array> {
  for (const batch of batches) yield* await packedBatch(batch);
}

/** A record batch as a message: its head, and its body in one piece. */
async function packedBatch({ rows, columns }: GatheredBatch): Promise<readonly Uint8Array[]> {
  const buffers = columns.flatMap((column) => column.buffers);
  const frames: (Uint8Array | null)[] = buffers.map(() => null);
  let next = 0;
  const packOthers = async (): Promise<void> => {
    while (next < buffers.length) {
      const i = next++;
      frames[i] = await packed(buffers[i]!);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_BUFFERS }, packOthers));

  const contents = buffers.map(({ length, bytes }, i) => frames[i] ?? bytes.subarray(0, length));
  const places = contents.map(({ length }) => placeOf(length === 0 ? 0 : LENGTH_BYTES + length));
  const { head, bodyLength } = batchHead(rows, columns, places, { compression: ZSTD });
  const body = takeBuffer(bodyLength);
  let at = 0;
  for (const [i, content] of contents.entries()) {
    const { length, room } = places[i]!;
    if (length > 0) {
      body.writeBigInt64LE(frames[i] === null ? NOT_COMPRESSED : BigInt(buffers[i]!.length), at);
      body.set(content, at + LENGTH_BYTES);
      body.fill(0, at + length, at + room);
    }
    at += room;
  }
  for (const { bytes } of buffers) giveBuffer(bytes);
  return [head, body];
}

const placeOf = (length: number): BufferPlace => ({ length, room: Math.ceil(length / ALIGNMENT) * ALIGNMENT });

/** The compressed bytes of a buffer; null if they are not fewer. */
async function packed({ length, bytes }: GatheredBuffer): Promise<Uint8Array | null> {
  if (length < WORTHWHILE) return null;
  const frame = await zstdFrame(bytes.subarray(0, length));
  return frame.length < length ? frame : null;
}
