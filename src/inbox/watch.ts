// Watching the inbox by looking at it, since many file systems send no events: which files have stopped growing.
import { lstatSync, readdirSync, statSync, type Stats } from "node:fs";
import { join } from "node:path";
import { stampOf } from "../files.js";
import { kindOf, UNREADABLE, type DropKind, type DropState } from "../lake/drop-file.js";

/** A file of the inbox as it stands still, or what else lies there under a name; links are not followed. */
export interface InboxFile extends DropState {
  readonly kind: DropKind;
  /** It was another one, or not there, when we looked before; what the ledger says of its size and time proves nothing. */
  readonly isReplaced: boolean;
}

/** A file as it was when it was looked at. */
type SeenFile = Pick<InboxFile, "path" | "size" | "mtime">;

export interface Inbox {
  /** Looks at what may have changed, and gives the files that have stood still for long enough, the oldest first. */
  look(): readonly InboxFile[];
  /** The file was handled: it is not returned again before it changes. One that has changed meanwhile is. */
  settle(file: SeenFile): void;
  /** Returns the file again after `quiet` milliseconds without a change. */
  defer(path: string, quiet: number): void;
  /** Milliseconds until it is worth looking again. */
  untilNextLook(): number;
}

/** A file is complete when it has not changed for so many milliseconds. */
export const QUIET = 400;
/** How often to look, in milliseconds, where looking is cheap. */
const LOOK_EVERY = 100;
/** Looking may take one part in so many of the time, whether at what is hot or at everything. */
const COST = 100;
/** Whatever changed within so many milliseconds is hot: most changes befall it. */
const HOT_FOR = 3_600_000;
/** Folders this near the inbox are always hot: new ones appear there. */
const TOP = 1;
/** A folder changed less than this long before it was read may have changed again within the same tick of its clock. */
const COARSE = 3_000;

interface Folder {
  /** Relative to the inbox; empty for the inbox itself. */
  readonly path: string;
  readonly depth: number;
  stamp: string;
  hotUntil: number;
  /** Names of what is in it, folders and files. */
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
  /** When it is complete if it does not change; null if it was dealt with. */
  due: number | null;
}

/**
 * Watches a folder; `clock` gives milliseconds. A look reads the folders that changed, and asks only for files that are new
 * or hot; from time to time it looks at everything, as seldom as keeps the cost low.
 */
export function watchInbox(root: string, clock: () => number): Inbox {
  const folders = new Map<string, Folder>([["", newFolder("", 0)]]);
  const files = new Map<string, Watched>();
  /** The files that are hot or not dealt with. */
  const active = new Set<Watched>();
  let nextLook = -Infinity;
  let nextSweep = -Infinity;

  const forget = (path: string): void => {
    for (const name of folders.get(path)?.names ?? []) forget(path === "" ? name : `${path}/${name}`);
    folders.delete(path);
    const file = files.get(path);
    if (file) active.delete(file);
    files.delete(path);
  };

  const lookAtFile = (file: Watched, now: number): void => {
    // Only its folder can say that it is gone.
    if (file.kind === "unnameable") return;
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

  /** What is gone is forgotten together with its name, so that it is new where it comes back. */
  const forgetIn = (path: string): void => {
    folders.get(path.split("/").slice(0, -1).join("/"))?.names.delete(path.split("/").at(-1)!);
    forget(path);
  };

  const lookAtFolder = (folder: Folder, now: number, again: boolean): void => {
    const path = join(root, folder.path);
    const stats = folder.depth === 0 ? statsBehind(path) : statsOf(path);
    if (!stats?.isDirectory()) {
      if (folder.depth > 0) forgetIn(folder.path);
      return;
    }
    const stamp = stampOf(stats);
    if (stamp === folder.stamp && !again) return;
    const names = new Set(namesIn(path).filter((name) => !isLeftAlone(name)));
    for (const name of folder.names) if (!names.has(name)) forget(folder.path === "" ? name : `${folder.path}/${name}`);
    const before = folder.names;
    const age = Date.now() - stats.mtimeMs;
    folder.names = names;
    // Not trusted yet where another change could bear the same stamp.
    folder.stamp = Math.abs(age) < COARSE ? "" : stamp;
    if (age < HOT_FOR) folder.hotUntil = now + HOT_FOR - age;
    for (const name of names) if (!before.has(name)) meet(folder, name, now);
  };

  const meet = (folder: Folder, name: string, now: number): void => {
    const path = folder.path === "" ? name : `${folder.path}/${name}`;
    const stats = statsOf(join(root, path));
    const kind = stats ? kindOf(stats) : name.includes(UNREADABLE) ? "unnameable" : undefined;
    if (kind === undefined) folder.names.delete(name);
    else if (kind === "folder") {
      const inner = newFolder(path, folder.depth + 1);
      folders.set(path, inner);
      lookAtFolder(inner, now, false);
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
    look() {
      const now = clock();
      const began = performance.now();
      const all = now >= nextSweep;
      for (const folder of [...folders.values()]) {
        if (all || folder.depth <= TOP || folder.hotUntil > now || folder.stamp === "") lookAtFolder(folder, now, all);
      }
      for (const file of [...(all ? files.values() : active)]) {
        lookAtFile(file, now);
        if (file.due === null && file.hotUntil <= now) active.delete(file);
      }
      const cost = (performance.now() - began) * COST;
      nextLook = now + Math.max(LOOK_EVERY, all ? 0 : cost);
      if (all) nextSweep = now + Math.max(LOOK_EVERY, cost);
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
    untilNextLook() {
      const now = clock();
      let next = nextLook;
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

/** What changes when a file is written, renamed over, or set back in time. Some file systems number files anew at will. */

const statsOf = (path: string): Stats | undefined => attempt(() => lstatSync(path));

/** The same, of what a link leads to. */
const statsBehind = (path: string): Stats | undefined => attempt(() => statSync(path));

function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

const namesIn = (path: string): readonly string[] => attempt(() => readdirSync(path)) ?? [];

const UNFINISHED = /(~|\.(tmp|temp|part|partial|filepart|crdownload|download|swp|bak|lock|crc|md5|sha256))$/i;

/** Hidden files, markers such as `_SUCCESS`, and names that programs give to what they have not finished. */
const isLeftAlone = (name: string): boolean => /^[._~#]/.test(name) || UNFINISHED.test(name) || /^readme/i.test(name);
