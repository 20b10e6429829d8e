// Sets of days as bits, and the ranges of days that are missing in them.
import { formatDays, toDays } from "../dates.js";

/**
 * Days from `first` to `last`, `YYYYMMDD` inclusive. Every set belongs to a span; its days are counted from `first`.
 */
export interface Span {
  readonly first: string;
  readonly last: string;
}

/** The first day is the highest bit of the first byte, as in DuckDB's BIT. */
export type DaySet = Uint8Array;

/** The number of days in a span, rounded up to whole bytes. */
export const bitsOf = (span: Span): number => Math.ceil((dayOf(span, span.last) + 1) / 8) * 8;

/** The index of a date in a span; negative or past the end if the date is outside. */
export const dayOf = ({ first }: Span, date: string): number => toDays(date) - toDays(first);

export const dateAt = ({ first }: Span, day: number): string => formatDays(toDays(first) + day);

/** The set of the dates that are in the span. */
export function daySet(span: Span, dates: readonly string[]): DaySet {
  const set = new Uint8Array(bitsOf(span) / 8);
  for (const date of dates) {
    if (date < span.first || date > span.last) continue;
    const day = dayOf(span, date);
    set[day >> 3]! |= 0x80 >> (day & 7);
  }
  return set;
}

export const hasDay = (set: DaySet, day: number): boolean => (set[day >> 3]! & (0x80 >> (day & 7))) !== 0;

/** The dates of a set, ascending. */
export function datesIn(span: Span, set: DaySet): readonly string[] {
  const dates: string[] = [];
  for (let day = 0; day <= dayOf(span, span.last); day++) if (hasDay(set, day)) dates.push(dateAt(span, day));
  return dates;
}

/** The days that are in any of the sets. */
export function union(span: Span, sets: Iterable<DaySet>): DaySet {
  const all = new Uint8Array(bitsOf(span) / 8);
  for (const set of sets) for (let i = 0; i < all.length; i++) all[i]! |= set[i]!;
  return all;
}

/** The days that are in both sets. */
export const intersection = (a: DaySet, b: DaySet): DaySet => a.map((bits, i) => bits & b[i]!);

/** The trading days of a span. */
interface TradingDays {
  readonly set: DaySet;
  /** `YYYYMMDD`, ascending. */
  readonly dates: readonly string[];
  /** By day of the span, the index in `dates`; meaningful for trading days only. */
  readonly indexes: Int32Array;
}

/** `open` are ascending dates. */
export function tradingDays(span: Span, open: readonly string[]): TradingDays {
  const dates = open.filter((date) => span.first <= date && date <= span.last);
  const indexes = new Int32Array(bitsOf(span));
  for (const [index, date] of dates.entries()) indexes[dayOf(span, date)] = index;
  return { set: daySet(span, dates), dates, indexes };
}

/**
 * The ranges of days from `from` (inclusive) to `to` (exclusive) that are in `wanted` and in none of the other sets:
 * first and last date of each. Consecutive trading days form one range, whatever closed days are between them.
 */
export function missingRanges(
  { dates, indexes }: TradingDays,
  wanted: DaySet,
  held: DaySet,
  excused: DaySet,
  [from, to]: readonly [number, number],
): readonly (readonly [string, string])[] {
  const ranges: [string, string][] = [];
  let before = -2;
  for (let byte = from >> 3; byte * 8 < to; byte++) {
    const missing = wanted[byte]! & ~held[byte]! & ~excused[byte]!;
    if (missing === 0) continue;
    for (let bit = 0; bit < 8; bit++) {
      const day = byte * 8 + bit;
      if ((missing & (0x80 >> bit)) === 0 || day < from || day >= to) continue;
      const index = indexes[day]!;
      const date = dates[index]!;
      if (index === before + 1) ranges.at(-1)![1] = date;
      else ranges.push([date, date]);
      before = index;
    }
  }
  return ranges;
}
