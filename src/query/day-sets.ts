// Sets of days as bits, and the ranges of days that are missing in them.
import { daysAfter, toDays } from "../dates.js";

/** Days from `first` to `last`, `YYYYMMDD` inclusive. Every set belongs to a span; its days are counted from `first`. */
export interface Span {
  readonly first: string;
  readonly last: string;
}

const later = (a: string, b: string): string => (a > b ? a : b);
const earlier = (a: string, b: string): string => (a < b ? a : b);

/** The days of both spans; null if there are none. */
export function overlap(a: Span, b: Span): Span | null {
  const [first, last] = [later(a.first, b.first), earlier(a.last, b.last)];
  return first <= last ? { first, last } : null;
}

/** The shortest span that holds both. */
export const hull = (a: Span, b: Span | null): Span =>
  b === null ? a : { first: earlier(a.first, b.first), last: later(a.last, b.last) };

/** The first day is the highest bit of the first byte, as in DuckDB's BIT. */
export type DaySet = Uint8Array;

/** The number of days in a span, rounded up to whole bytes. */
export const bitsOf = (span: Span): number => Math.ceil((dayOf(span, span.last) + 1) / 8) * 8;

/** The index of a date in a span; negative or past the end if the date is outside. */
export const dayOf = ({ first }: Span, date: string): number => toDays(date) - toDays(first);

export const dateAt = ({ first }: Span, day: number): string => daysAfter(first, day);

/** The set of the dates that are in the span. */
export function daySet(span: Span, dates: readonly string[]): DaySet {
  const set = new Uint8Array(bitsOf(span) / 8);
  for (const date of dates) if (date >= span.first && date <= span.last) addDay(set, dayOf(span, date));
  return set;
}

export function addDay(set: DaySet, day: number): void {
  set[day >> 3]! |= 0x80 >> (day & 7);
}

export const hasDay = (set: DaySet, day: number): boolean => (set[day >> 3]! & (0x80 >> (day & 7))) !== 0;

/** The days of a set from `from` (inclusive) to `to` (exclusive), ascending. */
export function* daysIn(set: DaySet, from: number, to: number): Generator<number> {
  for (let byte = from >> 3; byte * 8 < to && byte < set.length; byte++) {
    if (set[byte] === 0) continue;
    for (let day = Math.max(from, byte * 8); day < Math.min(to, byte * 8 + 8); day++) if (hasDay(set, day)) yield day;
  }
}

/** The dates of a set, ascending. */
export const datesIn = (span: Span, set: DaySet): readonly string[] =>
  [...daysIn(set, 0, dayOf(span, span.last) + 1)].map((day) => dateAt(span, day));

/** The last day of a set; -1 if it is empty. */
export function lastDay(set: DaySet): number {
  for (let byte = set.length - 1; byte >= 0; byte--)
    if (set[byte] !== 0) return [...daysIn(set, byte * 8, byte * 8 + 8)].at(-1)!;
  return -1;
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
export interface TradingDays {
  readonly set: DaySet;
  /** `YYYYMMDD`, ascending. */
  readonly dates: readonly string[];
  /** By day of the span, the index in `dates`; meaningful for trading days only. */
  readonly indexes: Int32Array;
}

/** The open days of `within`, which lies in the span. `open` are ascending dates. */
export function tradingDays(span: Span, open: readonly string[], within: Span = span): TradingDays {
  const dates = open.filter((date) => within.first <= date && date <= within.last);
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
