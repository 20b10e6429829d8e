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

/** What was read, and the space that has its bytes. */
export interface InSpace<R> {
  readonly result: R;
  readonly space: Space;
}

/** Reads each item into a space of its own, which is freed if reading fails. `read` must have ended then. */
export const inSpace =
  <T, R>(read: (item: T, space: Space) => Promise<R>) =>
  async (item: T): Promise<InSpace<R>> => {
    const space = createSpace();
    try {
      return { result: await read(item, space), space };
    } catch (error) {
      space.free();
      throw error;
    }
  };

export const freed = ({ space }: InSpace<unknown>): void => space.free();
