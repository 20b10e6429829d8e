// Rewrites the damaged files of one entity, from the code copy or from the inbox.
import type { Entity } from "../catalog/types.js";
import { findDrops, mayHold } from "../lake/ledger.js";
import { fileList, isCovered, type DataFile, type FileList } from "../lake/manifest.js";
import { buildCodeCopy } from "../store/code-copy.js";
import { columnList, inDates, scan, writeDataFile } from "../store/datafile.js";
import { reimport } from "./reimport.js";
import type { WriteSession } from "../store/session.js";

/** A date file that could not be restored completely. */
export interface Incomplete {
  readonly file: DataFile;
  /** The number of rows of its dates in the inbox. */
  readonly inInbox: number;
  /** Drops with rows of its dates that cannot be imported again, each with the reason. */
  readonly missing: readonly string[];
}

interface Rewritten {
  readonly list: FileList;
  /** Each rewritten file, and whether its bytes are the same as before. */
  readonly repaired: readonly { readonly file: DataFile; readonly from: "copy" | "inbox"; readonly isSame: boolean }[];
  readonly incomplete: readonly Incomplete[];
}

/**
 * Replaces damaged files. A date file of which only some rows can be restored stays as it is, unless `giveUp` is set: then
 * it is replaced by those rows.
 */
export async function rewrite(
  session: WriteSession,
  entity: Entity,
  list: FileList,
  bad: ReadonlySet<DataFile>,
  giveUp: boolean,
): Promise<Rewritten> {
  const again = new Map<DataFile, DataFile>();
  for (const file of list.byDate.filter((one) => bad.has(one))) {
    const copied = await fromCodeCopy(session, entity, list, file, bad);
    if (copied) again.set(file, copied);
  }
  const fromInbox = await readInbox(
    session,
    entity,
    list.byDate.filter((file) => bad.has(file) && !again.has(file)),
  );
  for (const [file, { written }] of fromInbox)
    if (written?.rows === file.rows || (giveUp && written)) again.set(file, written);

  const isLeftOut = (file: DataFile): boolean => giveUp && bad.has(file) && !again.has(file);
  const byDate = list.byDate.filter((file) => !isLeftOut(file)).map((file) => again.get(file) ?? file);
  const changed = list.byDate.filter((file) => (again.get(file) ?? file).sha256 !== file.sha256 || isLeftOut(file));
  const badCodes = list.byCode.filter((file) => bad.has(file));
  const rewritten = fileList(entity.name, byDate, list.byCode, rangesWithout(list, changed));
  // The code copy is built from intact date files only.
  const isIntact = !byDate.some((file) => bad.has(file));
  const rebuilds = isIntact && list.byCode.length > 0 && badCodes.length + changed.length > 0;
  return {
    list: rebuilds ? await buildCodeCopy(session, entity, rewritten) : rewritten,
    repaired: [
      ...[...again].map(([file, { sha256 }]) => ({
        file,
        from: fromInbox.has(file) ? ("inbox" as const) : ("copy" as const),
        isSame: sha256 === file.sha256,
      })),
      ...(rebuilds ? badCodes.map((file) => ({ file, from: "copy" as const, isSame: false })) : []),
    ],
    incomplete: [...fromInbox]
      .filter(([file, { written }]) => written?.rows !== file.rows)
      .map(([file, { written, missing }]) => ({ file, inInbox: written?.rows ?? 0, missing })),
  };
}

/** Rewrites a date file from the code copy; null if the copy does not hold all of its rows. */
async function fromCodeCopy(
  session: WriteSession,
  entity: Entity,
  list: FileList,
  file: DataFile,
  bad: ReadonlySet<DataFile>,
): Promise<DataFile | null> {
  if (!isCovered(list, file) || list.byCode.some((copy) => bad.has(copy))) return null;
  const rows = `SELECT ${columnList(entity)} FROM ${scan(session.layout, list.byCode)}`;
  const dates = inDates(entity, file.first, file.last);
  const again = await writeDataFile(session, entity, { relation: `(${rows} WHERE ${dates})` });
  return again?.rows === file.rows ? again : null;
}

interface FromInbox {
  /** Null if the inbox holds none of the rows. */
  readonly written: DataFile | null;
  readonly missing: readonly string[];
}

/** Rewrites date files from the drops that held their rows. */
async function readInbox(
  session: WriteSession,
  entity: Entity,
  files: readonly DataFile[],
): Promise<ReadonlyMap<DataFile, FromInbox>> {
  const found = new Map<DataFile, FromInbox>();
  if (files.length === 0) return found;
  const { writer, layout, base } = session;
  const drops = await findDrops(layout, entity.name, (entry) => {
    const isIn = entry.data_version !== null && entry.data_version <= base.version.data_version;
    return isIn && files.some(({ first, last }) => mayHold(entry, first === null ? null : [first, last!]));
  });
  const spans = files.map(({ first, last }) => inDates(entity, first, last));
  const { table, missing } = await reimport(session, entity, drops, spans.join(" OR "));
  for (const [i, file] of files.entries()) {
    const rows = { relation: `(SELECT * FROM ${table} WHERE ${spans[i]})` };
    found.set(file, { written: await writeDataFile(session, entity, rows), missing });
  }
  await writer.run(`DROP TABLE ${table}`);
  return found;
}

/** The ranges of the code copy without those of changed files, which it must no longer serve. */
function rangesWithout({ codeRanges }: FileList, changed: readonly DataFile[]): FileList["codeRanges"] {
  return codeRanges.filter(
    ([first, last]) => !changed.some((file) => file.first !== null && file.first <= last && first <= file.last!),
  );
}
