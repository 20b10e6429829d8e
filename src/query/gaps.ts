// How gaps are computed: which days should have rows, of which stocks, and which of these are missing.
import { DAYS_TO_DELISTING, firstExpected, freeDaysOf } from "../catalog/gap-rules.js";
import type { Entity } from "../catalog/types.js";
import type { Gap } from "../lake/gaps.js";
import type { FileList } from "../lake/manifest.js";
import { indexFrom, type Calendar } from "./calendar.js";
import {
  addDay,
  bitsOf,
  dayOf,
  daySet,
  daysIn,
  hasDay,
  intersection,
  lastDay,
  missingRanges,
  overlap,
  tradingDays,
  union,
  type DaySet,
  type Span,
} from "./day-sets.js";

/** By first day, then gaps without a code first, then by code, last day and kind. */
export function inOrder(a: Gap, b: Gap): number {
  return (
    compare(a.gap_start, b.gap_start) ||
    compare(a.ts_code ?? "", b.ts_code ?? "") ||
    compare(a.gap_end, b.gap_end) ||
    compare(a.kind, b.kind)
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The days that have rows: by code, or under null if codes are not distinguished. */
export type HeldDays = ReadonlyMap<string | null, DaySet>;

/** When each stock should have rows. */
export interface Market {
  readonly codes: readonly string[];
  /** By index in `codes`, `YYYYMMDD`; null means never listed, or not delisted. */
  readonly listed: readonly (string | null)[];
  readonly delisted: readonly (string | null)[];
  /** The days of whole-day suspensions, and the days on which stocks resumed. */
  readonly suspended: HeldDays;
  readonly resumed: HeldDays;
  /** By code, the first day of its delisting period, `YYYYMMDD`; null unless only days with a price limit count. */
  readonly delisting: ReadonlyMap<string, string> | null;
}

/** The days from the first to the last date of an entity that the calendar covers; null if there are none. */
export function commonSpan({ first, last }: Pick<FileList, "first" | "last">, { dates }: Calendar): Span | null {
  return first === null || last === null || dates.length === 0
    ? null
    : overlap({ first, last }, { first: dates[0]!, last: dates.at(-1)! });
}

/** The days on which gaps are looked for; the sets of days are those of `span`, which holds them. */
export interface Judged {
  readonly span: Span;
  readonly within: Span;
  readonly calendar: Calendar;
}

/**
 * The gaps of an entity on the days of `within`, in order. `missing_day`: an open day has no rows at all. `missing`, if a
 * market is given: a stock that was listed and not suspended all day has no row on an open day on which others have
 * rows.
 */
export function computeGaps(
  entity: Entity,
  { span, within, calendar }: Judged,
  held: HeldDays,
  market: Market | null,
): readonly Gap[] {
  const trading = tradingDays(span, calendar.open, within);
  const none: DaySet = daySet(span, []);
  const withRows = union(span, held.values());
  const length = dayOf(span, span.last) + 1;
  const gaps: Gap[] = [];
  const add = (code: string | null, kind: string, ranges: ReturnType<typeof missingRanges>): void => {
    for (const [gap_start, gap_end] of ranges)
      gaps.push({ entity: entity.name, ts_code: code, gap_start, gap_end, kind });
  };
  add(null, "missing_day", missingRanges(trading, trading.set, withRows, none, [0, length]));
  if (market === null) return gaps;

  const expected = intersection(trading.set, withRows);
  for (const [i, code] of market.codes.entries()) {
    const listed = market.listed[i]!;
    const delisted = market.delisted[i]!;
    if (listed === null) continue;
    const from = Math.max(0, dayOf(span, firstExpected(code, listed)));
    const to = delisted === null ? length : Math.min(length, dayOf(span, delisted));
    const own = held.get(code) ?? none;
    const stock: Stock = { code, listed, delisted, held: own };
    add(
      code,
      "missing",
      missingRanges(trading, expected, own, exceptions(stock, market, { span, calendar }), [from, to]),
    );
  }
  return gaps.sort(inOrder);
}

interface Stock {
  readonly code: string;
  readonly listed: string;
  readonly delisted: string | null;
  /** The days that have a row. */
  readonly held: DaySet;
}

/** The days on which no row of a stock is expected. */
function exceptions(stock: Stock, market: Market, days: Omit<Judged, "within">): DaySet {
  const { code, listed, delisted } = stock;
  const { span, calendar } = days;
  const excused = Uint8Array.from(market.suspended.get(code) ?? daySet(span, []));
  const add = (first: number, last: number): void => {
    for (let day = Math.max(0, first); day <= last && day < excused.length * 8; day++) addDay(excused, day);
  };
  for (const [first, last] of halts(stock, market, span)) add(first, last);
  const { open } = calendar;
  if (delisted !== null) {
    const quiet = open[Math.max(0, indexFrom(open, delisted) - DAYS_TO_DELISTING)];
    if (quiet !== undefined) add(Math.max(dayOf(span, quiet), lastDay(stock.held) + 1), dayOf(span, delisted) - 1);
  }
  if (market.delisting === null) return excused;
  const free = freeDaysOf(code, listed);
  // What came before the calendar cannot be counted.
  if (free > 0 && open.length > 0 && listed >= open[0]!) {
    const last = open[indexFrom(open, listed) + free - 1];
    if (last !== undefined) add(dayOf(span, listed), dayOf(span, last));
  }
  const delisting = market.delisting.get(code);
  if (delisting !== undefined) add(dayOf(span, delisting), dayOf(span, delisting));
  return excused;
}

/**
 * The days between whole-day suspensions and what ended them: some lists of suspensions have only the first day of a
 * halt, and the day on which the stock resumed. A stock that was delisted did not resume. A row on one of the days
 * shows that it was no halt. First and last day of each.
 */
function halts(
  { code, delisted, held }: Stock,
  { suspended, resumed }: Market,
  span: Span,
): readonly [number, number][] {
  const halted = suspended.get(code);
  if (halted === undefined) return [];
  const ended = resumed.get(code) ?? daySet(span, []);
  const found: [number, number][] = [];
  const add = (since: number, until: number): void => {
    if (since >= 0 && daysIn(held, since + 1, until).next().done) found.push([since + 1, until - 1]);
  };
  let since = -1;
  for (const day of daysIn(union(span, [halted, ended]), 0, bitsOf(span))) {
    const isEnd = hasDay(ended, day);
    if (isEnd) add(since, day);
    since = isEnd ? -1 : day;
  }
  if (delisted !== null) add(since, dayOf(span, delisted));
  return found;
}
