// The pointer to the served version, and the numbers of the versions that are kept.
import { readdir } from "node:fs/promises";
import { isAbsent, readOrNone } from "./absent.js";
import type { Layout } from "./layout.js";
import { DamagedManifestError } from "./manifest.js";

/**
 * The sequence number of the served version; 0 where nothing was published. Throws where the pointer is damaged, is gone,
 * or names a version that others follow.
 */
export async function requirePointer(layout: Layout): Promise<number> {
  for (;;) {
    const sequence = await readPointer(layout);
    const later = (await sequences(layout)).filter((other) => other > sequence);
    // The next one is there while it is published, and after a crash meanwhile.
    const isBegun = (await readOrNone(layout.pending)) !== undefined;
    const isLeftBehind = later.some((other) => other > sequence + 1 || !isBegun);
    if (!isLeftBehind) return sequence;
    if ((await readPointer(layout)) !== sequence) continue;
    const state = sequence === 0 ? "is gone" : `names version ${sequence}, which others follow: it is damaged`;
    throw new DamagedManifestError(`the pointer to the current version ${state}`);
  }
}

/** The numbers of the versions that are there, in ascending order. */
export async function sequences(layout: Layout): Promise<readonly number[]> {
  const names = await readdirOrNone(layout.versions);
  return names
    .filter((name) => /^\d{10}\.json$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

/** What the pointer says; 0 where there is none. */
export async function readPointer(layout: Layout): Promise<number> {
  const text = await readOrNone(layout.pointer);
  if (text === undefined) return 0;
  const sequence = Number(text.trim());
  if (!Number.isSafeInteger(sequence) || sequence < 1)
    throw new DamagedManifestError("the pointer to the current version is damaged");
  return sequence;
}

async function readdirOrNone(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}
