// Writes the ledger of drops: appends entries durably, and rewrites the file without obsolete entries when it has grown.
import { mkdir, stat } from "node:fs/promises";
import { OperatorError } from "../errors.js";
import { openInbox } from "../lake/inbox-files.js";
import { mayHold } from "../lake/found-drops.js";
import { inspectLedger, isLost, LEDGER_BEGIN, type LedgerEntry } from "../lake/ledger.js";
import type { Layout } from "../lake/layout.js";
import type { Version } from "../lake/manifest.js";
import { keyOf, missingWithdrawals } from "../lake/withdrawals.js";
import { syncPath, writeDurably } from "../durable.js";
import { appendEntries, encodeEntry, followLedger, withLedgerLocked, type LedgerState } from "../store/ledger-file.js";
import { createStandingDrops } from "./standing.js";

export interface Ledger {
  /** The last entry of a path. */
  last(path: string): LedgerEntry | undefined;
  /** The entry of a file with this content, under any name, that was taken for this entity and whose rows still stand. */
  taken(entity: string, file: Pick<LedgerEntry, "path" | "sha256">): LedgerEntry | undefined;
  /** The same, even if its rows were replaced since. */
  earlier(entity: string, file: Pick<LedgerEntry, "path" | "sha256">): LedgerEntry | undefined;
  /** The latest file taken for this entity with main dates in a range, except these paths. */
  neighbour(
    entity: string,
    range: readonly [string, string] | null,
    besides: ReadonlySet<string>,
  ): LedgerEntry | undefined;
  /** Appends these entries, without those that the ledger has already since the version of a drop was published. */
  append(entries: readonly LedgerEntry[]): Promise<void>;
  /** Reads what other processes have appended. */
  follow(): Promise<void>;
  /** Appends the entries that are missing for drops which these versions took back. */
  withdraw(versions: readonly Version[]): Promise<void>;
}

/** How many entries of files that no longer exist are kept: the latest ones. */
const MOST_GONE = 10_000;
/** The ledger is rewritten when it has this many obsolete lines. */
const SPARE_LINES = 5_000;

/**
 * Opens the ledger; the caller is the only one that rewrites it. Entries of versions after the served one do not count:
 * the lake was restored to an older state, or is a new one. `onWithdrawn` gets the entries of drops that were taken back
 * since, and of those whose rows are served again. Throws if the ledger is damaged or lost.
 */
