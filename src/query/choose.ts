// Chooses the files that a read opens, and their clustering: groups in the order of the response, without overlap.
import type { Entity } from "../catalog/types.js";
import { toDays } from "../dates.js";
import { isCovered, ROW_GROUP_ROWS, type DataFile, type FileList } from "../lake/manifest.js";
import { dateGroup, rowsIn, type FileGroup } from "./files.js";
import { codesBetween, hasNull } from "./filter-values.js";
import type { Filter } from "./request.js";

/** Bounds of the main date; null means unbounded. If both are null, rows without a main date are included. */
export interface Window {
  readonly start: string | null;
  readonly end: string | null;
}

/** The files of a read in ascending order. `codes` are the requested codes, or null if there is no filter by code. */
export function chooseFiles(list: FileList, window: Window, codes: Filter["values"] | null): readonly FileGroup[] {
  const inWindow = list.byDate.filter((file) => overlaps(file, window));
  const byDate = inWindow.filter((file) => codes === null || holdsAnyCode(file, codes));
  if (codes === null || hasNull(codes) || list.byCode.length === 0) return byDate.map(dateOnly);

  const codeFiles = list.byCode.filter((file) => holdsAnyCode(file, codes));
  const covered = byDate.filter((file) => isCovered(list, file));
  const dateCost = sum(covered.map((file) => Math.max(ROW_GROUP_ROWS.byDate, file.rows * share(file, window))));
  const codeCost = leastRowsOf(codeFiles, codes);
  return codeCost < dateCost ? mixedGroups(list, inWindow, codeFiles, codes) : byDate.map(dateOnly);
}

/** About how many rows are read for a group: at least one row group of each file. */
export function rowsToRead(group: FileGroup, window: Window, codes: Filter["values"] | null): number {
  const { clustering, files, rowRange } = group;
  if (rowRange) return rowRange[1] - rowRange[0];
  if (clustering === "byCode") return leastRowsOf(files, codes ?? []);
  return sum(
    files.map((file) => Math.min(file.rows, Math.max(ROW_GROUP_ROWS.byDate, file.rows * share(file, window)))),
  );
}

/** An upper bound of the number of rows of a group between these dates (inclusive). */
export function mostRows(
  { files, rowRange }: FileGroup,
  entity: Entity,
  [first, last]: readonly [string | null, string | null],
  codes: Filter["values"] | null,
): number {
  const inFiles = rowRange ? rowRange[1] - rowRange[0] : rowsIn(files);
  const [from, to] = [first ?? files[0]!.first, last ?? files.at(-1)!.last];
  if (from === null || to === null) return inFiles;
  const days = Math.max(0, toDays(to) - toDays(from) + 1);
  const ofAll = sum(files.map((file) => file.mostOnADay ?? file.rows));
  const ofCodes = codes === null || hasNull(codes) || !hasOneRowADay(entity) ? ofAll : codes.length;
  return Math.min(inFiles, days * Math.min(ofAll, ofCodes));
}

const hasOneRowADay = ({ identity, identityIs, mainDate, code }: Entity): boolean =>
  identityIs === "row" && identity.every((name) => name === mainDate || name === code);

const dateOnly = (file: DataFile): FileGroup => dateGroup([file]);

/** The code copy for consecutive date files that it covers, the date files elsewhere, in date order. */
function mixedGroups(
  list: FileList,
  inWindow: readonly DataFile[],
  codeFiles: readonly DataFile[],
  codes: Filter["values"],
): readonly FileGroup[] {
  const groups: FileGroup[] = [];
  for (const file of inWindow) {
    const last = groups.at(-1);
    if (!isCovered(list, file)) groups.push(dateOnly(file));
    else if (last?.span) groups[groups.length - 1] = { ...last, span: [last.span[0], file.last!] };
    else groups.push({ clustering: "byCode", files: codeFiles, span: [file.first!, file.last!], rowRange: null });
  }
  return groups.filter(({ files }) => files.some((file) => holdsAnyCode(file, codes)));
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

/** The share of a file's dates that is in the window, 0 to 1, by calendar months. */
function share(file: DataFile, { start, end }: Window): number {
  if (file.first === null || file.last === null) return 1;
  const from = months(start !== null && start > file.first ? start : file.first);
  const to = months(end !== null && end < file.last ? end : file.last);
  return (to - from + 1) / (months(file.last) - months(file.first) + 1);
}

const months = (date: string): number => Number(date.slice(0, 4)) * 12 + Number(date.slice(4, 6));

/** For each code, two row groups of each file that may contain it. */
function leastRowsOf(files: readonly DataFile[], codes: Filter["values"]): number {
  const codesIn = ({ firstCode, lastCode }: DataFile): number =>
    firstCode === null || lastCode === null ? codes.length : codesBetween(codes, firstCode, lastCode);
  return sum(files.map((file) => codesIn(file) * Math.min(file.rows, ROW_GROUP_ROWS.byCode * 2)));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
