// Repairing the served version: what is damaged is put back from the older versions, from the other copy, from the inbox.
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

/** A file that was written again. */
export interface Repaired {
  /** Relative to the data directory. */
  readonly path: string;
  readonly rows: number;
  readonly from: "copy" | "inbox";
  /** The very same bytes. Otherwise the same number of rows: what did not come through the inbox may be missing in them. */
  readonly isSame: boolean;
}

/** A damaged file of which not all rows are left. */
export interface Lost {
  readonly entity: string;
  /** Main dates, `YYYYMMDD` inclusive; null for rows without one. */
  readonly first: string | null;
  readonly last: string | null;
  /** Rows that it held, and those that the inbox holds. */
  readonly rows: number;
  readonly inInbox: number;
  /** Drops that held rows of these dates and cannot be taken again, each with the reason. */
  readonly missing: readonly string[];
}

/** Drops that were taken again since the base of the repair lacks them. */
export interface Reimport {
  readonly entity: string;
  readonly files: number;
  readonly rows: number;
  readonly missing: readonly string[];
}

export interface RepairReport extends VerifyReport {
  /** What became of the manifest and the other files of the state folder, in words. */
  readonly manifest: readonly string[];
  readonly takenAgain: readonly Reimport[];
  readonly repaired: readonly Repaired[];
  readonly lost: readonly Lost[];
  /** Null if every repaired file got its old content, or none was repaired. */
  readonly version: Version | null;
}

/**
 * Verifies the lake with no other writer, and repairs what it can. `faults` are those that stay. With `giveUp`, damaged
 * files of which not all rows are left make way for those that are, so that the others can be dropped anew; without it a
 * query that needs them keeps failing.
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
      onFile(`mending ${name}`, bytes, total);
      bytes += bytesOf(list);
      const bad = await findDamaged(session, list);
      const rewritten = await rewrite(session, entity, list, bad, options.giveUp);
      repaired.push(
        ...rewritten.repaired.map(({ file, ...how }) => ({ path: `lake/${file.path}`, rows: file.rows, ...how })),
      );
      lost.push(...rewritten.incomplete.map((one) => lostOf(name, one)));
      const since = recovery.since(name);
      const isBroken = rewritten.incomplete.length > 0 && !options.giveUp;
      const again = since === null ? null : await takeSince(session, entity, rewritten.list, since, isBroken);
      if (again) takenAgain.push({ entity: name, files: again.files, rows: again.rows, missing: again.missing });
      lists.push(again?.list ?? rewritten.list);
    }
    const version = await publish(lists, "repair");
    const manifest = [...recovery.told, ...(await removeUnreadable(layout)), ...(await repairState(layout))];
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

/** Takes the drops again that were taken after a version; null if there are none. */
async function takeSince(
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
    throw new OperatorError(`data files of ${entity.name} are damaged too: nothing is changed without --give-up`);
  const { table, ...counts } = await reimport(session, entity, drops, "true");
  const merged = await merge(session, entity, list, { relation: table });
  await writer.run(`DROP TABLE ${table}`);
  return { ...counts, list: merged.list };
}

/** The faults that a repair did not put right: a damaged file that only older versions name stays one. */
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
