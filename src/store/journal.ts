// The journal of a writer: it lists each new file before the file appears. Listed files that are not served are removed
// at the end of the session or, after a crash, at the start of the next one. Then the ledger learns of listed versions too.
import { appendFile, open, rm, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { readOrNone } from "../files.js";
import { openLake } from "../lake/lake.js";
import { listFile, versionFile, type Layout } from "../lake/layout.js";
import { readPointer } from "../lake/kept-versions.js";
import { exists, removeTemporaries, temporaryOf } from "../durable.js";
import { recordVersions } from "./ledger-file.js";
import { tryLock } from "../lock.js";

/** Cleans up after a writer that crashed, and begins a new journal. The caller holds the write lock. */
export async function openJournal(layout: Layout): Promise<void> {
  if (await exists(layout.pending)) await settle(layout, true);
  await writeFile(layout.pending, "");
}

/** Cleans up after a writer that crashed, unless another one works on the lake: then it has done so. */
export async function settleLeftover(layout: Layout): Promise<void> {
  if (!(await exists(layout.pending))) return;
  await tryLock(layout.writeLock, async () => {
    if (await exists(layout.pending)) await settle(layout, true);
  });
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

/** Adds a version to the journal, durably: when it is served, the ledger needs its entries. */
export async function journalVersion(layout: Layout, sequence: number): Promise<void> {
  const handle = await open(layout.pending, "a");
  try {
    await handle.writeFile(`${nameOf(layout, join(layout.versions, versionFile(sequence)))}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Removes the files in the journal that the served version does not name, and the rest of an interrupted publication.
 * Records the served version in the ledger if it is in the journal.
 */
export async function settle(layout: Layout, isAfterCrash = false): Promise<void> {
  const lines = ((await readOrNone(layout.pending)) ?? "").split("\n");
  const names = lines.filter(isLakeFile);
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
  await removeTemporaries(layout.lists);
  const unpublished = join(layout.versions, versionFile((await readPointer(layout)) + 1));
  for (const path of [unpublished, temporaryOf(unpublished), temporaryOf(layout.pointer), temporaryOf(layout.identity)])
    await rm(path, { force: true });
  const isNew = lines.includes(nameOf(layout, join(layout.versions, versionFile(version.sequence))));
  if (isNew) await recordVersions(layout, [version], isAfterCrash);
  await rm(layout.pending);
}

/** A path relative to the data directory, as in the journal and in messages. */
export const nameOf = (layout: Layout, path: string): string => relative(layout.root, path).replaceAll(sep, "/");

/** Whether this is the name of a data file or a file list. Nothing else is ever removed. */
export const isLakeFile = (name: string): boolean =>
  /^(lake\/\w+\/(by_code\/)?[\w-]+\.parquet|state\/lists\/[0-9a-f]{64}\.json)$/.test(name);
