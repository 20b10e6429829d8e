// The files of a folder in the order that S3 lists them, without walking through folders that cannot match.
import type { BigIntStats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ahead } from "../ahead.js";
import { isAbsent } from "../files.js";
import { compareKeys, RESERVED } from "./keys.js";

/** Files that are looked at together. */
const TOGETHER = 16;

/** The files below `root` whose keys begin with `prefix` and come after `after`, by key, with what the system says of them. */
export async function* filesUnder(
  root: string,
  prefix: string,
  after: string,
  folder = prefix.slice(0, prefix.lastIndexOf("/") + 1),
): AsyncGenerator<readonly [key: string, found: BigIntStats]> {
  const keys = await keysIn(root, folder);
  const wanted = keys.filter((key) => mayHold(key, prefix, after));
  const look = (key: string): Promise<BigIntStats | undefined> =>
    isFolder(key) ? Promise.resolve(undefined) : statOrNone(join(root, key));
  for await (const [key, found] of ahead(wanted, TOGETHER, look)) {
    if (isFolder(key)) yield* filesUnder(root, prefix, after, key);
    else if (found?.isFile()) yield [key, found];
  }
}

const isFolder = (key: string): boolean => key.endsWith("/");

/** The keys of files and, with a slash at the end, of folders, in the order of the keys in them. */
async function keysIn(root: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((error: unknown) => {
    if (isAbsent(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return [];
    throw error;
  });
  return entries
    .filter(({ name }) => folder !== "" || name !== RESERVED)
    .map((entry) => folder + entry.name + (entry.isDirectory() ? "/" : ""))
    .sort(compareKeys);
}

/** Whether a file, or some file of a folder, is one of those to list. */
function mayHold(key: string, prefix: string, after: string): boolean {
  if (!isFolder(key)) return key.startsWith(prefix) && compareKeys(key, after) > 0;
  const matches = key.startsWith(prefix) || prefix.startsWith(key);
  return matches && (compareKeys(key, after) > 0 || after.startsWith(key));
}

const statOrNone = (path: string): Promise<BigIntStats | undefined> =>
  stat(path, { bigint: true }).catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw error;
  });
