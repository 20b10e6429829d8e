// Which drops are taken next, and which side by side: those of one entity in order, and no slow one before all others.
import type { Entity } from "../catalog/types.js";
import { bytesOf } from "../config.js";
import { NO_LIMITS, type DropLimits } from "../intake/limits.js";
import type { InboxFile } from "./watch.js";

/** A file of the inbox that is to be read. */
export interface Readable {
  readonly file: InboxFile;
  readonly entity: Entity;
}

/** `alone`: while it is taken, nothing else is, since it may be the file that kills the process. */
export type LotSize = "small" | "large" | "alone";

/** Files of one entity that are read one after another. */
export interface Lot {
  readonly entity: Entity;
  readonly files: readonly Readable[];
  readonly size: LotSize;
}

/** A lot that is being taken. */
export interface RunningLot {
  /** How it counts now. */
  readonly size: LotSize;
  /** When it began, in milliseconds. */
  readonly since: number;
  /** It was asked to stop, so its place will be free soon. */
  readonly isStopping: boolean;
}

/** What is known of a file from earlier tries. */
export interface Past {
  /** It is taken without others. */
  isSingle(file: InboxFile): boolean;
  /** It is `alone`. */
  isSuspect(file: InboxFile): boolean;
  /** It took longer, or held more, than a small file may. */
  isSlow(file: InboxFile): boolean;
}

/** Lots that are taken at the same time. Small ones have places of their own, so that large ones never hold them up. */
const PLACES = { small: 2, large: 1 } as const;

/** A larger file goes in a large lot. */
const SMALL_BYTES = 32 << 20;
/** A lot that runs for longer, in milliseconds, is not small, whatever the sizes of its files: others may have its place. */
export const SMALL_TIME = 2_000;
const MOST_FILES = 200;
const MOST_BYTES = 512 << 20;

/** What is to be done next. */
export interface Step {
  readonly begin: readonly Lot[];
  /** Running lots that count as large from now on, by entity. */
  readonly enlarge: readonly string[];
  /** Running lots that have to stop and wait for the large place, by entity. */
  readonly stop: readonly string[];
  /** Lots that wait for a place. */
  readonly held: readonly Lot[];
}

/**
 * Decides which lots begin beside those that run, by entity, and which of those give up their places. `waiting` is in the
 * order in which files are to be taken; the entities take turns: `turns` says when each had its last one.
 */
export function nextStep(
  waiting: readonly Readable[],
  running: ReadonlyMap<string, RunningLot>,
  turns: ReadonlyMap<string, number>,
  past: Past,
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
  const enlarge: string[] = [];
  const stop: string[] = [];
  const isFree = (size: keyof typeof PLACES): boolean => sizes.filter((one) => one === size).length < PLACES[size];
  const start = (lot: Lot): void => {
    sizes.push(lot.size);
    begin.push(lot);
  };
  const small = [...running].filter(([, { size }]) => size === "small").sort(([, a], [, b]) => a.since - b.since);
  const overdue = small.filter(([, { since, isStopping }]) => !isStopping && now - since >= SMALL_TIME);
  let soonFree = small.filter(([, { isStopping }]) => isStopping).length;
  // Large lots choose first: those that took long do not take the place for which another has waited.
  const large = lots.find(({ size }) => size === "large");
  if (large && isFree("large")) start(large);
  for (const lot of lots.filter(({ size }) => size === "small")) {
    if (isFree("small")) start(lot);
    else if (overdue.length > 0 && isFree("large")) {
      enlarge.push(overdue.shift()![0]);
      sizes[sizes.indexOf("small")] = "large";
      start(lot);
    } else if (soonFree > 0) soonFree--;
    else if (overdue.length > 0) stop.push(overdue.shift()![0]);
  }
  return { begin, enlarge, stop, held: lots.filter((lot) => !begin.includes(lot)) };
}

const NOTHING: Step = { begin: [], enlarge: [], stop: [], held: [] };

/** What each entity without a running lot would begin with, in the order of their turns. */
function firstLots(
  waiting: readonly Readable[],
  running: ReadonlyMap<string, RunningLot>,
  turns: ReadonlyMap<string, number>,
  past: Past,
): readonly Lot[] {
  const byEntity = new Map<Entity, Readable[]>();
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

/** The first files of an entity that are of one size. */
function firstLot(files: readonly Readable[], past: Past): Lot {
  const [{ file: first, entity }] = files as readonly [Readable];
  if (past.isSingle(first)) {
    return { entity, files: files.slice(0, 1), size: past.isSuspect(first) ? "alone" : "large" };
  }
  const isLargeFile = (file: InboxFile): boolean => file.size > SMALL_BYTES || past.isSlow(file);
  const isLarge = isLargeFile(first);
  let bytes = 0;
  const end = files.findIndex(({ file }, i) => {
    bytes += file.size;
    const isFull = i >= MOST_FILES || bytes > MOST_BYTES;
    return i > 0 && (isFull || isLargeFile(file) !== isLarge || past.isSingle(file));
  });
  return { entity, files: end < 0 ? files : files.slice(0, end), size: isLarge ? "large" : "small" };
}

/** Two small lots together take half of the memory and disk of a large one, beside which they run. */
const SMALL_PART = 1 / 4;
/** Only a file that is compressed well holds more of either and lies on the disk as a small one. */
const SMALL_ROWS = 2_000_000;
const SMALL_UNPACKED = 64 << 20;

interface Share {
  /** DuckDB's memory, e.g. `2GB`. */
  readonly memory: string;
  readonly limits?: DropLimits;
}

/** What a small lot may use of what a large one may. */
export const shareOfSmall = ({ memory, limits = NO_LIMITS }: Share): Share => ({
  memory: partOf(memory),
  limits: {
    ...(limits.spill === undefined ? {} : { spill: partOf(limits.spill) }),
    rows: Math.min(limits.rows, SMALL_ROWS),
    unpacked: Math.min(limits.unpacked, SMALL_UNPACKED),
  },
});

const partOf = (size: string): string => `${Math.max(1, Math.floor((bytesOf(size) * SMALL_PART) / 1e6))}MB`;
