// An Arrow IPC stream. Rows are gathered into record batches of thousands of rows, because readers pay for each one.
// They are not larger, because large buffers outlive the cheap garbage collections. Where they end depends on the rows
// alone, not on how these arrive.
import { type ColumnData, columnsOf } from "../arrow-data.js";
import { arrowColumn } from "./arrow-columns.js";
import { arrowSchema, batchMessage, END_OF_STREAM, schemaMessage } from "./arrow-messages.js";
import { NOTHING, type Encoder, type Head } from "./types.js";

const ENOUGH_ROWS = 16_384;
const ENOUGH_BYTES = 16 << 20;

/**
 * Text and codes are Utf8, numbers Float64 and Int64, dates Utf8 (`YYYYMMDD`) or Date32. The schema's metadata contain
 * entity and version.
 */
export function arrowEncoder(head: Head): Encoder {
  const columns = head.columns.map((column) => arrowColumn(column, head));
  let rows = 0;

  /** The gathered rows as one record batch. */
  function flush(): readonly Uint8Array[] {
    if (rows === 0) return [];
    const { head, body } = batchMessage(
      rows,
      columns.map((column) => column.take()),
    );
    rows = 0;
    return [head, ...body];
  }

  const gatheredBytes = () => columns.reduce((sum, column) => sum + column.byteLength(), 0);

  return {
    isReusable: true,
    separator: NOTHING,
    begin: () => {
      const metadata = { entity: head.entity, data_version: head.dataVersion };
      return schemaMessage(arrowSchema(head.columns, columns, metadata));
    },
    segment: () => ({
      *batch(batch) {
        const sources = columnsOf(batch);
        for (let from = 0; from < batch.numRows;) {
          let to = Math.min(batch.numRows, from + ENOUGH_ROWS - rows);
          // Rows are cut after the first one with which they are enough, so ranges that may hold it are halved.
          const most = ENOUGH_BYTES - gatheredBytes();
          while (to - from > 1 && mostBytes(sources, from, to) >= most) to = from + ((to - from) >> 1);
          for (const [i, column] of columns.entries()) column.add(sources[i]!, from, to);
          rows += to - from;
          from = to;
          if (rows === ENOUGH_ROWS || gatheredBytes() >= ENOUGH_BYTES) yield* flush();
        }
      },
      end: flush,
    }),
    end: () => END_OF_STREAM,
  };
}

/** Bytes of a date, also as text with its offset. */
const DATE_BYTES = 12;

/** An upper bound of the bytes of rows. */
const mostBytes = (sources: readonly ColumnData[], from: number, to: number): number =>
  sources.reduce((sum, { values, valueOffsets: offsets }) => {
    if (offsets !== undefined) return sum + offsets[to]! - offsets[from]! + 4 * (to - from);
    return sum + (to - from) * (values instanceof Int32Array ? DATE_BYTES : values.BYTES_PER_ELEMENT);
  }, 0);
