// Reading the manifest: which version is served, what it holds, and where older ones are.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent, readOrNone } from "./absent.js";
import { layoutOf, listFile, versionFile, type Layout } from "./layout.js";
import {
  DamagedManifestError,
  decodeList,
  decodeVersion,
  emptyList,
  EMPTY_VERSION,
  type FileList,
  type Version,
} from "./manifest.js";
import { wasRemoved } from "./removed.js";

/** One version of the lake, complete and immutable. A query keeps one from start to end. */
export interface Snapshot {
  readonly version: Version;
  /** The entity's files; an empty list where it has no data. */
  files(entity: string): FileList;
}

export type FoundVersion = Snapshot | "unknown" | "removed";

export interface Lake {
  readonly layout: Layout;
  /** The version that was served at the last refresh. */
  current(): Snapshot;
  /**
   * Looks at the pointer; resolves to true where a newer version is served from now on. Throws DamagedManifestError
   * where the manifest is damaged: the version before it is served on.
   */
  refresh(): Promise<boolean>;
  /** False where the manifest was damaged at the last refresh. */
  isSound(): boolean;
  /** The snapshot of a `data_version`, also of one that was published since the last refresh. Throws DamagedManifestError where it is damaged, or may be. */
  at(dataVersion: string): Promise<FoundVersion>;
  /** All kept versions, oldest first. Throws DamagedManifestError where one of them is damaged. */
  versions(): Promise<readonly Version[]>;
}

export async function openLake(root: string): Promise<Lake> {
  const layout = layoutOf(root);
  const lists = new Map<string, FileList>();
  let known = new Map<string, Version>();
  let current = await readSnapshot(layout, await requirePointer(layout), lists);
  let sound = true;

  /** Names of the kept versions' files, oldest first. */
  const names = async (): Promise<string[]> =>
    (await sequences(layout)).filter((sequence) => sequence <= current.version.sequence).map(versionFile);

  /** Undefined for one that vacuum removed just now. */
  const read = async (name: string): Promise<Version | undefined> => {
    const found = known.get(name);
    if (found) return found;
    const text = await readOrNone(join(layout.versions, name));
    if (text === undefined) return undefined;
    const version = decodeVersion(text, Number.parseInt(name, 10));
    known.set(name, version);
    return version;
  };

  const find = (dataVersion: string): Promise<Version | undefined> =>
    search(dataVersion).catch((error: unknown) => {
      if (error instanceof DamagedManifestError) return findBesides(dataVersion, error);
      throw error;
    });

  /** Looks at every version: the wanted one may be beside a damaged one. */
  const findBesides = async (dataVersion: string, damage: DamagedManifestError): Promise<Version | undefined> => {
    for (const name of await names()) {
      const version = await read(name).catch(() => undefined);
      if (version?.data_version === dataVersion) return version;
    }
    if (await wasRemoved(layout.removed, dataVersion)) return undefined;
    throw damage;
  };

  /** Versions ascend with their numbers: of thousands a few are read. */
  const search = async (dataVersion: string): Promise<Version | undefined> => {
    const kept = await names();
    let low = 0;
    let high = kept.length;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const version = await read(kept[middle]!);
      if (version?.data_version === dataVersion) return version;
      if (version === undefined || version.data_version < dataVersion) low = middle + 1;
      else high = middle;
    }
    return undefined;
  };

  const follow = async (): Promise<boolean> => {
    let sequence = await readPointer(layout);
    // It only ever grows, unless the lake was begun anew or put back to an older state.
    if (sequence < current.version.sequence) sequence = await requirePointer(layout);
    if (sequence === current.version.sequence) return false;
    current = await readSnapshot(layout, sequence, lists);
    const needed = new Set(Object.values(current.version.lists));
    for (const sha of lists.keys()) if (!needed.has(sha)) lists.delete(sha);
    return true;
  };

  return {
    layout,
    current: () => current,
    isSound: () => sound,
    async refresh() {
      try {
        const isNew = await follow();
        sound = true;
        return isNew;
      } catch (error) {
        sound = false;
        throw error;
      }
    },
    async at(dataVersion) {
      // Another process may have published it just now, and its reader ask here before the next look.
      if (dataVersion > current.version.data_version) await follow();
      if (dataVersion === current.version.data_version) return current;
      const version = await find(dataVersion);
      try {
        if (version) return await readSnapshot(layout, version.sequence, lists);
      } catch (error) {
        // Vacuum may remove it while it is read.
        if (!(error instanceof DamagedManifestError && error.isMissing)) throw error;
      }
      return (await wasRemoved(layout.removed, dataVersion)) ? "removed" : "unknown";
    },
    async versions() {
      const kept = new Map<string, Version>();
      for (const name of await names()) {
        const version = await read(name);
        if (version) kept.set(name, version);
      }
      known = kept;
      return [...kept.values()];
    },
  };
}

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

async function readSnapshot(layout: Layout, sequence: number, cache: Map<string, FileList>): Promise<Snapshot> {
  const version =
    sequence === 0
      ? EMPTY_VERSION
      : decodeVersion(await requireFile(layout.versions, versionFile(sequence), `version ${sequence}`), sequence);
  const files = new Map<string, FileList>();
  for (const [entity, sha] of Object.entries(version.lists)) {
    let list = cache.get(sha);
    if (!list) {
      const text = await requireFile(layout.lists, listFile(sha), `file list ${sha.slice(0, 12)} of ${entity}`);
      list = decodeList(text, sha);
      cache.set(sha, list);
    }
    files.set(entity, list);
  }
  return { version, files: (entity) => files.get(entity) ?? emptyList(entity) };
}

async function requireFile(folder: string, name: string, what: string): Promise<string> {
  const text = await readOrNone(join(folder, name));
  if (text === undefined) throw new DamagedManifestError(`${what} is gone`, true);
  return text;
}

async function readdirOrNone(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}
