// Schedules drops: which lots start next, and which run in parallel. Those of one entity keep their order, and slow ones
// do not block the others.
import type { Entity } from "../catalog/types.js";
import { bytesOf } from "../setting-values.js";
import { NO_LIMITS, type DropLimits } from "../intake/limits.js";
import type { InboxFile } from "./watch.js";

/** A file of the inbox that waits to be read. */
export interface PendingDrop {
  readonly file: InboxFile;
  readonly entity: Entity;
}

/**
 * `slow`: small on the disk, but with much content or a long run. `alone`: runs without any other lot, since the file may
 * crash the process.
 */
export type LotSize = "small" | "slow" | "large" | "alone";

/** Files of one entity that are read one after another. */
export interface Lot {
  readonly entity: Entity;
  readonly files: readonly PendingDrop[];
  readonly size: LotSize;
}

/** A lot that is being imported. */
export interface RunningLot {
  /** Its current size; a small lot can become slow. */
  readonly size: LotSize;
  /** When it started, in milliseconds. */
  readonly since: number;
  /** It was asked to stop, so its slot will soon be free. */
  readonly isStopping: boolean;
}

/** What is known about a file from earlier attempts. */
export interface FileHistory {
  /** How often a lot with it has failed. */
  failures(file: InboxFile): number;
  /** It may crash the process, so its lot is `alone`. */
  isSuspect(file: InboxFile): boolean;
  /** It took longer or held more than a small file may. */
  isSlow(file: InboxFile): boolean;
}

/** How many lots of each size run at a time. Separate slots keep slow and large lots from blocking small ones. */
const SLOTS = { small: 2, slow: 1, large: 1 } as const;

/** Files above this size go into a large lot. */
const SMALL_BYTES = 32 << 20;
/** So do small files that add up to more than this. */
const SMALL_LOT_BYTES = 128 << 20;

export const isSmall = ({ size }: Pick<InboxFile, "size">): boolean => size <= SMALL_BYTES;

/** A small lot that runs for longer than this is overdue: others may get its slot. In milliseconds. */
export const SMALL_TIME = 2_000;
/** The files of a lot, by how often it has failed: whichever is at fault must soon be alone. */
const MOST_FILES = [5_000, 70, 1] as const;
/** The most bytes of a lot. It is high because each lot rewrites the data files of its days, and files that are dropped in no order touch all of them. */
const MOST_BYTES = 1024 << 20;

/** What to do next. */
export interface Step {
  readonly begin: readonly Lot[];
  /** Entities whose running lots become slow. */
  readonly demote: readonly string[];
  /** Entities whose running lots must stop and wait for the slow slot. */
  readonly stop: readonly string[];
  /** Lots that wait for a slot. */
  readonly held: readonly Lot[];
}

/**
 * Decides which lots start, and which running lots (by entity) give up their slots. `waiting` is in the order of import.
 * Entities take turns; `turns` holds the number of each one's last turn.
 */
export function nextStep(
  waiting: readonly PendingDrop[],
  running: ReadonlyMap<string, RunningLot>,
  turns: ReadonlyMap<string, number>,
  past: FileHistory,
  now: number,
): Step {
  const lots = firstLots(waiting, running, turns, past);
  const sizes = [...running.values()].map(({ size }) => size);
  if (sizes.includes("alone")) return { ...NOTHING, held: lots };
  const suspect = lots.find(({ size }) => size === "alone");
  if (suspect && sizes.length === 0) {
    return { ...NOTHING, begin: [suspect], held: lots.filter((lot) => lot !== suspect) };
  }
  const begin: Lot[] = [];
  const demote: string[] = [];
  const stop: string[] = [];
  const isFree = (size: keyof typeof SLOTS): boolean => sizes.filter((one) => one === size).length < SLOTS[size];
  const start = (lot: Lot): void => {
    sizes.push(lot.size);
    begin.push(lot);
  };
  const small = [...running].filter(([, { size }]) => size === "small").sort(([, a], [, b]) => a.since - b.since);
  const overdue = small.filter(([, { since, isStopping }]) => !isStopping && now - since >= SMALL_TIME);
  let soonFree = small.filter(([, { isStopping }]) => isStopping).length;
  // Lots that waited for these slots come first: no running lot moves into the slow slot before them.
  for (const size of ["large", "slow"] as const) {
    const first = lots.find((lot) => lot.size === size);
    if (first && isFree(size)) start(first);
  }
  for (const lot of lots.filter(({ size }) => size === "small")) {
    if (isFree("small")) start(lot);
    else if (overdue.length > 0 && isFree("slow")) {
      demote.push(overdue.shift()![0]);
      sizes[sizes.indexOf("small")] = "slow";
      start(lot);
    } else if (soonFree > 0) soonFree--;
    else if (overdue.length > 0) stop.push(overdue.shift()![0]);
  }
  return { begin, demote, stop, held: lots.filter((lot) => !begin.includes(lot)) };
}

