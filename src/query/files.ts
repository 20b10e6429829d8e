// The files of a read: which ones are opened and in which clustering, and how they are grouped into scans, in the order
// of the response.
import { ROW_GROUP_ROWS, type Clustering, type DataFile, isCovered, type FileList } from "../lake/manifest.js";
import { countUntil, positionsWithin, type Positions } from "../lake/ordered.js";
import type { Position } from "./cursor.js";
import type { Entity } from "../catalog/types.js";
import { toDays } from "../dates.js";
import { boundsOf, codesBetween, hasNull } from "./filter-values.js";
import type { Filter } from "./request.js";

/** Bounds of the main date; null means unbounded. If both are null, rows without a main date are included. */
export interface DateBounds {
  readonly start: string | null;
  readonly end: string | null;
}

/** The files of a read in ascending order. `codes` are the requested codes, or null if there is no filter by code. */
export const chooseFiles = (
  list: FileList,
  dates: DateBounds,
  codes: Filter["values"] | null,
): readonly FileGroup[] => [...groupsOf(list, dates, codes, "asc")];

/** The same in the order of a response, one after another: a page may need few of very many. */
export function* groupsOf(
  list: FileList,
  dates: DateBounds,
  codes: Filter["values"] | null,
  order: "asc" | "desc",
): Generator<FileGroup, void, undefined> {
  const within = positionsWithin(list.byDate, dates.start, dates.end);
  if (codes !== null && !hasNull(codes) && list.byCode.length > 0) {
    const codeFiles = filesOfCodes(list.byCode, codes);
    const codeCost = leastRowsOf(codeFiles, codes);
    if (codeCost < costByDate(list, within, dates, codes, codeCost)) {
      const groups = mixedGroups(list, within, codeFiles, codes);
      yield* order === "asc" ? groups : groups.toReversed();
      return;
    }
  }
  const [from, to] = within;
  for (let n = from; n < to; n++) {
    const file = list.byDate[order === "asc" ? n : from + to - 1 - n]!;
    if (codes === null || holdsAnyCode(file, codes)) yield dateOnly(file);
  }
}

/** The files of a code copy that may hold one of the codes, which are not null. */
function filesOfCodes(byCode: readonly DataFile[], codes: Filter["values"]): readonly DataFile[] {
  const [least, greatest] = boundsOf(codes);
  const from = countUntil(byCode, ({ lastCode }) => lastCode !== null && lastCode < least);
  const to = countUntil(byCode, ({ firstCode }) => firstCode === null || firstCode <= greatest);
  return byCode.slice(from, to).filter((file) => holdsAnyCode(file, codes));
}

/**
 * About how many rows are read for these codes of the date files that the code copy covers. Stops counting beyond
 * `enough`: there may be very many.
 */
function costByDate(
  list: FileList,
  [from, to]: Positions,
  dates: DateBounds,
  codes: Filter["values"],
  enough: number,
): number {
  let rows = 0;
  for (let at = from; at < to && rows <= enough; at++) {
    const file = list.byDate[at]!;
    if (!holdsAnyCode(file, codes) || !isCovered(list, file)) continue;
    rows += Math.max(ROW_GROUP_ROWS.byDate, file.rows * share(file, dates));
  }
  return rows;
}

/** About how many rows are read for a group: at least one row group of each file. */
export function rowsToRead(group: FileGroup, dates: DateBounds, codes: Filter["values"] | null): number {
  const { clustering, files, rowRange } = group;
  if (rowRange) return rowRange[1] - rowRange[0];
  if (clustering === "byCode") return leastRowsOf(files, codes ?? []);
  return sum(files.map((file) => Math.min(file.rows, Math.max(ROW_GROUP_ROWS.byDate, file.rows * share(file, dates)))));
}

