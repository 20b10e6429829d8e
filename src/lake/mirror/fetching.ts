// Fetches data files from a bucket into a mirror. A file appears under its name only when its checksum was right.
import { createHash } from "node:crypto";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { withLock } from "../../lock.js";
import { stampOf } from "../../files.js";
import { UnreachableError } from "../../objects/errors.js";
import { fetchObject } from "../../objects/fetch.js";
import type { ObjectStore } from "../../objects/object-store.js";
import { UnavailableError } from "../continuity.js";
import { DamagedFileError } from "../damaged-file.js";
import { nameOf, type Layout } from "../layout.js";
import type { DataFile } from "../manifest.js";
import type { Room } from "./room.js";

/** Fetches a data file, unless another process has just done so. Resolves to its stamp; null if it was there. */
export type Fetch = (file: DataFile) => Promise<string | null>;

/** How long a process waits for another one that fetches the same file, in milliseconds. */
const LONGEST_FETCH = 600_000;

export function createFetch(layout: Layout, objects: ObjectStore, room: Room): Fetch {
  const running = new Map<string, Promise<string | null>>();

  const write = async (file: DataFile, temporary: string): Promise<void> => {
    const key = nameOf(layout, join(layout.lake, file.path));
    const hash = createHash("sha256");
    const handle = await open(temporary, "w");
    try {
      let bytes = 0;
      for await (const part of fetchObject(objects, key, file.bytes)) {
        hash.update(part);
        await handle.write(part, 0, part.length, bytes);
        bytes += part.length;
      }
      if (bytes !== file.bytes)
        throw new DamagedFileError(file.path, `the object has ${bytes} bytes instead of ${file.bytes}`);
      if (hash.digest("hex") !== file.sha256)
        throw new DamagedFileError(file.path, "the checksum of the object does not match");
    } catch (error) {
      if (error instanceof UnreachableError || error instanceof DamagedFileError) throw error;
      const size = await sizeOf(objects, key);
      if (size === file.bytes) throw error;
      throw size === undefined
        ? new DamagedFileError(file.path, `${objects.address} does not have the file`, true)
        : new DamagedFileError(file.path, `the object has ${size} bytes instead of ${file.bytes}`);
    } finally {
      await handle.close();
    }
  };

  const fetchAlone = async (file: DataFile): Promise<string | null> => {
    const path = join(layout.lake, file.path);
    if (await stat(path).catch(() => undefined)) return null;
    const temporary = join(layout.fetching, file.sha256);
    try {
      await write(file, temporary).catch(async (error: unknown) => {
        if (!isFull(error)) throw error;
        if ((await room.clear()) === 0)
          throw new UnavailableError("no space is left for files of the bucket", "free some, or use a larger disk");
        await write(file, temporary);
      });
      await mkdir(dirname(path), { recursive: true });
      await rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
    await room.added(file.bytes);
    return stampOf(await stat(path));
  };

  return (file) => {
    let fetch = running.get(file.path);
    if (!fetch) {
      const lock = join(layout.fetching, `${file.sha256}.lock`);
      fetch = withLock(lock, () => fetchAlone(file), LONGEST_FETCH).finally(() => running.delete(file.path));
      running.set(file.path, fetch);
    }
    return fetch;
  };
}

/** Bytes of an object; undefined if there is none. */
async function sizeOf(objects: ObjectStore, key: string): Promise<number | undefined> {
  for await (const found of objects.list(key)) if (found.key === key) return found.size;
  return undefined;
}

const isFull = (error: unknown): boolean => ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "");
