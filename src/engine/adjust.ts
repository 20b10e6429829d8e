// Adjusted prices. Rows and factors are read as two streams in the same order and merged. Rows keep their order in
// constant memory, and each stream proves that it is complete.
import { type Data, Float64, RecordBatch, makeData } from "apache-arrow";
import { type ColumnData, isPresent } from "../arrow-data.js";
import type { Snapshot } from "../lake/lake.js";
import type { DataFile } from "../lake/manifest.js";
import { lastBarsRead, lastFactorsRead, planFactors } from "../query/adjust.js";
import { requestedDates } from "../query/conditions.js";
import type { Position } from "../query/cursor.js";
import { type AdjustedColumn, type EntityRequest, adjustedColumns, codeFilter, shownKeys } from "../query/request.js";
import type { CodeDates, Read, Scan } from "../query/scan.js";
import { createCache } from "./cache.js";
import { type Value, readColumns } from "./calendars.js";
import type { Reader, Rows, ReadSession } from "./reader.js";

/** The factors of a request, ready to be applied to its rows. */
export interface Adjusting {
  /** What adjusted rows of these scans depend on, and the files that are read for it. */
  of(scans: readonly Scan[]): { readonly key: readonly unknown[]; readonly files: readonly DataFile[] };
  /** Wraps a session: it yields adjusted rows of these scans of the request, from the beginning or after the previous page. */
  over(session: ReadSession, scans: readonly Scan[]): Rows;
}

export interface Adjustments {
  /**
   * Prepares the adjustment of `request` after position `after`; null if there is nothing to adjust. Throws what
   * `Reader.read` throws. Call it before a session is opened: it may need one itself.
   */
  prepare(
    snapshot: Snapshot,
    request: EntityRequest,
    after: Position | null,
    signal: AbortSignal,
  ): Promise<Adjusting | null>;
}

/** How many tables of last factors are cached: enough for a few versions and dates. */
const KEPT = 16;

export function createAdjustments(reader: Reader): Adjustments {
  const cache = createCache<LastFactors>(KEPT);

  const lastFactors = (snapshot: Snapshot, request: EntityRequest, signal: AbortSignal): Promise<LastFactors> => {
    const { name, adjustment } = request.entity;
    const { factors } = adjustment!;
    const bars = lastBarsRead(request, snapshot.files(name));
    const find = async (finding: AbortSignal): Promise<LastFactors> => {
      const [codes, dates] = (await readColumns(reader, bars, finding)) as [string[], string[]];
      const read = lastFactorsRead(request, snapshot.files(factors), latestOf(codes, dates));
      return createLastFactors(await readColumns(reader, read, finding));
    };
    if (codeFilter(request) !== null) return find(signal);
    const { lists } = snapshot.version;
    return cache.get(JSON.stringify([lists[factors], lists[name], requestedDates(request), bars.scans]), find, signal);
  };

  return {
    async prepare(snapshot, request, after, signal) {
      const adjusted = adjustedColumns(request);
      if (adjusted.length === 0) return null;
      const { name, adjustment } = request.entity;
      const { factors: factorsName, days } = adjustment!;
      const { lists } = snapshot.version;
      const { adjust, adjustVolume } = request;
      const last = adjust === "forward" ? await lastFactors(snapshot, request, signal) : null;
      // The position follows the columns that are shown.
      const keys = shownKeys(request) ?? [request.columns.length, request.columns.length + 1];
      const anchor = last === null ? null : [lists[factorsName], lists[name], requestedDates(request)];
      const key = [adjust, adjustVolume, anchor];
      if (days) {
        const over = (session: ReadSession): Rows => rebased(session, adjusted, last!, keys);
        return last === null ? null : { of: () => ({ key, files: [] }), over };
      }
      const planOf = (scans: readonly Scan[]): Read => planFactors(request, snapshot.files(factorsName), after, scans);
      const direction = request.order === "asc" ? 1 : -1;
      return {
        of(scans) {
          const files = planOf(scans).scans.flatMap((scan) => scan.files);
          return { key: [...key, files.map(({ sha256 }) => sha256)], files };
        },
        over: (session, scans) => ({
          async *read(rowScans, rowColumns, wanted) {
            const plan = planOf(scans);
            const factors = session.read(plan.scans, plan.columns, wanted);
            try {
              const scalesOf = scalesFrom(factors, last, keys, direction);
              for await (const batch of session.read(rowScans, rowColumns, wanted)) {
                yield scaled(batch, adjusted, await scalesOf(batch));
              }
            } finally {
              await factors.return(undefined);
            }
          },
        }),
      };
    },
  };
}

