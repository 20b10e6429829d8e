// Rewrites the damaged files of one entity, from the code copy or from drops in the inbox.
import { wholeOf, type ReplaceMode } from "../catalog/replace.js";
import { type Entity, SQL_TYPES } from "../catalog/types.js";
import type { LedgerEntry } from "../lake/ledger.js";
import { findDrops, mayHold, type FoundDrop } from "../lake/found-drops.js";
import { fileList, isCovered, type DataFile, type FileList } from "../lake/manifest.js";
import { rangesWithout } from "../lake/ordered.js";
import { buildCodeCopy } from "../store/compact.js";
import { columnList, inDates, scan, writeDataFile } from "../store/datafile.js";
import type { WriteSession } from "../store/session.js";
import { OperatorError, EngineError } from "../errors.js";
import { quoteName } from "../sql-text.js";
import { inboxFiles } from "../lake/inbox-files.js";
import { replaceModeOf } from "../lake/replace-folders.js";
import { shortPath } from "../inbox/stage-drops.js";
import { stage, type Staged } from "../intake/normalise.js";
import { filledRows, keptRows } from "../store/change.js";
import { removalOf } from "../store/delete.js";
import { joinDrop, type Drop } from "../store/drop.js";
import { plural } from "../words.js";

/** A date file that could not be restored completely. */
export interface Incomplete {
  readonly file: DataFile;
  /** The number of rows of its dates in the inbox. */
  readonly inInbox: number;
  /** Drops with rows of its dates that cannot be imported again, and commands that changed some, each with the reason. */
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
  for (const [file, { written, isWhole }] of fromInbox) if (written && (isWhole || giveUp)) again.set(file, written);

  const isLeftOut = (file: DataFile): boolean => giveUp && bad.has(file) && !again.has(file);
  const byDate = list.byDate.filter((file) => !isLeftOut(file)).map((file) => again.get(file) ?? file);
  const changed = list.byDate.filter((file) => (again.get(file) ?? file).sha256 !== file.sha256 || isLeftOut(file));
  const badCodes = list.byCode.filter((file) => bad.has(file));
  const rewritten = fileList(entity.name, byDate, list.byCode, rangesWithout(list.codeRanges, changed));
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
      .filter(([, { isWhole }]) => !isWhole)
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
  /** It has all rows. If a command changed some of them, it has the same bytes as before. */
  readonly isWhole: boolean;
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
    const written = await writeDataFile(session, entity, rows);
    const { first, last } = file;
    const isKnown = !drops.some(
      ({ entry }) => isUnrepeatable(entry) && mayHold(entry, first === null ? null : [first, last!]),
    );
    const isWhole = written?.rows === file.rows && (isKnown || written.sha256 === file.sha256);
    found.set(file, { written, isWhole, missing });
  }
  await writer.run(`DROP TABLE ${table}`);
  return found;
}

// Drops that were taken before and are still in the inbox, imported again.

interface Reimported {
  /** A temp table with the entity's columns. */
  readonly table: string;
  /** The other drops: the path of each, and why it could not be imported again. */
  readonly missing: readonly string[];
}

let tables = 0;

/** Reads the rows of the drops that match `where` (SQL), as if the drops had been imported one after another. */
async function reimport(
  session: WriteSession,
  entity: Entity,
  drops: readonly FoundDrop[],
  where: string,
): Promise<Reimported> {
  const { writer } = session;
  const table = `reimported_${++tables}`;
  const next = `${table}_next`;
  const missing: string[] = [];
  const typed = entity.columns.map(({ name, type }) => `${quoteName(name)} ${SQL_TYPES[type]}`);
  await writer.run(`CREATE TEMP TABLE ${table} (${typed.join(", ")})`);
  for await (const { change } of readAgain(session, entity, drops, missing)) {
    const all = change.fresh?.relation ?? null;
    const fresh =
      all === null ? [] : [filledRows(entity, change.lacking, `(SELECT * FROM ${all} WHERE ${where})`, table)];
    const rows = [...fresh, keptRows(entity, change, all, table)];
    await writer.run(`CREATE TEMP TABLE ${next} AS ${rows.join(" UNION ALL ")}`, change.where?.condition.values);
    await writer.run(`DROP TABLE ${table}`);
    await writer.run(`ALTER TABLE ${next} RENAME TO ${table}`);
  }
  return { table, missing };
}

/** Files that are joined at a time. */
const MOST_FILES = 50;

/** Whether a command brought rows that are in no drop. */
export const isUnrepeatable = ({ command }: LedgerEntry): boolean =>
  command !== undefined && command.name !== "delete" && command.name !== "repair";

const describeCommand = ({ command, data_version, rows }: LedgerEntry): string =>
  `${plural(rows, "row")} of version ${data_version} came by tapehouse ${command!.name}, not from the inbox`;

/**
 * Stages the drops again and joins those that follow each other and replace in the same way. Each result is a table, which
 * is dropped when the next one is asked for; a deletion is a result without a table. Adds drops that cannot be read and
 * commands that cannot be repeated to `missing`, with the reason.
 */
export async function* readAgain(
  { writer, scratch, layout }: WriteSession,
  entity: Entity,
  drops: readonly FoundDrop[],
  missing: string[],
): AsyncGenerator<Pick<Drop, "change" | "rows">> {
  let batch: Staged[] = [];
  let mode: ReplaceMode | null = null;
  const inbox = await inboxFiles(layout);
  const join = async function* (): AsyncGenerator<Drop> {
    if (batch.length === 0) return;
    const whole = mode === null ? undefined : (wholeOf(entity, mode) ?? undefined);
    const drop = await joinDrop(writer, entity, batch, { whole, each: true });
    yield drop;
    for (const table of drop.tables) await writer.run(`DROP TABLE ${table}`);
    batch = [];
  };
  for (const { entry, path } of drops) {
    if (entry.command) {
      if (entry.command.name === "delete") {
        yield* join();
        yield { change: { where: removalOf(entity, entry.command.selection) }, rows: 0 };
      } else if (isUnrepeatable(entry)) missing.push(describeCommand(entry));
      continue;
    }
    const label = `inbox/${entry.path}`;
    const ownMode = replaceModeOf(path ?? entry.path);
    if (ownMode !== mode || batch.length === MOST_FILES) yield* join();
    mode = ownMode;
    const source = shortPath(entry.path, scratch);
    const close = path === null ? undefined : await inbox.open({ path, size: entry.size }, source);
    if (path === null || !close) {
      missing.push(`${label} is gone or has changed`);
      continue;
    }
    try {
      batch.push(await stage(writer, entity, source, { map: {}, set: {}, label, below: path }, scratch, batch.length));
    } catch (error) {
      if (!(error instanceof OperatorError) || error instanceof EngineError) throw error;
      missing.push(error.message);
    } finally {
      await close();
    }
  }
  yield* join();
}
