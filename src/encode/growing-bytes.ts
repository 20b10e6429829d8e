// Bytes that are appended and then taken out.
import { cutBuffer, giveBuffer, takeBuffer } from "../buffers.js";

const NOTHING = new Uint8Array(0);

export class GrowingBytes {
  private room: Uint8Array = NOTHING;
  private used = 0;

  get length(): number {
    return this.used;
  }

  /** Appends `length` bytes of arbitrary content and returns them for writing before the next call. */
  extend(length: number): Uint8Array {
    const start = this.used;
    this.used += length;
    if (this.used > this.room.length) {
      const room = takeBuffer(Math.max(this.used, this.room.length * 2));
      room.set(this.room.subarray(0, start));
      giveBuffer(this.room);
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
  take(): Uint8Array {
    const bytes = this.room.subarray(0, this.used);
    this.used = 0;
    return bytes;
  }

  /** All bytes, which belong to the caller. */
  handOver(): Uint8Array {
    const bytes = cutBuffer(this.room, 0, this.used);
    this.room = NOTHING;
    this.used = 0;
    return bytes;
  }
}
