// Checks a drop by its own rows and the days that it touches. The findings become part of the entity's new file list.
import { join } from "node:path";
import { checksOf } from "../catalog/checks.js";
import type { Check } from "../catalog/check-types.js";
import { entityNamed } from "../catalog/index.js";
import { SQL_TYPES, type Entity } from "../catalog/types.js";
import { judge, STORED } from "../checks/run.js";
import { BEFORE, type Subject } from "../checks/sources.js";
import { daysAfter } from "../dates.js";
import type { Writer } from "../engine/writer.js";
import { OperatorError } from "../errors.js";
import { describeFinding, mergeFindings, namedFindings, spansToRecheck, type Finding } from "../lake/findings.js";
import { fetchMissing } from "../lake/integrity.js";
import type { Snapshot } from "../lake/lake.js";
import type { Layout } from "../lake/layout.js";
import type { DataFile, FileList } from "../lake/manifest.js";
import { quoteName, quoteText } from "../sql-text.js";
import { columnList, inDates, type Writing } from "./datafile.js";
import { sameIdentity, type Change } from "./change.js";
import type { Merged } from "./merge.js";

export interface CheckedChange {
  /** The merged list with its findings. */
  readonly list: FileList;
  /** What was found in the fresh rows, and the same by the number of the file. */
  readonly findings: readonly Finding[];
  ofFile(number: number): readonly Finding[];
}

/** Checks what a change, which was merged into the files of `base`, brings in or touches. */
export async function checkChange(
  { writer, layout, target = layout }: Writing,
  entity: Entity,
  base: Snapshot,
  change: Change,
  { list, written, goneDates }: Merged,
  lastFile: number,
): Promise<CheckedChange> {
  const before = base.files(entity.name).findings ?? [];
  const touched = [...(change.fresh ? await datesOf(writer, entity, change.fresh.relation) : []), ...goneDates];
  const spans = spansToRecheck(before, touched);
  const dates = [...touched, ...spans.flat()].filter((date) => date !== null).sort();
  const [first, last] = [dates[0] ?? null, dates.at(-1) ?? null];
  const fresh = new Set(written.map(({ path }) => path));
  const pathOf = ({ path }: DataFile): string => join((fresh.has(path) ? target : layout).lake, path);
  const since = first && daysAfter(first, -BEFORE);
  await fetchMissing(
    layout,
    filesIn(list.byDate, since, last).filter(({ path }) => !fresh.has(path)),
  );
  const around = rowsIn(entity, list.byDate, since, last, pathOf);
  const rows = rowsToCheck(entity, freshRows(entity, change, around), around, spans);
  const mostOnADay = mostRowsOnADay(list.byDate);
  const subject = { ...{ entity, rows, first, last, around, mostOnADay }, ...others(base, layout) };
  const files = await lastFiles(writer, entity, change);
  const gone = new Set(goneDates);
  const fileOn = (date: string | null): number => files.get(date) ?? (gone.has(date) ? lastFile : STORED);
  const { findings, ofFresh, byFile } = await judge(writer, { ...subject, fileOn });
  return {
    list: { ...list, findings: mergeFindings(before, spans, findings) },
    findings: mergeFindings([], [], ofFresh),
    ofFile: (number) => byFile.get(number) ?? [],
  };
}

/** The number of the last file with fresh rows on each day: faults of whole days are reported with it. */
async function lastFiles(
  writer: Writer,
  { mainDate }: Entity,
  { fresh }: Change,
): Promise<ReadonlyMap<string | null, number>> {
  if (!fresh || mainDate === null) return new Map();
  const rows = await writer.rows(
    `SELECT strftime(${quoteName(mainDate)}, '%Y%m%d') AS date, max(__file) AS file FROM ${fresh.relation} GROUP BY 1`,
  );
  return new Map(rows.map((row) => [row["date"] as string | null, Number(row["file"])]));
}

/** The fresh rows, and the stored ones of spans that are checked again. */
function rowsToCheck(
  entity: Entity,
  brought: string | null,
  around: string,
  spans: readonly (readonly [string | null, string | null])[],
): string {
  if (brought !== null && spans.length === 0) return `(${brought})`;
  const isAgain = spans.map(([from, to]) => inDates(entity, from, to)).join(" OR ") || "false";
  const again = `SELECT ${columnList(entity)}, ${STORED} AS __file FROM ${around} WHERE ${isAgain}`;
  return brought === null ? `(${again})` : `(${brought} WHERE NOT coalesce(${isAgain}, false) UNION ALL ${again})`;
}

/** No day has more rows than this. */
export const mostRowsOnADay = (files: readonly DataFile[]): number =>
  files.reduce((most, { rows, mostOnADay = rows }) => Math.max(most, mostOnADay), 0);

