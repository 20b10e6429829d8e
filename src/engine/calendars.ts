// The trading calendar of a version, read once and kept.
import type { Snapshot } from "../lake/lake.js";
import { calendarRead, toCalendar, type Calendar } from "../query/calendar.js";
import { createCache } from "./cache.js";
import { readColumns } from "./columns.js";
import type { Reader } from "./reader.js";

export interface Calendars {
  /** Without days where the version holds no calendar. Throws what `Reader.read` throws. */
  of(snapshot: Snapshot, signal: AbortSignal): Promise<Calendar>;
}

/** Versions seldom differ in their calendar; the few that are asked for side by side are kept. */
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
