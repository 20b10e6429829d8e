// The trading calendar of a version, read once and cached; and small results as plain arrays.
import { formatDays } from "../dates.js";
import type { Snapshot } from "../lake/lake.js";
import { type Calendar, calendarRead, toCalendar } from "../query/calendar.js";
import type { Read } from "../query/scan.js";
import { createCache } from "./cache.js";
import { valueAt } from "./page.js";
import type { Reader } from "./reader.js";

export interface Calendars {
  /** Has no days if the version has no calendar. Throws what `Reader.read` throws. */
  of(snapshot: Snapshot, signal: AbortSignal): Promise<Calendar>;
}

/** Versions seldom differ in their calendar, so a few are enough. */
const KEPT = 8;

export function createCalendars(reader: Reader): Calendars {
  const cache = createCache<Calendar>(KEPT);
  return {
    of(snapshot, signal) {
      const key = snapshot.version.lists["trade_cal"] ?? "none";
      return cache.get(
        key,
        async (making) => {
          const [dates, isOpen] = await readColumns(reader, calendarRead(snapshot.files("trade_cal")), making);
          return toCalendar(dates as string[], isOpen as number[]);
        },
        signal,
      );
    },
  };
}

// Small results as plain arrays, for what the server itself needs, such as the calendar.

/** Text as string, a date as `YYYYMMDD`, a number as number. */
export type Value = string | number | null;

/** All rows of a read, one array per column. Throws what `Reader.read` throws. */
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
