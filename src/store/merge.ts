// Merges a drop: its rows replace the rows of the same identity. Only files with dates of the drop are rewritten, and
// files never overlap, so that a wide pull needs no sort.
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { quoteName } from "../sql-text.js";
import { createIntegrity } from "../lake/integrity.js";
import type { Layout } from "../lake/layout.js";
import { fileList, isCovered, type DataFile, type DateRange, type FileList } from "../lake/manifest.js";
import { type FileRows, columnList, inDates, scan, writeDataFiles, type Writing } from "./datafile.js";

/** A file with this many rows ends with its date: it is still small enough to rewrite for a correction. */
export const ROWS_PER_FILE = 1_000_000;

/** A file with at least this many rows is split if a drop changes only its end. */
const CUT_FROM_ROWS = 100_000;

export interface Merged {
  readonly list: FileList;
  /** Rows of the lake that rows of the drop replaced. */
  readonly replaced: number;
  /** The files of the list that are new. */
  readonly written: readonly DataFile[];
}

/** Consecutive main dates that become one file. Rows without a date are a span of their own. */
interface Span {
  readonly first: string | null;
  readonly last: string | null;
  /** The existing file of these dates; undefined for dates between files. */
  readonly source: DataFile | undefined;
}

/**
 * Merges a staged drop into the entity's files. Writes new files and removes none. `onRows` gets the rows written so far
 * and the maximum. Throws DamagedFileError if a file to be rewritten is damaged: wrong rows must not get a new, valid
 * checksum.
 */
export async function merge(
  writing: Writing,
  entity: Entity,
  before: FileList,
  staged: FileRows,
  onRows: OnRows = () => undefined,
): Promise<Merged> {
  const { writer, layout } = writing;
  const stagedDates = await countDates(writer, entity, staged.relation);
  const touched = before.byDate.filter((file) => stagedDates.some(({ date }) => holds(file, date)));
  await createIntegrity(layout.lake).check(touched);
  const dates =
    touched.length === 0
      ? stagedDates
      : await countDates(writer, entity, allRows(entity, layout, staged.relation, touched));
  const written: DataFile[] = [];
  const covered: DateRange[] = [];
  const spans = planSpans(before.byDate, dates, startOfTail(before.byDate, stagedDates, dates));
  const rowsOfSpans = spans.map((span) => mergedRows(entity, layout, staged, span));
  for await (const file of writeDataFiles(writing, entity, rowsOfSpans)) {
    written.push(file);
    const { first, last } = file;
    const isSame = !stagedDates.some(({ date }) => holds(file, date));
    const source = spans.find((span) => span.first === first)?.source;
    if (isSame && first !== null && last !== null && isCovered(before, source)) covered.push([first, last]);
    onRows(rowsIn(written), rowsIn(dates));
  }
  const byDate = [...before.byDate.filter((file) => !touched.includes(file)), ...written].sort(compareFiles);
  const ranges = [...without(before.codeRanges, [...touched, ...written]), ...covered].sort();
  const list = fileList(entity.name, byDate, before.byCode, ranges);
  return { list, replaced: before.rows + rowsIn(stagedDates) - list.rows, written };
}

type OnRows = (written: number, total: number) => void;

const rowsIn = (parts: readonly { readonly rows: number }[]): number => parts.reduce((sum, { rows }) => sum + rows, 0);

interface DateCount {
  readonly date: string | null;
  readonly rows: number;
}

async function countDates(writer: Writer, entity: Entity, table: string): Promise<readonly DateCount[]> {
  const date = entity.mainDate === null ? "NULL::DATE" : quoteName(entity.mainDate);
  const rows = await writer.rows(
    `SELECT strftime(date, '%Y%m%d') AS date, rows FROM ` +
      `(SELECT ${date} AS date, count(*) AS rows FROM ${table} GROUP BY ALL) ORDER BY date NULLS LAST`,
  );
  return rows as unknown as DateCount[];
}

function holds(file: DataFile, date: string | null): boolean {
  if (date === null || file.first === null || file.last === null) return date === null && file.first === null;
  return file.first <= date && date <= file.last;
}

/**
 * The first date of the drop in the last dated file, if it is near the file's end. The file is split there, so that a day
 * that is dropped every few seconds gets a file of its own, and the days before it are not rewritten each time.
 */
function startOfTail(
  existing: readonly DataFile[],
  staged: readonly DateCount[],
  dates: readonly DateCount[],
): string | undefined {
  const last = existing.findLast((file) => file.first !== null);
  if (!last || last.rows < CUT_FROM_ROWS) return undefined;
  const start = staged.find(({ date }) => date !== null && holds(last, date))?.date;
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
  const holder = files.findIndex((file) => holds(file, date));
  if (holder >= 0) return holder;
  if (date === null) return files.length + 0.5;
  return files.filter((file) => file.first !== null && file.first < date).length - 0.5;
}

/** The rows of the drop and of the files to be rewritten, including replaced rows. */
function allRows(entity: Entity, layout: Layout, staged: string, files: readonly DataFile[]): string {
  const columns = columnList(entity);
  return `(SELECT ${columns} FROM ${staged} UNION ALL SELECT ${columns} FROM ${scan(layout, files)})`;
}

function mergedRows(entity: Entity, layout: Layout, { relation, sorted }: FileRows, span: Span): FileRows {
  const columns = columnList(entity);
  const inSpan = inDates(entity, span.first, span.last);
  const fresh = `SELECT ${columns} FROM ${relation} WHERE ${inSpan}`;
  if (!span.source) return { relation: `(${fresh})`, ...(sorted && { sorted }) };
  const same = entity.identity.map((name) => `s.${quoteName(name)} IS NOT DISTINCT FROM o.${quoteName(name)}`);
  const old = `SELECT ${columns} FROM ${scan(layout, [span.source])} o WHERE ${inSpan}`;
  const kept = `${old} AND NOT EXISTS (SELECT 1 FROM (${fresh}) s WHERE ${same.join(" AND ")})`;
  return { relation: `(${fresh} UNION ALL ${kept})` };
}

/** Date order, with the file of rows without a main date at the end. */
export function compareFiles(a: DataFile, b: DataFile): number {
  if (a.first === null || b.first === null) return a.first === b.first ? 0 : a.first === null ? 1 : -1;
  return a.first < b.first ? -1 : a.first > b.first ? 1 : 0;
}

/** The ranges that the code copy still covers after these files were rewritten. */
function without(ranges: readonly DateRange[], files: readonly DataFile[]): readonly DateRange[] {
  return ranges.filter(([first, last]) => !files.some((f) => f.first !== null && f.first <= last && f.last! >= first));
}
