// An Arrow IPC stream. Rows are gathered into record batches of thousands of rows, because readers pay for each one.
// They are not larger, because large buffers outlive the cheap garbage collections. Where they end depends on the rows
// alone, not on how these arrive.
import type { RecordBatch } from "apache-arrow";
import { columnsOf } from "../arrow-data.js";
import { arrowColumn, bytesOf, ENOUGH_BYTES, rowsToAdd, type Gathered } from "./arrow-columns.js";
import { arrowSchema, batchMessage, END_OF_STREAM, schemaMessage } from "./arrow-messages.js";
import { NOTHING, type Encoder, type Head } from "./types.js";

const ENOUGH_ROWS = 16_384;

/**
 * Text and codes are Utf8, numbers Float64 and Int64, dates Utf8 (`YYYYMMDD`) or Date32. The schema's metadata contain
 * entity and version.
 */
export function arrowEncoder(head: Head): Encoder {
  const { frame, gathering } = arrowStream(head);
  const { add, rest } = gathering;

  function* written(batches: Iterable<GatheredBatch>): Generator<Uint8Array> {
    for (const { rows, columns } of batches) {
      const { head, body } = batchMessage(rows, columns);
      yield head;
      yield* body;
    }
  }

  return {
    ...frame,
    segment: () => ({ batch: (batch) => written(add(batch)), end: () => written(rest()) }),
  };
}

/** The rows of a record batch, which belong to the caller. */
export interface GatheredBatch {
  readonly rows: number;
  readonly columns: readonly Gathered[];
}

interface Gathering {
  /** Adds rows; yields each record batch that is full. */
  add(batch: RecordBatch): Iterable<GatheredBatch>;
  /** The rows that are left, if any. */
  rest(): Iterable<GatheredBatch>;
}

/** What is common to streams however their record batches are written: everything around them, and their rows. */
export function arrowStream(head: Head): {
  readonly frame: Omit<Encoder, "segment">;
  readonly gathering: Gathering;
} {
  const columns = head.columns.map((column) => arrowColumn(column, head));
  let rows = 0;

  function take(): GatheredBatch {
    const taken = { rows, columns: columns.map((column) => column.take()) };
    rows = 0;
    return taken;
  }

  return {
    frame: {
      isReusable: true,
      isCostly: false,
      separator: NOTHING,
      begin: () => {
        const metadata = { entity: head.entity, data_version: head.dataVersion };
        return schemaMessage(arrowSchema(head.columns, columns, metadata));
      },
      end: () => END_OF_STREAM,
    },
    gathering: {
      *add(batch) {
        const sources = columnsOf(batch);
        for (let from = 0; from < batch.numRows;) {
          const to = rowsToAdd(columns, sources, from, Math.min(batch.numRows, from + ENOUGH_ROWS - rows));
          for (const [i, column] of columns.entries()) column.add(sources[i]!, from, to);
          rows += to - from;
          from = to;
          if (rows === ENOUGH_ROWS || bytesOf(columns) >= ENOUGH_BYTES) yield take();
        }
      },
      rest: () => (rows === 0 ? [] : [take()]),
    },
  };
}
