// Backups for tests, and what is compared with them.
import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { backup, type BackupReport } from "../../src/backup/backup.js";
import { restore, type RestoreReport } from "../../src/backup/restore.js";
import { openLake } from "../../src/lake/lake.js";
import { verify } from "../../src/repair/verify.js";
import { temporaryFolder } from "./folders.js";
import { filesBelow, MEMORY, rowsOf } from "./upkeep.js";

export const backUp = (root: string, place: string, check = false): Promise<BackupReport> =>
  backup(root, place, { verify: check, now: new Date() }, process.stdout);

export const restoreTo = (source: string, root: string): Promise<RestoreReport> => restore(source, root, process.stdin);

/** Restores into a new directory, in which every file must be sound, and resolves to it. */
export async function restored(source: string): Promise<string> {
  const root = join(await temporaryFolder(), "restored");
  await restoreTo(source, root);
  const { faults } = await verify(root, { deep: true, ...MEMORY });
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  return root;
}

/** The rows of every kept version of an entity, by data_version. */
export async function rowsByVersion(root: string, entity = "adj_factor"): Promise<Readonly<Record<string, unknown>>> {
  const lake = await openLake(root);
  const rows: Record<string, unknown> = {};
  for (const { data_version } of await lake.versions()) {
    const found = await lake.at(data_version);
    rows[data_version] = typeof found === "string" ? found : await rowsOf(root, found, entity);
  }
  return rows;
}

/** Each file below a folder with its bytes, except locks and work in progress. */
export async function contentBelow(
  root: string,
  besides = /lock|^inbox|scratch|\.tmp$/,
): Promise<ReadonlyMap<string, string>> {
  const content = new Map<string, string>();
  for (const path of await filesBelow(root))
    if (!besides.test(path)) content.set(path, await readFile(join(root, path), "latin1"));
  return content;
}

/** Changes one bit in the middle of a file, and nothing else of it. */
export async function flipBit(path: string): Promise<void> {
  const [bytes, before] = [await readFile(path), await stat(path)];
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(path, bytes);
  await utimes(path, before.atime, before.mtime);
}
