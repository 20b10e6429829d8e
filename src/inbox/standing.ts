// Standing drops: those that were taken, were not withdrawn, and whose rows no later drop or command has replaced.
import { replaceModeOf } from "../lake/replace-folders.js";
import { contentOf, spanOf, type LedgerEntry } from "../lake/ledger.js";
import { keyOf } from "../lake/withdrawals.js";
import { createOverlays, type Overlays } from "./overlays.js";

export interface StandingDrops {
  /** Learns the next entry of the ledger. */
  learn(entry: LedgerEntry): void;
  /** The entry of when this content was last taken, if its rows are still what is served. */
  find(entity: string | null, file: Pick<LedgerEntry, "path" | "sha256">): LedgerEntry | undefined;
  /** The entry of when this content was last taken, even if its rows were replaced since. */
  latest(entity: string | null, file: Pick<LedgerEntry, "path" | "sha256">): LedgerEntry | undefined;
  /** The entries that decide whether the rows of this one are still what is served. */
  originsOf(entry: LedgerEntry): readonly LedgerEntry[];
  /** How many drops, and groups of drops, `find` has looked at so far. */
  looked(): number;
}

interface Taken {
  readonly entry: LedgerEntry;
  /** The number of overlays of its entity, with its own, when it was taken. */
  readonly at: number;
}

export function createStandingDrops(): StandingDrops {
  /** When a content was taken and not withdrawn since, the latest last. */
  const byContent = new Map<string, readonly Taken[]>();
  const overlays = new Map<string | null, Overlays>();
  const withdrawn = new Set<string>();

  const overlaysOf = (entity: string | null): Overlays => {
    let own = overlays.get(entity);
    if (!own) overlays.set(entity, (own = createOverlays()));
    return own;
  };

  /**
   * A later drop or command that replaced rows which this one may have. If this one replaces whole days, lists or codes,
   * also one that added rows to them.
   */
  const overlayOf = ({ entry, at }: Taken): LedgerEntry | undefined =>
    overlaysOf(entry.entity).find(spanOf(entry), at, (later) => {
      if (withdrawn.has(keyOf(later))) return false;
      if (replacesMore(later) || (replacesMore(entry) && later.added !== 0)) return true;
      return later.data_version === entry.data_version ? later.superseded > 0 : later.replaced > 0;
    });

  const lastOf = (entity: string | null, file: Pick<LedgerEntry, "path" | "sha256">): Taken | undefined =>
    byContent.get(contentKey(entity, file))?.at(-1);

  return {
    learn(entry) {
      const key = contentKey(entry.entity, entry);
      const before = byContent.get(key) ?? [];
      if (entry.outcome === "taken" || entry.outcome === "command") {
        const own = overlaysOf(entry.entity);
        withdrawn.delete(keyOf(entry));
        if (entry.added !== 0 || entry.replaced > 0 || entry.superseded > 0 || replacesMore(entry)) own.add(entry);
        if (!entry.command) byContent.set(key, [...before, { entry, at: own.size }].slice(-MOST_TIMES));
      } else if (entry.outcome === "withdrawn") {
        withdrawn.add(keyOf(entry));
        byContent.set(
          key,
          before.filter((one) => keyOf(one.entry) !== keyOf(entry)),
        );
      }
    },
    find(entity, file) {
      const taken = lastOf(entity, file);
      return taken && !overlayOf(taken) ? taken.entry : undefined;
    },
    latest: (entity, file) => lastOf(entity, file)?.entry,
    originsOf(entry) {
      const taken = lastOf(entry.entity, entry);
      const overlay = taken && overlayOf(taken);
      return [...(taken ? [taken.entry] : []), ...(overlay ? [overlay] : [])];
    },
    looked: () => [...overlays.values()].reduce((sum, { looked }) => sum + looked, 0),
  };
}

/** Whether a drop replaces whole days, lists or codes: stored rows that it does not have are removed. */
const replacesMore = ({ path }: LedgerEntry): boolean => replaceModeOf(path) !== null;

/** How often a content may be withdrawn in a row until it counts as never taken; then it is imported again. */
const MOST_TIMES = 100;

const contentKey = (entity: string | null, file: Pick<LedgerEntry, "path" | "sha256">): string =>
  `${entity} ${contentOf(file)}`;
