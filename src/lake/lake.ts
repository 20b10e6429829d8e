// Reading the manifest: which version is served, what it holds, and where older ones are.
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { layoutOf, listFile, versionFile, type Layout } from "./layout.js";
import { decodeList, decodeVersion, emptyList, EMPTY_VERSION, type FileList, type Version } from "./manifest.js";

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
  const known = new Map<string, Version>();
  let current = await readSnapshot(layout, await readPointer(layout), lists);

  const readVersions = async (): Promise<readonly Version[]> => {
    const names = (await readdirOrNone(layout.versions)).filter((name) => /^\d{10}\.json$/.test(name)).sort();
    const served = current.version.sequence;
    const kept: Version[] = [];
    for (const name of names) {
      if (Number.parseInt(name, 10) > served) continue;
      let version = known.get(name);
      if (!version) {
        const text = await readOrNone(join(layout.versions, name));
        if (text === undefined) continue;
        version = decodeVersion(text);
        known.set(name, version);
      }
      kept.push(version);
    }
    return kept;
  };

  return {
    layout,
    current: () => current,
    async refresh() {
      const sequence = await readPointer(layout);
      if (sequence === current.version.sequence) return false;
      current = await readSnapshot(layout, sequence, lists);
      return true;
    },
    async at(dataVersion) {
      if (dataVersion === current.version.data_version) return current;
      const version = (await readVersions()).find((v) => v.data_version === dataVersion);
      if (version) return readSnapshot(layout, version.sequence, lists);
      const removed = (await readOrNone(layout.removed)) ?? "";
      return removed.split("\n").includes(dataVersion) ? "removed" : "unknown";
    },
    versions: readVersions,
  };
}

/** The sequence number of the served version; 0 where nothing was published. */
export async function readPointer(layout: Layout): Promise<number> {
  const text = await readOrNone(layout.pointer);
  if (text === undefined) return 0;
  const sequence = Number(text.trim());
  if (!Number.isSafeInteger(sequence) || sequence < 1) throw new Error("the pointer to the current version is damaged");
  return sequence;
}

async function readSnapshot(layout: Layout, sequence: number, cache: Map<string, FileList>): Promise<Snapshot> {
  const version =
    sequence === 0
      ? EMPTY_VERSION
      : decodeVersion(await readFile(join(layout.versions, versionFile(sequence)), "utf8"));
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

async function readOrNone(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function readdirOrNone(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
