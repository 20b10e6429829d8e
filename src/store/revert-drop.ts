// Takes drops back: their rows go, and those that they replaced or removed come back, if nothing has changed them since.
import { join } from "node:path";
import type { Entity } from "../catalog/types.js";
import { entityNamed } from "../catalog/index.js";
import { OperatorError } from "../errors.js";
import { contentKey, dropNamed, importsOf } from "../lake/found-drops.js";
import { createIntegrity } from "../lake/integrity.js";
import { openLake, type Lake, type Snapshot } from "../lake/lake.js";
import { contentOf, doOverlap, entriesOf, readLedger, spanOf, type LedgerEntry, type RowSpan } from "../lake/ledger.js";
import { EMPTY_VERSION, emptyList, type DataFile, type Version, type Withdrawal } from "../lake/manifest.js";
import { quoteName, quoteText } from "../sql-text.js";
import { clip, plural, shown, some } from "../words.js";
import { sameIdentity, type Change } from "./change.js";
import { checkChange, rowsIn } from "./checks.js";
import { columnList, inDates } from "./datafile.js";
import { commandEntry } from "./ledger-file.js";
import { merge } from "./merge.js";
import { compareRows, extentOf, isAsIn, MOVED_ON, pick, withdrawnBy, without } from "./revert.js";
import type { RevertOptions, RevertReport } from "./revert.js";
import { withWriteSession, type WriteSession } from "./session.js";

/**
 * Takes back drops that came in one version, each named by its path in the inbox or by the first digits of its checksum.
 * Throws an OperatorError if later versions changed some of their rows, or if a version that is compared is not kept.
 */
export async function revertDrops(
  root: string,
  names: readonly string[],
  options: RevertOptions,
): Promise<RevertReport> {
  return withWriteSession(root, options, async (session) => {
    const { base, publish } = session;
    const { asIn, dryRun = false } = options;
    const ledger = await readLedger(session.layout.ledger);
    const drops = [...new Set(names.map((name) => dropNamed(ledger, name, options.entity)))];
    const lake = await openLake(root);
    const imports = drops.map((drop) => importsOf(ledger, drop));
    const origin = await findOrigin(lake, imports);
    const report = { to: null, from: pick(base.version), entities: [], withdrawn: [], version: null };
    if (origin === null) return report;
    const found = await prepare(session, lake, origin);
    if (found === null) return report;
    const { entity, change, difference, span } = found;
    const before = base.files(entity.name);
    const merged = await merge(session, entity, before, change);
    const { list } = await checkChange(session, entity, base, change, merged, 0);
    const changed = [{ entity: entity.name, before: extentOf(before), after: extentOf(list), difference }];
    if (asIn && !isAsIn(asIn, base, changed)) throw new OperatorError(MOVED_ON);
    const contents = origin.drops.map(contentOf);
    // A drop that was imported again later, without a change, is withdrawn as a whole.
    const all = imports.flat().filter((entry) => contents.includes(contentOf(entry)));
    const until = all.map(({ data_version }) => data_version!).sort();
    const withdrawals: readonly Withdrawal[] = [
      { entity: entity.name, after: origin.before.version.data_version, until: until.at(-1)!, contents },
    ];
    const { gone, back } = difference;
    const counts = { rows: back, added: list.rows - before.rows, replaced: gone };
    // Other drops with rows of these days may have confirmed rows that go now.
    const entries = [commandEntry(entity.name, { name: "revert" }, span, counts)];
    const reason = clip(`revert drop ${some(origin.drops.map(({ path }) => path))}`, LONGEST_REASON);
    const withdrawn = await withdrawnBy(session, withdrawals);
    const version = dryRun ? null : await publish([list], reason, { withdrawals, entries });
    return { ...report, entities: changed, withdrawn, version };
  });
}

const LONGEST_REASON = 200;

/** Where drops came from: the version that they created, and the one before it. */
interface Origin {
  readonly drops: readonly LedgerEntry[];
  /** Other drops of the same version. */
  readonly others: readonly LedgerEntry[];
  readonly before: Snapshot;
  readonly after: Snapshot;
}

