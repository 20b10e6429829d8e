// The files and folders below one folder of the inbox, as they were last seen. A walk looks at them in small steps.
import { lstatSync, readdirSync, statSync, type Stats } from "node:fs";
import { join } from "node:path";
import { stampOf } from "../files.js";
import { kindOf, whyUnseen, type DropKind, type DropState } from "../lake/drop-file.js";

/** A file of the inbox that has stopped changing, or something else under a name. Links are not followed. */
export interface InboxFile extends DropState {
  readonly kind: DropKind;
  /** It is new or was replaced since the last scan, so an entry in the ledger with its size and time proves nothing. */
  readonly isReplaced: boolean;
}

/** A file as it was when it was scanned. */
export type SeenFile = Pick<InboxFile, "path" | "size" | "mtime">;

export interface Tree {
  /**
   * Reads the changed folders and checks new and hot files, or with `all` everything. Each step is short, and yields
   * whether it met a new name. Only one walk may run at a time.
   */
  walk(all: boolean): Generator<boolean, void>;
  /** The files that were complete when the last walk ended and have not been handled since, the oldest first. */
  complete(): readonly InboxFile[];
  settle(file: SeenFile): void;
  defer(path: string, quiet: number): void;
  /** When the next file is complete if it does not change; Infinity if none waits for this. */
  nextDue(): number;
  /** How many files and folders are known. */
  size(): number;
  /** It holds more names than are watched. */
  isFull(): boolean;
}

/** A file is complete when it has not changed for this many milliseconds. */
export const QUIET = 400;
/** Files and folders that changed within this many milliseconds are hot: they are the most likely to change again. */
const HOT_FOR = 3_600_000;
/** Folders up to this depth in the inbox are always hot, since new folders appear there. */
const TOP = 1;
/** A folder that changed less than this before it was read may have changed again within the resolution of its clock. */
const COARSE = 3_000;

interface Folder {
  /** Relative to the inbox; empty for the inbox itself. */
  readonly path: string;
  readonly depth: number;
  stamp: string;
  hotUntil: number;
  /** Names of the files and folders in it. */
  readonly names: Set<string>;
}

interface Watched {
  readonly path: string;
  readonly kind: DropKind;
  size: number;
  mtime: number;
  stamp: string;
  isReplaced: boolean;
  hotUntil: number;
  /** When it is complete if it does not change; null if it was handled. */
  due: number | null;
  /** It was seen unchanged after it was due. */
  isComplete: boolean;
}

interface TreeOptions {
  /** The inbox. */
  readonly root: string;
  /** Relative to the inbox. */
  readonly top: string;
  /** Folders at the top that belong to other trees. */
  readonly without: ReadonlySet<string>;
  /** How many files and folders are watched. */
  readonly most: number;
  /** Milliseconds. */
  readonly clock: () => number;
}