/** Rows that are adjusted backward, with these columns rebased by the last factor of their code. */
const rebased = (
  session: ReadSession,
  adjusted: readonly AdjustedColumn[],
  last: LastFactors,
  [dates, codes]: readonly [number, number],
): Rows => ({
  async *read(scans, columns, wanted) {
    for await (const batch of session.read(scans, columns, wanted)) {
      const keys = keysOf(batch, dates, codes);
      const scales = Float64Array.from({ length: keys.rows }, (_, row) => 1 / last.of(keys, row));
      yield scaled(batch, adjusted, scales);
    }
  },
});

interface FactorBatch extends Keys {
  readonly factors: Float64Array;
}

/** Returns a function that computes the multiplier of each row's prices, NaN if there is no factor. */
function scalesFrom(
  stream: AsyncIterator<RecordBatch>,
  last: LastFactors | null,
  [dates, codes]: readonly [number, number],
  direction: 1 | -1,
): (batch: RecordBatch) => Promise<Float64Array> {
  const next = async (): Promise<FactorBatch | null> => {
    const found = await stream.next();
    return found.done ? null : { ...keysOf(found.value, 0, 1), factors: factorsIn(found.value) };
  };
  // The first factors are fetched while the first rows are read.
  const first = next();
  first.catch(() => undefined); // errors are thrown at the await
  let ahead: FactorBatch | null | undefined;
  let at = 0;
  return async (batch) => {
    if (ahead === undefined) ahead = await first;
    const keys = keysOf(batch, dates, codes);
    const scales = new Float64Array(keys.rows).fill(Number.NaN);
    for (let row = 0; row < keys.rows; row++) {
      let distance = -1;
      while (ahead !== null && (distance = direction * compareKeys(ahead, at, keys, row)) < 0) {
        if (++at < ahead.rows) continue;
        ahead = await next();
        at = 0;
      }
      if (ahead === null) break;
      if (distance > 0) continue;
      const factor = ahead.factors[at]!;
      scales[row] = last === null ? factor : factor / last.of(keys, row);
    }
    return scales;
  };
}

/** A column of numbers: the Arrow library types its buffers as `any`. */
interface Numbers extends ColumnData {
  readonly values: Float64Array;
}

/** The factors of a batch; NaN if one is missing or not positive. */
function factorsIn(batch: RecordBatch): Float64Array {
  const numbers: Numbers = batch.data.children[2]!;
  return numbers.values.map((value, i) => (value > 0 && isPresent(numbers, i) ? value : Number.NaN));
}

/** The batch with some columns multiplied or divided; null if no factor applies. */
function scaled(batch: RecordBatch, columns: readonly AdjustedColumn[], scales: Float64Array): RecordBatch {
  const children = [...batch.data.children];
  for (const { index, divided } of columns) children[index] = times(children[index]!, scales, divided);
  return new RecordBatch(
    batch.schema,
    makeData({ type: batch.data.type, length: batch.numRows, nullCount: 0, children }),
  );
}

function times(numbers: Numbers, scales: Float64Array, divided: boolean): Data {
  const length = scales.length;
  const products = new Float64Array(length);
  const nullBitmap = new Uint8Array((length + 7) >> 3);
  let nullCount = 0;
  for (let i = 0; i < length; i++) {
    const product = divided ? numbers.values[i]! / scales[i]! : numbers.values[i]! * scales[i]!;
    if (Number.isFinite(product) && isPresent(numbers, i)) {
      products[i] = product;
      nullBitmap[i >> 3]! |= 1 << (i & 7);
    } else nullCount++;
  }
  return makeData({ type: new Float64(), length, nullCount, nullBitmap, data: products });
}

