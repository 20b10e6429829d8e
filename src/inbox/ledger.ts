// Writing the ledger of drops: appended durably, and written anew with what still matters when it has grown.
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
  /** The entry of a file of this content, of whatever name, that was taken for this entity. */
  taken(entity: string, file: Pick<LedgerEntry, "path" | "sha256">): LedgerEntry | undefined;
  /** The latest file that was taken for this entity, with main dates in a range, besides these paths. */
  neighbour(
    entity: string,
    range: readonly [string, string] | null,
    besides: ReadonlySet<string>,
  ): LedgerEntry | undefined;
  append(entries: readonly LedgerEntry[]): Promise<void>;
}

/** Entries of files that are no longer there are kept up to this many, the latest ones. */
const MOST_GONE = 10_000;
/** The ledger is written anew when it has this many more lines than entries that matter. */
const SPARE_LINES = 5_000;

/**
 * Opens the ledger; the caller is its only writer. What it says of versions after the one that is served does not count:
 * the lake was put back to an older state, or begun anew. Throws if it is damaged or lost.
 */
export async function openLedger(
  layout: Layout,
  servedVersion: string,
  versions: () => Promise<readonly Version[]>,
): Promise<Ledger> {
  await mkdir(layout.state, { recursive: true });
  /** All lines that are in the file, but for those that do not count. */
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
    const latest = await thatMatter(layout, [...byPath.values()]);
    // Of content that is known under another name or time it still matters when it was taken.
    const origins = latest.map((entry) => byContent.get(keyOf(entry.entity, entry)));
    const matters = new Set<LedgerEntry | undefined>([...latest, ...origins]);
    const left = history.filter((entry) => matters.has(entry));
    await writeDurably(layout.ledger, left.map(encode).join(""));
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
      await handle.writeFile((await endsWithinLine(handle)) + entries.map(encode).join(""));
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (history.length === 0) await syncPath(layout.state);
    learn(entries);
    if (isEmptied || history.length > kept + SPARE_LINES) await rewrite();
  };
  /** Drops are taken side by side, but their entries are written one after another. */
  let appending: Promise<void> = Promise.resolve();

  const content = await inspectLedger(layout.ledger);
  const { entries: all, damaged } = content;
  if (damaged.length > 0) throw new OperatorError(damagedLedger(layout.ledger, damaged));
  if (await isLost(content, versions)) throw new OperatorError(lostLedger(layout.ledger));
  if (content.isEmpty) await writeDurably(layout.ledger, LEDGER_BEGIN);
  const before = all.filter(({ data_version }) => data_version === null || data_version <= servedVersion);
  learn(before);
  kept = byPath.size;
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

/** A drop of which nothing is known would be taken again, over what corrected it later. */
const damagedLedger = (path: string, [line]: readonly number[]): string =>
  `line ${line} of ${path} is damaged, so nobody can tell what was taken: drops wait until you run tapehouse verify --repair`;

const lostLedger = (path: string): string =>
  `${path} is empty or gone, so nobody can tell what was taken: drops wait until you put it back from a backup, or run ` +
  `tapehouse verify --repair, after which all files of the inbox are taken again`;

/** What closes a line that a crash cut short. */
async function endsWithinLine(handle: Awaited<ReturnType<typeof open>>): Promise<string> {
  const { size } = await handle.stat();
  if (size === 0) return "";
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString("latin1") === "\n" ? "" : "\n";
}

/** Entries of files that are there, and the latest of those that are gone. */
async function thatMatter(layout: Layout, entries: readonly LedgerEntry[]): Promise<readonly LedgerEntry[]> {
  if (entries.length <= MOST_GONE) return entries;
  const left: LedgerEntry[] = [];
  for (const [i, entry] of entries.entries()) {
    if (i >= entries.length - MOST_GONE || (await isUnchanged(layout, entry))) left.push(entry);
  }
  return left;
}
