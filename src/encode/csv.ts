// CSV after RFC 4180 with a header line, ending lines with `\n`. Missing is an empty field, empty text is `""`.
import { rowWriter } from "./rows.js";
import { columnsOf } from "../arrow-data.js";
import { NOTHING, type Encoder, type Head } from "./types.js";

export function csvEncoder(head: Head): Encoder {
  const write = rowWriter(head.columns, {
    prefixes: head.columns.map((_, i) => (i === 0 ? "" : ",")),
    suffix: "\n",
    quoting: "csv",
  });
  return {
    isReusable: true,
    separator: NOTHING,
    begin: () => Buffer.from(`${head.columns.map(({ name }) => name).join(",")}\n`),
    segment: () => ({ batch: (batch) => write(columnsOf(batch), 0, batch.numRows), end: () => NOTHING }),
    end: () => NOTHING,
  };
}
