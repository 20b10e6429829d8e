// From a request and a version of the lake to the statements that answer it, in order. Pure: no I/O, no clock.
import { columnNamed } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import { ROW_GROUP_ROWS, type DataFile, type FileList } from "../lake/manifest.js";
import { quoteName } from "../sql-text.js";
import { choosePieces, mostRows, rowsToRead, type Piece, type Window } from "./choose.js";
import type { Position } from "./cursor.js";
import { adjustedColumns, codeFilter, hasTimeParameter, type EntityRequest, type Filter } from "./request.js";
import { afterSql, announcedSql, betweenSql, Bindings, filterSql, keepsOrder, rowsSql, visible } from "./sql.js";
import { widthOf, type ReadStep, type RowCount, type Width } from "./statement.js";

export interface PlannedStep extends ReadStep {
  /** Gives every row of its files as they are, in their order. */
  readonly wholeFiles: boolean;
  /** The same rows in the same order as statements that may run side by side: itself where one will do. */
  readonly ranges: readonly ReadStep[];
  readonly count: RowCount;
}

export interface Plan {
  /** The columns of the answer, followed by those of the position where the answer is limited or adjusted. */
  readonly columns: readonly Column[];
  /** How many of `columns` tell the position: main date (where there is one), code, row in its file. */
  readonly positionColumns: number;
  /** The statements in order. One that starts after `limit` rows are there is not needed. */
  readonly steps: readonly PlannedStep[];
  /** By the rows that have to be read. */
  readonly width: Width;
}

type Step = Omit<PlannedStep, "ranges">;

/** Files of at most this many rows share one statement, so that the first rows come early and a limit stops soon. */
const ROWS_PER_STEP = 1_000_000;

/** And a page reads at least as many in one statement, so that a filter which leaves little needs few. */
const LEAST_ROWS = 8_192;

/** `list` is the entity's files in the version that is read; `after` where the page before ended. */
export function planRead(request: EntityRequest, list: FileList, after: Position | null): Plan {
  const { entity, columns, limit } = request;
  const position = limit === null && adjustedColumns(request).length === 0 ? [] : positionColumns(entity);
  const snapshot = wantedSnapshot(request, list);
  const window = windowOf(request, snapshot);
  const codes = codesOf(request);
  const pieces = choosePieces(list, window, codes).filter((piece) => !isBefore(piece, after, request.order));
  const ordered =
    request.order === "asc"
      ? joinPieces(pieces, limit)
      : pieces.toReversed().flatMap((piece) => backwards(piece, limit, after));
  const toStep = (piece: Piece): Step => stepSql(request, piece, window, snapshot, after, position.length > 0);
  const steps = ordered.map((piece) => {
    const step = toStep(piece);
    return { ...step, ranges: isReadWhole(request, piece, window) ? rangesOf(piece).map(toStep) : [step] };
  });
  const rows = ordered.reduce((sum, piece) => sum + rowsToRead(piece, window, codes), 0);
  // A page whose rows are not looked for ends where it is full.
  const ofPage = limit !== null && request.filters.length === 0 && request.asOf === null ? limit : Infinity;
  return {
    columns: [...columns, ...position],
    positionColumns: position.length,
    steps,
    width: widthOf(Math.min(rows, ofPage)),
  };
}

/** The codes asked for, null where it is not filtered by code, or where codes may be written in two ways. */
const codesOf = (request: EntityRequest): Filter["values"] | null =>
  request.entity.bareCodes ? null : (codeFilter(request)?.values ?? null);

/** Main date and code under names that no entity uses, then the row number in its file. */
function positionColumns(entity: Entity): readonly Column[] {
  const date = entity.mainDate === null ? [] : [{ ...columnNamed(entity, entity.mainDate)!, name: "__date" }];
  const code = { ...columnNamed(entity, entity.code)!, name: "__code" };
  return [...date, code, { name: "__row", type: "int64", meaning: "row in its file", nullable: false }];
}

/** `stock_list`: the latest snapshot where no date is asked, the latest on or before `as_of` where that is. */
type Snapshot = { readonly date: string } | { readonly latestIn: DataFile; readonly until: string } | null;

function wantedSnapshot(request: EntityRequest, list: FileList): Snapshot {
  if (request.entity.pointInTime?.rule !== "snapshot" || hasTimeParameter(request) || list.last === null) return null;
  const { asOf } = request;
  if (asOf === null || asOf >= list.last) return { date: list.last };
  const file = list.byDate.findLast(({ first }) => first !== null && first <= asOf);
  return file ? { latestIn: file, until: asOf } : { date: asOf };
}

