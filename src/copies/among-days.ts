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
  const keys = codes.map((code) => Buffer.from(code));
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

/** The days of a slice as ranges of its rows. */
function runsIn({ copy: { index } }: File, { batch, from, to }: Slice): readonly RowRange[] {
  const { dates, rows } = index;
  const [first, end] = [batch.firstRow + from, batch.firstRow + to];
  return dates.flatMap(([, start], i): readonly RowRange[] => {
    const [low, high] = [Math.max(start, first), Math.min(endOf(dates, i, rows), end)];
    return low < high ? [[low - first, high - first]] : [];
  });
}

function rowsOfCodes(codes: ColumnData, runs: readonly RowRange[], keys: readonly Buffer[]): Int32Array {
  const bytes = Buffer.from(codes.values.buffer, codes.values.byteOffset, codes.values.byteLength);
  const compare = (row: number, key: Buffer): number =>
    isPresent(codes, row)
      ? bytes.compare(key, 0, key.length, codes.valueOffsets![row], codes.valueOffsets![row + 1])
      : 1;
  const rows: number[] = [];
  for (const [from, to] of runs) {
    let start = from;
    for (const key of keys) {
      let [low, high] = [start, to];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (compare(middle, key) < 0) low = middle + 1;
        else high = middle;
      }
      for (start = low; start < to && compare(start, key) === 0; start++) rows.push(start);
    }
  }
  return Int32Array.from(rows);
}
