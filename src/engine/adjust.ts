// Adjusted prices. Rows and factors are read as two streams in the same order and merged. Rows keep their order in
// constant memory, and each stream proves that it is complete.
import { type Data, Float64, RecordBatch, makeData } from "apache-arrow";
import { type ColumnData, isPresent } from "../arrow-data.js";
import type { Snapshot } from "../lake/lake.js";
import type { DataFile } from "../lake/manifest.js";
import { lastFactorsRead, planFactors } from "../query/adjust.js";
import type { Position } from "../query/cursor.js";
import { type EntityRequest, adjustedColumns, codeFilter } from "../query/request.js";
import { createCache } from "./cache.js";
import { type Value, readColumns } from "./calendars.js";
import { type Codes, type Keys, compareCodes, compareKeys, keysOf } from "./keys.js";
import type { Reader, Rows, ReadSession } from "./reader.js";

/** The factors of a request, ready to be applied to its rows. */
interface Adjusting {
  /** Files that are read before any row. */
  readonly files: readonly DataFile[];
  /** Wraps a session: it yields adjusted rows of the request, from the beginning or after the previous page. */
  over(session: ReadSession): Rows;
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
    const { factors } = request.entity.adjustment!;
    const read = lastFactorsRead(request, snapshot.files(factors));
    const find = async (finding: AbortSignal): Promise<LastFactors> =>
      createLastFactors(await readColumns(reader, read, finding));
    if (codeFilter(request) !== null) return find(signal);
    return cache.get(JSON.stringify([snapshot.version.lists[factors], read.scans]), find, signal);
  };

  return {
    async prepare(snapshot, request, after, signal) {
      const prices = adjustedColumns(request);
      if (prices.length === 0) return null;
      const { columns, scans } = planFactors(request, snapshot.files(request.entity.adjustment!.factors), after);
      const last = request.adjust === "forward" ? await lastFactors(snapshot, request, signal) : null;
      const dateColumn = request.columns.length;
      const direction = request.order === "asc" ? 1 : -1;
      const over = (session: ReadSession): Rows => ({
        async *read(rowScans, rowColumns, wanted) {
          const factors = session.read(scans, columns, "some");
          try {
            const scalesOf = scalesFrom(factors, last, dateColumn, direction);
            for await (const batch of session.read(rowScans, rowColumns, wanted)) {
              yield scaled(batch, prices, await scalesOf(batch));
            }
          } finally {
            await factors.return(undefined);
          }
        },
      });
      return { files: scans[0]?.files ?? [], over };
    },
  };
}

interface FactorBatch extends Keys {
  readonly factors: Float64Array;
}

/** Returns a function that computes the multiplier of each row's prices, NaN if there is no factor. */
function scalesFrom(
  stream: AsyncIterator<RecordBatch>,
  last: LastFactors | null,
  dateColumn: number,
  direction: 1 | -1,
): (batch: RecordBatch) => Promise<Float64Array> {
  const next = async (): Promise<FactorBatch | null> => {
    const found = await stream.next();
    return found.done ? null : { ...keysOf(found.value, 0), factors: factorsIn(found.value) };
  };
  // The first factors are fetched while the first rows are read.
  const first = next();
  first.catch(() => undefined); // errors are thrown at the await
  let ahead: FactorBatch | null | undefined;
  let at = 0;
  return async (batch) => {
    if (ahead === undefined) ahead = await first;
    const keys = keysOf(batch, dateColumn);
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

/** The batch with some columns multiplied; null if no factor applies. */
function scaled(batch: RecordBatch, columns: readonly number[], scales: Float64Array): RecordBatch {
  const children = batch.data.children.map((data, i) => (columns.includes(i) ? multiplied(data, scales) : data));
  return new RecordBatch(
    batch.schema,
    makeData({ type: batch.data.type, length: batch.numRows, nullCount: 0, children }),
  );
}

function multiplied(numbers: Numbers, scales: Float64Array): Data {
  const length = scales.length;
  const products = new Float64Array(length);
  const nullBitmap = new Uint8Array((length + 7) >> 3);
  let nullCount = 0;
  for (let i = 0; i < length; i++) {
    const product = numbers.values[i]! * scales[i]!;
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
