// The journal of a writer: it lists each new file before the file appears. Listed files that are not served are removed
// at the end of the session or, after a crash, at the start of the next one. Then the ledger learns of listed versions too.
import { appendFile, open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readOrNone } from "../files.js";
import { openLake, type Snapshot } from "../lake/lake.js";
import { listFile, nameOf, versionFile, type Layout } from "../lake/layout.js";
import { namesOf } from "../lake/lists.js";
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
  const paths = new Set(lines.filter(isLakeFile).map((name) => join(layout.root, name)));
  const snapshot = (await openLake(layout.root)).current();
  const { version } = snapshot;
  const served = servedAmong(layout, paths, snapshot);
  for (const path of paths) {
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

/** Those of the paths that a version names. */
function servedAmong(layout: Layout, paths: ReadonlySet<string>, { version, files }: Snapshot): ReadonlySet<string> {
  const served = new Set<string>();
  // A list may have very many files, and only a few are asked for.
  const inLake = new Map([...paths].map((path) => [nameOf({ root: layout.lake }, path), path]));
  for (const [entity, sha] of Object.entries(version.lists)) {
    const list = files(entity);
    for (const name of namesOf(list, sha)) served.add(join(layout.lists, listFile(name)));
    for (const clustered of [list.byDate, list.byCode]) {
      for (const { path } of clustered) if (inLake.has(path)) served.add(inLake.get(path)!);
    }
  }
  return served;
}

/** Whether this is the name of a data file, a file list or a part of one. Nothing else is ever removed. */
export const isLakeFile = (name: string): boolean =>
  /^(lake\/\w+\/(by_code\/)?[\w-]+\.parquet|state\/lists\/[0-9a-f]{64}\.json)$/.test(name);
