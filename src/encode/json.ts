// The JSON envelope: one object whose `rows` are arrays in the order of `columns`.
import { DTYPES } from "../catalog/types.js";
import { rowWriter } from "./rows.js";
import { columnsOf } from "../arrow-data.js";
import { NOTHING, type Encoder, type Head } from "./types.js";

/** Keys in the order of the contract; no white space. */
export function jsonEncoder(head: Head): Encoder {
  const columns = head.columns.map((column) => ({ name: column.name, dtype: DTYPES[column.type] }));
  const before = JSON.stringify({ entity: head.entity, data_version: head.dataVersion, columns });
  return {
    ...jsonRows(head.columns),
    begin: () => Buffer.from(`${before.slice(0, -1)},"rows":[`),
    end({ count, truncated, nextCursor }) {
      const after = JSON.stringify({ count, truncated, next_cursor: nextCursor });
      return Buffer.from(`],${after.slice(1)}`);
    },
  };
}

/** Rows as arrays of a JSON document, whatever stands around them. */
export function jsonRows(columns: Head["columns"]): Omit<Encoder, "begin" | "end"> {
  const write = rowWriter(columns, {
    prefixes: columns.map((_, i) => (i === 0 ? ",[" : ",")),
    suffix: "]",
    quoting: "json",
  });
  return {
    isReusable: true,
    separator: Buffer.from(","),
    segment() {
      let first = true;
      return {
        batch(batch) {
          const rows = write(columnsOf(batch), 0, batch.numRows);
          if (!first || rows.length === 0) return rows;
          first = false;
          return rows.subarray(1); // no comma before the first row
        },
        end: () => NOTHING,
      };
    },
  };
}
