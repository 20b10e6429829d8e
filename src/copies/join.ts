// Joins rows of several entities that are sorted by day and code, as LEFT JOIN does, batch by batch.
import { type Data, type DataType, makeData, type RecordBatch } from "apache-arrow";
import { ARROW_TYPES, type ColumnData, columnsOf, schemaOf } from "../arrow-data.js";
import type { Column } from "../catalog/types.js";
import { gatherColumn } from "./gather.js";
import { allDone } from "./open.js";
import { batchOf } from "./rows.js";

type Batches = AsyncGenerator<RecordBatch, void, undefined>;

/** A column of the joined rows: one of the first rows, one of the others by their number, or 0 in every row. */
export type From = { readonly of: "first" | number; readonly column: number } | "zero";

/** A day since 1970 and a code. */
export type Key = readonly [day: number, code: string];

/**
 * The rows of `first` after the key `after`, with values of those of `others` that have the same key. In each of them,
 * no key occurs twice, and none is missing; a batch is valid until the next one is requested, and its last two columns
 * are the day and the code.
 */
export async function* joined(
  first: Batches,
  others: readonly Batches[],
  columns: readonly Column[],
  from: readonly From[],
  after: Key | null,
): Batches {
  const schema = schemaOf(columns);
  const followers = others.map(follow);
  let position = after === null ? null : keysOfOne(after);
  try {
    for await (const batch of first) {
      const keys = keysOf(batch);
      let row = 0;
      if (position !== null) {
        while (row < batch.numRows && compare(keys, row, position, 0) <= 0) row++;
        if (row < batch.numRows) position = null;
      }
      for (const one of followers) one.begin(batch.numRows, row);
      while (row < batch.numRows) {
        const start = row;
        await allDone(followers.map((one) => one.advance(start)));
        const end = followers.reduce((least, one) => Math.min(least, one.match(keys)), batch.numRows);
        if (start === end) continue;
        const { children } = batch.slice(start, end).data;
        const values = from.map((one, i): Data => {
          if (one === "zero") return zeros(end - start);
          if (one.of === "first") return children[one.column]!;
          return followers[one.of]!.values(ARROW_TYPES[columns[i]!.type], one.column, start, end);
        });
        yield batchOf(schema, end - start, values);
        row = end;
      }
    }
  } finally {
    await allDone([first, ...others].map((batches) => batches.return()));
  }
}

const zeros = (length: number): Data =>
  makeData({ type: ARROW_TYPES.int64, length, nullCount: 0, data: new BigInt64Array(length) });

/** Finds the rows of `batches` that belong to rows of the first entity, which come in batches of their own. */
function follow(batches: Batches) {
  let sources: readonly ColumnData[] = [];
  let keys: Keys | null = null;
  let isAtEnd = false;
  let [next, rows] = [0, 0];
  /** For each row of the other batch before `done`, the row of this one; -1 if there is none. */
  let places = new Int32Array(0);
  let done = 0;

  return {
    /** A batch of that many rows begins, of which those before `row` are not needed. */
    begin(numRows: number, row: number): void {
      if (places.length < numRows) places = new Int32Array(numRows);
      places.fill(-1);
      done = row;
    },
    /** Goes on to the next batch, unless rows from `row` on may have values of the current one. */
    async advance(row: number): Promise<void> {
      if (isAtEnd || next < rows || done > row) return;
      const batch = await batches.next();
      isAtEnd = batch.done === true;
      keys = batch.done === true ? null : keysOf(batch.value);
      sources = batch.done === true ? [] : columnsOf(batch.value);
      [next, rows] = [0, batch.done === true ? 0 : batch.value.numRows];
    },
    /** Returns the row of the other batch up to which it is known which rows belong to it. */
    match(wanted: Keys): number {
      const all = wanted.days.length;
      if (isAtEnd) done = all;
      while (keys !== null && next < rows && done < all) {
        const order = compare(wanted, done, keys, next);
        if (order === 0) places[done] = next;
        if (order <= 0) done++;
        if (order >= 0) next++;
      }
      return done;
    },
    /** A column for rows of the other batch. */
    values(type: DataType, column: number, from: number, to: number): Data {
      const row = places.subarray(from, to);
      const source = sources[column];
      return gatherColumn(type, source === undefined ? [] : [source], { batch: new Int32Array(row.length), row });
    },
  };
}

/** The keys of the rows of a batch. */
interface Keys {
  readonly days: Int32Array;
  /** The bytes of all codes, and where each starts. */
  readonly bytes: Uint8Array;
  /** The same bytes. */
  readonly words: DataView;
  readonly offsets: Int32Array;
}

function keysOf(batch: RecordBatch): Keys {
  const [date, code] = columnsOf(batch).slice(-2) as [ColumnData, ColumnData];
  return {
    days: (date.values as Int32Array).subarray(0, batch.numRows),
    ...bytesAs(code.values as Uint8Array),
    offsets: code.valueOffsets!,
  };
}

function keysOfOne([day, code]: Key): Keys {
  const bytes = Buffer.from(code);
  return { days: Int32Array.of(day), ...bytesAs(bytes), offsets: Int32Array.of(0, bytes.length) };
}

const bytesAs = (bytes: Uint8Array): Pick<Keys, "bytes" | "words"> => ({
  bytes,
  words: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
});

/** By day, then by the bytes of the code. */
function compare(some: Keys, i: number, others: Keys, j: number): number {
  const days = some.days[i]! - others.days[j]!;
  if (days !== 0) return days;
  let at = some.offsets[i]!;
  let other = others.offsets[j]!;
  const end = some.offsets[i + 1]!;
  const otherEnd = others.offsets[j + 1]!;
  // Mostly the codes are the same.
  for (; at + 4 <= end && other + 4 <= otherEnd; at += 4, other += 4) {
    if (some.words.getInt32(at) !== others.words.getInt32(other)) break;
  }
  for (; at < end && other < otherEnd; at++, other++) {
    const difference = some.bytes[at]! - others.bytes[other]!;
    if (difference !== 0) return difference;
  }
  return end - at - (otherEnd - other);
}
