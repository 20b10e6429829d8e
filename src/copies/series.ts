// Rows of some codes from files by code, in the order of their dates.
import type { RecordBatch } from "apache-arrow";
import { ahead } from "../ahead.js";
import { columnsOf, isPresent, schemaOf } from "../arrow-data.js";
import type { Column } from "../catalog/types.js";
import type { Places } from "./gather.js";
import { byBytes, type DayBounds, type RowRange, type Wanted } from "./pick.js";
import { allDone } from "./open.js";
import { batchOf, copyOf } from "./rows.js";
import { type File, gathered, inOrder, read, slicesIn, withColumn } from "./slices.js";
import { createSpace, freed, inSpace, type Space } from "./space.js";

/** The rows of a code in a file. */
export interface CodeRange {
  readonly file: File;
  readonly code: string;
  readonly range: RowRange;
}

type Batches = AsyncGenerator<RecordBatch, void, undefined>;

/** The rows of each code are in one range. */
export function seriesOf(
  ranges: readonly CodeRange[],
  wanted: Wanted,
  columns: readonly Column[],
  limit: number,
): Batches {
  const { days, dates, beyond, descending } = wanted;
  if (ranges.length === 1 && days === null && dates === null && beyond === null && !descending) {
    return inOrder(
      ranges.flatMap(({ file, range }) => slicesIn(file, range)),
      limit,
    );
  }
  return byDates(ranges, wanted, columns, limit);
}

async function* byDates(
  ranges: readonly CodeRange[],
  wanted: Wanted,
  columns: readonly Column[],
  limit: number,
): Batches {
  const space = createSpace();
  try {
    const read = ranges.length <= AT_ONCE ? await readIn(ranges, space) : await readCompactly(ranges);
    const series = read.map((one) => withinDates(one, wanted));
    if (series.length === 1 && wanted.dates === null && !wanted.descending) {
      yield* cutOut(series[0]!, columns, limit);
      return;
    }
    const batches: RecordBatch[] = [];
    const lists = series.map((one): Series & { readonly first: number } => {
      batches.push(...one.batches);
      return { ...one, first: batches.length - one.batches.length };
    });
    const places = merged(lists, wanted.dates);
    const rows = places.row.length;
    if (wanted.descending) for (const values of [places.batch, places.row]) values.reverse();
    yield* gathered(columns, batches, places, Math.min(rows, limit));
  } finally {
    space.free();
  }
}

type ReadRange = CodeRange & Pick<Series, "batches">;

/** Codes that are read at the same time. */
const AT_ONCE = 8;

/** The rows of each range, whose bytes are in `space`, with the date in the last column. */
const readIn = (ranges: readonly CodeRange[], space: Space): Promise<ReadRange[]> =>
  allDone(
    ranges.map(async ({ file, code, range }) => {
      const { date } = file.copy.index;
      const slices = slicesIn(date === null ? file : withColumn(file, date), range);
      return { file, code, range, batches: await allDone(slices.map((slice) => read(slice, space))) };
    }),
  );

/** The same of many ranges: a read takes more bytes than the rows have, so only these are kept. */
async function readCompactly(ranges: readonly CodeRange[]): Promise<ReadRange[]> {
  const groups = Array.from({ length: Math.ceil(ranges.length / AT_ONCE) }, (_, i) =>
    ranges.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  );
  const all: ReadRange[] = [];
  for await (const [, { result, space }] of ahead(groups, 1, inSpace(readIn), freed)) {
    all.push(...result.map((one) => ({ ...one, batches: one.batches.map(copyOf) })));
    space.free();
  }
  return all;
}

/** The rows of a code: those from `from` to `to`, exclusive, of the rows of `batches`. */
interface Series {
  readonly batches: readonly RecordBatch[];
  readonly from: number;
  readonly to: number;
  /** Of all rows of `batches`: days since 1970, ascending; missing ones are Infinity and come last. */
  readonly dates: Float64Array;
}

