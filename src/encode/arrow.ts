// An Arrow IPC stream. Batches are gathered into record batches of thousands of rows, because readers pay for each one.
// They are not larger, because large buffers outlive the cheap garbage collections.
import { columnsOf } from "../arrow-data.js";
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
  function flush(): Uint8Array {
    if (rows === 0) return NOTHING;
    const gathered = columns.map((column) => column.take());
    const { bytes } = batchMessage(rows, gathered);
    rows = 0;
    return bytes;
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
      batch(batch) {
        const sources = columnsOf(batch);
        for (const [i, column] of columns.entries()) column.add(sources[i]!, batch.numRows);
        rows += batch.numRows;
        return rows >= ENOUGH_ROWS || gatheredBytes() >= ENOUGH_BYTES ? flush() : NOTHING;
      },
      end: flush,
    }),
    end: () => END_OF_STREAM,
  };
}