const NOTHING: Step = { begin: [], demote: [], stop: [], held: [] };

/** The next lot of each entity without a running one, in the order of their turns. */
function firstLots(
  waiting: readonly PendingDrop[],
  running: ReadonlyMap<string, RunningLot>,
  turns: ReadonlyMap<string, number>,
  past: FileHistory,
): readonly Lot[] {
  const byEntity = new Map<Entity, PendingDrop[]>();
  for (const one of waiting) {
    const files = byEntity.get(one.entity);
    if (files) files.push(one);
    else byEntity.set(one.entity, [one]);
  }
  const turnOf = ({ entity }: Lot): number => turns.get(entity.name) ?? -1;
  return [...byEntity]
    .filter(([{ name }]) => !running.has(name))
    .map(([, files]) => firstLot(files, past))
    .sort((a, b) => turnOf(a) - turnOf(b));
}

/** The first files of an entity that have the same size and have failed as often. */
function firstLot(files: readonly PendingDrop[], past: FileHistory): Lot {
  const [{ file: first, entity }] = files as readonly [PendingDrop];
  const failures = past.failures(first);
  const most = MOST_FILES[failures] ?? 1;
  const sizeOf = (file: InboxFile): LotSize => {
    if (past.isSuspect(file)) return "alone";
    return past.failures(file) > 0 || !isSmall(file) ? "large" : past.isSlow(file) ? "slow" : "small";
  };
  const size = sizeOf(first);
  let [count, bytes] = [0, 0];
  for (const { file } of files) {
    const isFull = count >= most || bytes + file.size > MOST_BYTES;
    if (count > 0 && (isFull || sizeOf(file) !== size || past.failures(file) !== failures)) break;
    count++;
    bytes += file.size;
  }
  const isHeavy = size === "small" && bytes > SMALL_LOT_BYTES;
  return { entity, files: files.slice(0, count), size: isHeavy ? "large" : size };
}

/** The share of memory and disk of a large lot that other lots get. Up to three of them run beside it. */
const SMALL_PART = 1 / 4;
/** How many times --ingest-memory may be in use at once: by lots in all slots, and by compaction. */
export const MOST_PARTS = SLOTS.large + (SLOTS.small + SLOTS.slow) * SMALL_PART + 1;
/** Limits of a small lot. Only a highly compressed file exceeds them while it is small on the disk. */
const SMALL_ROWS = 2_000_000;
const SMALL_UNPACKED = 64 << 20;

interface Share {
  /** DuckDB's memory, e.g. `2GB`. */
  readonly memory: string;
  readonly limits?: DropLimits;
}

/** The memory and the limits of a lot, given those of a large one. */
export function shareOf(size: LotSize, { memory, limits = NO_LIMITS }: Share): Share {
  if (size === "large" || size === "alone") return { memory, limits };
  const spill = limits.spill === undefined ? {} : { spill: partOf(limits.spill) };
  const most = size === "slow" ? limits : { rows: SMALL_ROWS, unpacked: SMALL_UNPACKED };
  const [rows, unpacked] = [Math.min(limits.rows, most.rows), Math.min(limits.unpacked, most.unpacked)];
  return { memory: partOf(memory), limits: { ...spill, rows, unpacked } };
}

const partOf = (size: string): string => `${Math.max(1, Math.floor((bytesOf(size) * SMALL_PART) / 1e6))}MB`;
