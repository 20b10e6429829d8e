// Gaps as days: what is missing on each day of each year that an entity covers.
import type { Gap } from "./types.js";

/** `closed` also stands for days outside of what is covered. */
export type DayState = "closed" | "complete" | "few" | "some" | "many" | "none";

export interface GapDay {
  /** `YYYYMMDD`. */
  readonly day: string;
  readonly state: DayState;
  /** Codes without a row. */
  readonly missing: number;
}

export interface GapYear {
  readonly year: string;
  /** Every day of the year, from the first of January on. */
  readonly days: readonly GapDay[];
  readonly open: number;
  /** Trading days without any row. */
  readonly none: number;
  /** Trading days on which some rows are missing. */
  readonly partial: number;
}

const DAY = 86_400_000;

const timeOf = (day: string): number =>
  Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)));
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10).replaceAll("-", "");

/** Monday is 0. */
export const weekdayOf = (day: string): number => (new Date(timeOf(day)).getUTCDay() + 6) % 7;

/** Every weekday, for who may not read the calendar. */
export function weekdays(first: string, last: string): ReadonlySet<string> {
  const days = new Set<string>();
  for (let time = timeOf(first); time <= timeOf(last); time += DAY) {
    if (weekdayOf(dayOf(time)) < 5) days.add(dayOf(time));
  }
  return days;
}

/** The years from `first` to `last`; `open` are the trading days. A gap that names no code is a day without any row. */
export function gapYears(
  first: string,
  last: string,
  open: ReadonlySet<string>,
  gaps: readonly Gap[],
): readonly GapYear[] {
  const begin = timeOf(`${first.slice(0, 4)}0101`);
  const length = (timeOf(`${last.slice(0, 4)}1231`) - begin) / DAY + 1;
  const at = (day: string): number => Math.min(Math.max((timeOf(day) - begin) / DAY, 0), length);
  // Each gap adds one where it begins and takes it back after its end.
  const codes = new Int32Array(length + 1);
  const whole = new Int32Array(length + 1);
  for (const { ts_code, gap_start, gap_end } of gaps) {
    const counts = ts_code === null ? whole : codes;
    counts[at(gap_start)]! += 1;
    counts[Math.min(at(gap_end) + 1, length)]! -= 1;
  }
  const years = new Map<string, GapDay[]>();
  let missing = 0;
  let empty = 0;
  for (let i = 0; i < length; i++) {
    missing += codes[i]!;
    empty += whole[i]!;
    const day = dayOf(begin + i * DAY);
    const counted = open.has(day) && day >= first && day <= last;
    const state = counted ? stateOf(missing, empty) : "closed";
    const days = years.get(day.slice(0, 4)) ?? [];
    years.set(day.slice(0, 4), days);
    days.push({ day, state, missing });
  }
  return [...years].map(([year, days]) => ({
    ...{ year, days },
    open: days.filter(({ state }) => state !== "closed").length,
    none: days.filter(({ state }) => state === "none").length,
    partial: days.filter(({ state }) => ["few", "some", "many"].includes(state)).length,
  }));
}

function stateOf(missing: number, empty: number): DayState {
  if (empty > 0) return "none";
  if (missing === 0) return "complete";
  return missing === 1 ? "few" : missing < 10 ? "some" : "many";
}
