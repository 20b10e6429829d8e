// Opens a lake for reading: follows the served version and finds older ones.
import { join } from "node:path";
import { readdir, stat } from "node:fs/promises";
import { readOrNone } from "../files.js";
import { findSuccessor, NO_MARK, UnavailableError, type Mark } from "./continuity.js";
import { layoutOf, versionFile, type Layout } from "./layout.js";
import { readList } from "./lists.js";
import {
  DamagedManifestError,
  decodeVersion,
  emptyList,
  EMPTY_VERSION,
  type FileList,
  type Version,
  type DataFile,
} from "./manifest.js";
import { readStateFile } from "./state-file.js";
import { mirrorOf } from "./mirror/mirror.js";
import { requirePointer, sequences, wasRemoved } from "./kept-versions.js";

/** One complete, immutable version of the lake. A query uses the same one from start to end. */
export interface Snapshot {
  readonly version: Version;
  /** The entity's files; an empty list if it has no data. */
  files(entity: string): FileList;
}

type FoundVersion = Snapshot | "unknown" | "removed";

/** The faults of the data directory at the last refresh. */
interface Faults {
  /** Why the manifest cannot be followed, usually an UnavailableError or a DamagedManifestError; null if it can. */
  readonly state: Error | null;
  /** Entities of the open version whose data files are missing. */
  readonly absent: readonly string[];
}

export interface Lake {
  readonly layout: Layout;
  /** The version that was served at the last refresh. Throws the fault if none could be opened yet. */
  current(): Snapshot;
  /** The same, or null if none could be opened yet. */
  opened(): Snapshot | null;
  /** The identity and the version of the lake at the last refresh. */
  mark(): Mark;
  /**
   * Reads the pointer and resolves to true if it now serves a newer version. Throws DamagedManifestError if the
   * manifest is damaged, and UnavailableError if the directory does not continue this lake; either way the current
   * version stays in use.
   */
  refresh(): Promise<boolean>;
  faults(): Faults;
  /** Throws what `refresh` would throw, without following. Call it before concluding that something does not exist. */
  requireState(): Promise<void>;
  /**
   * The snapshot of a `data_version`, even one that was published after the last refresh. Throws DamagedManifestError
   * if it is damaged or cannot be ruled out among damaged versions.
   */
  at(dataVersion: string): Promise<FoundVersion>;
  /** All kept versions, oldest first. Throws DamagedManifestError if one of them is damaged. */
  versions(): Promise<readonly Version[]>;
}

export interface OpenOptions {
  /** What another process has served. The directory is opened only if it continues from there. */
  readonly after?: Mark;
  /** If the directory does not continue `after`, `openLake` still resolves and a later refresh opens it. */
  readonly waits?: boolean;
}

