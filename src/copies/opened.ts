// The serving copies that a thread keeps open.
import { LRUCache } from "lru-cache";
import { type Copy, openCopy, type ReadFile } from "./open.js";

export interface OpenCopies {
  /**
   * The copy of the data file with this checksum, which is open until `leave`. Null if there is none that is whole, or
   * none with this identity.
   */
  hold(path: string, sha256: string, identity?: string): Promise<HeldCopy | null>;
  /** Removes a damaged copy, unless another process has made it again by now. */
  discard(sha256: string, copy: Pick<Copy, "remove">): Promise<void>;
  /** Copies that were removed because they were damaged. */
  damaged(): number;
  close(): void;
}

export interface HeldCopy {
  readonly copy: Copy;
  leave(): void;
}

/** How often copies that were removed are closed, in milliseconds. */
const SWEEP_EVERY = 10_000;
/** Copies that are kept open. */
export const MOST_OPEN = 256;

export function openCopies(readFile?: ReadFile): OpenCopies {
  let damaged = 0;
  const opened = new LRUCache<string, Held>({ max: MOST_OPEN, dispose: (held) => held.leave() });

  const discard: OpenCopies["discard"] = async (sha256, copy) => {
    damaged++;
    opened.delete(sha256);
    await copy.remove().catch(() => undefined);
  };

  /** Removed copies take space as long as they are open. */
  const sweep = async (): Promise<void> => {
    for (const [sha256, { copy }] of [...opened]) if (!(await copy.isThere())) opened.delete(sha256);
  };
  const sweeping = setInterval(() => void sweep().catch(() => undefined), SWEEP_EVERY).unref();

  return {
    async hold(path, sha256, identity) {
      const isOther = ({ copy }: HeldCopy): boolean => identity !== undefined && identity !== copy.identity;
      const known = opened.get(sha256);
      if (known !== undefined && !isOther(known)) return known.enter();
      const copy = await openCopy(path, sha256, readFile);
      if (copy === null) return null;
      if ("damaged" in copy) {
        await discard(sha256, copy.damaged);
        return null;
      }
      const held = holdOpen(copy);
      opened.set(sha256, held);
      return isOther(held) ? null : held.enter();
    },
    discard,
    damaged: () => damaged,
    close() {
      clearInterval(sweeping);
      opened.clear();
    },
  };
}

interface Held extends HeldCopy {
  enter(): Held;
}

/** A copy that is closed when nobody reads it any more. */
function holdOpen(copy: Copy): Held {
  // The cache itself holds it.
  let users = 1;
  const held: Held = {
    copy,
    enter() {
      users++;
      return held;
    },
    leave() {
      if (--users === 0) void copy.close().catch(() => undefined);
    },
  };
  return held;
}