export function createTree({ root, top, without, most, clock }: TreeOptions): Tree {
  const topFolder = newFolder(top, top === "" ? 0 : 1);
  const folders = new Map<string, Folder>([[top, topFolder]]);
  const files = new Map<string, Watched>();
  /** The files that are hot or not handled yet. */
  const active = new Set<Watched>();
  let ready: readonly Watched[] = [];
  let isFull = false;

  const forget = (path: string): void => {
    for (const name of folders.get(path)?.names ?? []) forget(pathIn(path, name));
    folders.delete(path);
    const file = files.get(path);
    if (!file) return;
    file.isComplete = false;
    active.delete(file);
    files.delete(path);
  };

  /** Forgets a file or folder and its name in the folder above, so that it counts as new if it comes back. */
  const forgetIn = (path: string): void => {
    folders.get(path.split("/").slice(0, -1).join("/"))?.names.delete(path.split("/").at(-1)!);
    forget(path);
  };

  /** Checks a file; it is complete if it has not changed and was due at the given time. */
  const scanFile = (file: Watched, now: number): void => {
    // Whether one that cannot be found by its path still exists can only be seen in its folder.
    if (file.kind !== "unnameable" && file.kind !== "too-long") {
      const stats = statsOf(join(root, file.path));
      if (!stats || kindOf(stats) !== file.kind) {
        forgetIn(file.path);
        return;
      }
      const stamp = stampOf(stats);
      if (stamp !== file.stamp) {
        const changed = clock();
        const { size, mtimeMs: mtime } = stats;
        const since = { hotUntil: changed + HOT_FOR, due: changed + QUIET, isComplete: false };
        Object.assign(file, { size, mtime, stamp, isReplaced: true, ...since });
        active.add(file);
      }
    }
    if (file.due !== null && file.due <= now) file.isComplete = true;
    if (file.due === null && file.hotUntil <= now) active.delete(file);
  };

  const add = (folder: Folder, name: string): Watched | undefined => {
    const path = pathIn(folder.path, name);
    const { stats, kind } = look(join(root, path), name);
    if (kind === undefined || (kind === "folder" && without.has(path))) return undefined;
    folder.names.add(name);
    if (kind === "folder") {
      folders.set(path, newFolder(path, folder.depth + 1));
      return undefined;
    }
    const { size, mtimeMs: mtime } = stats ?? { size: 0, mtimeMs: 0 };
    const hotUntil = clock() + HOT_FOR - (Date.now() - mtime);
    const stamp = stats ? stampOf(stats) : "";
    const file = { path, kind, size, mtime, stamp, isReplaced: false, hotUntil, due: null, isComplete: false };
    files.set(path, file);
    active.add(file);
    return file;
  };

  /** Reads a folder if it has changed, and adds its new files to `found`. Its new folders are read later in the walk. */
  function* scanFolder(folder: Folder, again: boolean, found: Watched[]): Generator<boolean, void> {
    const path = join(root, folder.path);
    const stats = folder.path === "" ? statsBehind(path) : statsOf(path);
    const isFolder = stats?.isDirectory() === true;
    if (!isFolder && folder !== topFolder) {
      forgetIn(folder.path);
      return;
    }
    const stamp = isFolder ? stampOf(stats) : "";
    if (isFolder && stamp === folder.stamp && !again) return;
    const names = new Set(isFolder ? namesIn(path).filter((name) => !isIgnored(name)) : []);
    for (const name of folder.names) {
      if (names.has(name)) continue;
      folder.names.delete(name);
      forget(pathIn(folder.path, name));
    }
    const age = isFolder ? Date.now() - stats.mtimeMs : 0;
    // A recent stamp is not kept, since another change could have the same one.
    folder.stamp = Math.abs(age) < COARSE ? "" : stamp;
    if (age < HOT_FOR) folder.hotUntil = clock() + HOT_FOR - age;
    yield false;
    for (const name of names) {
      if (folder.names.has(name)) continue;
      if (files.size + folders.size > most) {
        isFull = true;
        folder.stamp = "";
        return;
      }
      const file = add(folder, name);
      if (file) found.push(file);
      yield true;
    }
  }

  return {
    *walk(all) {
      const found: Watched[] = [];
      isFull = false;
      // Folders that are added meanwhile are visited as well.
      for (const folder of folders.values()) {
        const isHot = folder.depth <= TOP || folder.hotUntil > clock() || folder.stamp === "";
        if (all || isHot) yield* scanFolder(folder, all, found);
        yield false;
      }
      // One time for all, so that none of them is complete before an older one.
      const now = clock();
      for (const file of found) file.due = now + QUIET;
      for (const file of all ? files.values() : active) {
        scanFile(file, now);
        yield false;
      }
      ready = [...active].filter(({ isComplete }) => isComplete).sort(byAge);
    },
    complete: () => ready.filter(({ isComplete }) => isComplete).map((file) => ({ ...file })),
    settle({ path, size, mtime }) {
      const file = files.get(path);
      if (file?.size === size && file.mtime === mtime) Object.assign(file, { due: null, isComplete: false });
    },
    defer(path, quiet) {
      const file = files.get(path);
      if (file) Object.assign(file, { due: clock() + quiet, isComplete: false });
    },
    nextDue() {
      let next = Infinity;
      for (const { due, isComplete } of active) if (due !== null && !isComplete && due < next) next = due;
      return next;
    },
    size: () => files.size + folders.size - 1,
    isFull: () => isFull,
  };
}

const newFolder = (path: string, depth: number): Folder => ({
  path,
  depth,
  stamp: "",
  hotUntil: -Infinity,
  names: new Set(),
});

const byAge = (a: Watched, b: Watched): number => a.mtime - b.mtime || (a.path < b.path ? -1 : 1);

const pathIn = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);

const statsOf = (path: string): Stats | undefined => attempt(() => lstatSync(path));

interface Look {
  readonly stats?: Stats;
  /** Undefined if it is gone. */
  readonly kind: DropKind | "folder" | undefined;
}

function look(path: string, name: string): Look {
  try {
    const stats = lstatSync(path);
    return { stats, kind: kindOf(stats) };
  } catch (error) {
    return { kind: whyUnseen(name, error) };
  }
}

/** The same, but follows links. */
const statsBehind = (path: string): Stats | undefined => attempt(() => statSync(path));

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const namesIn = (path: string): readonly string[] => attempt(() => readdirSync(path)) ?? [];

const UNFINISHED = /(~|\.(tmp|temp|part|partial|filepart|crdownload|download|swp|bak|lock|crc|md5|sha256))$/i;

/** Hidden files, markers such as `_SUCCESS`, and temporary names of unfinished files. */
const isIgnored = (name: string): boolean => /^[._~#]/.test(name) || UNFINISHED.test(name) || /^readme/i.test(name);