/** Of the imports of each drop, the last one that changed rows counts. Null if none did. */
async function findOrigin(lake: Lake, imports: readonly (readonly LedgerEntry[])[]): Promise<Origin | null> {
  const kept = await lake.versions();
  const changing = imports.flatMap((ofDrop) => {
    for (const drop of ofDrop.toReversed()) {
      const version = versionOf(kept, drop);
      if (version.entries === undefined || isOf(version, drop)) return [{ drop, version }];
    }
    return [];
  });
  const [first] = changing;
  if (!first) return null;
  const { version } = first;
  const stranger = changing.find((one) => one.version !== version);
  if (stranger) {
    throw new OperatorError(
      `inbox/${first.drop.path} and inbox/${stranger.drop.path} came in different versions: take them back one after the other`,
    );
  }
  if (version.entries === undefined) {
    throw new OperatorError(
      `version ${version.sequence} was made by an earlier release, which did not record its drops: ` +
        `serve the version before it with tapehouse revert ${version.sequence - 1}`,
    );
  }
  const previous = kept.find(({ sequence }) => sequence === version.sequence - 1);
  if (!previous && version.sequence > 1) throw new OperatorError(notKept(first.drop, "the version before it"));
  const taken = changing.map(({ drop }) => drop);
  const contents = new Set(taken.map(contentKey));
  return {
    drops: taken,
    others: entriesOf(version).filter((entry) => !contents.has(contentKey(entry))),
    before: previous ? await snapshotOf(lake, previous) : { version: EMPTY_VERSION, files: emptyList },
    after: await snapshotOf(lake, version),
  };
}

const isOf = (version: Version, drop: LedgerEntry): boolean =>
  entriesOf(version).some((entry) => contentKey(entry) === contentKey(drop));

function versionOf(kept: readonly Version[], drop: LedgerEntry): Version {
  const version = kept.find(({ data_version }) => data_version === drop.data_version);
  if (version) return version;
  throw new OperatorError(notKept(drop, `its version ${drop.data_version}`));
}

const notKept = ({ path, entity }: LedgerEntry, what: string): string =>
  `inbox/${path} cannot be taken back, since ${what} is no longer kept: drop a corrected file, or delete its rows with ` +
  `tapehouse delete ${entity}`;

async function snapshotOf(lake: Lake, { data_version }: Version): Promise<Snapshot> {
  const found = await lake.at(data_version);
  if (typeof found === "string") throw new OperatorError(`version ${data_version} was just removed: try again`);
  return found;
}

interface Prepared {
  readonly entity: Entity;
  readonly change: Change;
  readonly difference: RevertReport["entities"][number]["difference"] & object;
  readonly span: RowSpan;
}

/** The change that takes the drops back; null if they changed no row. Throws an OperatorError if it would undo others. */
async function prepare(session: WriteSession, lake: Lake, origin: Origin): Promise<Prepared | null> {
  const { writer, layout, base } = session;
  const { drops, before, after } = origin;
  const entity = entityNamed(drops[0]!.entity!)!;
  requireApart(origin);
  const { first, last } = (await findKeys(session, entity, origin)) ?? {};
  if (first === undefined || last === undefined) return null;
  const span = { first, last, firstCode: null, lastCode: null };
  const rowsOf = async (snapshot: Snapshot): Promise<string> => {
    const files = filesOf(entity, snapshot, first, last);
    await createIntegrity(layout).check(files);
    const rows = rowsIn(entity, files, null, null, ({ path }) => join(layout.lake, path));
    return `(SELECT ${columnList(entity)} FROM ${rows} o WHERE ${isKey(entity)})`;
  };
  const [was, is, now] = [await rowsOf(before), await rowsOf(after), await rowsOf(base)];
  const touched = await compareRows(writer, entity, is, now);
  if (touched.gone + touched.back > 0) {
    const list = await describeChanges(session, lake, entity, after, rowsOf);
    throw new OperatorError(
      `${nameAll(drops)} cannot be taken back alone, since rows of it were changed later: ${list}; take that back first, ` +
        `drop a corrected file, or serve the version before the drop with tapehouse revert ${before.version.sequence}`,
    );
  }
  await writer.run(`CREATE TEMP TABLE brought_back AS SELECT *, 0 AS __file FROM ${was}`);
  const [counted] = await writer.rows("SELECT count(*) AS rows FROM brought_back");
  const change: Change = {
    ...(Number(counted!["rows"]) > 0 && { fresh: { relation: "brought_back" } }),
    where: { condition: { sql: isKey(entity), values: [] }, first, last, keepsOrder: false },
  };
  return { entity, change, difference: await compareRows(writer, entity, is, was), span };
}

const nameAll = (drops: readonly LedgerEntry[]): string => some(drops.map(({ path }) => `inbox/${path}`));

/** Throws an OperatorError if these drops may have rows in common with other drops of the version. */
function requireApart({ drops, others, before, after }: Origin): void {
  const joined = others.filter(
    (other) => other.superseded > 0 || drops.some((drop) => doOverlap(spanOf(drop), spanOf(other))),
  );
  if (joined.length === 0) return;
  const all = [...drops, ...others].map(({ path }) => `--drop ${shown(path)}`).join(" ");
  throw new OperatorError(
    `${nameAll(drops)} ${drops.length > 1 ? "were" : "was"} imported together with ${nameAll(joined)}, and they may have the same days and codes: take them ` +
      `back together with ${others.length > MOST_NAMED ? "all drops of their version" : all}, or serve the version before ` +
      `${after.version.sequence} with tapehouse revert ${before.version.sequence}`,
  );
}