export async function openLedger(
  layout: Layout,
  servedVersion: string,
  versions: () => Promise<readonly Version[]>,
  onWithdrawn: (entries: readonly LedgerEntry[]) => void = () => undefined,
): Promise<Ledger> {
  await mkdir(layout.state, { recursive: true });
  /** All entries in the file that count. */
  let history: LedgerEntry[] = [];
  let kept = 0;
  /** The file as it was when it was last read or written. */
  let seen: LedgerState = { ino: 0, size: 0 };
  /** The last entry of each drop's path, and of each command. */
  const byPath = new Map<string, LedgerEntry>();
  let standing = createStandingDrops();

  const learn = (entries: readonly LedgerEntry[]): void => {
    for (const entry of entries) {
      const name = entry.command ? keyOf(entry) : entry.path;
      byPath.delete(name);
      byPath.set(name, entry);
      standing.learn(entry);
      history.push(entry);
    }
  };

  const rewrite = async (): Promise<void> => {
    const latest = await relevantEntries(layout, [...byPath.values()]);
    // Content that is known under another name or time still needs the entry of when it was taken, and that of a later
    // drop which replaced its rows.
    const origins = latest.flatMap((entry) => standing.originsOf(entry));
    const relevant = new Set<LedgerEntry | undefined>([...latest, ...origins]);
    const left = history.filter((entry) => relevant.has(entry));
    await writeDurably(layout.ledger, [LEDGER_BEGIN, ...left.map(encodeEntry)]);
    seen = await stat(layout.ledger);
    byPath.clear();
    standing = createStandingDrops();
    history = [];
    kept = left.length;
    learn(left);
  };

  /** What others have appended is learned first, so that the entries have the same order as in the file. */
  const readTail = async (): Promise<void> => {
    const now = await stat(layout.ledger).catch(() => undefined);
    if (now?.ino !== seen.ino || now.size <= seen.size) return;
    const { entries } = await inspectLedger(layout.ledger, seen.size);
    seen = now;
    const reported = entries.filter(isReported);
    learn(entries);
    onWithdrawn(reported);
  };

  /** Whether the rows of a drop were taken back, or are served again after that. */
  const isReported = (entry: LedgerEntry): boolean => {
    const before = byPath.get(entry.path);
    const isBack = before?.outcome === "withdrawn" && keyOf(before) === keyOf(entry);
    return !entry.command && (entry.outcome === "withdrawn" || isBack);
  };

  const isKnown = (entry: LedgerEntry): boolean => {
    const known = entry.outcome === "taken" ? byPath.get(entry.path) : undefined;
    return known?.outcome === "taken" && keyOf(known) === keyOf(entry) && known.mtime === entry.mtime;
  };

  /** Drops are imported in parallel, but the ledger is written and read by one of them after another. */
  let working: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = working.then(work);
    working = done.catch(() => undefined);
    return done;
  };

  const append = async (find: () => readonly LedgerEntry[]): Promise<void> =>
    withLedgerLocked(layout, async () => {
      await readTail();
      const entries = find().filter((entry) => !isKnown(entry));
      let isNew = false;
      if (entries.length > 0) {
        const { before, after } = await appendEntries(layout, entries);
        seen = after;
        isNew = before.size === 0;
        if (history.length === 0) await syncPath(layout.state);
        learn(entries);
      }
      if (isNew || history.length > kept + SPARE_LINES) await rewrite();
    });

  await followLedger(layout);
  const content = await inspectLedger(layout.ledger);
  const { entries: all, damaged } = content;
  if (damaged.length > 0) throw new OperatorError(damagedLedger(layout.ledger, damaged));
  if (await isLost(content, versions)) throw new OperatorError(lostLedger(layout.ledger));
  if (content.isEmpty) await writeDurably(layout.ledger, LEDGER_BEGIN);
  seen = await stat(layout.ledger);
  const before = all.filter(({ data_version }) => data_version === null || data_version <= servedVersion);
  learn(before);
  kept = byPath.size;
  if (content.isClipped) await withLedgerLocked(layout, rewrite);
  return {
    last: (path) => byPath.get(path),
    taken: (entity, file) => standing.find(entity, file),
    earlier: (entity, file) => standing.latest(entity, file),
    neighbour: (entity, range, besides) =>
      [...byPath.values()].findLast(
        (entry) =>
          entry.entity === entity && entry.outcome === "taken" && !besides.has(entry.path) && mayHold(entry, range),
      ),
    async append(entries) {
      if (entries.length > 0) await inTurn(() => append(() => entries));
    },
    follow: () => inTurn(readTail),
    async withdraw(of) {
      const missing = (): readonly LedgerEntry[] => missingWithdrawals(history, of);
      await inTurn(async () => {
        const found = missing();
        if (found.length === 0) return;
        const reported = found.filter(isReported);
        await append(missing);
        onWithdrawn(reported);
      });
    },
  };
}

/** An unknown drop would be imported again, and overwrite later corrections. */
const damagedLedger = (path: string, [line]: readonly number[]): string =>
  `line ${line} of ${path} is damaged, so it is not known what was imported: drops wait until you run tapehouse verify --repair`;

const lostLedger = (path: string): string =>
  `${path} is empty or missing, so it is not known what was imported: drops wait until you restore it from a backup, or run ` +
  `tapehouse verify --repair, after which all files of the inbox are imported again`;

/** Entries of existing files, and the latest of those whose files are gone. */
async function relevantEntries(layout: Layout, entries: readonly LedgerEntry[]): Promise<readonly LedgerEntry[]> {
  if (entries.length <= MOST_GONE) return entries;
  const isInInbox = await openInbox(layout);
  const left: LedgerEntry[] = [];
  for (const [i, entry] of entries.entries()) {
    if (i >= entries.length - MOST_GONE || (await isInInbox(entry))) left.push(entry);
  }
  return left;
}