/** The fresh rows as they are stored, with `__file`: a column that their file lacks has the value that was kept. */
function freshRows(entity: Entity, { fresh, lacking }: Change, around: string): string | null {
  if (!fresh) return null;
  if (!lacking || lacking.size === 0 || entity.identityIs !== "row") {
    return `SELECT * FROM (SELECT ${columnList(entity)}, __file FROM ${fresh.relation})`;
  }
  return (
    `SELECT * FROM (SELECT o.*, __file FROM ${around} o ` +
    `JOIN (SELECT * FROM ${fresh.relation}) s ON ${sameIdentity(entity, "s", "o")})`
  );
}

const isSevere = ({ severity }: Check): boolean => severity === "severe";

/** For strict imports: throws an OperatorError if a staged file has rows that cannot be true. */
export async function requireSound(
  writer: Writer,
  layout: Layout,
  entity: Entity,
  base: Snapshot,
  table: string,
  label: string,
): Promise<void> {
  const dates = (await datesOf(writer, entity, table)).filter((date) => date !== null).sort();
  const [first, last] = [dates[0] ?? null, dates.at(-1) ?? null];
  const columns = columnList(entity);
  const { byDate } = base.files(entity.name);
  const since = first && daysAfter(first, -BEFORE);
  await fetchMissing(layout, filesIn(byDate, since, last));
  const stored = rowsIn(entity, byDate, since, last, ({ path }) => join(layout.lake, path));
  const isSame = [entity.code, ...(entity.mainDate === null ? [] : [entity.mainDate])]
    .map((name) => `s.${quoteName(name)} = o.${quoteName(name)}`)
    .join(" AND ");
  const around =
    `(SELECT ${columns} FROM ${table} UNION ALL ` +
    `SELECT ${columns} FROM ${stored} o WHERE NOT EXISTS (SELECT 1 FROM ${table} s WHERE ${isSame}))`;
  const subject: Subject = {
    ...{ entity, first, last, around, rows: `(SELECT ${columns}, 0 AS __file FROM ${table})` },
    mostOnADay: Infinity,
    ...others(base, layout),
  };
  const { findings } = await judge(writer, subject, checksOf(entity.name).filter(isSevere));
  if (findings.length === 0) return;
  const reasons = namedFindings(findings).map(describeFinding).join("; ");
  throw new OperatorError(`${label}: refused by --strict: ${reasons}`);
}

async function datesOf(writer: Writer, entity: Entity, relation: string): Promise<readonly (string | null)[]> {
  if (entity.mainDate === null) return [null];
  const date = quoteName(entity.mainDate);
  const days = `(SELECT DISTINCT ${date} AS day FROM ${relation})`;
  const rows = await writer.rows(`SELECT strftime(day, '%Y%m%d') AS date FROM ${days}`);
  return rows.map((row) => row["date"] as string | null);
}

/** What the rows of other entities are compared with. */
export function others(base: Snapshot, layout: Layout): Pick<Subject, "other" | "ready" | "lastOf"> {
  const named: DataFile[] = [];
  return {
    other: (name, first, last) => {
      const { byDate } = base.files(name);
      named.push(...filesIn(byDate, first, last));
      return rowsIn(entityNamed(name)!, byDate, first, last, ({ path }) => join(layout.lake, path));
    },
    ready: () => fetchMissing(layout, named.splice(0)),
    lastOf: (name) => base.files(name).last,
  };
}

/** The files that may have rows with a main date in a range, or without one; without a range all. */
export const filesIn = (files: readonly DataFile[], first: string | null, last: string | null): readonly DataFile[] =>
  files.filter((file) =>
    first === null || last === null || file.first === null ? true : file.first <= last && first <= file.last!,
  );

/** The rows of these files with a main date in a range, as SQL; without a range those without a date, or all. */
export function rowsIn(
  entity: Entity,
  files: readonly DataFile[],
  first: string | null,
  last: string | null,
  pathOf: (file: DataFile) => string,
): string {
  const wanted = filesIn(files, first, last);
  const columns = columnList(entity);
  if (wanted.length === 0) {
    const empty = entity.columns.map(({ name, type }) => `NULL::${SQL_TYPES[type]} AS ${quoteName(name)}`);
    return `(SELECT ${empty.join(", ")} WHERE false)`;
  }
  const paths = wanted.map((file) => quoteText(pathOf(file))).join(", ");
  const inRange = first === null || last === null ? "true" : `coalesce(${inDates(entity, first, last)}, true)`;
  return `(SELECT ${columns} FROM read_parquet([${paths}]) WHERE ${inRange})`;
}
