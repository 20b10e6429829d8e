// Applies a change to the files of an entity: an import, whose rows replace those of the same identity, or a delete. Only
// files with dates of the change are rewritten, and files never overlap, so that a wide pull needs no sort.
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import type { Statement } from "../query/sql.js";
import { quoteName } from "../sql-text.js";
import { createIntegrity } from "../lake/integrity.js";
import type { Layout } from "../lake/layout.js";
import type { RowSpan } from "../lake/ledger.js";
import { fileList, isCovered, type DataFile, type DateRange, type FileList } from "../lake/manifest.js";
import { countUntil, rangesWithout } from "../lake/ordered.js";
import { filledRows, isConfinedToFreshDates, keptRows, removalCondition, sameIdentity, type Change } from "./change.js";
import { type FileRows, columnList, inDates, scan, writeDataFiles, type Writing } from "./datafile.js";
import { readSpan } from "./drop.js";
import { effectsOf, type Effects } from "./effects.js";

/** A file with this many rows ends with its date: it is still small enough to rewrite for a correction. */
export const ROWS_PER_FILE = 1_000_000;

/** A file with at least this many rows is split if an import changes only its end. */
const CUT_FROM_ROWS = 100_000;

export interface Merged {
  readonly list: FileList;
  /** Stored rows that fresh rows of the same identity replaced. */
  readonly replaced: number;
  /** Stored rows that are gone without a fresh row of the same identity. */
  readonly removed: number;
  /** What else happened to stored rows. */
  readonly effects: Effects;
  /** The files of the list that are new. */
  readonly written: readonly DataFile[];
  /** Main dates on which rows may be gone without a fresh row of the date. */
  readonly goneDates: readonly (string | null)[];
}

/** Consecutive main dates that become one file. Rows without a date are a span of their own. */
interface Span {
  readonly first: string | null;
  readonly last: string | null;
  /** The existing file of these dates; undefined for dates between files. */
  readonly source: DataFile | undefined;
}

/**
 * Applies a change to the entity's files. Writes new files and removes none. `onRows` gets the rows written so far and
 * the maximum. Throws DamagedFileError if a file to be rewritten is damaged: wrong rows must not get a new, valid checksum.
 */
export async function merge(
  writing: Writing,
  entity: Entity,
  before: FileList,
  change: Change,
  onRows: OnRows = () => undefined,
): Promise<Merged> {
  const { writer, layout } = writing;
  const { fresh } = change;
  const freshDates = fresh ? await countDates(writer, entity, fresh.relation) : [];
  const goneDates = isConfinedToFreshDates(entity, change) ? [] : await findGone(writing, entity, before, change);
  // Dates on which rows come in or go.
  const changed = [...freshDates, ...goneDates];
  // The files of these dates, which are written again.
  const places = new Set(changed.map(({ date }) => positionOf(before.byDate, date)).filter(Number.isInteger));
  const touched = [...places].sort((a, b) => a - b).map((at) => before.byDate[at]!);
  await createIntegrity(layout).check(touched);
  const dates =
    touched.length === 0
      ? freshDates
      : await countDates(writer, entity, allRows(entity, layout, fresh?.relation, touched));
  const written: DataFile[] = [];
  // The dates of new files whose rows are the same as before, so that the code copy still holds them.
  const covered: DateRange[] = [];
  const spans = planSpans(before.byDate, dates, startOfTail(before.byDate, freshDates, dates));
  const rowsOfSpans = spans.map((span) => {
    const isChanged = changed.some(({ date }) => holds(span, date));
    return isChanged ? changedRows(entity, layout, change, span) : sameRows(entity, layout, span);
  });
  for await (const file of writeDataFiles(writing, entity, rowsOfSpans)) {
    written.push(file);
    const { first, last } = file;
    const isSame = !changed.some(({ date }) => holds(file, date));
    const source = spans.find((span) => holds(span, first))?.source;
    if (isSame && first !== null && last !== null && isCovered(before, source)) covered.push([first, last]);
    onRows(rowsIn(written), rowsIn(dates));
  }
  const byDate = [...before.byDate.filter((_, at) => !places.has(at)), ...written].sort(compareFiles);
  const left = rangesWithout(rangesWithout(before.codeRanges, touched), written);
  const ranges = [...left, ...covered].sort(compareRanges);
  const list = fileList(entity.name, byDate, before.byCode, ranges);
  // The list holds the fresh rows and all stored rows but those that are gone.
  const gone = before.rows + rowsIn(freshDates) - list.rows;
  const replaced = await countReplaced(writing, entity, change, touched, gone);
  const onFreshDates = new Set(freshDates.map(({ date }) => date));
  // Of the stored and fresh rows on fresh dates, those that are neither fresh nor gone. (A change by `whole` or `where` may
  // remove rows on other dates; effectsOf needs no number for it.)
  const stayed = rowsIn(dates.filter(({ date }) => onFreshDates.has(date))) - rowsIn(freshDates) - gone;
  const effects = await effectsOf(writing, entity, change, { touched, written, replaced, stayed });
  return { list, replaced, removed: gone - replaced, effects, written, goneDates: goneDates.map(({ date }) => date) };
}

