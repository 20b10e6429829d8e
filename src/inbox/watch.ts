// Watches the inbox by polling, since many file systems send no events, and finds files that have stopped changing. Each
// entity's folder has a schedule of its own, so a folder that is slow to scan delays no other.
import { ENTITY_NAMES } from "../catalog/index.js";
import type { CrowdedFolder } from "../lake/status.js";
import { createTree, type InboxFile, type SeenFile, type Tree } from "./tree.js";

export { QUIET, type InboxFile } from "./tree.js";

export interface Inbox {
  /**
   * Scans the folders that are due, for a limited time, and returns the files that have not changed for long enough, the
   * oldest first, without those of entities that are `busy`. The scan of a folder may take several calls; its files are
   * returned when it is complete.
   */
  scan(busy?: (entity: string) => boolean): readonly InboxFile[];
  /** The files of an entity that `scan` returns while it is not busy. */
  complete(entity: string): readonly InboxFile[];
  /** The file was handled: it is not returned again until it changes. This has no effect if it has changed already. */
  settle(file: SeenFile): void;
  /** The file is returned again after `quiet` milliseconds without a change. */
  defer(path: string, quiet: number): void;
  /** Milliseconds until the next scan. */
  untilNextScan(): number;
  /** Folders that hold so much that new files in them are found late, or not at all. */
  crowded(): readonly CrowdedFolder[];
}

/** How often to scan, in milliseconds. */
const SCAN_EVERY = 100;
/** How long one call may scan a folder, and all folders together, in milliseconds. */
const SLICE = 20;
const ALL_SLICES = 50;
/** Scans of hot files, and scans of everything, each take about one part in this many of the time. */
const HOT_COST = 20;
const FULL_COST = 100;
/** A folder that is scanned less often than this is crowded. In milliseconds. */
const CROWDED = 2_000;
/** How many files and folders are watched in each entity's folder. */
const MOST_NAMES = 200_000;

interface Branch {
  readonly path: string;
  readonly tree: Tree;
  /** The scan that is not complete. */
  walk: Generator<boolean, void> | null;
  /** It checks everything, not only hot files. */
  isOfAll: boolean;
  /** How long this scan has run so far, and how much of that was for known names, in milliseconds. */
  spent: number;
  steady: number;
  /**
   * What a scan of hot files costs for known names: the lower cost of the last two, since on a busy machine any scan may be
   * interrupted for long.
   */
  hotCost: number;
  lastHotCost: number;
  /** What the last scan of everything cost for known names. */
  fullCost: number;
  next: number;
  nextFull: number;
}

/**
 * Watches a folder; `clock` gives milliseconds, and so does `timer`, which measures what a scan costs. Everything outside
 * of the entities' folders shares one schedule.
 */
export function watchInbox(
  root: string,
  clock: () => number,
  timer: () => number = () => performance.now(),
  most = MOST_NAMES,
): Inbox {
  const entities = new Set(ENTITY_NAMES);
  const branches = ["", ...entities].map((path): Branch => {
    const without = path === "" ? entities : new Set<string>();
    const tree = createTree({ root, top: path, without, most, clock });
    const costs = { spent: 0, steady: 0, hotCost: 0, lastHotCost: Infinity, fullCost: 0 };
    return { path, tree, walk: null, isOfAll: false, ...costs, next: -Infinity, nextFull: -Infinity };
  });
  const trees = new Map(branches.map(({ path, tree }) => [path, tree]));
  const treeOf = (path: string): Tree => trees.get(path.slice(0, Math.max(0, path.indexOf("/")))) ?? trees.get("")!;

  /** A branch waits as if no other cost more than it does, so an expensive one cannot slow down the others. */
  const pauseAfter = (of: "hotCost" | "fullCost", branch: Branch): number =>
    branches.reduce((sum, other) => sum + Math.min(other[of], branch[of]), 0);
  const hotPause = (branch: Branch): number => HOT_COST * pauseAfter("hotCost", branch);

  const end = (branch: Branch): void => {
    branch.walk = null;
    const now = clock();
    if (branch.isOfAll) {
      branch.fullCost = branch.steady;
      branch.nextFull = now + Math.max(SCAN_EVERY, FULL_COST * pauseAfter("fullCost", branch));
    } else {
      branch.hotCost = Math.min(branch.steady, branch.lastHotCost);
      branch.lastHotCost = branch.steady;
    }
    branch.next = now + hotPause(branch);
  };

  /** Scans a branch until it is done, or for one slice. */
  const run = (branch: Branch): void => {
    if (!branch.walk) {
      branch.isOfAll = clock() >= branch.nextFull;
      branch.walk = branch.tree.walk(branch.isOfAll);
      branch.spent = branch.steady = 0;
    }
    const began = timer();
    let last = began;
    while (last - began < SLICE) {
      const { done, value: isNew } = branch.walk.next();
      const now = timer();
      if (isNew !== true) branch.steady += now - last;
      last = now;
      if (done === true) {
        end(branch);
        break;
      }
    }
    branch.spent += last - began;
  };

  return {
    scan(busy = () => false) {
      const now = clock();
      const began = timer();
      const due = branches.filter(({ walk, next, nextFull }) => walk !== null || now >= Math.min(next, nextFull));
      // The ones that have had the least time come first.
      const spentOf = ({ walk, spent }: Branch): number => (walk ? spent : 0);
      for (const branch of due.sort((a, b) => spentOf(a) - spentOf(b))) {
        if (timer() - began < ALL_SLICES) run(branch);
      }
      const complete = branches.filter(({ path }) => !busy(path)).flatMap(({ tree }) => tree.complete());
      return complete.sort((a, b) => a.mtime - b.mtime || (a.path < b.path ? -1 : 1));
    },
    complete: (entity) => trees.get(entity)?.complete() ?? [],
    settle: (file) => treeOf(file.path).settle(file),
    defer: (path, quiet) => treeOf(path).defer(path, quiet),
    untilNextScan() {
      const now = clock();
      const waiting = branches.filter(({ walk }) => walk === null);
      const dues = waiting.map(({ tree, next }) => Math.max(next, tree.nextDue())).filter((due) => due > now);
      return Math.max(1, Math.min(SCAN_EVERY, Math.min(...dues) - now));
    },
    crowded: () =>
      branches
        .filter((branch) => branch.tree.isFull() || hotPause(branch) > CROWDED)
        .map((branch) => {
          const { path, tree } = branch;
          return { path, names: tree.size(), seconds: Math.ceil(hotPause(branch) / 1_000), isFull: tree.isFull() };
        }),
  };
}
