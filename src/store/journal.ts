// The journal of a writer: it lists each new file before the file appears. Listed files that are not served are removed
// at the end of the session or, after a crash, at the start of the next one.
import { appendFile, rm, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { readOrNone } from "../files.js";
import { openLake } from "../lake/lake.js";
import { listFile, versionFile, type Layout } from "../lake/layout.js";
import { readPointer } from "../lake/kept-versions.js";
import { exists, temporaryOf } from "./durable.js";

/** Cleans up after a writer that crashed, and begins a new journal. The caller holds the write lock. */
export async function openJournal(layout: Layout): Promise<void> {
  if (await exists(layout.pending)) await settle(layout);
  await writeFile(layout.pending, "");
}

/** Adds files to the journal that no kept version names: new ones before they appear, old ones before their removal. */
export async function journal(layout: Layout, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  await appendFile(layout.pending, paths.map((path) => `${nameOf(layout, path)}\n`).join(""));
}

/** Adds a file to the journal, unless it exists: then a kept version may name it. */
export async function journalIfNew(layout: Layout, path: string): Promise<void> {
  if (!(await exists(path))) await journal(layout, [path]);
}

/** Removes the files in the journal that the served version does not name, and the rest of an interrupted publication. */
export async function settle(layout: Layout): Promise<void> {
  const names = ((await readOrNone(layout.pending)) ?? "").split("\n").filter(isLakeFile);
  const lake = await openLake(layout.root);
  const { version } = lake.current();
  const served = new Set(
    Object.entries(version.lists).flatMap(([entity, sha]) => {
      const { byDate, byCode } = lake.current().files(entity);
      const files = [...byDate, ...byCode].map((file) => join(layout.lake, file.path));
      return [join(layout.lists, listFile(sha)), ...files];
    }),
  );
  for (const name of names) {
    const path = join(layout.root, name);
    if (!served.has(path)) await rm(path, { force: true });
    await rm(temporaryOf(path), { force: true });
  }
  const unpublished = join(layout.versions, versionFile((await readPointer(layout)) + 1));
  for (const path of [unpublished, temporaryOf(unpublished), temporaryOf(layout.pointer), temporaryOf(layout.identity)])
    await rm(path, { force: true });
  await rm(layout.pending);
}

/** A path relative to the data directory, as in the journal and in messages. */
export const nameOf = (layout: Layout, path: string): string => relative(layout.root, path).replaceAll(sep, "/");

/** Whether this is the name of a data file or a file list. Nothing else is ever removed. */
export const isLakeFile = (name: string): boolean =>
  /^(lake\/\w+\/(by_code\/)?[\w-]+\.parquet|state\/lists\/[0-9a-f]{64}\.json)$/.test(name);
