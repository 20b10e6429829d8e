// The ledger of drops as it is read: what became of each file of the inbox, and where what was taken lies now.
import { lstat, readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { readOrNone } from "../files.js";
import { hasEnd, unseal, type Shape } from "./records.js";
import { openDrop, type OpenDrop } from "./drop-file.js";
import { sha256OfHandle } from "./integrity.js";
import type { Layout } from "./layout.js";
import type { Version } from "./manifest.js";

/** `taken`: its rows were merged; `same`: its content had been taken before; `refused`: nothing of it was taken. */
type Outcome = "taken" | "same" | "refused";

export interface LedgerEntry {
  /** Relative to the inbox, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970, with their fraction. */
  readonly mtime: number;
  /** Null if the content did not matter. */
  readonly sha256: string | null;
  /** Null if the file lies in no entity's folder. */
  readonly entity: string | null;
  readonly outcome: Outcome;
  /** Rows of the file that were merged; those that said nothing new are not among them. */
  readonly rows: number;
  readonly duplicates: number;
  /** Columns of the file that were not used. */
  readonly ignored: readonly string[];
  /** Of all files that were taken together: by how many rows the lake grew, and how many rows of it gave way. */
  readonly added: number;
  readonly replaced: number;
  /** Rows of these files that gave way to a later one of them. */
  readonly superseded: number;
  /** First and last main date of all files that were taken together, `YYYYMMDD`. */
  readonly first: string | null;
  readonly last: string | null;
  readonly warnings: readonly string[];
  /** Why it was refused, or not taken again. */
  readonly reason: string | null;
  /** The version that it made, or that held its rows already. */
  readonly data_version: string | null;
  /** ISO 8601: when this was written. */
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
  /** Numbers of the lines, from 1, that are no entry, though no crash cut them short. */
  readonly damaged: readonly number[];
  /** The lines before the first damaged one, as they are. */
  readonly sound: readonly string[];
  /** It is not there, or nothing is in it, not even the line that it begins with. */
  readonly isEmpty: boolean;
}

/** The first line of a new ledger: by it one that was emptied is told from one to which nothing was added yet. */
export const LEDGER_BEGIN = "# what became of each drop, a line each\n";

const REASON = "take";

/** The reason of a version that drops made. */
export const reasonOfDrops = (entity: string): string => `${REASON} ${entity}`;

/** Whether a ledger that is empty held something once: drops made versions. */
export const isLost = async (
  { isEmpty }: LedgerContent,
  versions: () => Promise<readonly Version[]>,
): Promise<boolean> => isEmpty && (await versions()).some(({ reason }) => reason.startsWith(`${REASON} `));

/** What a ledger says; an absent one says nothing. A line that a crash cut short is left out: its drop is taken again. */
export async function inspectLedger(path: string): Promise<LedgerContent> {
  const text = (await readOrNone(path)) ?? "";
  const lines = text.split("\n");
  const entries: LedgerEntry[] = [];
  const damaged: number[] = [];
  for (const [i, line] of lines.entries()) {
    const entry = unseal(line, SHAPE);
    if (entry) entries.push(entry);
    else if (hasEnd(line)) damaged.push(i + 1);
  }
  return { entries, damaged, sound: lines.slice(0, (damaged[0] ?? lines.length + 1) - 1), isEmpty: text === "" };
}

/** All entries that can be read, oldest first. */
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
 * What tells the content of a drop from others: its bytes, and the folders `name=value` that it lies in, since it takes
 * from them what it lacks.
 */
export function contentOf({ path, sha256 }: Pick<LedgerEntry, "path" | "sha256">): string {
  const folders = path.split("/").slice(0, -1);
  return [sha256, ...folders.filter((folder) => folder.includes("="))].join(" ");
}

/** A drop that was taken, and where its content lies now, relative to the inbox; null if it is gone. */
export interface FoundDrop {
  readonly entry: LedgerEntry;
  readonly path: string | null;
}

/**
 * The drops of an entity that were taken, those that are wanted, in the order in which they were taken last: importing
 * them again in this order brings their rows back. Their files are found by content, whatever they are called now. A
 * drop that gave way to a later one of the same path is left out where its content is gone.
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

/** Whether rows of a drop may have a main date in a range (`YYYYMMDD`, inclusive; null: rows without a date). */
export function mayHold({ first, last }: LedgerEntry, range: readonly [string, string] | null): boolean {
  return range === null || first === null || last === null || (first <= range[1] && range[0] <= last);
}

/** The files of an entity's inbox that may hold one of the drops, relative to the inbox, by their content. */
async function filesByContent(
  layout: Layout,
  entity: string,
  wanted: readonly LedgerEntry[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const sizes = new Set(wanted.map(({ size }) => size));
  const below = await readdir(join(layout.inbox, entity), { recursive: true, withFileTypes: true }).catch(() => []);
  for (const place of below) {
    const path = relative(layout.inbox, join(place.parentPath, place.name)).replaceAll(sep, "/");
    const stats = await lstat(join(layout.inbox, path)).catch(() => undefined);
    if (!stats?.isFile() || !sizes.has(stats.size)) continue;
    found.set(contentOf({ path, sha256: await sha256OfDrop(layout, path) }), path);
  }
  return found;
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
