// Rows of some codes from files by date: on each day, the rows are sorted by code.
import type { RecordBatch } from "apache-arrow";
import { type ColumnData, columnsOf, isPresent } from "../arrow-data.js";
import type { Column } from "../catalog/types.js";
import { endOf, type RowRange } from "./pick.js";
import type { Slice } from "./rows.js";
import { eachOf, type File, gathered, slicesIn, withColumn } from "./slices.js";

/** Rows of a file in which codes are looked for. */
export interface FileRange {
  readonly file: File;
  readonly range: RowRange;
}

/** Rows of some codes on some days: on each day, the rows are sorted by code. */
export function amongDays(
  ranges: readonly FileRange[],
  codes: readonly string[],
  descending: boolean,
  columns: readonly Column[],
  limit: number,
): AsyncGenerator<RecordBatch, void, undefined> {
  const keys = keysOf(codes);
  const slices = ranges.flatMap(({ file, range }) => slicesIn(withColumn(file, file.copy.index.code), range));
  let left = limit;
  return eachOf(descending ? slices.toReversed() : slices, (batch, { file, slice }) => {
    if (left === 0) return null;
    const rows = rowsOfCodes(columnsOf(batch).at(-1)!, runsIn(file, slice), keys);
    if (descending) rows.reverse();
    const taken = rows.subarray(0, left);
    left -= taken.length;
    return gathered(columns, [batch], { batch: new Int32Array(taken.length), row: taken }, taken.length);
  });
}

/** The days of a slice as ranges of its rows. Without a main date, all rows are sorted by code. */
function runsIn({ copy: { index } }: File, { batch, from, to }: Slice): readonly RowRange[] {
  const { dates, rows } = index;
  if (dates.length === 0) return [[0, to - from]];
  const [first, end] = [batch.firstRow + from, batch.firstRow + to];
  return dates.flatMap(([, start], i): readonly RowRange[] => {
    const [low, high] = [Math.max(start, first), Math.min(endOf(dates, i, rows), end)];
    return low < high ? [[low - first, high - first]] : [];
  });
}

interface Keys {
  /** Sorted. */
  readonly bytes: readonly Buffer[];
  /** The same bytes as characters. */
  readonly texts: ReadonlySet<string>;
}

const keysOf = (codes: readonly string[]): Keys => {
  const bytes = codes.map((code) => Buffer.from(code));
  return { bytes, texts: new Set(bytes.map((key) => key.toString("latin1"))) };
};

/** Searching for one key costs about as much as checking this many rows. */
const ROWS_OF_A_SEARCH = 8;

function rowsOfCodes(codes: ColumnData, runs: readonly RowRange[], keys: Keys): Int32Array {
  const bytes = Buffer.from(codes.values.buffer, codes.values.byteOffset, codes.values.byteLength);
  const rows: number[] = [];
  for (const [from, to] of runs) {
    if (to - from <= keys.bytes.length * ROWS_OF_A_SEARCH) lookAtEach(codes, bytes, [from, to], keys.texts, rows);
    else searchEach(codes, bytes, [from, to], keys.bytes, rows);
  }
  return Int32Array.from(rows);
}

function lookAtEach(
  codes: ColumnData,
  bytes: Buffer,
  [from, to]: RowRange,
  texts: Keys["texts"],
  found: number[],
): void {
  const offsets = codes.valueOffsets!;
  for (let row = from; row < to; row++) {
    if (isPresent(codes, row) && texts.has(bytes.toString("latin1", offsets[row], offsets[row + 1]))) found.push(row);
  }
}

function searchEach(
  codes: ColumnData,
  bytes: Buffer,
  [from, to]: RowRange,
  keys: Keys["bytes"],
  found: number[],
): void {
  const compare = (row: number, key: Buffer): number =>
    isPresent(codes, row)
      ? bytes.compare(key, 0, key.length, codes.valueOffsets![row], codes.valueOffsets![row + 1])
      : 1;
  let start = from;
  for (const key of keys) {
    let [low, high] = [start, to];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(middle, key) < 0) low = middle + 1;
      else high = middle;
    }
    for (start = low; start < to && compare(start, key) === 0; start++) found.push(start);
  }
}
