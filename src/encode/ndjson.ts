// NDJSON: one object a row, each on its line, keyed by column name.
import { rowWriter } from "./rows.js";
import { columnsOf } from "../arrow-data.js";
import { NOTHING, type Encoder, type Head } from "./types.js";

export function ndjsonEncoder(head: Head): Encoder {
  const write = rowWriter(head.columns, {
    prefixes: head.columns.map(({ name }, i) => `${i === 0 ? "{" : ","}${JSON.stringify(name)}:`),
    suffix: "}\n",
    quoting: "json",
  });
  return {
    isReusable: true,
    separator: NOTHING,
    begin: () => NOTHING,
    segment: () => ({ batch: (batch) => write(columnsOf(batch), 0, batch.numRows), end: () => NOTHING }),
    end: () => NOTHING,
  };
}