type OnRows = (written: number, total: number) => void;

const rowsIn = (parts: readonly { readonly rows: number }[]): number => parts.reduce((sum, { rows }) => sum + rows, 0);

export interface DateCount {
  readonly date: string | null;
  readonly rows: number;
}

async function countDates(
  writer: Writer,
  entity: Entity,
  table: string,
  values: Statement["values"] = [],
): Promise<readonly DateCount[]> {
  const date = entity.mainDate === null ? "NULL::DATE" : quoteName(entity.mainDate);
  const rows = await writer.rows(
    `SELECT strftime(date, '%Y%m%d') AS date, rows FROM ` +
      `(SELECT ${date} AS date, count(*) AS rows FROM ${table} GROUP BY ALL) ORDER BY date NULLS LAST`,
    values,
  );
  return rows as unknown as DateCount[];
}

function holds(file: Pick<DataFile, "first" | "last">, date: string | null): boolean {
  if (date === null || file.first === null || file.last === null) return date === null && file.first === null;
  return file.first <= date && date <= file.last;
}

/**
 * The first fresh date in the last dated file, if it is near the file's end. The file is split there, so that a day that
 * is imported every few seconds gets a file of its own, and the days before it are not rewritten each time.
 */
function startOfTail(
  existing: readonly DataFile[],
  freshDates: readonly DateCount[],
  dates: readonly DateCount[],
): string | undefined {
  const last = existing.findLast((file) => file.first !== null);
  if (!last || last.rows < CUT_FROM_ROWS) return undefined;
  const start = freshDates.find(({ date }) => date !== null && holds(last, date))?.date;
  if (!start || start === last.first) return undefined;
  const after = dates.filter(({ date }) => date !== null && date >= start && holds(last, date));
  return rowsIn(after) * 4 < last.rows ? start : undefined;
}

/** Splits the dates at the borders of existing files, when a file would grow too large, and before `cut`. */
function planSpans(existing: readonly DataFile[], dates: readonly DateCount[], cut?: string): readonly Span[] {
  const spans: Span[] = [];
  let position = -1;
  let rowsInSpan = 0;
  for (const { date, rows } of dates) {
    const at = positionOf(existing, date);
    const last = spans.at(-1);
    if (last && at === position && date !== cut && rowsInSpan + rows <= ROWS_PER_FILE) {
      spans[spans.length - 1] = { ...last, last: date };
      rowsInSpan += rows;
    } else {
      spans.push({ first: date, last: date, source: Number.isInteger(at) ? existing[at] : undefined });
      rowsInSpan = rows;
    }
    position = at;
  }
  return spans;
}

/** The index of the file that holds a date; for a date between files, half an index more than the file before it. */
function positionOf(files: readonly DataFile[], date: string | null): number {
  const isEarlier = ({ last }: DataFile): boolean => last !== null && (date === null || last < date);
  const next = countUntil(files, isEarlier);
  const file = files[next];
  if (file !== undefined && holds(file, date)) return next;
  return date === null ? files.length + 0.5 : next - 0.5;
}

/** The fresh rows and those of the files to be rewritten, including rows that go. */
function allRows(entity: Entity, layout: Layout, freshSql: string | undefined, files: readonly DataFile[]): string {
  const columns = columnList(entity);
  const parts = [...(freshSql === undefined ? [] : [freshSql]), scan(layout, files)];
  return `(${parts.map((rows) => `SELECT ${columns} FROM ${rows}`).join(" UNION ALL ")})`;
}