/** The bounds of the main date that follow from the request: range, filter on it, announcement, snapshot. */
export function windowOf(request: EntityRequest, snapshot: Snapshot = null): Window {
  const { entity, start, end, asOf } = request;
  if (entity.mainDate === null) return { start: null, end: null };
  if (snapshot) {
    if ("date" in snapshot) return { start: snapshot.date, end: snapshot.date };
    return { start: snapshot.latestIn.first, end: snapshot.until };
  }
  const starts = start === null ? [] : [start];
  const ends = end === null ? [] : [end];
  const dates = request.filters.find((filter) => filter.column.name === entity.mainDate)?.values ?? [];
  if (dates.length > 0 && !dates.includes(null)) {
    const sorted = dates.map(String).sort();
    starts.push(sorted[0]!);
    ends.push(sorted.at(-1)!);
  }
  const rule = entity.pointInTime;
  if (asOf !== null && rule?.rule === "announced" && rule.columns[0] === entity.mainDate) ends.push(asOf);
  return { start: starts.sort().at(-1) ?? null, end: ends.sort()[0] ?? null };
}

/**
 * Neighbouring date files become one piece: one statement reads them in order. It opens them all, so the first holds about
 * as many rows as a page, and each about twice as many as the one before it, up to `atMost`.
 */
function joinPieces(pieces: readonly Piece[], limit: number | null, atMost = ROWS_PER_STEP): readonly Piece[] {
  const joined: Piece[] = [];
  let most = limit === null ? atMost : Math.min(Math.max(limit + 1, LEAST_ROWS), atMost);
  let rows = 0;
  for (const piece of pieces) {
    const last = joined.at(-1);
    const more = piece.files.reduce((sum, file) => sum + file.rows, 0);
    if (last && isWholeFiles(last) && isWholeFiles(piece) && rows + more <= most) {
      joined[joined.length - 1] = { ...last, files: [...last.files, ...piece.files] };
      rows += more;
    } else {
      if (last) most = Math.min(most * 2, atMost);
      joined.push(piece);
      rows = more;
    }
  }
  return joined;
}

const isWholeFiles = ({ clustering, rows }: Piece): boolean => clustering === "byDate" && rows === undefined;

/** Rows of a part of a file that is read backwards: sorted in memory, so not too many. */
const ROWS_BACKWARDS = 491_520;

/**
 * A date file in parts from its end, or from where the page before ended: the first about as long as a page, each twice as
 * long as the one before it, so that a page reads little and a long answer is sorted part by part.
 */
function backwards(piece: Piece, limit: number | null, after: Position | null): readonly Piece[] {
  const [file] = piece.files;
  if (piece.clustering === "byCode" || !file) return [piece];
  const inFile = after !== null && (after.date === null ? file.first === null : holdsDate(file, after.date));
  const parts: Piece[] = [];
  let rows = Math.min(Math.max((limit ?? ROWS_BACKWARDS) + 1, LEAST_ROWS), ROWS_BACKWARDS);
  const last = inFile ? Math.min(after.row, file.rows) : file.rows;
  for (let end = last; end > 0; end -= rows, rows = Math.min(rows * 2, ROWS_BACKWARDS)) {
    parts.push({ ...piece, rows: [Math.max(0, end - rows), end] });
  }
  return parts;
}

/** Rows of a range: two row groups. Each range costs a statement. */
const ROWS_PER_RANGE = 2 * ROW_GROUP_ROWS.byDate;

/** Whether every row of a piece is looked at, in the order in which it lies there. */
function isReadWhole({ limit, order }: EntityRequest, piece: Piece, window: Window): boolean {
  return limit === null && order === "asc" && piece.clustering === "byDate" && spanOf(piece, window).every(isOpen);
}

const isOpen = (bound: string | null): boolean => bound === null;

/** A piece of date files cut into pieces of about as many rows: parts of large files, several small files. */
function rangesOf(piece: Piece): readonly Piece[] {
  const parts = piece.files.flatMap((file): readonly Piece[] => {
    const count = Math.max(1, Math.round(file.rows / ROWS_PER_RANGE));
    if (count === 1) return [{ ...piece, files: [file] }];
    return Array.from({ length: count }, (_, i) => {
      const end = i + 1 === count ? file.rows : (i + 1) * ROWS_PER_RANGE;
      return { ...piece, files: [file], rows: [i * ROWS_PER_RANGE, end] as const };
    });
  });
  return joinPieces(parts, null, ROWS_PER_RANGE);
}

