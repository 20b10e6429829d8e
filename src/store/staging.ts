// Builds files of the lake without blocking other writers: in a separate folder, from which they are moved into the lake.
import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { openWriter } from "../engine/loading.js";
import type { Writer } from "../engine/writer.js";
import { layoutOf, type Layout } from "../lake/layout.js";
import type { DataFile } from "../lake/manifest.js";
import { makeFolderIn, syncPath } from "../durable.js";
import { journalIfNew } from "./journal.js";
import { tryLock, withLock } from "../lock.js";
import { explain, mayCreateFolders, type WriteOptions } from "./session.js";

/** The folder of new files. It has the layout of a data directory. */
export type Staging = Layout;

/** Runs `work` as the only user of the staging folder, which is empty before and removed afterwards. */
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

/** The same in a folder of its own, for a batch of drops. After a crash, `clearDrops` removes it. */
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

/** Removes the remains of a process that died while it imported drops. Only one process may import drops. */
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

/** Moves files into the lake. The caller holds the write lock. */
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

/** Removes the remains of a process that died while it used the staging folder. */
export async function clearStaging(layout: Layout): Promise<void> {
  await tryLock(layout.stagingLock, () => rm(layout.staging, { recursive: true, force: true })).catch(
    (error: unknown) => {
      throw explain(error, layout.root);
    },
  );
}
