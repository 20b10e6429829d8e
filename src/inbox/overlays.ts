// Overlays: drops and commands that changed rows, and may have replaced those of earlier drops. Found by dates and codes,
// without looking at all.
import { doOverlap, spanOf, type LedgerEntry, type RowSpan } from "../lake/ledger.js";

export interface Overlays {
  /** How many drops were added. */
  readonly size: number;
  /** How many drops and groups of drops were looked at so far. */
  readonly looked: number;
  add(entry: LedgerEntry): void;
  /** A drop that was added at `from` or later, whose span overlaps, and which `counts`. */
  find(span: RowSpan, from: number, counts: (entry: LedgerEntry) => boolean): LedgerEntry | undefined;
}

/** How many members a group has. */
const GROUP = 16;

/** Groups of drops that follow each other have a common span, and so have groups of groups. */
export function createOverlays(): Overlays {
  const entries: LedgerEntry[] = [];
  /** The spans of the drops, of groups of them, of groups of groups, and so on. */
  const levels: RowSpan[][] = [[]];
  let looked = 0;

  const search = (
    level: number,
    at: number,
    span: RowSpan,
    from: number,
    counts: (entry: LedgerEntry) => boolean,
  ): LedgerEntry | undefined => {
    looked++;
    if ((at + 1) * GROUP ** level <= from || !doOverlap(levels[level]![at]!, span)) return undefined;
    if (level === 0) return counts(entries[at]!) ? entries[at] : undefined;
    const end = Math.min((at + 1) * GROUP, levels[level - 1]!.length);
    for (let i = end - 1; i >= at * GROUP; i--) {
      const found = search(level - 1, i, span, from, counts);
      if (found) return found;
    }
    return undefined;
  };

  return {
    get size() {
      return entries.length;
    },
    get looked() {
      return looked;
    },
    add(entry) {
      const own = spanOf(entry);
      let at = entries.length;
      entries.push(entry);
      levels[0]!.push(own);
      for (let level = 1; levels[level - 1]!.length > 1; level++) {
        at = Math.floor(at / GROUP);
        const spans = (levels[level] ??= []);
        const group = spans[at];
        // A new level begins with the span of all that is below it.
        spans[at] = group ? union(group, own) : levels[level - 1]!.slice(at * GROUP).reduce((a, b) => union(a, b));
      }
    },
    find(span, from, counts) {
      if (from >= entries.length) return undefined;
      const top = levels.findLastIndex((spans) => spans.length === 1);
      return search(top, 0, span, from, counts);
    },
  };
}

const union = (a: RowSpan, b: RowSpan): RowSpan => ({
  first: least(a.first, b.first),
  last: most(a.last, b.last),
  firstCode: least(a.firstCode, b.firstCode),
  lastCode: most(a.lastCode, b.lastCode),
});

const least = (a: string | null, b: string | null): string | null => (a === null || b === null ? null : a < b ? a : b);

const most = (a: string | null, b: string | null): string | null => (a === null || b === null ? null : a > b ? a : b);