/** An upper bound of the number of rows of a group between these dates (inclusive). */
export function mostRows(
  { files, rowRange }: FileGroup,
  entity: Entity,
  [first, last]: readonly [string | null, string | null],
  codes: Filter["values"] | null,
): number {
  const inFiles = rowsOfGroup({ files, rowRange });
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
  [from, to]: Positions,
  codeFiles: readonly DataFile[],
  codes: Filter["values"],
): readonly FileGroup[] {
  const { byDate } = list;
  const groups: FileGroup[] = [];
  const runs = coveredRuns(list);
  let next = countUntil(runs, ([, end]) => end <= from);
  for (let at = from; at < to;) {
    const [begin, end] = runs[next] ?? [to, to];
    if (begin <= at) {
      const last = Math.min(end, to);
      const onlyDates = [byDate[at]!.first!, byDate[last - 1]!.last!] as const;
      groups.push({ clustering: "byCode", files: codeFiles, onlyDates, rowRange: null });
      at = last;
      next++;
    } else groups.push(dateOnly(byDate[at++]!));
  }
  return groups.filter(({ files }) => files.some((file) => holdsAnyCode(file, codes)));
}

const runsOfLists = new WeakMap<FileList, readonly Positions[]>();

/** Where consecutive date files are covered by the code copy. */
function coveredRuns(list: FileList): readonly Positions[] {
  const known = runsOfLists.get(list);
  if (known !== undefined) return known;
  const runs: [number, number][] = [];
  for (const [at, file] of list.byDate.entries()) {
    const last = runs.at(-1);
    if (!isCovered(list, file)) continue;
    if (last?.[1] === at) last[1] = at + 1;
    else runs.push([at, at + 1]);
  }
  runsOfLists.set(list, runs);
  return runs;
}

function holdsAnyCode(file: DataFile, codes: Filter["values"]): boolean {
  const { firstCode, lastCode } = file;
  if (firstCode === null || lastCode === null || hasNull(codes)) return true;
  return codesBetween(codes, firstCode, lastCode) > 0;
}

/** The share of a file's dates that is within the bounds, 0 to 1, by calendar months. */
function share(file: DataFile, { start, end }: DateBounds): number {
  if (file.first === null || file.last === null) return 1;
  const from = months(start !== null && start > file.first ? start : file.first);
  const to = months(end !== null && end < file.last ? end : file.last);
  return (to - from + 1) / (months(file.last) - months(file.first) + 1);
}

const months = (date: string): number => Number(date.slice(0, 4)) * 12 + Number(date.slice(4, 6));

/**
 * For each code, half a row group of each file that may contain it: a serving copy is read faster than that, Parquet
 * more slowly.
 */
function leastRowsOf(files: readonly DataFile[], codes: Filter["values"]): number {
  const codesIn = ({ firstCode, lastCode }: DataFile): number =>
    firstCode === null || lastCode === null ? codes.length : codesBetween(codes, firstCode, lastCode);
  return sum(files.map((file) => codesIn(file) * Math.min(file.rows, ROW_GROUP_ROWS.byCode / 2)));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);

// Groups of files that one scan reads. Small neighbours are joined and large files are cut, so that neither a page nor
// a client waits.

/** Files of one clustering that contain a part of a response. */
export interface FileGroup {
  readonly clustering: Clustering;
  readonly files: readonly DataFile[];
  /** The group stands only for the rows of these dates: first and last, `YYYYMMDD` inclusive; null for all rows. */
  readonly onlyDates: readonly [string, string] | null;
  /** The rows that are read of the only file, from inclusive to exclusive; null for all. */
  readonly rowRange: readonly [number, number] | null;
}

export const dateGroup = (files: readonly DataFile[], rowRange: FileGroup["rowRange"] = null): FileGroup => ({
  clustering: "byDate",
  files,
  onlyDates: null,
  rowRange,
});

export const rowsIn = (files: readonly DataFile[]): number => files.reduce((sum, { rows }) => sum + rows, 0);

/**
 * Files of at most this many rows share one scan, so that the first rows come early and a limit ends the scans soon.
 */
const ROWS_PER_SCAN = 1_000_000;

/** A page reads at least this many rows in one scan, so that a selective filter needs few scans. */
const LEAST_ROWS = 8_192;

/**
 * Joins adjacent date files: one scan reads them in order. It opens all of them, so the first group has about as many
 * rows as a page, and each group twice as many as the one before it, up to `atMost`.
 */