export async function openLake(root: string, { after = NO_MARK, waits = false }: OpenOptions = {}): Promise<Lake> {
  const layout = layoutOf(root);
  const mirror = await mirrorOf(layout);
  const lists = new Map<string, FileList>();
  let known = new Map<string, Version>();
  let mark = after;
  let current: Snapshot | null = null;
  const findAbsent = mirror === null ? createPresence(layout) : async (): Promise<readonly string[]> => [];
  let faults: Faults = { state: null, absent: [] };

  /** Names of the kept versions' files, oldest first. */
  const names = async (): Promise<string[]> =>
    (await sequences(layout)).filter((sequence) => sequence <= mark.sequence).map(versionFile);

  /** Undefined for a version that vacuum has just removed. */
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
      if (error instanceof DamagedManifestError) return searchAll(dataVersion, error);
      throw error;
    });

  /** Reads every version, since one that is damaged prevents a bisection. */
  const searchAll = async (dataVersion: string, damage: DamagedManifestError): Promise<Version | undefined> => {
    for (const name of await names()) {
      const version = await read(name).catch(() => undefined);
      if (version?.data_version === dataVersion) return version;
    }
    if (await wasRemoved(layout.removed, dataVersion)) return undefined;
    throw damage;
  };

  /** Bisects the versions, which ascend with their numbers. */
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
    const { id, sequence } = await findSuccessor(layout, mark);
    if (current && sequence === mark.sequence) {
      if (id !== mark.id) mark = { ...mark, id };
      return false;
    }
    // The pointer only ever grows. At the first read its earlier value is not known, so it is checked more closely.
    if (!current) await requirePointer(layout);
    const snapshot = await readSnapshot(layout, sequence, lists);
    // A concurrent call may have been faster.
    if (current && sequence <= mark.sequence) return false;
    const { data_version } = snapshot.version;
    if (sequence > mark.sequence && data_version <= mark.data_version) {
      throw new UnavailableError(`version ${data_version} of the data directory is older than the one that is served`);
    }
    current = snapshot;
    mark = { id, sequence, data_version };
    const needed = new Set(Object.values(snapshot.version.lists));
    for (const sha of lists.keys()) if (!needed.has(sha)) lists.delete(sha);
    return true;
  };

  const refresh = async (): Promise<boolean> => {
    let state: Error | null = null;
    try {
      return await follow();
    } catch (error) {
      state = error as Error;
      throw error;
    } finally {
      faults = { state, absent: await findAbsent(current, state) };
    }
  };

  const requireState = async (): Promise<void> => {
    await findSuccessor(layout, mark);
  };

  const opened = (): Snapshot => {
    if (current) return current;
    throw faults.state!;
  };

  const lookUp = async (dataVersion: string): Promise<FoundVersion> => {
    const version = await find(dataVersion);
    try {
      if (version) return await readSnapshot(layout, version.sequence, lists);
    } catch (error) {
      // Vacuum may remove it while it is being read.
      if (!(error instanceof DamagedManifestError && error.isMissing)) throw error;
    }
    return (await wasRemoved(layout.removed, dataVersion)) ? "removed" : "unknown";
  };

  await refresh().catch((error: unknown) => {
    if (!(waits && error instanceof UnavailableError)) throw error;
  });

  return {
    layout,
    current: opened,
    opened: () => current,
    mark: () => mark,
    faults: () => faults,
    refresh,
    requireState,
    async at(dataVersion) {
      // Another process may have published it since the last refresh.
      if (!current || dataVersion > mark.data_version) {
        await mirror?.pull.versions(false);
        await follow();
      }
      if (dataVersion === mark.data_version) return opened();
      const found = await lookUp(dataVersion).catch(async (error: unknown) => {
        await requireState();
        throw error;
      });
      if (typeof found === "string") await requireState();
      return found;
    },
    async versions() {
      const kept = new Map<string, Version>();
      try {
        for (const name of await names()) {
          const version = await read(name);
          if (version) kept.set(name, version);
        }
      } finally {
        await requireState();
      }
      known = kept;
      return [...kept.values()];
    },
  };
}

async function readSnapshot(layout: Layout, sequence: number, cache: Map<string, FileList>): Promise<Snapshot> {
  const version = sequence === 0 ? EMPTY_VERSION : await readVersion(layout, sequence);
  const files = new Map<string, FileList>();
  for (const [entity, sha] of Object.entries(version.lists)) {
    let list = cache.get(sha);
    if (!list) {
      list = await readList(layout, sha, entity);
      cache.set(sha, list);
    }
    files.set(entity, list);
  }
  return { version, files: (entity) => files.get(entity) ?? emptyList(entity) };
}

const readVersion = (layout: Layout, sequence: number): Promise<Version> =>
  readStateFile(layout, join(layout.versions, versionFile(sequence)), `version ${sequence}`, (text) =>
    decodeVersion(text, sequence),
  );

// Presence: entities of the open version whose data files are missing.

/** The open version; null if none could be opened yet. */
type Opened = { readonly version: Version; files(entity: string): FileList } | null;

/** `fault` is why the manifest cannot be followed, or null. */
type FindAbsent = (opened: Opened, fault: Error | null) => Promise<readonly string[]>;

/**
 * Returns a function that names the entities whose data files are missing. It checks their folders at each call, and
 * their files once when the directory has become unavailable.
 */
function createPresence(layout: Layout): FindAbsent {
  let known: string | null = null;
  let incomplete: readonly string[] = [];
  return async (opened, fault) => {
    const reason = fault instanceof UnavailableError ? fault.message : null;
    if (reason !== known) incomplete = reason === null ? [] : await incompleteEntities(layout, opened);
    known = reason;
    const needed = entitiesOf(opened);
    if (needed.length === 0) return [];
    const folders = await readdir(layout.lake).catch((): string[] => []);
    return needed.filter((entity) => !folders.includes(entity) || incomplete.includes(entity));
  };
}

const entitiesOf = (opened: Opened): readonly string[] => Object.keys(opened?.version.lists ?? {});

async function incompleteEntities(layout: Layout, opened: Opened): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entity of entitiesOf(opened)) {
    const { byDate, byCode } = opened!.files(entity);
    if (await lacksOne(layout, [...byDate, ...byCode])) found.push(entity);
  }
  return found;
}

async function lacksOne(layout: Layout, files: readonly DataFile[]): Promise<boolean> {
  for (const { path } of files) {
    const isThere = await stat(join(layout.lake, path)).then(
      () => true,
      () => false,
    );
    if (!isThere) return true;
  }
  return false;
}
