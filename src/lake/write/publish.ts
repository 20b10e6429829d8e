// Publishing: lists and the version are written once and never changed, the pointer is swapped last. A crash at any
// point leaves the version before it in place.
import { constants } from "node:fs";
import { link, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { chinaTime } from "../../dates.js";
import { layoutOf, listFile, versionFile, type Layout } from "../layout.js";
import { encodeList, encodeVersion, sha256, type FileList, type Version } from "../manifest.js";

/** Makes a new version in which the given lists replace those of the same entities. The caller holds the write lock. */
export async function publish(
  root: string,
  parent: Version,
  changes: readonly FileList[],
  reason: string,
  now: Date,
): Promise<Version> {
  const layout = layoutOf(root);
  await mkdir(layout.versions, { recursive: true });
  await mkdir(layout.lists, { recursive: true });
  const lists: Record<string, string> = { ...parent.lists };
  for (const list of changes) {
    const text = encodeList(list);
    const sha = sha256(text);
    await writeDurably(join(layout.lists, listFile(sha)), text);
    if (list.byDate.length === 0) delete lists[list.entity];
    else lists[list.entity] = sha;
  }
  const version: Version = {
    sequence: parent.sequence + 1,
    data_version: chinaTime(new Date(Math.max(now.getTime(), Date.parse(parent.data_version) + 1))),
    reason,
    lists,
  };
  await removeUnpublished(layout, version.sequence);
  await writeDurably(join(layout.versions, versionFile(version.sequence)), encodeVersion(version), "create");
  await writeDurably(layout.pointer, `${version.sequence}\n`);
  return version;
}

/** A version beyond the pointer was left by a crash just before the swap: nobody was ever served it. */
async function removeUnpublished(layout: Layout, sequence: number): Promise<void> {
  await rm(join(layout.versions, versionFile(sequence)), { force: true });
}

/**
 * Writes a small file so that it is either absent or whole after a crash: temporary file, fsync, rename, fsync of the
 * folder. With `create`, fails where the file exists already.
 */
export async function writeDurably(path: string, text: string, mode: "replace" | "create" = "replace"): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  const handle = await open(temporary, "w");
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (mode === "create") {
    await link(temporary, path);
    await rm(temporary);
  } else {
    await rename(temporary, path);
  }
  await syncPath(dirname(path));
}

/** Flushes a file or a folder to the disk. */
export async function syncPath(path: string): Promise<void> {
  const directory = (await stat(path)).isDirectory();
  const handle = await open(path, directory ? constants.O_RDONLY | constants.O_DIRECTORY : constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