/** How many drops an error names to be taken back together. */
const MOST_NAMED = 5;

/** How many identities there are, how many of them have a main date, and its bounds. */
interface Keys extends Pick<RowSpan, "first" | "last"> {
  readonly keys: number;
  readonly dated: number;
}

/** The identities of rows that differ between the two versions. */
const KEYS = "taken_keys";

const isKey = (entity: Entity): string => `EXISTS (SELECT 1 FROM ${KEYS} k WHERE ${sameIdentity(entity, "k", "o")})`;

/** Creates the table of identities whose rows the drops changed. Resolves to the bounds of their main dates, or to null. */
async function findKeys(
  { writer, layout }: WriteSession,
  entity: Entity,
  { drops, others, before, after }: Origin,
): Promise<Pick<RowSpan, "first" | "last"> | null> {
  const [older, newer] = [before.files(entity.name).byDate, after.files(entity.name).byDate];
  const [old, fresh] = [without(older, newer), without(newer, older)];
  await createIntegrity(layout).check([...old, ...fresh]);
  const rowsOf = (files: readonly DataFile[]): string =>
    `SELECT ${columnList(entity)} FROM ${rowsIn(entity, files, null, null, ({ path }) => join(layout.lake, path))}`;
  const [a, b] = [rowsOf(old), rowsOf(fresh)];
  const own = others.length === 0 ? "true" : drops.map((drop) => isWithin(entity, spanOf(drop))).join(" OR ");
  const identity = entity.identity.map(quoteName).join(", ");
  await writer.run(
    `CREATE TEMP TABLE ${KEYS} AS SELECT DISTINCT ${identity} FROM
       ((${a} EXCEPT ALL ${b}) UNION ALL (${b} EXCEPT ALL ${a})) WHERE ${own}`,
  );
  const hasDate = entity.mainDate !== null && entity.identity.includes(entity.mainDate);
  const date = hasDate ? quoteName(entity.mainDate) : "NULL::DATE";
  const [found] = await writer.rows(
    `SELECT count(*) AS keys, count(${date}) AS dated, strftime(min(${date}), '%Y%m%d') AS first,
       strftime(max(${date}), '%Y%m%d') AS last FROM ${KEYS}`,
  );
  const { keys, dated, first, last } = found as unknown as Keys;
  if (keys === 0) return null;
  return keys === dated ? { first, last } : { first: null, last: null };
}

function isWithin(entity: Entity, { first, last, firstCode, lastCode }: RowSpan): string {
  const code = quoteName(entity.code);
  return (
    [
      "(true",
      ...(first === null || last === null ? [] : [inDates(entity, first, last)]),
      ...(firstCode === null || lastCode === null
        ? []
        : [`${code} BETWEEN ${quoteText(firstCode)} AND ${quoteText(lastCode)}`]),
    ].join(" AND ") + ")"
  );
}

/** The files of a version that may hold rows with these main dates; all of them without bounds. */
const filesOf = (entity: Entity, { files }: Snapshot, from: string | null, to: string | null): readonly DataFile[] =>
  files(entity.name).byDate.filter(
    ({ first, last }) => from === null || to === null || (first !== null && first <= to && from <= last!),
  );

/** Which versions after `after` changed rows of these identities, and how many, in words. */
async function describeChanges(
  { writer }: WriteSession,
  lake: Lake,
  entity: Entity,
  after: Snapshot,
  rowsOf: (snapshot: Snapshot) => Promise<string>,
): Promise<string> {
  const found: string[] = [];
  let older = after;
  for (const version of await lake.versions()) {
    if (version.sequence <= older.version.sequence) continue;
    const newer = await snapshotOf(lake, version);
    if (older.version.lists[entity.name] !== newer.version.lists[entity.name]) {
      const { gone, back } = await compareRows(writer, entity, await rowsOf(older), await rowsOf(newer));
      const rows = Math.max(gone, back);
      if (rows > 0) found.push(`${describeVersion(version, older.version)} changed ${plural(rows, "row")}`);
    }
    older = newer;
  }
  return some(found);
}

function describeVersion({ sequence, reason, data_version, entries = [] }: Version, before: Version): string {
  const drops = entries.filter(({ command }) => !command).map(({ path }) => `inbox/${path}`);
  const what = [reason, ...(drops.length > 0 ? [some(drops)] : []), data_version.slice(0, 10)].join(", ");
  const isNext = sequence === before.sequence + 1;
  return `${isNext ? `version ${sequence}` : `versions ${before.sequence + 1} to ${sequence}`} (${what})`;
}
