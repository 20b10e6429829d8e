// The folder of the serving copies: what it holds, and one more copy.
import { randomUUID } from "node:crypto";
import { access, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { copyPath, isCopy, sourceOf } from "../copies/names.js";
import { writeCopy } from "../copies/write.js";
import type { Reader } from "../engine/reader.js";
import { OperatorError } from "../errors.js";
import { readOrNone } from "../files.js";
import type { Layout } from "../lake/layout.js";
import { rowsOf, scanOf } from "../query/scan.js";
import type { Source, StoredCopy } from "./plan.js";

/** Writes the copy of a data file. Throws what reading it throws, among others DamagedFileError. */
export async function makeCopy(
  folder: string,
  { entity, clustering, file }: Source,
  reader: Reader,
  signal: AbortSignal,
): Promise<number> {
  const { columns, mainDate: date, code } = entity;
  const path = copyPath(folder, file.path);
  const part = `${path}.${randomUUID()}.part`;
  await makeFolders(folder, dirname(file.path));
  try {
    const batches = reader.read({ columns, scans: [scanOf([file], rowsOf(columns))] }, signal);
    await writeCopy(part, { sha256: file.sha256, clustering, rows: file.rows, date, code, columns }, batches);
    const { size } = await stat(part);
    await rename(part, path);
    return size;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/**
 * Makes a folder whose parent exists. A data directory that is gone, e.g. because its disk was unmounted, is never made
 * again: an empty one would be in the way when it comes back.
 */
export const makeFolder = (path: string): Promise<void> =>
  mkdir(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });

async function makeFolders(folder: string, inner: string): Promise<void> {
  let path = folder;
  for (const name of inner.split(sep)) {
    path = join(path, name);
    await makeFolder(path);
  }
}

/** The paths of copies, also of unfinished ones and of those of another layout, relative to the folder. */
async function pathsIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter(isCopy);
}

export async function storedCopies(folder: string, lakeFolder: string): Promise<readonly StoredCopy[]> {
  const stored: StoredCopy[] = [];
  for (const path of await pathsIn(folder)) {
    const source = sourceOf(path);
    const found = source === null ? undefined : await stat(join(folder, path)).catch(() => undefined);
    if (source === null || found === undefined) continue;
    stored.push({ path: source, bytes: found.size, hasSource: await exists(join(lakeFolder, source)) });
  }
  return stored;
}

/** Removes what a crash left unfinished, and copies of another layout. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const path of await pathsIn(folder)) {
    if (sourceOf(path) === null) await rm(join(folder, path), { force: true });
  }
}

export const removeCopy = (folder: string, copy: StoredCopy): Promise<void> =>
  rm(copyPath(folder, copy.path), { force: true });

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Throws an OperatorError if the folder holds the copies of another lake, which would be taken for useless. */
export async function claimFolder(folder: string, layout: Pick<Layout, "identity">): Promise<void> {
  const claim = await claimOn(folder, layout);
  if (claim !== null) await writeFile(claim.marker, claim.own);
}

/** What to write where in order to claim the folder; null if nothing needs to be written. Throws as `claimFolder` does. */
export async function claimOn(
  folder: string,
  { identity }: Pick<Layout, "identity">,
): Promise<{ readonly marker: string; readonly own: string } | null> {
  const own = await readOrNone(identity);
  const marker = join(folder, "lake.json");
  const found = await readOrNone(marker);
  if (own === undefined || own === found) return null;
  if (found === undefined) return { marker, own };
  throw new OperatorError(
    `${folder} holds the serving copies of another data directory: name another folder with --copies-folder`,
  );
}
