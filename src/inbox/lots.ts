// Which drops are taken next, and which side by side: those of one entity in order, and no slow one before all others.
import type { Entity } from "../catalog/types.js";
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

/** What is known of a file from earlier tries. */
export interface Past {
  /** It is taken without others. */
  isSingle(file: InboxFile): boolean;
  /** It is `alone`. */
  isSuspect(file: InboxFile): boolean;
}

/** Lots that are taken at the same time. Small ones have places of their own, so that large ones never hold them up. */
const PLACES = { small: 2, large: 1 } as const;

/** A larger file goes in a large lot. */
const SMALL_BYTES = 32 << 20;
const MOST_FILES = 200;
const MOST_BYTES = 512 << 20;

/**
 * The lots that can begin beside those that run, by entity. `waiting` is in the order in which files are to be taken;
 * the entities take turns: `turns` says when each had its last one.
 */
export function nextLots(
  waiting: readonly Readable[],
  running: ReadonlyMap<string, LotSize>,
  turns: ReadonlyMap<string, number>,
  past: Past,
): readonly Lot[] {
  const sizes = [...running.values()];
  if (sizes.includes("alone")) return [];
  const byEntity = new Map<Entity, Readable[]>();
  for (const one of waiting) {
    const files = byEntity.get(one.entity);
    if (files) files.push(one);
    else byEntity.set(one.entity, [one]);
  }
  const turnOf = ({ entity }: Lot): number => turns.get(entity.name) ?? -1;
  const lots = [...byEntity]
    .filter(([{ name }]) => !running.has(name))
    .map(([, files]) => firstLot(files, past))
    .sort((a, b) => turnOf(a) - turnOf(b));
  const suspect = lots.find(({ size }) => size === "alone");
  if (suspect && sizes.length === 0) return [suspect];
  const next: Lot[] = [];
  for (const lot of lots) {
    if (lot.size === "alone" || sizes.filter((size) => size === lot.size).length >= PLACES[lot.size]) continue;
    sizes.push(lot.size);
    next.push(lot);
  }
  return next;
}

/** The first files of an entity that are of one size. */
function firstLot(files: readonly Readable[], past: Past): Lot {
  const [{ file: first, entity }] = files as readonly [Readable];
  if (past.isSingle(first)) {
    return { entity, files: files.slice(0, 1), size: past.isSuspect(first) ? "alone" : "large" };
  }
  const isLarge = first.size > SMALL_BYTES;
  let bytes = 0;
  const end = files.findIndex(({ file }, i) => {
    bytes += file.size;
    const isFull = i >= MOST_FILES || bytes > MOST_BYTES;
    return i > 0 && (isFull || file.size > SMALL_BYTES !== isLarge || past.isSingle(file));
  });
  return { entity, files: end < 0 ? files : files.slice(0, end), size: isLarge ? "large" : "small" };
}
