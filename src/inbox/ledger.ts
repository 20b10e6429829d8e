// Writes the ledger of drops: appends entries durably, and rewrites the file without obsolete entries when it has grown.
import { mkdir, open } from "node:fs/promises";
import { OperatorError } from "../errors.js";
import { isUnchanged } from "../lake/drop-file.js";
import { contentOf, inspectLedger, isLost, LEDGER_BEGIN, mayHold, type LedgerEntry } from "../lake/ledger.js";
import type { Layout } from "../lake/layout.js";
import type { Version } from "../lake/manifest.js";
import { seal } from "../lake/records.js";
import { syncPath, writeDurably } from "../store/durable.js";

export interface Ledger {
  /** The last entry of a path. */
  last(path: string): LedgerEntry | undefined;
  /** The entry of a file with this content, under any name, that was taken for this entity. */
  taken(entity: string, file: Pick<LedgerEntry, "path" | "sha256">): LedgerEntry | undefined;
  /** The latest file taken for this entity with main dates in a range, except these paths. */
  neighbour(
    entity: string,
    range: readonly [string, string] | null,
    besides: ReadonlySet<string>,
  ): LedgerEntry | undefined;
  append(entries: readonly LedgerEntry[]): Promise<void>;
}

/** How many entries of files that no longer exist are kept: the latest ones. */
const MOST_GONE = 10_000;
/** The ledger is rewritten when it has this many obsolete lines. */
const SPARE_LINES = 5_000;

/**
 * Opens the ledger; the caller is its only writer. Entries of versions after the served one do not count: the lake was
 * restored to an older state, or is a new one. Throws if the ledger is damaged or lost.
 */
export async function openLedger(
  layout: Layout,
  servedVersion: string,
  versions: () => Promise<readonly Version[]>,
): Promise<Ledger> {
  await mkdir(layout.state, { recursive: true });
  /** All entries in the file that count. */
  let history: LedgerEntry[] = [];
  let kept = 0;
  const byPath = new Map<string, LedgerEntry>();
  const byContent = new Map<string, LedgerEntry>();

  const learn = (entries: readonly LedgerEntry[]): void => {
    for (const entry of entries) {
      byPath.delete(entry.path);
      byPath.set(entry.path, entry);
      if (entry.outcome === "taken") byContent.set(keyOf(entry.entity, entry), entry);
      history.push(entry);
    }
  };

  const rewrite = async (): Promise<void> => {
    const latest = await relevantEntries(layout, [...byPath.values()]);
    // Content that is known under another name or time still needs the entry of when it was taken.
    const origins = latest.map((entry) => byContent.get(keyOf(entry.entity, entry)));
    const relevant = new Set<LedgerEntry | undefined>([...latest, ...origins]);
    const left = history.filter((entry) => relevant.has(entry));
    await writeDurably(layout.ledger, [LEDGER_BEGIN, ...left.map(encode)]);
    byPath.clear();
    byContent.clear();
    history = [];
    kept = left.length;
    learn(left);
  };

  const append = async (entries: readonly LedgerEntry[]): Promise<void> => {
    const handle = await open(layout.ledger, "a+");
    let isEmptied = false;
    try {
      isEmptied = (await handle.stat()).size === 0;
      await handle.writeFile((await missingLineFeed(handle)) + entries.map(encode).join(""));
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (history.length === 0) await syncPath(layout.state);
    learn(entries);
    if (isEmptied || history.length > kept + SPARE_LINES) await rewrite();
  };
  /** Drops are imported in parallel, but their entries are written one after another. */
  let appending: Promise<void> = Promise.resolve();

  const content = await inspectLedger(layout.ledger);
  const { entries: all, damaged } = content;
  if (damaged.length > 0) throw new OperatorError(damagedLedger(layout.ledger, damaged));
  if (await isLost(content, versions)) throw new OperatorError(lostLedger(layout.ledger));
  if (content.isEmpty) await writeDurably(layout.ledger, LEDGER_BEGIN);
  const before = all.filter(({ data_version }) => data_version === null || data_version <= servedVersion);
  learn(before);
  kept = byPath.size;
  if (content.isClipped) await rewrite();
  return {
    last: (path) => byPath.get(path),
    taken: (entity, file) => byContent.get(keyOf(entity, file)),
    neighbour: (entity, range, besides) =>
      [...byPath.values()].findLast(
        (entry) =>
          entry.entity === entity && entry.outcome === "taken" && !besides.has(entry.path) && mayHold(entry, range),
      ),
    async append(entries) {
      if (entries.length === 0) return;
      const appended = appending.then(() => append(entries));
      appending = appended.catch(() => undefined);
      await appended;
    },
  };
}

const keyOf = (entity: string | null, file: Pick<LedgerEntry, "path" | "sha256">): string =>
  `${entity} ${contentOf(file)}`;

const encode = (entry: LedgerEntry): string => `${seal(entry)}\n`;

/** An unknown drop would be imported again, and overwrite later corrections. */
const damagedLedger = (path: string, [line]: readonly number[]): string =>
  `line ${line} of ${path} is damaged, so it is not known what was taken: drops wait until you run tapehouse verify --repair`;

const lostLedger = (path: string): string =>
  `${path} is empty or missing, so it is not known what was taken: drops wait until you restore it from a backup, or run ` +
  `tapehouse verify --repair, after which all files of the inbox are taken again`;

/** The line feed that ends a line which a crash cut short; empty if the last line is complete. */
async function missingLineFeed(handle: Awaited<ReturnType<typeof open>>): Promise<string> {
  const { size } = await handle.stat();
  if (size === 0) return "";
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString("latin1") === "\n" ? "" : "\n";
}

/** Entries of existing files, and the latest of those whose files are gone. */
async function relevantEntries(layout: Layout, entries: readonly LedgerEntry[]): Promise<readonly LedgerEntry[]> {
  if (entries.length <= MOST_GONE) return entries;
  const left: LedgerEntry[] = [];
  for (const [i, entry] of entries.entries()) {
    if (i >= entries.length - MOST_GONE || (await isUnchanged(layout, entry))) left.push(entry);
  }
  return left;
}
