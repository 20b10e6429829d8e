// Repairs the served version: restores damaged files from older versions, from the code copy or from the inbox.
import { ENTITIES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { OperatorError } from "../errors.js";
import { createIntegrity, DamagedFileError, type Integrity } from "../lake/integrity.js";
import { findDrops } from "../lake/ledger.js";
import type { DataFile, FileList, Version } from "../lake/manifest.js";
import { takeInventory, type Fault } from "./inventory.js";
import { rewrite, type Incomplete } from "./rewrite.js";
import { merge } from "../store/merge.js";
import { recover, removeUnreadable } from "./recover.js";
import { reimport } from "./reimport.js";
import { withSessionOn, type WriteOptions, type WriteSession } from "../store/session.js";
import { findStateFaults, repairState } from "./state-files.js";
import { findFaults, summarise, type OnFile, type VerifyOptions, type VerifyReport } from "./verify.js";

/** A rewritten file. */
export interface Repaired {
  /** Relative to the data directory. */
  readonly path: string;
  readonly rows: number;
  readonly from: "copy" | "inbox";
  /** Its bytes are the same as before. Otherwise only the number of rows is, and changes from outside the inbox may be lost. */
  readonly isSame: boolean;
}

/** A damaged file with rows that cannot be restored. */
export interface Lost {
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
export interface Reimport {
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
  /** Null if every rewritten file has its old content, or none was rewritten. */
  readonly version: Version | null;
}

/**
 * Verifies the lake under the write lock and repairs what it can; `faults` in the report are those that remain. With
 * `giveUp`, a damaged file that cannot be restored completely is replaced by the rows that can, so that the others can be
 * dropped again. Without it, queries of that file keep failing.
 */
export async function repair(
  root: string,
  options: VerifyOptions & WriteOptions & { readonly giveUp: boolean },
  onFile: OnFile = () => undefined,
): Promise<RepairReport> {
  return withSessionOn(root, options, recover, async (session, recovery) => {
    const { layout, writer, base, publish } = session;
    const found = await findFaults(writer, layout, await takeInventory(layout), options, onFile);
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
    const version = await publish(lists, "repair");
    const manifest = [...recovery.messages, ...(await removeUnreadable(layout)), ...(await repairState(layout))];
    const faults = await remaining(session, found);
    return {
      ...summarise(await takeInventory(layout), faults),
      ...{ manifest, takenAgain, repaired, lost, version },
    };
  });
}

const bytesOf = ({ byDate, byCode }: FileList): number =>
  [...byDate, ...byCode].reduce((sum, file) => sum + file.bytes, 0);

const lostOf = (entity: string, { file, inInbox, missing }: Incomplete): Lost => {
  const { first, last, rows } = file;
  return { entity, first, last, rows, inInbox, missing };
};

async function findDamaged({ layout }: WriteSession, list: FileList): Promise<ReadonlySet<DataFile>> {
  const integrity = createIntegrity(layout.lake);
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
  const { writer, layout } = session;
  const drops = await findDrops(layout, entity.name, ({ data_version }) => (data_version ?? "") > since);
  if (drops.length === 0) return null;
  if (isBroken)
    throw new OperatorError(`data files of ${entity.name} are damaged too: nothing was changed; see --give-up`);
  const { table, ...counts } = await reimport(session, entity, drops, "true");
  const merged = await merge(session, entity, list, { relation: table });
  await writer.run(`DROP TABLE ${table}`);
  return { ...counts, list: merged.list };
}

/** The faults that remain after a repair, e.g. damaged files that only older versions name. */
async function remaining({ layout }: WriteSession, faults: readonly Fault[]): Promise<readonly Fault[]> {
  const { faults: ofManifest, files } = await takeInventory(layout);
  const integrity = createIntegrity(layout.lake);
  const left = [...ofManifest, ...(await findStateFaults(layout))];
  for (const fault of faults) {
    if (!fault.path.startsWith("lake/")) continue;
    const kept = files.get(fault.path.slice("lake/".length));
    const isRepaired = fault.kind === "damaged" && (!kept || (await isIntact(integrity, kept.file)));
    if (!isRepaired) left.push(fault);
  }
  return left;
}

const isIntact = (integrity: Integrity, file: DataFile): Promise<boolean> =>
  integrity.check([file]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof DamagedFileError) return false;
      throw error;
    },
  );
