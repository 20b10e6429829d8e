// Groups of files that one scan reads. Small neighbours are joined and large files are cut, so that neither a page nor
// a client waits.
import { ROW_GROUP_ROWS, type Clustering, type DataFile } from "../lake/manifest.js";
import type { Position } from "./cursor.js";

/** Files of one clustering that contain a part of a response. */
export interface FileGroup {
  readonly clustering: Clustering;
  readonly files: readonly DataFile[];
  /** First and last main date, `YYYYMMDD` inclusive; null if the files contain nothing else. */
  readonly span: readonly [string, string] | null;
  /** The rows that are read of the only file, from inclusive to exclusive; null for all. */
  readonly rowRange: readonly [number, number] | null;
}

export const dateGroup = (files: readonly DataFile[], rowRange: FileGroup["rowRange"] = null): FileGroup => ({
  clustering: "byDate",
  files,
  span: null,
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
export function joinGroups(
  groups: readonly FileGroup[],
  limit: number | null,
  atMost = ROWS_PER_SCAN,
): readonly FileGroup[] {
  const joined: FileGroup[] = [];
  let most = limit === null ? atMost : Math.min(Math.max(limit + 1, LEAST_ROWS), atMost);
  let rows = 0;
  for (const group of groups) {
    const last = joined.at(-1);
    const more = rowsIn(group.files);
    if (last && isWholeFiles(last) && isWholeFiles(group) && rows + more <= most) {
      joined[joined.length - 1] = { ...last, files: [...last.files, ...group.files] };
      rows += more;
    } else {
      if (last) most = Math.min(most * 2, atMost);
      joined.push(group);
      rows = more;
    }
  }
  return joined;
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
  return joinGroups(ranges, null, ROWS_PER_RANGE);
}

/** Whether all rows of a group were on previous pages. */
export function isBefore({ span, files }: FileGroup, after: Position | null, order: "asc" | "desc"): boolean {
  if (after === null) return false;
  const first = span?.[0] ?? files[0]!.first;
  const last = span?.[1] ?? files.at(-1)!.last;
  if (first === null || last === null) return order === "desc" && after.date !== null;
  if (after.date === null) return order === "asc" && files[0]!.first !== null;
  return order === "asc" ? last < after.date : first > after.date;
}
