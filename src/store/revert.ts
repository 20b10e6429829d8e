// Reverts to an earlier version: its file lists are published again as a new version, and nothing is rewritten.
import { join } from "node:path";
import { ENTITIES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { OperatorError } from "../errors.js";
import { DamagedFileError } from "../lake/damaged-file.js";
import { createIntegrity } from "../lake/integrity.js";
import { openLake, type Lake, type Snapshot } from "../lake/lake.js";
import { readLedger } from "../lake/ledger.js";
import { isSameList } from "../lake/lists.js";
import type { DataFile, FileList, Version, Withdrawal } from "../lake/manifest.js";
import { missingWithdrawals } from "../lake/withdrawals.js";
import { quoteName } from "../sql-text.js";
import { rowsIn } from "./checks.js";
import { columnList, type Writing } from "./datafile.js";
import { withWriteSession, type WriteOptions, type WriteSession } from "./session.js";

export interface RevertOptions extends WriteOptions {
  /** Only this entity; by default all of them. */
  readonly entity?: Entity;
  /** Report what would change, without changing it. */
  readonly dryRun?: boolean;
  /** An earlier report: if the entities have changed since, nothing is done. */
  readonly asIn?: RevertReport;
}

interface Extent {
  readonly rows: number;
  /** First and last main date, `YYYYMMDD`. */
  readonly first: string | null;
  readonly last: string | null;
}

/** What differs between two states of an entity. */
interface Difference {
  /** Rows that only the old state has, and rows that only the new one has. A changed row is in both. */
  readonly gone: number;
  readonly back: number;
  /** How many main dates these rows have, and the first and the last of them. */
  readonly days: number;
  readonly first: string | null;
  readonly last: string | null;
}

export interface RevertedEntity {
  readonly entity: string;
  readonly before: Extent;
  readonly after: Extent;
  /** Null if rows of the old state cannot be read. */
  readonly difference: Difference | null;
}

type NamedVersion = Pick<Version, "sequence" | "data_version">;

export interface RevertReport {
  /** The version whose rows are served again; null if only drops are taken back. */
  readonly to: NamedVersion | null;
  /** The version that was reverted. */
  readonly from: NamedVersion;
  /** The entities whose rows change. */
  readonly entities: readonly RevertedEntity[];
  /** Paths of the drops that are withdrawn, relative to the inbox. */
  readonly withdrawn: readonly string[];
  /** Null for a dry run, or if nothing changes. */
  readonly version: Version | null;
}

/** Makes a kept version, named by its number or its `data_version`, the served one again. */
export async function revert(root: string, name: string, options: RevertOptions): Promise<RevertReport> {
  requireName(name);
  return withWriteSession(root, options, async (session) => {
    const { base, layout, publish } = session;
    const target = await findTarget(await openLake(root), name);
    const { asIn, dryRun = false } = options;
    const wanted = options.entity ? [options.entity] : ENTITIES;
    const changed: RevertedEntity[] = [];
    for (const entity of wanted) {
      const [before, after] = [base.files(entity.name), target.files(entity.name)];
      if (isSameList(before, after)) continue;
      await createIntegrity(layout).check(
        without([...after.byDate, ...after.byCode], [...before.byDate, ...before.byCode]),
      );
      const difference = await differenceOf(session, entity, before.byDate, after.byDate);
      // Joining files changes no rows: the joined ones stay.
      if (difference !== null && difference.gone + difference.back === 0) continue;
      changed.push({ entity: entity.name, before: extentOf(before), after: extentOf(after), difference });
    }
    if (asIn && !isAsIn(asIn, base, changed)) throw new OperatorError(MOVED_ON);
    const withdrawals = changed.map(({ entity }): Withdrawal => {
      return { entity, after: target.version.data_version, until: base.version.data_version };
    });
    const reason = `revert ${options.entity ? `${options.entity.name} ` : ""}to ${target.version.sequence}`;
    // Their own findings, not those of the version that is served.
    const lists = changed.map(({ entity }) => ({ findings: [], ...target.files(entity) }));
    const report = {
      to: pick(target.version),
      from: pick(base.version),
      entities: changed,
      withdrawn: await withdrawnBy(session, withdrawals),
    };
    const version = dryRun || lists.length === 0 ? null : await publish(lists, reason, { withdrawals });
    return { ...report, version };
  });
}

export const MOVED_ON =
  "the data changed while you were asked, so nothing was done: run the command again, or add --yes";

export const pick = ({ sequence, data_version }: Version): NamedVersion => ({ sequence, data_version });

export const extentOf = ({ rows, first, last }: FileList): Extent => ({ rows, first, last });

/** Whether the entities that change are in the state that was reported. */
export const isAsIn = (report: RevertReport, base: Snapshot, changed: readonly RevertedEntity[]): boolean =>
  report.from.sequence === base.version.sequence || JSON.stringify(report.entities) === JSON.stringify(changed);

/** The paths of the drops that these withdrawals take back. */
export async function withdrawnBy(
  { layout, base }: WriteSession,
  withdrawals: readonly Withdrawal[],
): Promise<readonly string[]> {
  const next = { ...base.version, data_version: LATER, withdrawals };
  const entries = missingWithdrawals(await readLedger(layout.ledger), [next]);
  const drops = entries.filter(({ outcome, command }) => outcome === "withdrawn" && !command);
  return [...new Set(drops.map(({ path }) => path))];
}

/** Later than every data_version. */
const LATER = "~";

const NUMBER = /^\d{1,15}$/;
const DATA_VERSION = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+08:00$/;

function requireName(name: string): void {
  if (NUMBER.test(name) || DATA_VERSION.test(name)) return;
  throw new OperatorError(
    `"${name}" is neither the number of a version nor a data_version such as 2025-01-31T16:00:00.000+08:00; ` +
      "see: tapehouse versions",
    2,
  );
}

/** The version of this name. Throws an OperatorError if it is the current one, or none that is kept. */
async function findTarget(lake: Lake, name: string): Promise<Snapshot> {
  const { version: current } = lake.current();
  const kept = await lake.versions();
  const isNumber = NUMBER.test(name);
  const found = kept.find(({ sequence, data_version }) =>
    isNumber ? sequence === Number(name) : data_version === name,
  );
  if (found?.sequence === current.sequence) {
    throw new OperatorError(`version ${name} is the current one; earlier ones: tapehouse versions`);
  }
  const snapshot = found
    ? await lake.at(found.data_version)
    : isNumber
      ? stateOf(Number(name), current)
      : await lake.at(name);
  if (typeof snapshot !== "string") return snapshot;
  const oldest = kept[0] ? `; the oldest that is kept is ${kept[0].sequence}, ${kept[0].data_version}` : "";
  if (snapshot === "removed") throw new OperatorError(`version ${name} was removed${oldest}`);
  const isLater = isNumber ? Number(name) > current.sequence : name > current.data_version;
  const state = isLater ? `; the current one is ${current.sequence}, ${current.data_version}` : oldest;
  throw new OperatorError(`there is no version ${name}${state}`);
}

/** What became of a version that is not kept: each number up to the current one was used. */
const stateOf = (sequence: number, current: Version): "removed" | "unknown" =>
  sequence > 0 && sequence < current.sequence ? "removed" : "unknown";

/** The files that are not among the others. */
export const without = (files: readonly DataFile[], others: readonly DataFile[]): readonly DataFile[] => {
  const known = new Set(others.map(({ path }) => path));
  return files.filter(({ path }) => !known.has(path));
};

/** Compares the rows of two lists of date files; null if a file of the first is damaged. */
async function differenceOf(
  { writer, layout }: Writing,
  entity: Entity,
  before: readonly DataFile[],
  after: readonly DataFile[],
): Promise<Difference | null> {
  const [old, fresh] = [without(before, after), without(after, before)];
  if (old.length + fresh.length === 0) return { gone: 0, back: 0, days: 0, first: null, last: null };
  try {
    await createIntegrity(layout).check(old);
  } catch (error) {
    if (error instanceof DamagedFileError) return null;
    throw error;
  }
  const rowsOf = (files: readonly DataFile[]): string =>
    `(SELECT ${columnList(entity)} FROM ${rowsIn(entity, files, null, null, ({ path }) => join(layout.lake, path))})`;
  return compareRows(writer, entity, rowsOf(old), rowsOf(fresh));
}

/** Compares the rows of two relations: equal rows are counted. */
export async function compareRows(
  writer: Writer,
  entity: Entity,
  oldSql: string,
  freshSql: string,
): Promise<Difference> {
  const date = entity.mainDate === null ? "NULL::DATE" : quoteName(entity.mainDate);
  const [row] = await writer.rows(
    `WITH old AS (SELECT * FROM ${oldSql}), fresh AS (SELECT * FROM ${freshSql}),
       changes AS (
         SELECT true AS is_old, ${date} AS date FROM (SELECT * FROM old EXCEPT ALL SELECT * FROM fresh)
         UNION ALL
         SELECT false AS is_old, ${date} AS date FROM (SELECT * FROM fresh EXCEPT ALL SELECT * FROM old))
     SELECT count(*) FILTER (WHERE is_old) AS gone, count(*) FILTER (WHERE NOT is_old) AS back,
       count(DISTINCT date) AS days, strftime(min(date), '%Y%m%d') AS first, strftime(max(date), '%Y%m%d') AS last
     FROM changes`,
  );
  return row as unknown as Difference;
}
