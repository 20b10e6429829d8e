// Repairs the served version: restores damaged files from older versions, from the code copy or from the inbox.
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { ENTITIES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { OperatorError } from "../errors.js";
import { readOrNone } from "../files.js";
import { createIntegrity, isIntact } from "../lake/integrity.js";
import { findDrops } from "../lake/found-drops.js";
import type { VersionEntry } from "../lake/ledger.js";
import { type DataFile, type FileList, type Version, emptyList } from "../lake/manifest.js";
import { takeInventory, type Fault, type Inventory } from "./inventory.js";
import { isUnrepeatable, rewrite, type Incomplete, readAgain } from "./rewrite.js";
import { GIVEN_UP, goBack, type WentBack } from "./last-whole.js";
import { commandEntry } from "../store/ledger-file.js";
import { merge } from "../store/merge.js";
import { withSessionOn, type WriteOptions, type WriteSession, type Opening } from "../store/session.js";
import { findStateFaults, repairState } from "./state-files.js";
import { findFaults, summarise, type OnFile, type VerifyOptions, type VerifyReport } from "./verify.js";
import { openLake } from "../lake/lake.js";
import { nameOf, versionFile, type Layout } from "../lake/layout.js";
import { readPointer, RESTORING, sequences, UNFINISHED } from "../lake/kept-versions.js";
import { isTakenBack } from "../lake/withdrawals.js";
import { writeDurably } from "../durable.js";
import { fetchDamagedState, openBucketRepair } from "./bucket.js";
import { openJournal } from "../store/journal.js";
import { removeVersions } from "../store/vacuum.js";

/** A rewritten file. */
interface Repaired {
  /** Relative to the data directory. */
  readonly path: string;
  readonly rows: number;
  readonly from: "copy" | "inbox";
  /** Its bytes are the same as before. Otherwise only the number of rows is, and changes from outside the inbox may be lost. */
  readonly isSame: boolean;
}

/** A damaged file with rows that cannot be restored. */
interface Lost {
  readonly entity: string;
  /** Main dates, `YYYYMMDD` inclusive; null for rows without one. */
  readonly first: string | null;
  readonly last: string | null;
  /** The number of its rows, and how many of them the inbox holds. */
  readonly rows: number;
  readonly inInbox: number;
  /** Drops with rows of these dates that cannot be imported again, each with the reason. */
  readonly missing: readonly string[];
}

/** Drops that were imported again, because the base of the repair lacks them. */
interface Reimport {
  readonly entity: string;
  readonly files: number;
  readonly rows: number;
  readonly missing: readonly string[];
}

export interface RepairReport extends VerifyReport {
  /** What was done to the manifest and the other files of the state folder, in words. */
  readonly manifest: readonly string[];
  readonly takenAgain: readonly Reimport[];
  readonly repaired: readonly Repaired[];
  readonly lost: readonly Lost[];
  /** Null unless it went back to the last whole version. */
  readonly back: WentBack | null;
  /** Null if every rewritten file has its old content, or none was rewritten. */
  readonly version: Version | null;
}

/**
 * Verifies the lake under the write lock and repairs what it can; `faults` in the report are those that remain. With
 * `giveUp`, a damaged file that cannot be restored completely is replaced by the rows that can, so that the others can be
 * dropped again. Without it, queries of that file keep failing. With `backToLastWhole` no file is restored: the last whole
 * version is served again.
 */
export async function repair(
  root: string,
  options: VerifyOptions & WriteOptions & { readonly giveUp: boolean; readonly backToLastWhole?: boolean },
  onFile: OnFile = () => undefined,
): Promise<RepairReport> {
  return withSessionOn(root, options, recover, async (session, recovery) => {
    const { layout, writer, base, publish } = session;
    const inventory = await takeInventory(layout);
    const bucket = await openBucketRepair(layout, inventory, onFile);
    await bucket.send();
    const found = await findFaults(writer, layout, inventory, options, onFile);
    if (options.backToLastWhole) {
      const { version, ...back } = await goBack(session, inventory, found);
      const faults = await remaining(session, found);
      const none = { manifest: recovery.messages, takenAgain: [], repaired: [], lost: [] };
      return { ...summarise(await takeInventory(layout), faults), ...none, back, version };
    }
    const lists: FileList[] = [];
    const repaired: Repaired[] = [];
    const lost: Lost[] = [];
    const takenAgain: Reimport[] = [];
    const total = ENTITIES.reduce((sum, { name }) => sum + bytesOf(base.files(name)), 0);
    let bytes = 0;
    for (const entity of ENTITIES) {
      const { name } = entity;
      const list = base.files(name);
      onFile(`repairing ${name}`, bytes, total);
      bytes += bytesOf(list);
      const bad = await findDamaged(session, list);
      const rewritten = await rewrite(session, entity, list, bad, options.giveUp);
      repaired.push(
        ...rewritten.repaired.map(({ file, ...how }) => ({ path: `lake/${file.path}`, rows: file.rows, ...how })),
      );
      lost.push(...rewritten.incomplete.map((one) => lostOf(name, one)));
      const since = recovery.since(name);
      const isBroken = rewritten.incomplete.length > 0 && !options.giveUp;
      const again = since === null ? null : await reimportSince(session, entity, rewritten.list, since, isBroken);
      if (again) takenAgain.push({ entity: name, files: again.files, rows: again.rows, missing: again.missing });
      lists.push(again?.list ?? rewritten.list);
    }
    const reason = options.giveUp && lost.length > 0 ? GIVEN_UP : "repair";
    const version = await publish(lists, reason, options.giveUp ? { entries: entriesOfLost(lost) } : {});
    await bucket.send();
    const ofState = [...(await removeUnreadable(layout)), ...(await repairState(layout))];
    const manifest = [...recovery.messages, ...bucket.messages(), ...ofState];
    const faults = await remaining(session, found);
    return {
      ...summarise(await takeInventory(layout), faults),
      ...{ manifest, takenAgain, repaired, lost, back: null, version },
    };
  });
}

const bytesOf = ({ byDate, byCode }: FileList): number =>
  [...byDate, ...byCode].reduce((sum, file) => sum + file.bytes, 0);

const lostOf = (entity: string, { file, inInbox, missing }: Incomplete): Lost => {
  const { first, last, rows } = file;
  return { entity, first, last, rows, inInbox, missing };
};

/** An entry for each entity, so that drops of the days that lost rows are imported if they are dropped again. */
function entriesOfLost(lost: readonly Lost[]): readonly VersionEntry[] {
  const names = new Set(lost.map(({ entity }) => entity));
  return [...names].map((entity) => {
    const own = lost.filter((one) => one.entity === entity);
    const isDated = own.every(({ first }) => first !== null);
    const [first, last] = isDated ? [own[0]!.first, own.at(-1)!.last] : [null, null];
    const [rows, kept] = [sumOf(own, "rows"), sumOf(own, "inInbox")];
    const span = { first, last, firstCode: null, lastCode: null };
    return commandEntry(entity, { name: "repair" }, span, { rows: kept, added: kept - rows, replaced: rows });
  });
}

const sumOf = (lost: readonly Lost[], of: "rows" | "inInbox"): number => lost.reduce((sum, one) => sum + one[of], 0);

async function findDamaged({ layout }: WriteSession, list: FileList): Promise<ReadonlySet<DataFile>> {
  const integrity = createIntegrity(layout);
  const bad = new Set<DataFile>();
  for (const file of [...list.byDate, ...list.byCode]) if (!(await isIntact(integrity, file))) bad.add(file);
  return bad;
}

/** Imports the drops again that were taken after a version; null if there are none. */
async function reimportSince(
  session: WriteSession,
  entity: Entity,
  list: FileList,
  since: string,
  isBroken: boolean,
): Promise<(Omit<Reimport, "entity"> & { readonly list: FileList }) | null> {
  const { layout } = session;
  const drops = await findDrops(layout, entity.name, ({ data_version }) => (data_version ?? "") > since);
  if (drops.length === 0) return null;
  if (isBroken)
    throw new OperatorError(`data files of ${entity.name} are damaged too: nothing was changed; see --give-up`);
  const missing: string[] = [];
  let [rows, restored] = [0, list];
  for await (const drop of readAgain(session, entity, drops, missing)) {
    rows += drop.rows;
    restored = (await merge(session, entity, restored, drop.change)).list;
  }
  const commands = drops.filter(({ entry }) => entry.command);
  const unread = missing.length - commands.filter(({ entry }) => isUnrepeatable(entry)).length;
  return { list: restored, rows, files: drops.length - commands.length - unread, missing };
}

/** The faults that remain after a repair, e.g. damaged files that only older versions name. */
async function remaining({ layout }: WriteSession, faults: readonly Fault[]): Promise<readonly Fault[]> {
  const { faults: ofManifest, files } = await takeInventory(layout);
  const integrity = createIntegrity(layout);
  const left = [...ofManifest, ...(await findStateFaults(layout))];
  for (const fault of faults) {
    if (!fault.path.startsWith("lake/")) continue;
    const kept = files.get(fault.path.slice("lake/".length));
    const isRepaired = fault.kind === "damaged" && (!kept || (await isIntact(integrity, kept.file)));
    if (!isRepaired) left.push(fault);
  }
  return left;
}

// Recovery: the newest intact state of a damaged manifest, on which a repair builds.

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
async function recover(layout: Layout): Promise<Recovery> {
  if ((await readOrNone(layout.pointer).catch(() => null)) === RESTORING) throw new OperatorError(UNFINISHED);
  await fetchDamagedState(layout);
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
  const until = versions.filter(({ sequence }) => sequence <= newest.sequence);
  const version = until.findLast(
    (one) => (one.lists[entity] === undefined || lists.has(one.lists[entity])) && !isTakenBack(until, entity, one),
  );
  return { entity, version, sha: version?.lists[entity] ?? null };
}

/** Removes unreadable versions, since they obstruct the others. Resolves to messages about what was done. */
async function removeUnreadable(layout: Layout): Promise<readonly string[]> {
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