// The last factor of each code, as a sorted table.

interface LastFactors {
  /** The factor of a row's code, NaN if it has none. Fast if rows are ordered by code, ascending or descending. */
  of(rows: Codes, row: number): number;
}

/** The latest date of each code. */
function latestOf(codes: readonly string[], dates: readonly string[]): CodeDates {
  const latest = new Map<string, string>();
  for (const [i, code] of codes.entries()) if (dates[i]! > (latest.get(code) ?? "")) latest.set(code, dates[i]!);
  return { codes: [...latest.keys()], dates: [...latest.values()] };
}

/** From columns of code, date and factor. If a code occurs several times, its latest row counts. */
function createLastFactors([codes, dates, factors]: readonly (readonly Value[])[]): LastFactors {
  const latest = new Map<string, number>();
  for (const [i, code] of codes!.entries()) {
    const known = latest.get(code as string);
    if (known === undefined || dates![i]! > dates![known]!) latest.set(code as string, i);
  }
  const sorted = [...latest].map(([code, i]) => ({ code: Buffer.from(code), factor: Number(factors![i]) }));
  sorted.sort((a, b) => Buffer.compare(a.code, b.code));
  const table: Codes = {
    codes: Buffer.concat(sorted.map(({ code }) => code)),
    offsets: new Int32Array(sorted.length + 1),
  };
  for (const [i, { code }] of sorted.entries()) table.offsets[i + 1] = table.offsets[i]! + code.length;
  const values = Float64Array.from(sorted, ({ factor }) => factor);
  let found = 0;

  return {
    of(rows, row) {
      for (let i = Math.max(0, found - 1); i < values.length && i <= found + 1; i++) {
        if (compareCodes(table, i, rows, row) === 0) return values[(found = i)]!;
      }
      let low = 0;
      let high = values.length - 1;
      while (low <= high) {
        const middle = (low + high) >> 1;
        const order = compareCodes(table, middle, rows, row);
        if (order === 0) return values[(found = middle)]!;
        if (order < 0) low = middle + 1;
        else high = middle - 1;
      }
      return Number.NaN;
    },
  };
}

// Date and code of each row of a batch, compared without creating a string or an object per row.

/** Codes, concatenated. */
interface Codes {
  readonly codes: Uint8Array;
  /** Where in `codes` each code starts, and the end of the last one. */
  readonly offsets: Int32Array;
}

interface Keys extends Codes {
  readonly rows: number;
  /** Days since 1970-01-01. */
  readonly dates: Int32Array;
}

/** The keys in the columns with these indexes. */
function keysOf(batch: RecordBatch, dates: number, codes: number): Keys {
  const [date, code] = [batch.data.children[dates]!, batch.data.children[codes]!];
  return {
    rows: batch.numRows,
    dates: date.values as Int32Array,
    codes: code.values as Uint8Array,
    offsets: code.valueOffsets as Int32Array,
  };
}

/** Compares two rows by date and then by code, the order of the lake: negative, 0 or positive. */
function compareKeys(a: Keys, i: number, b: Keys, j: number): number {
  return a.dates[i]! - b.dates[j]! || compareCodes(a, i, b, j);
}

/** Compares the bytes of two codes. */
function compareCodes(a: Codes, i: number, b: Codes, j: number): number {
  let p = a.offsets[i]!;
  let q = b.offsets[j]!;
  const endOfA = a.offsets[i + 1]!;
  const endOfB = b.offsets[j + 1]!;
  while (p < endOfA && q < endOfB) {
    const difference = a.codes[p++]! - b.codes[q++]!;
    if (difference !== 0) return difference;
  }
  return endOfA - p - (endOfB - q);
}
