// Reads the ledger: what became of each drop, and where in the inbox its content is now.
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { linesOf } from "../files.js";
import { clip, clipAll } from "../words.js";
import { hasEnd, unseal, type Shape } from "./records.js";
import { openDrop, type OpenDrop } from "./drop-file.js";
import { sha256OfHandle } from "./integrity.js";
import type { Layout } from "./layout.js";
import type { Version } from "./manifest.js";

/** `taken`: its rows were merged; `same`: its content had been taken before; `refused`: none of its rows were merged. */
type Outcome = "taken" | "same" | "refused";

export interface LedgerEntry {
  /** Relative to the inbox, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970, with their fraction. */
  readonly mtime: number;
  /** Null if the content was not read. */
  readonly sha256: string | null;
  /** Null if the file is not in an entity's folder. */
  readonly entity: string | null;
  readonly outcome: Outcome;
  /** Rows of the file that were merged, without duplicates. */
  readonly rows: number;
  readonly duplicates: number;
  /** Columns of the file that were not used. */
  readonly ignored: readonly string[];
  /** For all files that were imported together: rows added to the lake, and rows of the lake that were replaced. */
  readonly added: number;
  readonly replaced: number;
  /** Rows of these files that a later one of them replaced. */
  readonly superseded: number;
  /** First and last main date of all files that were imported together, `YYYYMMDD`. */
  readonly first: string | null;
  readonly last: string | null;
  readonly warnings: readonly string[];
  /** Why it was refused, or not imported again. */
  readonly reason: string | null;
  /** The version that it created, or that held its rows already. */
  readonly data_version: string | null;
  /** ISO 8601: when the entry was written. */
  readonly time: string;
}

const SHAPE: Shape<LedgerEntry> = {
  ...{ path: "string", size: "number", mtime: "number", sha256: "string?", entity: "string?", outcome: "string" },
  ...{ rows: "number", duplicates: "number", ignored: "strings", added: "number", replaced: "number" },
  ...{ superseded: "number", first: "string?", last: "string?", warnings: "strings", reason: "string?" },
  ...{ data_version: "string?", time: "string" },
};

export interface LedgerContent {
  /** Oldest first. */
  readonly entries: readonly LedgerEntry[];
  /** 1-based numbers of damaged lines; a line that a crash cut short does not count. */
  readonly damaged: readonly number[];
  /** Bytes before the first damaged line. */
  readonly sound: number;
  /** Some entries are clipped: the file has more of their text. */
  readonly isClipped: boolean;
  /** The file is missing or has zero bytes: even its first line is missing. */
  readonly isEmpty: boolean;
}

/** The first line of a new ledger. It distinguishes a ledger without entries from one that lost its content. */
export const LEDGER_BEGIN = "# what became of each drop, a line each\n";

const REASON = "take";

/** The reason of a version that drops created. */
export const reasonOfDrops = (entity: string): string => `${REASON} ${entity}`;

/** Whether an empty ledger has lost its content: some version was created by drops. */
export const isLost = async (
  { isEmpty }: LedgerContent,
  versions: () => Promise<readonly Version[]>,
): Promise<boolean> => isEmpty && (await versions()).some(({ reason }) => reason.startsWith(`${REASON} `));

/** Characters of a name, and of a reason or warning; and of all names or warnings of an entry. */
const LONGEST = { name: 256, text: 2_000 } as const;
const MOST = { names: 4_000, texts: 8_000 } as const;

/** The entry with what a file put into it clipped: names of its columns, and messages that quote it. */
export function clipEntry<E extends Omit<LedgerEntry, "time">>(entry: E): E {
  const ignored = clipAll(entry.ignored, LONGEST.name, MOST.names);
  const warnings = clipAll(entry.warnings, LONGEST.text, MOST.texts);
  const reason = entry.reason === null ? null : clip(entry.reason, LONGEST.text);
  const isShort = ignored === entry.ignored && warnings === entry.warnings && reason === entry.reason;
  return isShort ? entry : { ...entry, ignored, warnings, reason };
}

/** Bytes of a line, far more than an entry has. Earlier releases did not clip entries. */
const LONGEST_LINE = 64 << 20;

/**
 * Reads a ledger; a missing one has no entries. A line that a crash cut short is skipped: its drop is imported again. A
 * line that is too long is damaged.
 */