export function* joinGroups(
  groups: Iterable<FileGroup>,
  limit: number | null,
  atMost = ROWS_PER_SCAN,
): Generator<FileGroup, void, undefined> {
  let last: (FileGroup & { readonly files: DataFile[] }) | null = null;
  let most = limit === null ? atMost : Math.min(Math.max(limit + 1, LEAST_ROWS), atMost);
  let rows = 0;
  for (const group of groups) {
    const more = rowsIn(group.files);
    if (last && isWholeFiles(last) && isWholeFiles(group) && rows + more <= most) {
      last.files.push(...group.files);
      rows += more;
    } else {
      if (last) {
        yield last;
        most = Math.min(most * 2, atMost);
      }
      last = { ...group, files: [...group.files] };
      rows = more;
    }
  }
  if (last) yield last;
}

const isWholeFiles = ({ clustering, rowRange }: FileGroup): boolean => clustering === "byDate" && rowRange === null;

/** Rows of a range that is read backwards. They are sorted in memory, so the number is limited. */
const ROWS_BACKWARDS = 491_520;

/**
 * Cuts a date file into ranges, from its end or from the end of the previous page backwards. The first range is about
 * as long as a page, each further one twice as long as the one before it, so that a page reads little and a long
 * response is sorted range by range.
 */
export function cutBackwards(group: FileGroup, limit: number | null, after: Position | null): readonly FileGroup[] {
  const [file] = group.files;
  if (group.clustering === "byCode" || !file) return [group];
  const inFile = after !== null && (after.date === null ? file.first === null : holdsDate(file, after.date));
  const ranges: FileGroup[] = [];
  let rows = Math.min(Math.max((limit ?? ROWS_BACKWARDS) + 1, LEAST_ROWS), ROWS_BACKWARDS);
  const last = inFile ? Math.min(after.row, file.rows) : file.rows;
  for (let end = last; end > 0; end -= rows, rows = Math.min(rows * 2, ROWS_BACKWARDS)) {
    ranges.push({ ...group, rowRange: [Math.max(0, end - rows), end] });
  }
  return ranges;
}

const holdsDate = ({ first, last }: DataFile, date: string): boolean =>
  first !== null && last !== null && first <= date && date <= last;

/** Rows of a range: two row groups. Each range costs a statement. */
const ROWS_PER_RANGE = 2 * ROW_GROUP_ROWS.byDate;

/** Cuts date files into groups of about that many rows: ranges of large files, several small files. */
export function cutIntoRanges(files: readonly DataFile[]): readonly FileGroup[] {
  const ranges = files.flatMap((file): readonly FileGroup[] => {
    const count = Math.max(1, Math.round(file.rows / ROWS_PER_RANGE));
    if (count === 1) return [dateGroup([file])];
    return Array.from({ length: count }, (_, i) => {
      const end = i + 1 === count ? file.rows : (i + 1) * ROWS_PER_RANGE;
      return dateGroup([file], [i * ROWS_PER_RANGE, end]);
    });
  });
  return [...joinGroups(ranges, null, ROWS_PER_RANGE)];
}

export const rowsOfGroup = ({ files, rowRange }: Pick<FileGroup, "files" | "rowRange">): number =>
  rowRange ? rowRange[1] - rowRange[0] : rowsIn(files);

/** Whether no row of a group was on a previous page. */
export const isBehind = (group: FileGroup, after: Position | null, order: "asc" | "desc"): boolean =>
  after === null || isBefore(group, after, order === "asc" ? "desc" : "asc");

/** Whether all rows of a group were on previous pages. */
export function isBefore({ onlyDates, files }: FileGroup, after: Position | null, order: "asc" | "desc"): boolean {
  if (after === null) return false;
  const first = onlyDates?.[0] ?? files[0]!.first;
  const last = onlyDates?.[1] ?? files.at(-1)!.last;
  if (first === null || last === null) return order === "desc" && after.date !== null;
  if (after.date === null) return order === "asc" && files[0]!.first !== null;
  return order === "asc" ? last < after.date : first > after.date;
}
