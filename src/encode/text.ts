// The text formats: the JSON envelope, NDJSON, CSV, and the JSON of Tushare.
import type { RecordBatch } from "apache-arrow";
import { cutBuffer } from "../buffers.js";
import { columnsOf } from "../arrow-data.js";
import { DTYPES } from "../catalog/types.js";
import { rowWriter } from "./rows.js";
import { type Encoder, type Head, NOTHING, type RowWriter, WINDOW } from "./types.js";

/** Keys in the order of the API's specification, without white space. */
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

/** Rows as arrays of a JSON document, without what surrounds them. */
function jsonRows(columns: Head["columns"]): Omit<Encoder, "begin" | "end"> {
  const write = rowWriter(columns, {
    prefixes: columns.map((_, i) => (i === 0 ? ",[" : ",")),
    suffix: "]",
    quoting: "json",
    missing: "null",
  });
  return {
    isReusable: true,
    isCostly: true,
    separator: Buffer.from(","),
    segment(isContinued = false) {
      let first = !isContinued;
      return {
        *batch(batch) {
          for (const rows of written(write, batch)) {
            yield first ? cutBuffer(rows, 1, rows.length) : rows; // no comma before the first row
            first = false;
          }
        },
        end: () => [],
      };
    },
  };
}

/** The rows of a batch, a window at a time. */
function* written(write: RowWriter, batch: RecordBatch): Generator<Uint8Array> {
  const sources = columnsOf(batch);
  for (let row = 0; row < batch.numRows; row += WINDOW) {
    yield write(sources, row, Math.min(batch.numRows, row + WINDOW));
  }
}

// NDJSON: one object per row, each on its own line, keyed by column name.

export function ndjsonEncoder(head: Head): Encoder {
  const write = rowWriter(head.columns, {
    prefixes: head.columns.map(({ name }, i) => `${i === 0 ? "{" : ","}${JSON.stringify(name)}:`),
    suffix: "}\n",
    quoting: "json",
    missing: "null",
  });
  return {
    isReusable: true,
    isCostly: true,
    separator: NOTHING,
    begin: () => NOTHING,
    segment: () => ({ batch: (batch) => written(write, batch), end: () => [] }),
    end: () => NOTHING,
  };
}

// CSV after RFC 4180 with a header line and line ends `\n`. A missing value is an empty field, empty text is `""`. If there
// is only one column, a missing value is `""` too: most readers skip an empty line.

export function csvEncoder(head: Head): Encoder {
  const write = rowWriter(head.columns, {
    prefixes: head.columns.map((_, i) => (i === 0 ? "" : ",")),
    suffix: "\n",
    quoting: "csv",
    missing: head.columns.length === 1 ? '""' : "",
  });
  return {
    isReusable: true,
    isCostly: true,
    separator: NOTHING,
    begin: () => Buffer.from(`${head.columns.map(({ name }) => name).join(",")}\n`),
    segment: () => ({ batch: (batch) => written(write, batch), end: () => [] }),
    end: () => NOTHING,
  };
}

const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);

/** CSV that programs such as Excel recognize as UTF-8. */
export function markedCsvEncoder(head: Head): Encoder {
  const encoder = csvEncoder(head);
  return { ...encoder, begin: () => Buffer.concat([BYTE_ORDER_MARK, encoder.begin()]) };
}

// The response for Tushare clients: names in `fields`, rows in `items`, and whether more rows follow.

export function tushareEncoder({ columns }: Pick<Head, "columns">): Encoder {
  const fields = JSON.stringify(columns.map(({ name }) => name));
  return {
    ...jsonRows(columns),
    begin: () => Buffer.from(`{"code":0,"msg":"","data":{"fields":${fields},"items":[`),
    end: ({ truncated }) => Buffer.from(`],"has_more":${truncated}}}`),
  };
}
