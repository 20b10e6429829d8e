// A small answer as plain arrays: what the server itself needs to know, such as the calendar.
import { formatDays } from "../dates.js";
import type { Read } from "../query/scan.js";
import { valueAt } from "./page.js";
import type { Reader } from "./reader.js";

/** Text as string, a date as `YYYYMMDD`, a number as number. */
export type Value = string | number | null;

/** All rows of a read, an array a column. Throws what `Reader.read` throws. */
export async function readColumns(reader: Reader, read: Read, signal: AbortSignal): Promise<readonly Value[][]> {
  const columns: Value[][] = read.columns.map(() => []);
  for await (const batch of reader.read(read, signal)) {
    for (const [i, { type }] of read.columns.entries()) {
      const data = batch.data.children[i]!;
      for (let row = 0; row < batch.numRows; row++) {
        const value = valueAt(data, row);
        if (type === "date" && value !== null) columns[i]!.push(formatDays(Number(value)));
        else columns[i]!.push(typeof value === "bigint" ? Number(value) : value);
      }
    }
  }
  return columns;
}
