// Buffers that are used again: a new one costs as much as filling it, and is collected late. Whoever holds the bytes
// gives them back once, or passes them on. Bytes that were given back, and those of other buffers, are ignored.

/** Sizes are powers of two, from this one on. */
const SMALLEST = 12;
/** Bytes of unused buffers that a process keeps. */
const MOST_UNUSED = 64 << 20;

const unused = new Map<number, Buffer[]>();
let unusedBytes = 0;
/** The bytes that are in use, by identity, and their whole buffers. */
const lent = new WeakMap<Uint8Array, Buffer>();

/** Arbitrary bytes to be written. If they are not given back, they are garbage-collected. */
export function takeBuffer(bytes: number): Buffer {
  const size = 2 ** Math.max(SMALLEST, Math.ceil(Math.log2(bytes)));
  const known = unused.get(size)?.pop();
  if (known !== undefined) unusedBytes -= size;
  const buffer = known ?? Buffer.allocUnsafeSlow(size);
  const part = buffer.subarray(0, bytes);
  lent.set(part, buffer);
  return part;
}

/** A part of the bytes, which takes their place: only it can be given back. */
export function cutBuffer<T extends Uint8Array>(bytes: T, from: number, to: number): T {
  const part = bytes.subarray(from, to) as T;
  const whole = lent.get(bytes);
  if (whole === undefined) return part;
  lent.delete(bytes);
  lent.set(part, whole);
  return part;
}

/** Takes back bytes that are used no more. */
export function giveBuffer(bytes: Uint8Array): void {
  const whole = lent.get(bytes);
  if (whole === undefined) return;
  lent.delete(bytes);
  if (unusedBytes + whole.length > MOST_UNUSED) return;
  unusedBytes += whole.length;
  const others = unused.get(whole.length);
  if (others === undefined) unused.set(whole.length, [whole]);
  else others.push(whole);
}

/** Takes over bytes that another thread sent: they can be given back like any others. */
export function adoptBuffer(bytes: Uint8Array): Uint8Array {
  const { buffer } = bytes;
  const size = buffer.byteLength;
  if (size >= 2 ** SMALLEST && Number.isInteger(Math.log2(size))) lent.set(bytes, Buffer.from(buffer));
  return bytes;
}

/** The same bytes as the only ones of their buffer, which can be sent to another thread. They are gone here then. */
export function sendable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  if (lent.has(bytes)) {
    lent.delete(bytes);
    return bytes as Uint8Array<ArrayBuffer>;
  }
  const copy = takeBuffer(bytes.length);
  copy.set(bytes);
  return sendable(copy);
}

/** Unused buffers of these sizes, as far as there are any, to be sent to a thread that will fill them. */
export function takeUnused(sizes: readonly number[]): ArrayBuffer[] {
  return sizes.flatMap((size) => {
    const known = unused.get(size)?.pop();
    if (known === undefined) return [];
    unusedBytes -= size;
    return [known.buffer as ArrayBuffer];
  });
}
