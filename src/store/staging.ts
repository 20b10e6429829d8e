// Making files of the lake without holding up its writers: in a folder of their own, moved into place when they are due.
import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { openWriter, type Writer } from "../engine/writer.js";
import { layoutOf, type Layout } from "../lake/layout.js";
import type { DataFile } from "../lake/manifest.js";
import { makeFolderIn, syncPath } from "./durable.js";
import { journalIfNew } from "./journal.js";
import { tryLock, withLock } from "./lock.js";
import { explain, mayCreateFolders, type WriteOptions } from "./session.js";

/** Where new files are written: laid out like the lake itself. */
export type Staging = Layout;

/** Runs `work` as the only user of the staging folder, which is empty before it and gone after it. */
export async function withStaging<T>(
  layout: Layout,
  options: WriteOptions,
  work: (writer: Writer, staging: Staging) => Promise<T>,
): Promise<T> {
  const inside = async (): Promise<T> => {
    await rm(layout.staging, { recursive: true, force: true });
    return withStagingIn(layout.staging, options, work);
  };
  return withLock(layout.stagingLock, inside, undefined, mayCreateFolders(options.after)).catch((error: unknown) => {
    throw explain(error, layout.root);
  });
}

/** The same in a folder that nobody else uses, for a drop. What a crash leaves is removed by `clearDrops`. */
export async function withDropStaging<T>(
  layout: Layout,
  options: WriteOptions,
  work: (writer: Writer, staging: Staging) => Promise<T>,
): Promise<T> {
  try {
    if (mayCreateFolders(options.after)) await mkdir(layout.lake, { recursive: true });
    await makeFolderIn(layout.lake, relative(layout.lake, layout.drops));
    return await withStagingIn(join(layout.drops, randomUUID()), options, work);
  } catch (error) {
    throw explain(error, layout.root);
  }
}

/** Removes what a process left that died while it took drops. The caller is the only one that takes them. */
export const clearDrops = (layout: Layout): Promise<void> => rm(layout.drops, { recursive: true, force: true });

async function withStagingIn<T>(
  folder: string,
  options: WriteOptions,
  work: (writer: Writer, staging: Staging) => Promise<T>,
): Promise<T> {
  const staging = layoutOf(folder);
  try {
    for (const inner of [staging.scratch, staging.state]) await mkdir(inner, { recursive: true });
    const writer = await openWriter({ ...options, tempDirectory: join(staging.scratch, "spill") });
    try {
      return await work(writer, staging);
    } finally {
      writer.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Moves files to where they are served from. The caller holds the write lock. */
export async function moveIn(layout: Layout, staging: Staging, files: readonly DataFile[]): Promise<void> {
  const folders = new Set<string>();
  for (const { path } of files) {
    const target = join(layout.lake, path);
    const folder = dirname(target);
    await makeFolderIn(layout.lake, relative(layout.lake, folder));
    await journalIfNew(layout, target);
    await rename(join(staging.lake, path), target);
    folders.add(folder);
  }
  for (const folder of folders) await syncPath(folder);
}

/** Removes what a process left that died while it used the staging folder. */
export async function clearStaging(layout: Layout): Promise<void> {
  await tryLock(layout.stagingLock, () => rm(layout.staging, { recursive: true, force: true })).catch(
    (error: unknown) => {
      throw explain(error, layout.root);
    },
  );
}
