// Gaps: the parameters of a request, how gaps are computed, when data fills a recorded gap, and the order of the
// response.
import type { Entity } from "../catalog/types.js";
import type { Gap } from "../lake/gaps.js";
import type { FileList } from "../lake/manifest.js";
import { isClosed, type Calendar } from "./calendar.js";
import { dateAt, dayOf, daySet, hasDay, intersection, missingRanges, tradingDays, union } from "./gaps-days.js";
import type { DaySet, Span } from "./gaps-days.js";
import { comparedCode } from "./gaps-read.js";
import { codeOf, collectParameters, parseRange, single } from "./parameters.js";
import { parseVersion } from "./request.js";

interface GapRequest {
  /** The interval that a gap must overlap, `YYYYMMDD` inclusive; null means unbounded. */
  readonly start: string | null;
  readonly end: string | null;
  readonly code: string | null;
  readonly dataVersion: string | null;
}

export function parseGapRequest(entity: Entity, search: URLSearchParams): GapRequest {
  const parameters = collectParameters(search, ["start_date", "end_date", "ts_code", "data_version"]);
  return {
    ...parseRange(parameters),
    code: single(parameters, "ts_code", codeOf(entity)),
    dataVersion: single(parameters, "data_version", parseVersion),
  };
}

/** The gaps that overlap the interval, uncut and in order; with a code, its own gaps and those without a code. */
export function selectGaps(entity: Entity, gaps: readonly Gap[], { start, end, code }: GapRequest): readonly Gap[] {
  const wanted = code === null ? null : comparedCode(entity, code);
  return gaps
    .filter(
      (gap) =>
        (start === null || gap.gap_end >= start) &&
        (end === null || gap.gap_start <= end) &&
        (wanted === null || gap.ts_code === null || comparedCode(entity, gap.ts_code) === wanted),
    )
    .sort(inOrder);
}

/** By first day, then gaps without a code first, then by code, last day and kind. */
function inOrder(a: Gap, b: Gap): number {
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
  readonly suspended: HeldDays;
}

/** The days from the first to the last date of an entity that the calendar covers; null if there are none. */
export function commonSpan(list: FileList, { dates }: Calendar): Span | null {
  if (list.first === null || list.last === null || dates.length === 0) return null;
  const first = list.first > dates[0]! ? list.first : dates[0]!;
  const last = list.last < dates.at(-1)! ? list.last : dates.at(-1)!;
  return first <= last ? { first, last } : null;
}

/**
 * The gaps of an entity on the days of a span, in order. `missing_day`: an open day has no rows at all. `missing`, if a
 * market is given: a stock that was listed and not suspended all day has no row on an open day on which others have
 * rows.
 */
export function computeGaps(
  entity: Entity,
  span: Span,
  open: readonly string[],
  held: HeldDays,
  market: Market | null,
): readonly Gap[] {
  const trading = tradingDays(span, open);
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
    const from = Math.max(0, dayOf(span, listed));
    const to = delisted === null ? length : Math.min(length, dayOf(span, delisted));
    const excused = market.suspended.get(code) ?? none;
    add(code, "missing", missingRanges(trading, expected, held.get(code) ?? none, excused, [from, to]));
  }
  return gaps.sort(inOrder);
}

/** The span of all days of some gaps, or null if there are none. */
export function spanOfGaps(gaps: readonly Gap[]): Span | null {
  if (gaps.length === 0) return null;
  const first = gaps.map((gap) => gap.gap_start).sort()[0]!;
  const last = gaps
    .map((gap) => gap.gap_end)
    .sort()
    .at(-1)!;
  return { first, last };
}

/**
 * Whether data has arrived for a recorded gap: every day that the calendar does not mark as closed has rows, or, if all
 * days are closed, every day has rows. `held` are days of `span`.
 */
export function isFilled(gap: Gap, calendar: Calendar, span: Span, held: DaySet): boolean {
  let tradingDayHeld = false;
  let everyDayHeld = true;
  for (let day = dayOf(span, gap.gap_start); day <= dayOf(span, gap.gap_end); day++) {
    const closed = isClosed(calendar, dateAt(span, day));
    if (hasDay(held, day)) tradingDayHeld ||= !closed;
    else if (closed) everyDayHeld = false;
    else return false;
  }
  return tradingDayHeld || everyDayHeld;
}
