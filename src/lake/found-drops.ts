// Finds the drops whose rows are in the lake, where in the inbox their content is now, and drops by name. Commands that
// changed rows count as drops.
import type { Entity } from "../catalog/types.js";
import { OperatorError } from "../errors.js";
import { shown, some } from "../words.js";
import { inboxFiles } from "./inbox-files.js";
import type { Layout } from "./layout.js";
import { contentOf, latestEntries, readLedger, type LedgerEntry } from "./ledger.js";
import { keyOf, standingEntries } from "./withdrawals.js";

/**
 * A drop that was taken, and the current path of its content, relative to the inbox; null if it is gone, and for a
 * command.
 */
export interface FoundDrop {
  readonly entry: LedgerEntry;
  readonly path: string | null;
}

/**
 * The wanted drops and commands of an entity in the order in which they were last taken; doing them again in this order
 * restores the rows. Their files are found by content, whatever their names are now. A drop is left out if its content is gone
 * and a later drop had the same path.
 */
export async function findDrops(
  layout: Layout,
  entity: string,
  isWanted: (entry: LedgerEntry) => boolean,
): Promise<readonly FoundDrop[]> {
  const taken = new Map<string, LedgerEntry>();
  const latest = new Map<string, LedgerEntry>();
  for (const entry of standingEntries(await readLedger(layout.ledger))) {
    if (entry.entity !== entity) continue;
    const content = entry.command ? keyOf(entry) : contentOf(entry);
    taken.delete(content);
    taken.set(content, entry);
    latest.set(entry.path, entry);
  }
  const wanted = [...taken].filter(([, entry]) => isWanted(entry));
  const entries = wanted.map(([, entry]) => entry).filter(({ command }) => !command);
  const files = await filesByContent(layout, entity, entries);
  return wanted
    .map(([content, entry]) => ({ entry, path: files.get(content) ?? null }))
    .filter(({ entry, path }) => path !== null || entry.command || latest.get(entry.path) === entry);
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
  if (sizes.size === 0) return found;
  const inbox = await inboxFiles(layout);
  for await (const file of inbox.below(entity)) {
    if (!sizes.has(file.size)) continue;
    const sha256 = await inbox.sha256(file);
    if (sha256 !== null) found.set(contentOf({ path: file.path, sha256 }), file.path);
  }
  return found;
}

// Names of drops on the command line.

/** Characters of a checksum that name a drop, at least. */
const SHORTEST_ID = 8;

/** The short name of a drop's content. */
export const idOf = ({ sha256 }: Pick<LedgerEntry, "sha256">): string => (sha256 ?? "").slice(0, SHORTEST_ID);

/** The entry of when a drop was last imported. Throws an OperatorError if there is none of this name, or several. */
export function dropNamed(ledger: readonly LedgerEntry[], name: string, only: Entity | undefined): LedgerEntry {
  const isWanted = ({ entity }: LedgerEntry): boolean => only === undefined || entity === only.name;
  const standing = standingEntries(ledger).filter((entry) => !entry.command && isWanted(entry));
  const latest = latestEntries(ledger).filter(isWanted);
  const ways: readonly (readonly LedgerEntry[])[] = [
    latest.filter(({ path }) => path === name || `inbox/${path}` === name),
    latest.filter(({ path }) => path.slice(path.indexOf("/") + 1) === name),
    [...latest, ...standing].filter((entry) => hasId(entry, name)),
  ];
  const named = ways.find((entries) => entries.length > 0) ?? [];
  const [first, ...others] = new Map(named.map((entry) => [contentKey(entry), entry])).values();
  if (!first) throw new OperatorError(`no drop is named ${shown(name)}; see: tapehouse status`, 2);
  if (others.length > 0) {
    const which = some([first, ...others].map((entry) => `${idOf(entry)} inbox/${entry.path}`));
    throw new OperatorError(`${shown(name)} may be ${which}: give the path, or more digits of the ID`, 2);
  }
  const found = standing.findLast((entry) => contentKey(entry) === contentKey(first));
  if (found) return found;
  const why =
    first.outcome === "withdrawn" ? "cannot be taken back again" : "was refused, so none of its rows were imported";
  throw new OperatorError(`inbox/${first.path} ${why}${first.reason === null ? "" : `: ${first.reason}`}`);
}

/** When the content of a drop was imported and not withdrawn since, the latest last. It may have changed rows each time. */
export const importsOf = (ledger: readonly LedgerEntry[], drop: LedgerEntry): readonly LedgerEntry[] =>
  standingEntries(ledger).filter((entry) => !entry.command && contentKey(entry) === contentKey(drop));

const hasId = ({ sha256 }: LedgerEntry, name: string): boolean =>
  name.length >= SHORTEST_ID && sha256?.startsWith(name.toLowerCase()) === true;

export const contentKey = (entry: Pick<LedgerEntry, "entity" | "path" | "sha256">): string =>
  `${entry.entity} ${contentOf(entry)}`;
