// Reading the manifest: which version is served, what it holds, and where older ones are.
import { readFile, readdir } from "node:fs/promises";
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
  /** Looks at the pointer; resolves to true where a newer version is served from now on. */
  refresh(): Promise<boolean>;
  /** The snapshot of a `data_version`. */
  at(dataVersion: string): Promise<FoundVersion>;
  /** All kept versions, oldest first. */
  versions(): Promise<readonly Version[]>;
}

export async function openLake(root: string): Promise<Lake> {
  const layout = layoutOf(root);
  const lists = new Map<string, FileList>();
  let known = new Map<string, Version>();
  let current = await readSnapshot(layout, await readPointer(layout), lists);

  /** Names of the kept versions' files, oldest first. */
  const names = async (): Promise<string[]> =>
    (await readdirOrNone(layout.versions))
      .filter((name) => /^\d{10}\.json$/.test(name) && Number.parseInt(name, 10) <= current.version.sequence)
      .sort();

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

  /** Versions ascend with their numbers: of thousands a few are read. */
  const find = async (dataVersion: string): Promise<Version | undefined> => {
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

  return {
    layout,
    current: () => current,
    async refresh() {
      const sequence = await readPointer(layout);
      if (sequence === current.version.sequence) return false;
      current = await readSnapshot(layout, sequence, lists);
      const needed = new Set(Object.values(current.version.lists));
      for (const sha of lists.keys()) if (!needed.has(sha)) lists.delete(sha);
      return true;
    },
    async at(dataVersion) {
      if (dataVersion === current.version.data_version) return current;
      const version = await find(dataVersion);
      try {
        if (version) return await readSnapshot(layout, version.sequence, lists);
      } catch (error) {
        // Vacuum may remove it while it is read.
        if (!isAbsent(error)) throw error;
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

/** The sequence number of the served version; 0 where nothing was published. */
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
      : decodeVersion(await readFile(join(layout.versions, versionFile(sequence)), "utf8"), sequence);
  const files = new Map<string, FileList>();
  for (const [entity, sha] of Object.entries(version.lists)) {
    let list = cache.get(sha);
    if (!list) {
      list = decodeList(await readFile(join(layout.lists, listFile(sha)), "utf8"), sha);
      cache.set(sha, list);
    }
    files.set(entity, list);
  }
  return { version, files: (entity) => files.get(entity) ?? emptyList(entity) };
}

async function readdirOrNone(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}
