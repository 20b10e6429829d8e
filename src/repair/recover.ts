// What a damaged manifest leaves: the newest state that is whole, on which a repair builds.
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
  /** The `data_version` up to which the base has the drops of an entity; null if it has them all. */
  since(entity: string): string | null;
  /** What becomes of the manifest, in words. */
  readonly told: readonly string[];
}

/**
 * Finds the base of a repair, for one that holds the write lock. Puts the pointer back where nothing else is damaged.
 * Throws an OperatorError if no version is whole.
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
    const told = `${nameOf(layout, layout.pointer)} is put back to the newest version, ${newest.data_version}`;
    return served(layout, since, [told]);
  }

  // What is noted is cleared up at the end: until then no version can be read.
  await appendFile(layout.pending, "");
  const lists = Object.fromEntries(found.flatMap(({ entity, sha }) => (sha === null ? [] : [[entity, sha]])));
  // A number is never used twice: a running server knows versions by theirs.
  const version: Version = { ...newest, sequence: top, lists };
  const files = (entity: string): FileList => inventory.lists.get(lists[entity] ?? "") ?? emptyList(entity);
  const told = [
    ...(current ? [] : [`the served version cannot be read: it goes back to ${newest.data_version}`]),
    ...stale.map(
      ({ entity, version }) => `${entity} goes back to ${version?.data_version ?? "nothing"}: its list is damaged`,
    ),
  ];
  return { base: { version, files }, isServed: false, since, told };
}

const NOTHING_INTACT =
  "no version can be read: put the folder state back from a backup; or move state and lake away, and serve takes the " +
  "inbox anew";

async function served(layout: Layout, since: Recovery["since"], told: readonly string[]): Promise<Recovery> {
  await openJournal(layout);
  return { base: (await openLake(layout.root)).current(), isServed: true, since, told };
}

interface LastIntact {
  readonly entity: string;
  /** The newest version whose list of the entity is whole; undefined if there is none. */
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

/** Takes away the versions that cannot be read: they would be in the way of the others. Resolves to what is to be told. */
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
    ...files.map((path) => `${nameOf(layout, path)} cannot be read: it is taken away`),
    ...known.map((version) => `version ${version.data_version} cannot be read: it is taken away`),
  ];
}