/** The rows of a span in which nothing changes. */
function sameRows(entity: Entity, layout: Layout, { first, last, source }: Span): FileRows {
  const rows = `SELECT ${columnList(entity)} FROM ${scan(layout, [source!])} WHERE ${inDates(entity, first, last)}`;
  return { relation: `(${rows})`, sorted: true };
}

function changedRows(entity: Entity, layout: Layout, change: Change, { first, last, source }: Span): FileRows {
  const { fresh, where } = change;
  const inSpan = inDates(entity, first, last);
  const columns = columnList(entity);
  const freshInSpan = fresh ? `(SELECT * FROM ${fresh.relation} WHERE ${inSpan})` : null;
  if (!source) return { relation: `(SELECT ${columns} FROM ${freshInSpan})`, ...(fresh?.sorted && { sorted: true }) };
  const old = `(SELECT ${columns} FROM ${scan(layout, [source])} WHERE ${inSpan})`;
  const replacing = isConfinedToFreshDates(entity, change) ? freshInSpan : (fresh?.relation ?? null);
  const filled = freshInSpan === null ? [] : [filledRows(entity, change.lacking, freshInSpan, old)];
  return {
    relation: `(${[...filled, keptRows(entity, change, replacing, old)].join(" UNION ALL ")})`,
    ...(where && { values: where.condition.values, sorted: !fresh && where.keepsOrder }),
  };
}

/** The dates and the number of stored rows that go, for a change that is not confined to the dates of its fresh rows. */
export async function findGone(
  { writer, layout }: Writing,
  entity: Entity,
  before: FileList,
  change: Change,
): Promise<readonly DateCount[]> {
  const files = filesOfGone(before, change);
  if (files.length === 0) return [];
  await createIntegrity(layout).check(files);
  return countDates(writer, entity, rowsGone(entity, layout, files, change), change.where?.condition.values);
}

/** What these rows span; there are some. */
export const spanOfGone = (
  { writer, layout }: Writing,
  entity: Entity,
  before: FileList,
  change: Change,
): Promise<RowSpan> => {
  const rows = rowsGone(entity, layout, filesOfGone(before, change), change);
  return readSpan(writer, entity, rows, change.where?.condition.values);
};

/** The files that may hold them. */
function filesOfGone({ byDate }: FileList, { whole, where }: Change): readonly DataFile[] {
  const [from, to] = [where?.first ?? null, where?.last ?? null];
  const isOutside = ({ first, last }: DataFile): boolean =>
    first === null || last === null ? from !== null || to !== null : (from ?? first) > last || (to ?? last) < first;
  return whole ? byDate : byDate.filter((file) => !isOutside(file));
}

function rowsGone(entity: Entity, layout: Layout, files: readonly DataFile[], change: Change): string {
  const condition = removalCondition(entity, change, change.fresh?.relation ?? null);
  return `(SELECT * FROM ${scan(layout, files)} o WHERE ${condition})`;
}

/** The number of stored rows whose identity a fresh row has, of all that are gone. */
async function countReplaced(
  { writer, layout }: Writing,
  entity: Entity,
  { fresh, whole, where }: Change,
  touched: readonly DataFile[],
  gone: number,
): Promise<number> {
  if (!whole && !where) return gone;
  if (!fresh || gone === 0) return 0;
  const isSame = `EXISTS (SELECT 1 FROM ${fresh.relation} f WHERE ${sameIdentity(entity, "f", "o")})`;
  const [row] = await writer.rows(`SELECT count(*) AS rows FROM ${scan(layout, touched)} o WHERE ${isSame}`);
  return Number(row!["rows"]);
}

/** Date order, with the file of rows without a main date at the end. */
export function compareFiles(a: DataFile, b: DataFile): number {
  if (a.first === null || b.first === null) return a.first === b.first ? 0 : a.first === null ? 1 : -1;
  return a.first < b.first ? -1 : a.first > b.first ? 1 : 0;
}

export const compareRanges = ([a]: DateRange, [b]: DateRange): number => (a < b ? -1 : a > b ? 1 : 0);
