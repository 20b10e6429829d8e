// The folder of the serving copies: what it holds, and one more copy.
import { access, mkdir, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { COPY } from "../copies/layout.js";
import { copyPath } from "../copies/store.js";
import { writeCopy } from "../copies/write.js";
import type { Reader } from "../engine/reader.js";
import { rowsOf, scanOf } from "../query/scan.js";
import type { Source, StoredCopy } from "./plan.js";

/** A copy that is being written. */
const PART = ".part";
/** The name of a copy, of any revision. */
const ANY_COPY = /\.v\d+\.arrow(\.part)?$/;

/** Writes the copy of a data file. Throws what reading it throws, among others DamagedFileError. */
export async function makeCopy(
  folder: string,
  { entity, clustering, file }: Source,
  reader: Reader,
  signal: AbortSignal,
): Promise<number> {
  const { columns, mainDate: date, code } = entity;
  const path = copyPath(folder, file);
  const part = path + PART;
  await mkdir(dirname(path), { recursive: true });
  await rm(part, { force: true });
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

/** The paths of copies, also of unfinished ones and of those of another revision. */
async function pathsIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && ANY_COPY.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
}

export async function storedCopies(folder: string, lakeFolder: string): Promise<readonly StoredCopy[]> {
  const stored: StoredCopy[] = [];
  for (const path of await pathsIn(folder)) {
    if (!path.endsWith(COPY)) continue;
    const source = relative(folder, path).slice(0, -COPY.length) + ".parquet";
    const found = await stat(path).catch(() => undefined);
    if (found) stored.push({ path: source, bytes: found.size, hasSource: await exists(join(lakeFolder, source)) });
  }
  return stored;
}

/** Removes what a crash left unfinished, and copies of another revision. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const path of await pathsIn(folder)) if (!path.endsWith(COPY)) await rm(path, { force: true });
}

export const removeCopy = (folder: string, copy: StoredCopy): Promise<void> =>
  rm(copyPath(folder, copy), { force: true });

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Free bytes of the file system. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