/** The rows of the wanted dates of a code, which are sorted by date. */
function withinDates(
  { file, code, range: [first], batches }: CodeRange & Pick<Series, "batches">,
  { days, beyond, descending }: Wanted,
): Series {
  const dates = datesOf(batches, file.copy.index.date !== null);
  const [start, last]: DayBounds = days ?? [-Infinity, Infinity];
  let from = lowerBound(dates, start);
  let to = days === null ? dates.length : lowerBound(dates, last, true);
  if (beyond !== null) {
    const day = beyond.date ?? Infinity;
    const [before, after] = [lowerBound(dates, day), lowerBound(dates, day, true)];
    const side = byBytes(code, beyond.code ?? "");
    const row = Math.min(Math.max(beyond.row - first + (descending ? 0 : 1), before), after);
    const at = side === 0 ? row : side < 0 ? after : before;
    if (descending) to = Math.min(to, at);
    else from = Math.max(from, at);
  }
  return { batches, from, to: Math.max(from, to), dates };
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

/** The dates are in the last column, if there are any. */
function datesOf(batches: readonly RecordBatch[], areThere: boolean): Float64Array {
  const days = new Float64Array(batches.reduce((sum, { numRows }) => sum + numRows, 0));
  let at = 0;
  for (const batch of areThere ? batches : []) {
    const column = columnsOf(batch).at(-1)!;
    for (let row = 0; row < batch.numRows; row++) {
      days[at++] = isPresent(column, row) ? (column.values[row] as number) : Infinity;
    }
  }
  return days;
}

/** The first rows of a series, without the column of its dates. */
function* cutOut({ batches, from, to }: Series, columns: readonly Column[], limit: number): Generator<RecordBatch> {
  const schema = schemaOf(columns);
  const end = Math.min(to, from + limit);
  let first = 0;
  for (const batch of batches) {
    const [low, high] = [Math.max(from, first) - first, Math.min(end, first + batch.numRows) - first];
    first += batch.numRows;
    if (low >= high) continue;
    const { numRows, data } = batch.slice(low, high);
    yield batchOf(schema, numRows, data.children.slice(0, columns.length));
  }
}

/**
 * The rows of several series by date, then in the order of the series, then in their own; only those with one of the
 * dates `among`, unless it is null. The batches of a series have numbers from `first` on.
 */
function merged(lists: readonly (Series & { readonly first: number })[], among: Wanted["dates"]): Places {
  const starts = startsOf(lists, among);
  const rows = starts.rows;
  const places = { batch: new Int32Array(rows), row: new Int32Array(rows) };
  for (const { batches, from, to, dates, first } of lists) {
    let [number, end] = [-1, 0];
    let start = 0;
    for (let at = from; at < to; at++) {
      while (at >= end) {
        start = end;
        end += batches[++number]!.numRows;
      }
      const place = starts.take(dates[at]!);
      if (place < 0) continue;
      places.batch[place] = first + number;
      places.row[place] = at - start;
    }
  }
  return places;
}

/** Where the rows of each date go. `take` returns the place of the next row of a date; -1 if it is not wanted. */
function startsOf(
  lists: readonly Series[],
  among: Wanted["dates"],
): { readonly rows: number; take(date: number): number } {
  let [least, most] = [Infinity, -Infinity];
  for (const { dates, from, to } of lists) {
    for (let at = from; at < to && dates[at]! < Infinity; at++) {
      if (dates[at]! < least) least = dates[at]!;
      if (dates[at]! > most) most = dates[at]!;
    }
  }
  // A slot for each day, and one for rows without a date.
  const slots = most < least ? 1 : most - least + 2;
  const slotOf = (date: number): number => (date === Infinity ? slots - 1 : date - least);
  const wanted = new Uint8Array(slots).fill(among === null ? 1 : 0);
  for (const date of among ?? []) {
    const slot = slotOf(date ?? Infinity);
    if (slot >= 0 && slot < slots && (date === null || slot < slots - 1)) wanted[slot] = 1;
  }
  const counts = new Int32Array(slots);
  for (const { dates, from, to } of lists) for (let at = from; at < to; at++) counts[slotOf(dates[at]!)]!++;
  let rows = 0;
  const next = counts.map((count, slot) => {
    const start = rows;
    if (wanted[slot] === 1) rows += count;
    return start;
  });
  return {
    rows,
    take(date) {
      const slot = slotOf(date);
      return wanted[slot] === 1 ? next[slot]!++ : -1;
    },
  };
}
