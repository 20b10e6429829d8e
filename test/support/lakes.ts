// The data directories of tests: lakes in a folder or, in the vitest projects that say so, mirrors of a bucket.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "vitest";
import { layoutOf } from "../../src/lake/layout.js";
import { followLedger } from "../../src/store/ledger-file.js";
import { copyOf, temporaryFolder } from "./folders.js";
import { folderBehind, mirrorAt, newAddress, newMirror, type Store } from "./mirrors.js";

/** Where the lakes are that the data directories mirror; undefined if they are in the data directories. */
const store = process.env["TAPEHOUSE_LAKES"] as Store | undefined;

export const isMirror = store !== undefined;

/** A test of what only a lake in a folder has or does. A comment says what that is. */
export const folderTest = test.skipIf(isMirror);

/** A new data directory without a lake. */
export const newLake = async (): Promise<string> =>
  store === undefined ? temporaryFolder() : newMirror(await newAddress(store));

/** The folder with the files of a lake: the data directory, or where the server of the bucket keeps the objects. */
export const filesOf = async (root: string): Promise<string> =>
  isMirror ? folderBehind((await mirrorAt(root)).objects.address) : root;

/** Does something to a file of a lake, if it is there: in the data directory and, of a mirror, to the object in the bucket. */
export async function everywhere(root: string, path: string, work: (path: string) => unknown): Promise<void> {
  for (const place of new Set([root, await filesOf(root)]))
    if (existsSync(join(place, path))) await work(join(place, path));
}

/** A copy of a lake, whose files have times of whole milliseconds. Of a mirror, the bucket is copied. */
export async function copyOfLake(root: string): Promise<string> {
  if (store === undefined) return copyOf(root);
  const address = await newAddress(store);
  // Unlike Node's copy, it keeps the attributes in which the server keeps tags.
  await mkdir(folderBehind(address), { recursive: true });
  await promisify(execFile)("cp", ["--archive", `${await filesOf(root)}/.`, folderBehind(address)]);
  const copy = await newMirror(address);
  const [layout, mirror] = [layoutOf(copy), await mirrorAt(copy)];
  await mirror.pull.versions(true);
  await mirror.pull.files(layout.tokens, layout.gaps);
  await followLedger(layout);
  return copy;
}

/** Makes the objects of a mirror two days old: a vacuum removes none that is younger than a day. */
export async function ageObjects(root: string): Promise<void> {
  if (!isMirror) return;
  const longAgo = new Date(Date.now() - 2 * 86_400_000);
  const entries = await readdir(await filesOf(root), { recursive: true, withFileTypes: true });
  for (const entry of entries) if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), longAgo, longAgo);
}
