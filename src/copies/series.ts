// Rows of some codes from files by code, in the order of their dates.
import type { RecordBatch } from "apache-arrow";
import { columnsOf, isPresent } from "../arrow-data.js";
import type { Column } from "../catalog/types.js";
import type { Places } from "./gather.js";
import { byBytes, type DayBounds, type RowRange, type Wanted } from "./pick.js";
import { sliceReader, slicesOf } from "./rows.js";
import { type File, gathered, inOrder, read, slicesIn } from "./slices.js";

/** The rows of a code in a file. */
export interface CodeRange {
  readonly file: File;
  readonly code: string;
  readonly range: RowRange;
}

/** The rows of each code are in one range. */
export async function* seriesOf(
  ranges: readonly CodeRange[],
  wanted: Wanted,
  columns: readonly Column[],
  limit: number,
): AsyncGenerator<RecordBatch, void, undefined> {
  const series = await Promise.all(ranges.map((one) => withinDates(one, wanted)));
  if (series.length <= 1 && !wanted.descending && wanted.dates === null) {
    yield* inOrder(
      series.flatMap(({ file, range }) => slicesIn(file, range)),
      limit,
    );
    return;
  }
  const batches: RecordBatch[] = [];
  const lists: Series[] = [];
  for (const { file, range, dates } of series) {
    const slices = slicesIn(file, range);
    lists.push({
      dates,
      parts: slices.map(({ slice }, i) => ({ batch: batches.length + i, rows: slice.to - slice.from })),
    });
    batches.push(...(await Promise.all(slices.map(read))));
  }
  const places = merged(lists, wanted.dates);
  const rows = places.row.length;
  if (wanted.descending) for (const values of [places.batch, places.row]) values.reverse();
  yield* gathered(columns, batches, places, Math.min(rows, limit));
}

interface Series {
  /** Days since 1970, ascending; missing ones are Infinity and come last. */
  readonly dates: Float64Array;
  readonly parts: readonly { readonly batch: number; readonly rows: number }[];
}

/** The rows of the wanted dates of a code, which are sorted by date. */
async function withinDates(
  { file, code, range: [from, to] }: CodeRange,
  { days, beyond, descending }: Wanted,
): Promise<CodeRange & { readonly dates: Float64Array }> {
  const dates = await datesOf(file, from, to);
  const [first, last]: DayBounds = days ?? [-Infinity, Infinity];
  let start = lowerBound(dates, first);
  let end = days === null ? dates.length : lowerBound(dates, last, true);
  if (beyond !== null) {
    const day = beyond.date ?? Infinity;
    const [before, after] = [lowerBound(dates, day), lowerBound(dates, day, true)];
    const side = byBytes(code, beyond.code ?? "");
    const row = Math.min(Math.max(beyond.row - from + (descending ? 0 : 1), before), after);
    const at = side === 0 ? row : side < 0 ? after : before;
    if (descending) end = Math.min(end, at);
    else start = Math.max(start, at);
  }
  const stop = Math.max(start, end);
  return { file, code, range: [from + start, from + stop], dates: dates.subarray(start, stop) };
}

/** The first position of a value that is not less than `day`; with `after` of one that is greater. */
function lowerBound(days: Float64Array, day: number, after = false): number {
  let [low, high] = [0, days.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (days[middle]! < day || (after && days[middle] === day)) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function datesOf({ copy }: File, from: number, to: number): Promise<Float64Array> {
  const days = new Float64Array(to - from);
  const { columns, date } = copy.index;
  const source = columns.findIndex(({ name }) => name === date);
  if (source < 0) return days;
  const readDates = sliceReader(copy, [{ ...columns[source]!, nullable: true }], [source]);
  let at = 0;
  for (const slice of slicesOf(copy, from, to)) {
    const column = columnsOf(await readDates(slice))[0]!;
    for (let row = 0; row < slice.to - slice.from; row++) {
      days[at++] = isPresent(column, row) ? Number(column.values[row]) : Infinity;
    }
  }
  return days;
}

/**
 * The rows of several series by date, then in the order of the series, then in their own; only those with one of the
 * dates `among`, unless it is null.
 */
function merged(lists: readonly Series[], among: Wanted["dates"]): Places {
  const rows = lists.reduce((sum, { dates }) => sum + dates.length, 0);
  const places = { batch: new Int32Array(rows), row: new Int32Array(rows) };
  const wanted = among && new Set(among.map((date) => date ?? Infinity));
  const next = lists.map(() => ({ at: 0, part: 0, row: 0 }));
  const dates = [...new Set(lists.flatMap((list) => [...list.dates]))].toSorted((a, b) => a - b);
  let filled = 0;
  for (const date of dates) {
    const isWanted = wanted === null || wanted.has(date);
    for (const [i, list] of lists.entries()) {
      const state = next[i]!;
      while (list.dates[state.at] === date) {
        while (state.row === list.parts[state.part]!.rows) {
          state.part++;
          state.row = 0;
        }
        if (isWanted) {
          places.batch[filled] = list.parts[state.part]!.batch;
          places.row[filled++] = state.row;
        }
        state.row++;
        state.at++;
      }
    }
  }
  return { batch: places.batch.subarray(0, filled), row: places.row.subarray(0, filled) };
}
