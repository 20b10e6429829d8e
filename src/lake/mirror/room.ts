// Keeps a mirror within its size: removes the fetched files that were used least recently, never one that is being read.
import { readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readOrNone, removeOlderThan } from "../../files.js";
import { nameOf, type Layout } from "../layout.js";
import { lastUses, type Holds } from "./holds.js";

/** The size of a mirror: bytes, or half of the disk space that was free when it was empty. */
export type MirrorSize = number | "auto";

const MARK = ".evicting";
/** A mark is gone sooner, unless the process that set it has died. Milliseconds. */
const MARKED_FOR = 5_000;

/** Resolves when nobody is about to remove the file. Whoever will read it has listed it as held before. */
export async function untilUnmarked(path: string): Promise<void> {
  for (;;) {
    const mark = await stat(path + MARK).catch(() => undefined);
    if (!mark || Date.now() - mark.mtimeMs > MARKED_FOR) return;
    await sleep(5);
  }
}

export interface Room {
  /** Called after a file of so many bytes was fetched: removes others if there are too many. */
  added(bytes: number): Promise<void>;
  /** Removes files until this many more bytes fit. If that is impossible, it removes none and resolves to false. */
  make(bytes: number): Promise<boolean>;
}

/** How long the size of the folder is trusted, in milliseconds: other processes fetch files too. */
const TRUSTED_FOR = 30_000;
/** A file that was not written for this long is no longer being fetched. Milliseconds. */
const LEFT_OVER_AFTER = 3_600_000;
/** After an eviction, this part of the size is in use. */
const FILLED_TO = 0.9;

/** Bytes of a block, by which the system counts the space that a file takes. */
const BLOCK = 512;

/** The holes of an excerpt take no space. */
const bytesTaken = ({ blocks }: { readonly blocks: number }): number => blocks * BLOCK;

/** Bytes that a file takes on the disk; 0 if there is none. */
export const spaceTaken = async (path: string): Promise<number> =>
  bytesTaken(await stat(path).catch(() => ({ blocks: 0 })));

interface Fetched {
  /** Relative to the lake folder. */
  readonly path: string;
  readonly bytes: number;
  readonly usedAt: number;
}

export function createRoom(layout: Layout, size: MirrorSize, holds: Pick<Holds, "flush">): Room {
  let used = 0;
  let countedAt = -Infinity;
  let working: Promise<unknown> = Promise.resolve();

  const count = async (): Promise<readonly Fetched[]> => {
    // What processes that died were fetching.
    await removeOlderThan(layout.fetching, LEFT_OVER_AFTER);
    const files = await fetchedFiles(layout);
    used = files.reduce((sum, { bytes }) => sum + bytes, 0);
    countedAt = performance.now();
    return files;
  };

  /** Files that nobody reads, those that were used least recently first. */
  const removable = async (): Promise<readonly Fetched[]> => {
    holds.flush();
    const files = await count();
    // Files are in the journal before they appear, until the bucket has them.
    const pending = new Set(((await readOrNone(layout.pending)) ?? "").split("\n"));
    const isPending = ({ path }: Fetched): boolean => pending.has(nameOf(layout, join(layout.lake, path)));
    return files.filter((file) => file.usedAt !== Infinity && !isPending(file));
  };

  const remove = async (files: readonly Fetched[], bytes: number): Promise<void> => {
    const chosen: Fetched[] = [];
    for (let left = bytes, i = 0; left > 0 && i < files.length; left -= files[i++]!.bytes) chosen.push(files[i]!);
    used -= await evict(layout, chosen);
  };

  const keepWithin = async (): Promise<void> => {
    const limit = size === "auto" ? (await spaceOf(layout, used)) / 2 : size;
    if (used > limit || performance.now() - countedAt > TRUSTED_FOR) await count();
    if (used > limit) await remove(await removable(), used - limit * FILLED_TO);
  };

  // The disk, or a quota, was full just now, so what is removed counts, and not what seems to be free.
  const make = async (bytes: number): Promise<boolean> => {
    const files = await removable();
    if (files.reduce((sum, file) => sum + file.bytes, 0) < bytes) return false;
    await remove(files, bytes);
    return true;
  };

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = working.then(work);
    working = done.catch(() => undefined);
    return done;
  };

  return {
    added(bytes) {
      used += bytes;
      return inTurn(keepWithin);
    },
    make: (bytes) => inTurn(() => make(bytes)),
  };
}

/** Whether an error says that the disk, or the quota of the user, is full. */
export const isFull = (error: unknown): boolean =>
  ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "");

/** The disk space that the mirror may fill at most: what is free, and what it has filled. */
async function spaceOf(layout: Layout, used: number): Promise<number> {
  const { bavail, bsize } = await statfs(layout.lake);
  return bavail * bsize + used;
}

/** All data files and excerpts of the directory, those that were used least recently first. */
async function fetchedFiles(layout: Layout): Promise<readonly Fetched[]> {
  const uses = await lastUses(layout);
  const excerpts = layout.excerpts.slice(layout.lake.length + 1);
  const entries = await readdir(layout.lake, { recursive: true, withFileTypes: true });
  const files: Fetched[] = [];
  for (const { name, parentPath } of entries) {
    if (!name.endsWith(".parquet")) continue;
    const path = join(parentPath, name).slice(layout.lake.length + 1);
    if (path.startsWith(".") && !path.startsWith(excerpts)) continue;
    const found = await stat(join(layout.lake, path)).catch(() => undefined);
    if (found) files.push({ path, bytes: bytesTaken(found), usedAt: uses.get(path) ?? found.mtimeMs });
  }
  return files.sort((a, b) => a.usedAt - b.usedAt);
}

/**
 * Removes files, except those that somebody reads. A reader lists a file before it looks for the mark, and marks are set
 * before the lists are read, so that at least one of the two notices the other. Resolves to the bytes.
 */
async function evict(layout: Layout, files: readonly Fetched[]): Promise<number> {
  const marks = files.map(({ path }) => join(layout.lake, path) + MARK);
  let freed = 0;
  try {
    for (const mark of marks) await writeFile(mark, "");
    const uses = await lastUses(layout);
    for (const { path, bytes } of files) {
      if (uses.get(path) === Infinity) continue;
      await rm(join(layout.lake, path), { force: true });
      freed += bytes;
    }
    return freed;
  } finally {
    for (const mark of marks) await rm(mark, { force: true });
  }
}
