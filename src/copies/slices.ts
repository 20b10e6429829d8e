// Slices of the copies of a scan: read one after another, or with their rows in another order.
import type { RecordBatch } from "apache-arrow";
import { schemaOf } from "../arrow-data.js";
import type { Column } from "../catalog/types.js";
import { gather, type Places } from "./gather.js";
import type { Copy } from "./open.js";
import type { RowRange } from "./pick.js";
import { type Slice, sliceReader, slicesOf, type Source } from "./rows.js";

/** Rows of a batch that is gathered. */
const BATCH_ROWS = 16_384;

/** A copy, and which of its columns are read. */
export interface File {
  readonly copy: Copy;
  readonly columns: readonly Column[];
  readonly sources: readonly Source[];
}

export interface FileSlice {
  readonly file: File;
  readonly slice: Slice;
}

export const slicesIn = (file: File, [from, to]: RowRange): readonly FileSlice[] =>
  slicesOf(file.copy, from, to).map((slice) => ({ file, slice }));

export const read = ({ file, slice }: FileSlice): Promise<RecordBatch> =>
  sliceReader(file.copy, file.columns, file.sources)(slice);

/** The rows of slices one after another. The next slice is read while the rows of one are used. */
export async function* inOrder(
  slices: readonly FileSlice[],
  limit: number,
): AsyncGenerator<RecordBatch, void, undefined> {
  const cut = firstOf(slices, limit);
  const start = (i: number): Promise<RecordBatch> | undefined => {
    const batch = cut[i] && read(cut[i]!);
    batch?.catch(() => undefined); // errors are thrown at the await
    return batch;
  };
  let ahead = start(0);
  for (let i = 1; ahead !== undefined; i++) {
    const batch: RecordBatch = await ahead;
    ahead = start(i);
    yield batch;
  }
}

function firstOf(slices: readonly FileSlice[], limit: number): readonly FileSlice[] {
  let left = limit;
  return slices.flatMap(({ file, slice }) => {
    const rows = Math.min(left, slice.to - slice.from);
    left -= rows;
    return rows === 0 ? [] : [{ file, slice: { ...slice, to: slice.from + rows } }];
  });
}

/** Rows of batches in the order of their places. */
export function* gathered(
  columns: readonly Column[],
  batches: readonly RecordBatch[],
  places: Places,
  rows: number,
): Generator<RecordBatch, void, undefined> {
  const schema = schemaOf(columns);
  for (let from = 0; from < rows; from += BATCH_ROWS) {
    yield gather(schema, batches, places, from, Math.min(rows, from + BATCH_ROWS));
  }
}
