// Watches the inbox by polling, since many file systems send no events, and finds files that have stopped changing.
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
type SeenFile = Pick<InboxFile, "path" | "size" | "mtime">;

export interface Inbox {
  /** Scans what may have changed, and returns the files that have not changed for long enough, the oldest first. */
  scan(): readonly InboxFile[];
  /** The file was handled: it is not returned again until it changes. This has no effect if it has changed already. */
  settle(file: SeenFile): void;
  /** The file is returned again after `quiet` milliseconds without a change. */
  defer(path: string, quiet: number): void;
  /** Milliseconds until the next scan. */
  untilNextScan(): number;
}

/** A file is complete when it has not changed for this many milliseconds. */
export const QUIET = 400;
/** How often to scan if a scan is cheap, in milliseconds. */
const SCAN_EVERY = 100;
/** Scans of hot files, and scans of everything, each take at most one part in this many of the time. */
const COST = 100;
/** Files and folders that changed within this many milliseconds are hot: they are the most likely to change again. */
const HOT_FOR = 3_600_000;
/** Folders up to this depth are always hot, since new folders appear there. */
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
  names: Set<string>;
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
}

/**
 * Watches a folder; `clock` gives milliseconds. A scan reads the changed folders and checks only new and hot files. A full
 * scan checks everything, at intervals that keep its cost low.
 */
export function watchInbox(root: string, clock: () => number): Inbox {
  const folders = new Map<string, Folder>([["", newFolder("", 0)]]);
  const files = new Map<string, Watched>();
  /** The files that are hot or not handled yet. */
  const active = new Set<Watched>();
  let nextScan = -Infinity;
  let nextFullScan = -Infinity;

  const forget = (path: string): void => {
    for (const name of folders.get(path)?.names ?? []) forget(path === "" ? name : `${path}/${name}`);
    folders.delete(path);
    const file = files.get(path);
    if (file) active.delete(file);
    files.delete(path);
  };

  const scanFile = (file: Watched, now: number): void => {
    // Whether it still exists can only be seen in its folder.
    if (file.kind === "unnameable" || file.kind === "too-long") return;
    const stats = statsOf(join(root, file.path));
    if (!stats || kindOf(stats) !== file.kind) {
      forgetIn(file.path);
      return;
    }
    const stamp = stampOf(stats);
    if (stamp === file.stamp) return;
    const { size, mtimeMs } = stats;
    Object.assign(file, { size, mtime: mtimeMs, stamp, isReplaced: true, hotUntil: now + HOT_FOR, due: now + QUIET });
    active.add(file);
  };

  /** Forgets a file and its name in the folder, so that it counts as new if it comes back. */
  const forgetIn = (path: string): void => {
    folders.get(path.split("/").slice(0, -1).join("/"))?.names.delete(path.split("/").at(-1)!);
    forget(path);
  };

  const scanFolder = (folder: Folder, now: number, again: boolean): void => {
    const path = join(root, folder.path);
    const stats = folder.depth === 0 ? statsBehind(path) : statsOf(path);
    if (!stats?.isDirectory()) {
      if (folder.depth > 0) forgetIn(folder.path);
      return;
    }
    const stamp = stampOf(stats);
    if (stamp === folder.stamp && !again) return;
    const names = new Set(namesIn(path).filter((name) => !isIgnored(name)));
    for (const name of folder.names) if (!names.has(name)) forget(folder.path === "" ? name : `${folder.path}/${name}`);
    const before = folder.names;
    const age = Date.now() - stats.mtimeMs;
    folder.names = names;
    // A recent stamp is not kept, since another change could have the same one.
    folder.stamp = Math.abs(age) < COARSE ? "" : stamp;
    if (age < HOT_FOR) folder.hotUntil = now + HOT_FOR - age;
    for (const name of names) if (!before.has(name)) add(folder, name, now);
  };

  const add = (folder: Folder, name: string, now: number): void => {
    const path = folder.path === "" ? name : `${folder.path}/${name}`;
    const { stats, kind } = look(join(root, path), name);
    if (kind === undefined) folder.names.delete(name);
    else if (kind === "folder") {
      const inner = newFolder(path, folder.depth + 1);
      folders.set(path, inner);
      scanFolder(inner, now, false);
    } else {
      const { size, mtimeMs } = stats ?? { size: 0, mtimeMs: 0 };
      const hotUntil = now + HOT_FOR - (Date.now() - mtimeMs);
      const stamp = stats ? stampOf(stats) : "";
      const file = { path, kind, size, mtime: mtimeMs, stamp, isReplaced: false, hotUntil, due: now + QUIET };
      files.set(path, file);
      active.add(file);
    }
  };

  return {
    scan() {
      const now = clock();
      const began = performance.now();
      const all = now >= nextFullScan;
      for (const folder of [...folders.values()]) {
        if (all || folder.depth <= TOP || folder.hotUntil > now || folder.stamp === "") scanFolder(folder, now, all);
      }
      for (const file of [...(all ? files.values() : active)]) {
        scanFile(file, now);
        if (file.due === null && file.hotUntil <= now) active.delete(file);
      }
      const cost = (performance.now() - began) * COST;
      nextScan = now + Math.max(SCAN_EVERY, all ? 0 : cost);
      if (all) nextFullScan = now + Math.max(SCAN_EVERY, cost);
      const complete = [...active].filter(({ due }) => due !== null && due <= now);
      return complete.sort((a, b) => a.mtime - b.mtime || (a.path < b.path ? -1 : 1)).map((file) => ({ ...file }));
    },
    settle({ path, size, mtime }) {
      const file = files.get(path);
      if (file?.size === size && file.mtime === mtime) file.due = null;
    },
    defer(path, quiet) {
      const file = files.get(path);
      if (file) file.due = clock() + quiet;
    },
    untilNextScan() {
      const now = clock();
      let next = nextScan;
      for (const { due } of active) if (due !== null && due > now && due < next) next = due;
      return Math.max(1, next - now);
    },
  };
}

const newFolder = (path: string, depth: number): Folder => ({
  path,
  depth,
  stamp: "",
  hotUntil: -Infinity,
  names: new Set(),
});

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

/** The same as statsOf, but follows links. */
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
