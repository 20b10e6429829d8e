// Bytes that are appended and then taken out; the memory is reused.

export class GrowingBytes {
  private room = new Uint8Array(0);
  private used = 0;

  get length(): number {
    return this.used;
  }

  /** Appends `length` bytes of arbitrary content and returns them for writing before the next call. */
  extend(length: number): Uint8Array<ArrayBuffer> {
    const start = this.used;
    this.used += length;
    if (this.used > this.room.length) {
      const room = new Uint8Array(Math.max(this.used, this.room.length * 2));
      room.set(this.room.subarray(0, start));
      this.room = room;
    }
    return this.room.subarray(start, this.used);
  }

  /** Removes the last `length` bytes. */
  shrink(length: number): void {
    this.used -= length;
  }

  add(bytes: Uint8Array): void {
    this.extend(bytes.length).set(bytes);
  }

  /** All bytes, from the start of their buffer; valid until the next `extend`, which starts again. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = this.room.subarray(0, this.used);
    this.used = 0;
    return bytes;
  }
}
