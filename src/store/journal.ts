// What a writer leaves behind when it dies or fails: each file is noted before it appears, and whatever is noted but
// not served is removed, at the end of the same session or at the start of the next one.
import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { openLake } from "../lake/lake.js";
import { listFile, versionFile, type Layout } from "../lake/layout.js";
import { readPointer } from "../lake/kept-versions.js";
import { exists, temporaryOf } from "./durable.js";

/** Clears up after a writer that died, and opens the list of new files. The caller holds the write lock. */
export async function openJournal(layout: Layout): Promise<void> {
  if (await exists(layout.pending)) await settle(layout);
  await writeFile(layout.pending, "");
}

/** Notes files that no kept version names: new ones before they appear, old ones before they are removed. */
export async function note(layout: Layout, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  await appendFile(layout.pending, paths.map((path) => `${nameOf(layout, path)}\n`).join(""));
}

/** Notes a file unless it is there already: then a kept version may name it. */
export async function journalIfNew(layout: Layout, path: string): Promise<void> {
  if (!(await exists(path))) await note(layout, [path]);
}

/** Removes the noted files that the served version does not name, and what a publication cut short left. */
export async function settle(layout: Layout): Promise<void> {
  const noted = (await readFile(layout.pending, "utf8")).split("\n").filter(isJournalled);
  const lake = await openLake(layout.root);
  const { version } = lake.current();
  const served = new Set(
    Object.entries(version.lists).flatMap(([entity, sha]) => {
      const { byDate, byCode } = lake.current().files(entity);
      const files = [...byDate, ...byCode].map((file) => join(layout.lake, file.path));
      return [join(layout.lists, listFile(sha)), ...files];
    }),
  );
  for (const line of noted) {
    const path = join(layout.root, line);
    if (!served.has(path)) await rm(path, { force: true });
    await rm(temporaryOf(path), { force: true });
  }
  const unpublished = join(layout.versions, versionFile((await readPointer(layout)) + 1));
  for (const path of [unpublished, temporaryOf(unpublished), temporaryOf(layout.pointer), temporaryOf(layout.identity)])
    await rm(path, { force: true });
  await rm(layout.pending);
}

/** A path as it is noted and told: relative to the data directory. */
export const nameOf = (layout: Layout, path: string): string => relative(layout.root, path).replaceAll(sep, "/");

/** Whether a name is that of a data file or a list: nothing else is removed on the word of a note. */
export const isJournalled = (name: string): boolean =>
  /^(lake\/\w+\/(by_code\/)?[\w-]+\.parquet|state\/lists\/[0-9a-f]{64}\.json)$/.test(name);
