// Slices of the copies of a scan: read one after another, or with their rows in another order.
import type { RecordBatch } from "apache-arrow";
import { schemaOf } from "../arrow-data.js";
import { ahead } from "../ahead.js";
import type { Column } from "../catalog/types.js";
import { gather, type Places } from "./gather.js";
import type { Copy } from "./open.js";
import type { RowRange } from "./pick.js";
import { type Slice, sliceReader, slicesOf, type Source } from "./rows.js";
import { freed, inSpace, type Space } from "./space.js";

/** Rows of a batch that is gathered. */
const BATCH_ROWS = 16_384;

/** A copy, and which of its columns are read. */
export interface File {
  readonly copy: Copy;
  readonly columns: readonly Column[];
  readonly sources: readonly Source[];
}

/** The same file, read with one more column: `name` of the copy. */
export function withColumn(file: File, name: string): File {
  const { columns } = file.copy.index;
  const source = columns.findIndex((column) => column.name === name);
  const column: Column = { ...columns[source]!, name: `__${name}`, nullable: true };
  return { ...file, columns: [...file.columns, column], sources: [...file.sources, source] };
}

export interface FileSlice {
  readonly file: File;
  readonly slice: Slice;
}

export const slicesIn = (file: File, [from, to]: RowRange): readonly FileSlice[] =>
  slicesOf(file.copy, from, to).map((slice) => ({ file, slice }));

export const read = ({ file, slice }: FileSlice, space: Space): Promise<RecordBatch> =>
  sliceReader(file.copy, file.columns, file.sources)(slice, space);

/** Slices that are read while the rows of an earlier one are used. */
const AHEAD = 2;

/** Calls `use` with each slice and its rows, which are valid until it is done, until it returns null. */
export async function* eachOf(
  slices: readonly FileSlice[],
  use: (batch: RecordBatch, slice: FileSlice) => Iterable<RecordBatch> | null,
): AsyncGenerator<RecordBatch, void, undefined> {
  for await (const [slice, { result: batch, space }] of ahead(slices, AHEAD, inSpace(read), freed)) {
    try {
      const rows = use(batch, slice);
      if (rows === null) return;
      yield* rows;
    } finally {
      space.free();
    }
  }
}

/** The rows of slices one after another. */
export const inOrder = (slices: readonly FileSlice[], limit: number): AsyncGenerator<RecordBatch, void, undefined> =>
  eachOf(upTo(limit, slices), (batch) => [batch]);

/** As many slices as have `limit` rows; of the last one, the rows at its start or at its `end`. */
export function upTo(limit: number, slices: readonly FileSlice[], end = false): readonly FileSlice[] {
  let left = limit;
  return slices.flatMap(({ file, slice }) => {
    const rows = Math.min(left, slice.to - slice.from);
    left -= rows;
    const kept = end ? { from: slice.to - rows } : { to: slice.from + rows };
    return rows === 0 ? [] : [{ file, slice: { ...slice, ...kept } }];
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