export async function inspectLedger(path: string): Promise<LedgerContent> {
  const entries: LedgerEntry[] = [];
  const damaged: number[] = [];
  let [number, sound, size] = [0, 0, 0];
  let isClipped = false;
  for await (const { text, end } of linesOf(path, LONGEST_LINE)) {
    number++;
    const entry = text === null ? undefined : unseal(text, SHAPE);
    if (entry) {
      const clipped = clipEntry(entry);
      if (clipped !== entry) isClipped = true;
      entries.push(clipped);
    } else if (text === null || hasEnd(text)) damaged.push(number);
    size = end;
    if (damaged.length === 0) sound = end;
  }
  return { entries, damaged, sound, isClipped, isEmpty: size === 0 };
}

/** All readable entries, oldest first. */
export const readLedger = async (path: string): Promise<readonly LedgerEntry[]> => (await inspectLedger(path)).entries;

/** The last entry of each path, in the order of the ledger. */
export function latestEntries(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  const latest = new Map<string, LedgerEntry>();
  for (const entry of entries) {
    latest.delete(entry.path);
    latest.set(entry.path, entry);
  }
  return [...latest.values()];
}

/**
 * Identifies the content of a drop: its bytes, and the `name=value` folders above it, whose values fill missing
 * columns.
 */
export function contentOf({ path, sha256 }: Pick<LedgerEntry, "path" | "sha256">): string {
  const folders = path.split("/").slice(0, -1);
  return [sha256, ...folders.filter((folder) => folder.includes("="))].join(" ");
}

/** A drop that was taken, and the current path of its content, relative to the inbox; null if it is gone. */
export interface FoundDrop {
  readonly entry: LedgerEntry;
  readonly path: string | null;
}

/**
 * The wanted drops of an entity in the order in which they were last taken; importing them again in this order restores
 * their rows. Their files are found by content, whatever their names are now. A drop is left out if its content is gone
 * and a later drop had the same path.
 */
export async function findDrops(
  layout: Layout,
  entity: string,
  isWanted: (entry: LedgerEntry) => boolean,
): Promise<readonly FoundDrop[]> {
  const taken = new Map<string, LedgerEntry>();
  const latest = new Map<string, LedgerEntry>();
  for (const entry of await readLedger(layout.ledger)) {
    if (entry.entity !== entity || entry.outcome !== "taken") continue;
    taken.delete(contentOf(entry));
    taken.set(contentOf(entry), entry);
    latest.set(entry.path, entry);
  }
  const wanted = [...taken].filter(([, entry]) => isWanted(entry));
  const entries = wanted.map(([, entry]) => entry);
  const files = await filesByContent(layout, entity, entries);
  return wanted
    .map(([content, entry]) => ({ entry, path: files.get(content) ?? null }))
    .filter(({ entry, path }) => path !== null || latest.get(entry.path) === entry);
}

/** Whether a drop may hold rows with a main date in the range (`YYYYMMDD`, inclusive; null: rows without a date). */
export function mayHold({ first, last }: LedgerEntry, range: readonly [string, string] | null): boolean {
  return range === null || first === null || last === null || (first <= range[1] && range[0] <= last);
}

/** The content of files in an entity's inbox → their paths, relative to the inbox. */
async function filesByContent(
  layout: Layout,
  entity: string,
  wanted: readonly LedgerEntry[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const sizes = new Set(wanted.map(({ size }) => size));
  for await (const path of filesBelow(layout, entity)) {
    const stats = await lstat(join(layout.inbox, path)).catch(() => undefined);
    if (!stats?.isFile() || !sizes.has(stats.size)) continue;
    found.set(contentOf({ path, sha256: await sha256OfDrop(layout, path) }), path);
  }
  return found;
}

/** The files below a folder of the inbox, relative to the inbox. Folders that cannot be read are left out. */
async function* filesBelow(layout: Layout, folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(join(layout.inbox, folder), { withFileTypes: true }).catch(() => [])) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(layout, path);
    else if (entry.isFile()) yield path;
  }
}

/** Null if the file cannot be read. */
async function sha256OfDrop(layout: Layout, path: string): Promise<string | null> {
  const drop: OpenDrop | undefined = await openDrop(layout, path).catch(() => undefined);
  if (!drop) return null;
  try {
    return await sha256OfHandle(drop.handle);
  } catch {
    return null;
  } finally {
    await drop.handle.close();
  }
}
