// Finds versions: the pointer to the served one, the numbers of the kept ones, and the list of the removed ones.
import { open } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent, linesOf, namesIn, readOrNone } from "../files.js";
import { type Layout, versionFile } from "./layout.js";
import { DamagedManifestError, decodeVersion, type Version } from "./manifest.js";

/**
 * The sequence number of the served version; 0 if nothing was published. Throws if the pointer is damaged, is gone,
 * or names a version that others follow.
 */
export async function requirePointer(layout: Layout): Promise<number> {
  for (;;) {
    const sequence = await readPointer(layout);
    const later = (await sequences(layout)).filter((other) => other > sequence);
    // The next version exists while it is being published, and after a crash during that.
    const isBegun = (await readOrNone(layout.pending)) !== undefined;
    const isLeftBehind = later.some((other) => other > sequence + 1 || !isBegun);
    if (!isLeftBehind) return sequence;
    if ((await readPointer(layout)) !== sequence) continue;
    const state = sequence === 0 ? "is gone" : `names version ${sequence}, which others follow: it is damaged`;
    throw new DamagedManifestError(`the pointer to the current version ${state}`);
  }
}

/** The numbers of the existing versions, in ascending order. */
export async function sequences(layout: Layout): Promise<readonly number[]> {
  const names = await namesIn(layout.versions);
  return names
    .filter((name) => /^\d{10}\.json$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

/** The versions up to `sequence` that can be read, newest first. Each is read when it is asked for. */
export async function* newestFirst(layout: Layout, sequence: number): AsyncGenerator<Version> {
  const kept = (await sequences(layout)).filter((one) => one <= sequence);
  for (const one of kept.toReversed()) {
    const text = await readOrNone(join(layout.versions, versionFile(one)));
    const version = text === undefined ? undefined : decoded(text, one);
    if (version) yield version;
  }
}

function decoded(text: string, sequence: number): Version | undefined {
  try {
    return decodeVersion(text, sequence);
  } catch (error) {
    if (error instanceof DamagedManifestError) return undefined;
    throw error;
  }
}

/** The content of the pointer while the directory is being restored. */
export const RESTORING = "restoring\n";

export const UNFINISHED = "a restore into this data directory has not finished: run tapehouse restore again";

/** The number in the pointer; 0 if there is no pointer. */
export async function readPointer(layout: Layout): Promise<number> {
  const text = await readOrNone(layout.pointer);
  if (text === undefined) return 0;
  if (text === RESTORING) throw new DamagedManifestError(UNFINISHED);
  const sequence = Number(text.trim());
  if (!Number.isSafeInteger(sequence) || sequence < 1)
    throw new DamagedManifestError("the pointer to the current version is damaged");
  return sequence;
}

// The list of removed versions has one data_version a line, in ascending order. All lines have the same length, so a
// lookup by bisection reads only a few of them.

/** Bytes of a line: a data_version and a line feed. */
const LINE = "1970-01-01T08:00:00.000+08:00\n".length;
const DATA_VERSION = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+08:00$/;

/** Whether the version was removed. Throws DamagedManifestError if a damaged line may have named it. */
export async function wasRemoved(path: string, dataVersion: string): Promise<boolean> {
  const handle = await open(path, "r").catch((error: unknown) => {
    if (isAbsent(error)) return null;
    throw error;
  });
  if (!handle) return false;
  try {
    const line = Buffer.alloc(LINE);
    const { size } = await handle.stat();
    let [low, high] = [0, size / LINE];
    let [first, last] = ["", "~"];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      await handle.read(line, 0, LINE, middle * LINE);
      const found = line.toString("latin1", 0, LINE - 1);
      if (found === dataVersion) return true;
      // Damaged lines cannot be bisected.
      if (!Number.isInteger(high) || !DATA_VERSION.test(found) || found <= first || found >= last)
        return await isAmongLines(path, dataVersion);
      if (found < dataVersion) [low, first] = [middle + 1, found];
      else [high, last] = [middle, found];
    }
    return false;
  } finally {
    await handle.close();
  }
}

async function isAmongLines(path: string, dataVersion: string): Promise<boolean> {
  const { versions, isDamaged } = await readRemoved(path);
  if (versions.includes(dataVersion)) return true;
  if (isDamaged) throw new DamagedManifestError("the list of removed versions is damaged");
  return false;
}

/** All readable versions of the list, in ascending order, and whether any part of it is damaged. */
export async function readRemoved(
  path: string,
): Promise<{ readonly versions: readonly string[]; readonly isDamaged: boolean }> {
  const versions = new Set<string>();
  let isDamaged = false;
  let last = "";
  for await (const { text, end } of linesOf(path, LINE)) {
    const isSound = text !== null && DATA_VERSION.test(text);
    if (!isSound || text <= last || end % LINE !== 0) isDamaged = true;
    if (!isSound) continue;
    versions.add(text);
    last = text;
  }
  return { versions: [...versions].sort(), isDamaged };
}

/** The text of the list with more versions; damaged lines are left out. */
export const addRemoved = (text: string, added: readonly string[]): string =>
  encodeRemoved([...new Set([...text.split("\n").filter((line) => DATA_VERSION.test(line)), ...added])].sort());

export const encodeRemoved = (versions: readonly string[]): string =>
  versions.map((version) => `${version}\n`).join("");
