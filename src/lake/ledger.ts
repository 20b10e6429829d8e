// The ledger of drops as it is read: what became of each file of the inbox, and which files hold the rows of a range.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { readOrNone } from "./absent.js";
import type { Layout } from "./layout.js";

/** `taken`: its rows were merged; `same`: its content had been taken before; `refused`: nothing of it was taken. */
export type Outcome = "taken" | "same" | "refused";

export interface LedgerEntry {
  /** Relative to the inbox, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970, with their fraction. */
  readonly mtime: number;
  /** Null where the content did not matter. */
  readonly sha256: string | null;
  /** Null where the file lies in no entity's folder. */
  readonly entity: string | null;
  readonly outcome: Outcome;
  readonly rows: number;
  /** Of all files that were taken together: rows new to the lake, and rows that gave way. */
  readonly added: number;
  readonly replaced: number;
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

/** All entries, oldest first; an absent ledger holds none. A line that a crash cut short is left out. */
export async function readLedger(path: string): Promise<readonly LedgerEntry[]> {
  const text = (await readOrNone(path)) ?? "";
  return text.split("\n").flatMap(parseEntry);
}

function parseEntry(line: string): readonly LedgerEntry[] {
  try {
    return [JSON.parse(line) as LedgerEntry];
  } catch {
    return [];
  }
}

/** The last entry of each path, in the order of the ledger. */
export function latestEntries(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  const latest = new Map<string, LedgerEntry>();
  for (const entry of entries) {
    latest.delete(entry.path);
    latest.set(entry.path, entry);
  }
  return [...latest.values()];
}

/** Whether the file of an entry is still there as it was. */
export async function isUnchanged(layout: Layout, { path, size, mtime }: LedgerEntry): Promise<boolean> {
  const found = await stat(join(layout.inbox, path)).catch(() => undefined);
  return found !== undefined && found.size === size && found.mtimeMs === mtime;
}

/**
 * The drops whose rows may lie in a range of main dates (`YYYYMMDD`, inclusive; null: all, and rows without a date),
 * as absolute paths in the order in which they were taken: importing them again in this order brings these rows back.
 */
export async function findDrops(
  layout: Layout,
  entity: string,
  range: readonly [string, string] | null,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of latestEntries(await readLedger(layout.ledger))) {
    if (entry.entity !== entity || entry.outcome === "refused") continue;
    const { first, last } = entry;
    const isOutside = range !== null && first !== null && last !== null && (last < range[0] || range[1] < first);
    if (!isOutside && (await isUnchanged(layout, entry))) found.push(join(layout.inbox, entry.path));
  }
  return found;
}
