// Repairing the served version: a damaged file of one copy is written again from the other copy.
import { entityNamed } from "../../catalog/index.js";
import type { Entity } from "../../catalog/types.js";
import { createIntegrity, DamagedFileError, type Integrity } from "../integrity.js";
import { fileList, isCovered, type DataFile, type FileList, type Version } from "../manifest.js";
import { buildCodeCopy } from "./cluster.js";
import { writeDataFile } from "./datafile.js";
import { takeInventory, type Fault } from "./inventory.js";
import { columnList, inDates, scan } from "./relations.js";
import { withWriteSession, type WriteOptions, type WriteSession } from "./session.js";
import { findFaults, summarise, type OnFile, type VerifyOptions, type VerifyReport } from "./verify.js";

/** Rows that are lost: they must be dropped again. */
export interface Lost {
  readonly entity: string;
  /** Main dates, `YYYYMMDD` inclusive; null for rows without one. */
  readonly first: string | null;
  readonly last: string | null;
  readonly rows: number;
}

export interface RepairReport extends VerifyReport {
  /** Files that were written again, relative to the data directory. */
  readonly repaired: readonly string[];
  readonly lost: readonly Lost[];
  /** Null where every repaired file got its old content, or none was repaired. */
  readonly version: Version | null;
}

/**
 * Verifies the lake with no other writer, and repairs what it can. `faults` are those that stay. With `giveUp`, damaged
 * files that cannot be written again leave the served version, so that their rows can be dropped anew; without it a
 * query that needs them keeps failing.
 */
export async function repair(
  root: string,
  options: VerifyOptions & WriteOptions & { readonly giveUp: boolean },
  onFile: OnFile = () => undefined,
): Promise<RepairReport> {
  return withWriteSession(root, options, async (session) => {
    const { layout, writer, base, publish } = session;
    const found = await findFaults(writer, layout, await takeInventory(layout), options, onFile);
    const repaired: string[] = [];
    const lost: Lost[] = [];
    const lists: FileList[] = [];
    for (const name of Object.keys(base.version.lists)) {
      const list = base.files(name);
      const bad = await findDamaged(session, list);
      if (bad.size === 0) continue;
      const mended = await mend(session, entityNamed(name)!, list, bad, options.giveUp);
      lists.push(mended.list);
      lost.push(...mended.lost.map(({ first, last, rows }) => ({ entity: name, first, last, rows })));
      repaired.push(...mended.repaired.map((file) => `lake/${file.path}`));
    }
    const version = await publish(lists, "repair");
    const faults = await remaining(session, found, lists.length > 0);
    return { ...summarise(await takeInventory(layout), faults), repaired, lost, version };
  });
}

async function findDamaged({ layout }: WriteSession, list: FileList): Promise<ReadonlySet<DataFile>> {
  const integrity = createIntegrity(layout.lake);
  const bad = new Set<DataFile>();
  for (const file of [...list.byDate, ...list.byCode]) if (!(await isWhole(integrity, file))) bad.add(file);
  return bad;
}

interface Mended {
  readonly list: FileList;
  readonly repaired: readonly DataFile[];
  readonly lost: readonly DataFile[];
}

async function mend(
  session: WriteSession,
  entity: Entity,
  list: FileList,
  bad: ReadonlySet<DataFile>,
  giveUp: boolean,
): Promise<Mended> {
  const { writer, layout } = session;
  const repaired: DataFile[] = [];
  const lost: DataFile[] = [];
  const byDate: DataFile[] = [];
  for (const file of list.byDate) {
    const again = bad.has(file) ? await fromCodeCopy(session, entity, list, file, bad) : file;
    if (bad.has(file)) (again ? repaired : lost).push(file);
    if (again) byDate.push(again);
    else if (!giveUp) byDate.push(file);
  }
  const mended = fileList(entity.name, byDate, list.byCode, list.codeRanges);
  const badCodes = list.byCode.filter((file) => bad.has(file));
  // The copy is built from whole date files only, and must not go on telling rows that were given up.
  const isComplete = lost.length === 0 || giveUp;
  if (!isComplete || (badCodes.length === 0 && lost.length === 0) || list.byCode.length === 0) {
    return { list: mended, repaired, lost };
  }
  return { list: await buildCodeCopy(writer, layout, entity, mended), repaired: [...repaired, ...badCodes], lost };
}

/** A date file written again from the code copy, or null where that does not hold all of its rows. */
async function fromCodeCopy(
  { writer, layout }: WriteSession,
  entity: Entity,
  list: FileList,
  file: DataFile,
  bad: ReadonlySet<DataFile>,
): Promise<DataFile | null> {
  if (!isCovered(list, file) || list.byCode.some((copy) => bad.has(copy))) return null;
  const rows = `SELECT ${columnList(entity)} FROM ${scan(layout, list.byCode)}`;
  const again = await writeDataFile(
    writer,
    layout,
    entity,
    `(${rows} WHERE ${inDates(entity, file.first, file.last)})`,
  );
  return again?.rows === file.rows ? again : null;
}

/** The faults that a repair did not put right: a damaged file that only older versions name stays one. */
async function remaining(
  { layout }: WriteSession,
  faults: readonly Fault[],
  changed: boolean,
): Promise<readonly Fault[]> {
  if (!changed) return faults;
  const { files } = await takeInventory(layout);
  const integrity = createIntegrity(layout.lake);
  const left: Fault[] = [];
  for (const fault of faults) {
    const kept = files.get(fault.path.replace(/^lake\//, ""));
    const isMended = fault.kind === "damaged" && kept && (await isWhole(integrity, kept.file));
    if (!isMended) left.push(fault);
  }
  return left;
}

const isWhole = (integrity: Integrity, file: DataFile): Promise<boolean> =>
  integrity.check([file]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof DamagedFileError) return false;
      throw error;
    },
  );
