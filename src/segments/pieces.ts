// Buffers of pieces that are read from disk and sent, again and again: a new one for each costs more than reading into it.

/** Bytes of a buffer. */
export const PIECE = 1 << 20;
/** Buffers that are held until they are needed. */
const MOST_FREE = 8;

const free: Buffer[] = [];
const lent = new WeakSet<ArrayBufferLike>();

/** A buffer with any content. One that is never given back is garbage like any other. */
export function lendBuffer(): Buffer {
  const buffer = free.pop() ?? Buffer.allocUnsafeSlow(PIECE);
  lent.add(buffer.buffer);
  return buffer;
}

/** Takes back the buffer of a piece that nobody looks at any more. Bytes that were not lent are left alone. */
export function giveBack({ buffer }: Uint8Array): void {
  if (lent.delete(buffer) && free.length < MOST_FREE) free.push(Buffer.from(buffer));
}
