// The dates on which two versions of an entity hold different files, cut into parts that are compared one by one.
import { formatDays, toDays } from "../dates.js";
import type { DataFile, FileList } from "../lake/manifest.js";
import { rowsIn, type DateBounds } from "./files.js";

/** Consecutive dates, `YYYYMMDD` inclusive, and the files that hold them; the rows without a date are one part. */
export interface Part {
  readonly first: string | null;
  readonly last: string | null;
  readonly older: readonly DataFile[];
  readonly newer: readonly DataFile[];
  /** About how many rows of both versions are compared. */
  readonly rows: number;
}

/** A part opens at most this many files. */
const MOST_FILES = 256;

/**
 * The parts within the bounds, in date order, rows without a date last. Files that both versions hold are left out. A
 * part has at most about `mostRows` rows, or a single date.
 */
export function differingParts(
  older: FileList,
  newer: FileList,
  { start, end }: DateBounds,
  mostRows: number,
): readonly Part[] {
  const [gone, fresh] = differing(older.byDate, newer.byDate);
  const parts: Part[] = [];
  for (const piece of piecesOf(gone.filter(isDated), fresh.filter(isDated), { start, end }, mostRows)) {
    const last = parts.at(-1);
    const joined = last && join(last, piece);
    if (joined && joined.rows <= mostRows && joined.older.length + joined.newer.length <= MOST_FILES) {
      parts[parts.length - 1] = joined;
    } else parts.push(piece);
  }
  const undated = [gone, fresh].map((files) => files.filter((file) => !isDated(file)));
  if (start !== null || end !== null || undated.flat().length === 0) return parts;
  return [...parts, { first: null, last: null, older: undated[0]!, newer: undated[1]!, rows: rowsIn(undated.flat()) }];
}

/** The files that only one of the lists has. Most lists begin and end with the same files. */
function differing(
  a: readonly DataFile[],
  b: readonly DataFile[],
): readonly [readonly DataFile[], readonly DataFile[]] {
  let [begin, end] = [0, 0];
  const most = Math.min(a.length, b.length);
  while (begin < most && a[begin]!.sha256 === b[begin]!.sha256) begin++;
  while (begin + end < most && a.at(-1 - end)!.sha256 === b.at(-1 - end)!.sha256) end++;
  const [ours, theirs] = [a.slice(begin, a.length - end), b.slice(begin, b.length - end)];
  return [without(ours, theirs), without(theirs, ours)];
}

function without(files: readonly DataFile[], others: readonly DataFile[]): readonly DataFile[] {
  const shared = new Set(others.map(({ sha256 }) => sha256));
  return files.filter(({ sha256 }) => !shared.has(sha256));
}

const isDated = ({ first }: DataFile): boolean => first !== null;

function join(a: Part, b: Part): Part {
  const files = (side: "older" | "newer"): readonly DataFile[] => [...new Set([...a[side], ...b[side]])];
  return { first: a.first, last: b.last, older: files("older"), newer: files("newer"), rows: a.rows + b.rows };
}

/** The dates between any two borders of files: each version has at most one file there. Long ones are cut evenly. */
function* piecesOf(
  older: readonly DataFile[],
  newer: readonly DataFile[],
  { start, end }: DateBounds,
  mostRows: number,
): Generator<Part> {
  const from = start === null ? -Infinity : toDays(start);
  const until = end === null ? Infinity : toDays(end) + 1;
  const borders = [...older, ...newer].flatMap(({ first, last }) => [toDays(first!), toDays(last!) + 1]);
  const days = [...new Set(borders.map((day) => Math.min(Math.max(day, from), until)))].sort((a, b) => a - b);
  const olderAt = finder(older);
  const newerAt = finder(newer);
  for (const [i, day] of days.slice(0, -1).entries()) {
    const next = days[i + 1]!;
    const [inOlder, inNewer] = [olderAt(day), newerAt(day)];
    const files = [...inOlder, ...inNewer];
    if (files.length === 0) continue;
    const rows = files.reduce((sum, file) => sum + (file.rows * (next - day)) / daysIn(file), 0);
    const count = Math.max(1, Math.min(next - day, Math.ceil(rows / mostRows)));
    for (let n = 0; n < count; n++) {
      const [first, after] = [n, n + 1].map((k) => day + Math.round(((next - day) * k) / count));
      const dates = { first: formatDays(first!), last: formatDays(after! - 1) };
      yield { ...dates, older: inOlder, newer: inNewer, rows: Math.ceil(rows / count) };
    }
  }
}

const daysIn = ({ first, last }: DataFile): number => toDays(last!) - toDays(first!) + 1;

/** Returns a function that finds the file of a day. Days must be asked for in ascending order. */
function finder(files: readonly DataFile[]): (day: number) => readonly DataFile[] {
  let at = 0;
  return (day) => {
    while (at < files.length && toDays(files[at]!.last!) < day) at++;
    const file = files[at];
    return file && toDays(file.first!) <= day ? [file] : [];
  };
}
