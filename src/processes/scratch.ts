// Folders for what spills: one a worker, removed when it ends. Those that a crash of everything left go at a later start.
import { mkdtemp, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { makeOwnFolder } from "../own-folder.js";

export interface Scratch {
  /** The path of a folder that no other worker has. It is not made yet. */
  folder(): string;
  close(): Promise<void>;
}

/** How often a running server touches its folder, in milliseconds. */
const TOUCH_EVERY = 60_000;
/** A folder that was not touched for so long has no owner. */
const ABANDONED_AFTER = 600_000;

export async function openScratch(root: string): Promise<Scratch> {
  await makeOwnFolder(root);
  const own = await mkdtemp(join(root, PREFIX));
  await removeAbandoned(root);
  const touching = setInterval(() => void utimes(own, new Date(), new Date()).catch(() => undefined), TOUCH_EVERY);
  let workers = 0;
  return {
    folder: () => join(own, `${++workers}`),
    async close() {
      clearInterval(touching);
      await rm(own, { recursive: true, force: true });
    },
  };
}

const PREFIX = "server-";

async function removeAbandoned(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(PREFIX)) continue;
    const touched = (await stat(join(root, name)).catch(() => undefined))?.mtimeMs ?? Infinity;
    // Another user's folder cannot be removed, and need not be.
    if (Date.now() - touched > ABANDONED_AFTER) await rm(join(root, name), { recursive: true }).catch(() => undefined);
  }
}