const holdsDate = ({ first, last }: DataFile, date: string): boolean =>
  first !== null && last !== null && first <= date && date <= last;

/** Whether all rows of a piece were in the pages before. */
function isBefore(piece: Piece, after: Position | null, order: "asc" | "desc"): boolean {
  if (after === null) return false;
  const first = piece.span?.[0] ?? piece.files[0]!.first;
  const last = piece.span?.[1] ?? piece.files.at(-1)!.last;
  if (first === null || last === null) return order === "desc" && after.date !== null;
  if (after.date === null) return order === "asc" && hasMainDate(piece);
  return order === "asc" ? last < after.date : first > after.date;
}

const hasMainDate = (piece: Piece): boolean => piece.files[0]!.first !== null;

function stepSql(
  request: EntityRequest,
  piece: Piece,
  window: Window,
  snapshot: Snapshot,
  after: Position | null,
  withPosition: boolean,
): Step {
  const { entity, order } = request;
  const bindings = new Bindings();
  const source = `read_parquet(${bindings.add(piece.files.map((file) => file.path))})`;
  const shown = request.columns.map((column) => {
    const sql = visible(request, column, bindings);
    return sql === quoteName(column.name) ? sql : `${sql} AS ${quoteName(column.name)}`;
  });
  const asStored = request.columns.every((column, i) => shown[i] === quoteName(column.name));
  const place = [...(entity.mainDate === null ? [] : [entity.mainDate]), entity.code].map(quoteName);
  const select = [...shown, ...(withPosition ? [...place, "file_row_number"] : [])];
  const span = spanOf(piece, window);
  const latest = snapshot && "latestIn" in snapshot ? snapshot : null;
  const part = piece.rows ? rowsSql(...piece.rows, bindings) : [];
  const tests = [
    ...(entity.mainDate === null ? [] : betweenSql(entity.mainDate, ...span, bindings)),
    ...request.filters.map((filter) => filterSql(request, filter, bindings)),
    ...keep(announcedSql(request, bindings)),
    ...keep(latest && latestSql(entity, latest, bindings)),
    ...keep(after && afterSql(entity, after, order === "desc", bindings)),
  ];
  const where = [...part, ...tests];
  const inOrder = latest === null && request.filters.every((filter) => keepsOrder(request, filter));
  const sorted = orderBy(request, piece, place, inOrder);
  const sql =
    `SELECT ${select.join(", ")} FROM ${source}` + (where.length === 0 ? "" : ` WHERE ${where.join(" AND ")}`) + sorted;
  const wholeFiles = asStored && !withPosition && where.length === 0 && sorted === "";
  const count = { atMost: mostRows(piece, entity, span, codesOf(request)), exact: tests.length === 0 };
  return { sql, values: bindings.values, files: piece.files, count, wholeFiles };
}

const keep = (sql: string | null): string[] => (sql === null ? [] : [sql]);

/** The narrower of the window of the request and the span of the piece; open where the files themselves end. */
export function spanOf(piece: Piece, { start, end }: Window): [string | null, string | null] {
  if (piece.span === null) {
    const [first, last] = [piece.files[0]!.first, piece.files.at(-1)!.last];
    return [
      start !== null && first !== null && start <= first ? null : start,
      end !== null && last !== null && last <= end ? null : end,
    ];
  }
  const [first, last] = piece.span;
  return [start !== null && start > first ? start : first, end !== null && end < last ? end : last];
}

/** The latest snapshot in a file up to a date: the file is named by `$1`'s only element. */
function latestSql(entity: Entity, snapshot: { readonly until: string }, bindings: Bindings): string {
  const name = quoteName(entity.mainDate!);
  return `${name} = (SELECT max(${name}) FROM read_parquet($1) WHERE ${name} <= ${bindings.date(snapshot.until)})`;
}

/**
 * Rows lie in order in their files; only a descending read, several codes of the code copy and a filter that joins need a
 * sort. `inOrder`: rows come as they lie.
 */
function orderBy(request: EntityRequest, piece: Piece, place: readonly string[], inOrder: boolean): string {
  const inFileOrder = piece.clustering === "byDate" || codeFilter(request)?.values.length === 1;
  if (request.order === "desc") {
    const keys = inFileOrder ? [] : place.map((name) => `${name} DESC`);
    return ` ORDER BY ${[...keys, "file_row_number DESC"].join(", ")}`;
  }
  return inFileOrder && inOrder ? "" : ` ORDER BY ${[...place, "file_row_number"].join(", ")}`;
}
