// Which files a read opens, and in which clustering: pieces in the order of the answer, each without overlap.
import type { Entity } from "../catalog/types.js";
import { toDays } from "../dates.js";
import { isCovered, ROW_GROUP_ROWS, type Clustering, type DataFile, type FileList } from "../lake/manifest.js";
import { codesBetween, hasNull } from "./filter-values.js";
import type { Filter } from "./request.js";

/** A part of the answer: files of one clustering, bounded to a span of main dates where the files hold more. */
export interface Piece {
  readonly clustering: Clustering;
  readonly files: readonly DataFile[];
  /** Dates of the piece, `YYYYMMDD` inclusive; null where the files themselves are the bound. */
  readonly span: readonly [string, string] | null;
  /** The part of the only file's rows that is read, from and up to but without; all where absent. */
  readonly rows?: readonly [number, number];
}

/** Bounds of the main date; null is open. With both open, rows without a main date belong to the answer too. */
export interface Window {
  readonly start: string | null;
  readonly end: string | null;
}

/** The pieces of a read in ascending order. `codes` are the codes asked for, or null where it is not filtered by code. */
export function choosePieces(list: FileList, window: Window, codes: Filter["values"] | null): readonly Piece[] {
  const inWindow = list.byDate.filter((file) => overlaps(file, window));
  const byDate = inWindow.filter((file) => codes === null || holdsAnyCode(file, codes));
  if (codes === null || hasNull(codes) || list.byCode.length === 0) return byDate.map(datePiece);

  const codeFiles = list.byCode.filter((file) => holdsAnyCode(file, codes));
  const covered = byDate.filter((file) => isCovered(list, file));
  const dateCost = sum(covered.map((file) => Math.max(ROW_GROUP_ROWS.byDate, file.rows * share(file, window))));
  const codeCost = leastRowsOf(codeFiles, codes);
  return codeCost < dateCost ? mixedPieces(list, inWindow, codeFiles, codes) : byDate.map(datePiece);
}

/** About how many rows are read for a piece: of each file that is opened a row group at least. */
export function rowsToRead({ clustering, files, rows }: Piece, window: Window, codes: Filter["values"] | null): number {
  if (rows) return rows[1] - rows[0];
  if (clustering === "byCode") return leastRowsOf(files, codes ?? []);
  return sum(
    files.map((file) => Math.min(file.rows, Math.max(ROW_GROUP_ROWS.byDate, file.rows * share(file, window)))),
  );
}

/** No more rows than this are in a piece between these dates (inclusive). */
export function mostRows(
  { files, rows }: Piece,
  entity: Entity,
  [first, last]: readonly [string | null, string | null],
  codes: Filter["values"] | null,
): number {
  const inFiles = rows ? rows[1] - rows[0] : sum(files.map((file) => file.rows));
  const [from, to] = [first ?? files[0]!.first, last ?? files.at(-1)!.last];
  if (from === null || to === null) return inFiles;
  const days = Math.max(0, toDays(to) - toDays(from) + 1);
  const ofAll = sum(files.map((file) => file.mostOnADay ?? file.rows));
  const ofCodes = codes === null || hasNull(codes) || !hasOneRowADay(entity) ? ofAll : codes.length;
  return Math.min(inFiles, days * Math.min(ofAll, ofCodes));
}

const hasOneRowADay = ({ identity, identityIs, mainDate, code }: Entity): boolean =>
  identityIs === "row" && identity.every((name) => name === mainDate || name === code);

const datePiece = (file: DataFile): Piece => ({ clustering: "byDate", files: [file], span: null });

/** The code copy for runs of date files that it covers, the date files elsewhere, in date order. */
function mixedPieces(
  list: FileList,
  inWindow: readonly DataFile[],
  codeFiles: readonly DataFile[],
  codes: Filter["values"],
): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const file of inWindow) {
    const last = pieces.at(-1);
    if (!isCovered(list, file)) pieces.push(datePiece(file));
    else if (last?.span) pieces[pieces.length - 1] = { ...last, span: [last.span[0], file.last!] };
    else pieces.push({ clustering: "byCode", files: codeFiles, span: [file.first!, file.last!] });
  }
  return pieces.filter(({ files }) => files.some((file) => holdsAnyCode(file, codes)));
}

function overlaps(file: DataFile, { start, end }: Window): boolean {
  if (file.first === null || file.last === null) return start === null && end === null;
  return (end === null || file.first <= end) && (start === null || file.last >= start);
}

function holdsAnyCode(file: DataFile, codes: Filter["values"]): boolean {
  const { firstCode, lastCode } = file;
  if (firstCode === null || lastCode === null || hasNull(codes)) return true;
  return codesBetween(codes, firstCode, lastCode) > 0;
}

/** How much of a file's dates lies in the window, 0 to 1, by calendar months. */
function share(file: DataFile, { start, end }: Window): number {
  if (file.first === null || file.last === null) return 1;
  const from = months(start !== null && start > file.first ? start : file.first);
  const to = months(end !== null && end < file.last ? end : file.last);
  return (to - from + 1) / (months(file.last) - months(file.first) + 1);
}

const months = (date: string): number => Number(date.slice(0, 4)) * 12 + Number(date.slice(4, 6));

/** For each code, two row groups of each file that may hold it. */
function leastRowsOf(files: readonly DataFile[], codes: Filter["values"]): number {
  const codesIn = ({ firstCode, lastCode }: DataFile): number =>
    firstCode === null || lastCode === null ? codes.length : codesBetween(codes, firstCode, lastCode);
  return sum(files.map((file) => codesIn(file) * Math.min(file.rows, ROW_GROUP_ROWS.byCode * 2)));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
