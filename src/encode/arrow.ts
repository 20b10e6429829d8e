// An Arrow IPC stream. Rows are gathered into record batches of thousands of rows, because readers pay for each one.
// They are not larger, because large buffers outlive the cheap garbage collections. Where they end depends on the rows
// alone, not on how these arrive.
import { columnsOf } from "../arrow-data.js";
import { arrowColumn, bytesOf, ENOUGH_BYTES, rowsToAdd } from "./arrow-columns.js";
import { arrowSchema, batchMessage, END_OF_STREAM, schemaMessage } from "./arrow-messages.js";
import { NOTHING, type Encoder, type Head } from "./types.js";

const ENOUGH_ROWS = 16_384;

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

  return {
    isReusable: true,
    isCostly: false,
    separator: NOTHING,
    begin: () => {
      const metadata = { entity: head.entity, data_version: head.dataVersion };
      return schemaMessage(arrowSchema(head.columns, columns, metadata));
    },
    segment: () => ({
      *batch(batch) {
        const sources = columnsOf(batch);
        for (let from = 0; from < batch.numRows;) {
          const to = rowsToAdd(columns, sources, from, Math.min(batch.numRows, from + ENOUGH_ROWS - rows));
          for (const [i, column] of columns.entries()) column.add(sources[i]!, from, to);
          rows += to - from;
          from = to;
          if (rows === ENOUGH_ROWS || bytesOf(columns) >= ENOUGH_BYTES) yield* flush();
        }
      },
      end: flush,
    }),
    end: () => END_OF_STREAM,
  };
}
