// The files of the inbox, wherever they are: in the data directory or, for a mirror, in its bucket.
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../errors.js";
import { linkOrCopy } from "../files.js";
import { UnreachableError } from "../objects/errors.js";
import { fetchToFile, sha256OfObject } from "../objects/fetch.js";
import { isWrongPart } from "../objects/keys.js";
import type { ObjectStore } from "../objects/object-store.js";
import { isUnchanged, openDrop, type DropState, type OpenDrop } from "./drop-file.js";
import { sha256OfHandle } from "./integrity.js";
import type { Layout } from "./layout.js";
import { mirrorOf } from "./mirror/mirror.js";

/** A file that is gone or must not be read counts as none. Methods throw UnreachableError if the bucket does not answer. */
export interface InboxFiles {
  /** The files below a folder of the inbox; of all folders if it is empty. Folders that cannot be read have none. */
  below(folder: string): AsyncIterable<DropState>;
  /** The SHA-256 of a file; null if there is none. */
  sha256(file: Pick<DropState, "path" | "size">): Promise<string | null>;
  /** Makes a file readable at `target` until the function is called; undefined if there is none. */
  open(file: Pick<DropState, "path" | "size">, target: string): Promise<(() => Promise<void>) | undefined>;
}

export async function inboxFiles(layout: Layout): Promise<InboxFiles> {
  const mirror = await mirrorOf(layout);
  return mirror === null ? filesOfFolder(layout) : filesOfBucket(mirror.objects);
}

/**
 * Returns a function that tells whether a drop is in the inbox as it was. A mirror does not keep what was imported, so the
 * inbox of its bucket is listed, once.
 */
export async function openInbox(layout: Layout): Promise<(state: DropState) => Promise<boolean>> {
  const mirror = await mirrorOf(layout);
  if (mirror === null) return (state) => isUnchanged(layout, state);
  const states = new Map<string, DropState>();
  for await (const state of filesOfBucket(mirror.objects).below("")) states.set(state.path, state);
  return ({ path, size, mtime }) => {
    const found = states.get(path);
    return Promise.resolve(found !== undefined && found.size === size && isSameTime(found.mtime, mtime));
  };
}

/** What the keys of drops in a bucket begin with. */
export const INBOX_KEYS = "inbox/";

/** Whether a path, which is what follows in the key of a drop, cannot be that of a file. */
export const isWrongPath = (path: string): boolean => path.split("/").some(isWrongPart);

/** Whether two times in milliseconds are the same: the ledger has that of a file with its fraction, buckets round it. */
export const isSameTime = (a: number, b: number): boolean => Math.abs(a - b) < 2;

function filesOfFolder(layout: Layout): InboxFiles {
  const openOrNone = (path: string): Promise<OpenDrop | undefined> => openDrop(layout, path).catch(() => undefined);
  return {
    async *below(folder) {
      for (const entry of await readdir(join(layout.inbox, folder), { withFileTypes: true }).catch(() => [])) {
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory()) yield* this.below(path);
        const stats = entry.isFile() ? await lstat(join(layout.inbox, path)).catch(() => undefined) : undefined;
        if (stats?.isFile()) yield { path, size: stats.size, mtime: stats.mtimeMs };
      }
    },
    async sha256({ path }) {
      const drop = await openOrNone(path);
      if (!drop) return null;
      return sha256OfHandle(drop.handle)
        .catch(() => null)
        .finally(() => drop.handle.close());
    },
    async open({ path }, target) {
      const drop = await openOrNone(path);
      if (!drop) return undefined;
      await linkOrCopy(drop.source, target);
      return () => drop.handle.close();
    },
  };
}

function filesOfBucket(objects: ObjectStore): InboxFiles {
  const orNone = <T>(work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      if (!(error instanceof OperatorError) || error instanceof UnreachableError) throw error;
      return undefined;
    });
  return {
    async *below(folder) {
      for await (const { key, size, modified } of objects.list(INBOX_KEYS + (folder === "" ? "" : `${folder}/`))) {
        const path = key.slice(INBOX_KEYS.length);
        if (!isWrongPath(path)) yield { path, size, mtime: modified.getTime() };
      }
    },
    sha256: async ({ path, size }) => (await orNone(sha256OfObject(objects, INBOX_KEYS + path, size))) ?? null,
    async open({ path, size }, target) {
      const remove = (): Promise<void> => rm(target, { force: true });
      const fetching = fetchToFile(objects, INBOX_KEYS + path, size, target).then(() => remove);
      const opened = await orNone(fetching).catch(async (error: unknown) => {
        await remove();
        throw error;
      });
      if (!opened) await remove();
      return opened;
    },
  };
}
