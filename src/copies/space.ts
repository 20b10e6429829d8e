// Memory for what is read together and used no more together.
import { giveBuffer, takeBuffer } from "../buffers.js";

export interface Space {
  /** A buffer with arbitrary content, until `free`. */
  take(bytes: number): Buffer;
  free(): void;
}

export function createSpace(): Space {
  const taken: Buffer[] = [];
  return {
    take(bytes) {
      const buffer = takeBuffer(bytes);
      taken.push(buffer);
      return buffer;
    },
    free: () => taken.splice(0).forEach(giveBuffer),
  };
}
