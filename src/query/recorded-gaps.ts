// What an operator recorded: when data fills a gap, and which gaps are excused.
import type { Entity } from "../catalog/types.js";
import { daysAfter } from "../dates.js";
import type { Excuse, Gap } from "../lake/gaps.js";
import { indexFrom, isClosed, type Calendar } from "./calendar.js";
import { dateAt, dayOf, hasDay, overlap, type DaySet, type Span } from "./day-sets.js";
import { comparedCode } from "./gap-request.js";

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

/** A gap, or a part of one, that an operator excused, and why. */
export interface ExcusedGap extends Gap {
  readonly reason: string;
}

/** Divides gaps into those that are left and those that are excused. A gap that is excused in part is cut. */
export function divideByExcuses(
  entity: Entity,
  gaps: readonly Gap[],
  excuses: readonly Excuse[],
  calendar: Calendar,
): { readonly left: readonly Gap[]; readonly excused: readonly ExcusedGap[] } {
  const excused: ExcusedGap[] = [];
  let left = gaps;
  for (const { ts_code, gap_start, gap_end, reason } of excuses) {
    const code = ts_code === null ? null : comparedCode(entity, ts_code);
    const days = { first: gap_start, last: gap_end };
    left = left.flatMap((gap) => {
      const isMeant = code === null || (gap.ts_code !== null && comparedCode(entity, gap.ts_code) === code);
      const common = isMeant ? overlap(days, { first: gap.gap_start, last: gap.gap_end }) : null;
      if (common === null) return [gap];
      const part = (first: string, last: string): readonly Gap[] => partOf(gap, first, last, calendar);
      excused.push(...part(common.first, common.last).map((one) => ({ ...one, reason })));
      return [...part(gap.gap_start, daysAfter(common.first, -1)), ...part(daysAfter(common.last, 1), gap.gap_end)];
    });
  }
  return { left, excused };
}

/** The part of a gap between two days, without closed days at its ends; nothing if it has no other days. */
function partOf(gap: Gap, first: string, last: string, { open }: Calendar): readonly Gap[] {
  if (gap.kind !== "missing" && gap.kind !== "missing_day") {
    return first <= last ? [{ ...gap, gap_start: first, gap_end: last }] : [];
  }
  const [from, to] = [open[indexFrom(open, first)], open[indexFrom(open, daysAfter(last, 1)) - 1]];
  return from !== undefined && to !== undefined && from <= to ? [{ ...gap, gap_start: from, gap_end: to }] : [];
}
