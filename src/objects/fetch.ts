// Large objects in order while several of their parts are under way.
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { ahead } from "../ahead.js";
import { OperatorError } from "../errors.js";
import type { ObjectStore, StoredObject } from "./object-store.js";

/** Bytes of a part: so few that all parts of a small object are under way at once. */
const LEAST_PART = 1 << 20;
const LARGEST_PART = 8 << 20;
/** Parts of an object that are under way or wait for the caller, besides the next one. */
const PARTS_AHEAD = 6;
/** Parts under way in this process. */
const MOST = 16;

let free = MOST;
const waiting: (() => void)[] = [];

/** Runs `work` when fewer than `MOST` others run. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
  else free--;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }
}

/**
 * The bytes of an object from `begin` to before `end`, in order, in pieces of up to 8 MiB; at most 64 MiB are in memory.
 * Throws an OperatorError if the object is shorter, does not exist or is replaced meanwhile, and whatever the store
 * throws. The caller checks the content: the object may be longer.
 */
export async function* fetchObject(
  store: ObjectStore,
  key: string,
  [begin, end]: readonly [number, number],
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const stop = new AbortController();
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const name = `${store.address}/${key}`;
  const share = Math.ceil((end - begin) / (PARTS_AHEAD + 1));
  const size = Math.min(Math.max(share, LEAST_PART), LARGEST_PART);
  const fetchPart = async (start: number): Promise<StoredObject> => {
    try {
      const part = await inTurn(() => {
        either.throwIfAborted();
        return store.get(key, { range: [start, Math.min(start + size, end)], signal: either });
      });
      if (!part) throw new OperatorError(`${name} does not exist`);
      return part;
    } catch (error) {
      stop.abort(error); // the other parts fail with the same error
      throw error;
    }
  };
  const starts = Array.from({ length: Math.ceil((end - begin) / size) }, (_, i) => begin + i * size);
  let first: string | undefined;
  for await (const [, { bytes, tag }] of ahead(starts, PARTS_AHEAD, fetchPart)) {
    let isTaken = false;
    try {
      first ??= tag;
      if (tag !== first) throw new OperatorError(`${name} was replaced while it was read`);
      yield bytes;
      isTaken = true;
    } finally {
      if (!isTaken) stop.abort();
    }
  }
}

/** The SHA-256 of the first `size` bytes of an object. Throws what `fetchObject` throws. */
export async function sha256OfObject(store: ObjectStore, key: string, size: number): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of fetchObject(store, key, [0, size])) hash.update(part);
  return hash.digest("hex");
}

/** Writes an object of `size` bytes to a file. Throws what `fetchObject` throws. */
export async function fetchToFile(
  store: ObjectStore,
  key: string,
  size: number,
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  const handle = await open(path, "w");
  try {
    for await (const part of fetchObject(store, key, [0, size], signal)) await handle.writeFile(part);
  } finally {
    await handle.close();
  }
}
