// Fetches data files, or parts of them, from a bucket into a mirror. A file appears under its name only when all checksums
// were right.
import { createHash } from "node:crypto";
import { mkdir, open, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ahead } from "../../ahead.js";
import { withLock } from "../../lock.js";
import { stampOf, writeAll } from "../../files.js";
import { UnreachableError } from "../../objects/errors.js";
import { fetchObject } from "../../objects/fetch.js";
import type { ObjectStore } from "../../objects/object-store.js";
import { DamagedFileError } from "../damaged-file.js";
import { nameOf, type Layout } from "../layout.js";
import { sha256 } from "../manifest.js";
import { bytesIn, type Portion, type Stretch } from "./portions.js";
import { isFull, spaceTaken, type Room } from "./room.js";

/** Fetches what is not there, unless another process has just done so. Resolves to its stamp; null if it was there. */
export type Fetch = (portion: Portion) => Promise<string | null>;

/** How long a process waits for another one that fetches the same, in milliseconds. */
const LONGEST_FETCH = 600_000;

/** Stretches of a file that are under way besides the next one. */
const STRETCHES_AHEAD = 3;

export function createFetch(layout: Layout, objects: ObjectStore, room: Room): Fetch {
  const running = new Map<string, Promise<string | null>>();

  const writeStretch = async ({ file }: Portion, stretch: Stretch, handle: FileHandle): Promise<void> => {
    const key = nameOf(layout, join(layout.lake, file.path));
    const hash = createHash("sha256");
    let [at] = stretch.range;
    for await (const part of fetchObject(objects, key, stretch.range)) {
      hash.update(part);
      await writeAll(handle, part, at);
      at += part.length;
    }
    if (hash.digest("hex") !== stretch.sha256)
      throw new DamagedFileError(file.path, `the checksum of ${stretch.name} does not match`);
  };

  const write = async (portion: Portion, temporary: string): Promise<void> => {
    const { file, stretches } = portion;
    const handle = await open(temporary, "w");
    try {
      const writing = (stretch: Stretch): Promise<void> => writeStretch(portion, stretch, handle);
      const writes = ahead(stretches, STRETCHES_AHEAD, writing);
      while (!(await writes.next()).done);
    } catch (error) {
      if (error instanceof UnreachableError || error instanceof DamagedFileError) throw error;
      const size = await sizeOf(objects, nameOf(layout, join(layout.lake, file.path)));
      if (size === file.bytes) throw error;
      throw size === undefined
        ? new DamagedFileError(file.path, `${objects.address} does not have the file`, true)
        : new DamagedFileError(file.path, `the object has ${size} bytes instead of ${file.bytes}`);
    } finally {
      await handle.close();
    }
  };

  const fetchAlone = async (portion: Portion, temporary: string): Promise<string | null> => {
    const path = join(layout.lake, portion.path);
    if (await stat(path).catch(() => undefined)) return null;
    try {
      await write(portion, temporary).catch(async (error: unknown) => {
        const freed = await spaceTaken(temporary);
        await rm(temporary, { force: true });
        if (!isFull(error) || !(await room.make(bytesIn(portion.stretches) - freed))) throw error;
        await write(portion, temporary);
      });
      await mkdir(dirname(path), { recursive: true });
      await rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
    await room.added(bytesIn(portion.stretches));
    return stampOf(await stat(path));
  };

  return (portion) => {
    let fetch = running.get(portion.path);
    if (!fetch) {
      const temporary = join(layout.fetching, sha256(portion.path));
      const fetching = (): Promise<string | null> => fetchAlone(portion, temporary);
      fetch = withLock(`${temporary}.lock`, fetching, LONGEST_FETCH).finally(() => running.delete(portion.path));
      running.set(portion.path, fetch);
    }
    return fetch;
  };
}

/** Bytes of an object; undefined if there is none. */
async function sizeOf(objects: ObjectStore, key: string): Promise<number | undefined> {
  for await (const found of objects.list(key)) if (found.key === key) return found.size;
  return undefined;
}
