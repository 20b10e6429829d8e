// Finds the newest intact state of a damaged manifest, on which a repair builds.
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../errors.js";
import { openLake } from "../lake/lake.js";
import { versionFile, type Layout } from "../lake/layout.js";
import { emptyList, type FileList, type Version } from "../lake/manifest.js";
import { readPointer, sequences } from "../lake/kept-versions.js";
import { writeDurably } from "../store/durable.js";
import { takeInventory, type Fault, type Inventory } from "./inventory.js";
import { nameOf, openJournal } from "../store/journal.js";
import type { Opening } from "../store/session.js";
import { removeVersions } from "../store/vacuum.js";

interface Recovery extends Opening {
  /** The `data_version` up to which the base includes the drops of an entity; null if it includes them all. */
  since(entity: string): string | null;
  /** What is done to the manifest, in words. */
  readonly messages: readonly string[];
}

/**
 * Finds the base of a repair; the caller holds the write lock. Restores the pointer if nothing else is damaged. Throws an
 * OperatorError if no version is intact.
 */
export async function recover(layout: Layout): Promise<Recovery> {
  const inventory = await takeInventory(layout);
  const { current, versions } = inventory;
  const newest = current ?? versions.at(-1);
  if (!newest && inventory.faults.length > 0) throw new OperatorError(NOTHING_INTACT);
  if (!newest) return served(layout, () => null, []);

  const found = Object.keys(newest.lists).map((entity) => lastIntact(inventory, newest, entity));
  const stale = found.filter(({ version }) => version !== newest);
  const since = (entity: string): string | null => {
    const own = stale.find((one) => one.entity === entity);
    return own ? (own.version?.data_version ?? "") : current ? null : newest.data_version;
  };
  const top = Math.max(await readPointer(layout).catch(() => 0), ...(await sequences(layout)));
  if (stale.length === 0 && current) return served(layout, since, []);
  if (stale.length === 0 && newest.sequence === top) {
    await writeDurably(layout.pointer, `${top}\n`);
    const message = `${nameOf(layout, layout.pointer)} now names the newest version again, ${newest.data_version}`;
    return served(layout, since, [message]);
  }

  // The existing journal is kept and settled at the end: until then no version can be read.
  await appendFile(layout.pending, "");
  const lists = Object.fromEntries(found.flatMap(({ entity, sha }) => (sha === null ? [] : [[entity, sha]])));
  // A number is never used twice, since a running server identifies versions by number.
  const version: Version = { ...newest, sequence: top, lists };
  const files = (entity: string): FileList => inventory.lists.get(lists[entity] ?? "") ?? emptyList(entity);
  const messages = [
    ...(current ? [] : [`the served version cannot be read: ${newest.data_version} is served again`]),
    ...stale.map(
      ({ entity, version }) =>
        `the list of ${entity} is damaged: ` +
        (version ? `its state of ${version.data_version} is served again` : "no older one exists, so it starts empty"),
    ),
  ];
  return { base: { version, files }, isServed: false, since, messages };
}

const NOTHING_INTACT =
  "no version can be read: restore the folder state from a backup; or move state and lake away, and serve imports the " +
  "inbox again";

async function served(layout: Layout, since: Recovery["since"], messages: readonly string[]): Promise<Recovery> {
  await openJournal(layout);
  return { base: (await openLake(layout.root)).current(), isServed: true, since, messages };
}

interface LastIntact {
  readonly entity: string;
  /** The newest version with an intact list of the entity; undefined if there is none. */
  readonly version: Version | undefined;
  /** Null if that version has no data of the entity. */
  readonly sha: string | null;
}

function lastIntact({ versions, lists }: Inventory, newest: Version, entity: string): LastIntact {
  const version = versions.findLast(
    ({ sequence, lists: named }) =>
      sequence <= newest.sequence && (named[entity] === undefined || lists.has(named[entity])),
  );
  return { entity, version, sha: version?.lists[entity] ?? null };
}

/** Removes unreadable versions, since they obstruct the others. Resolves to messages about what was done. */
export async function removeUnreadable(layout: Layout): Promise<readonly string[]> {
  const { versions, faults } = await takeInventory(layout);
  const folder = `${nameOf(layout, layout.versions)}/`;
  const isVersion = ({ path }: Fault): boolean => path.startsWith(folder);
  const names = new Set(faults.filter((fault) => !isVersion(fault)).flatMap((fault) => fault.versions));
  const known = versions.filter((version) => names.has(version.data_version));
  const files = faults.filter(isVersion).map(({ path }) => join(layout.root, path));
  await removeVersions(layout, known, [
    ...files,
    ...known.map(({ sequence }) => join(layout.versions, versionFile(sequence))),
  ]);
  return [
    ...files.map((path) => `${nameOf(layout, path)} could not be read and was removed`),
    ...known.map((version) => `version ${version.data_version} could not be read and was removed`),
  ];
}
