// Which days a response about gaps covers, and the gaps before the first and after the last row of an entity.
import { ENTITIES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { chinaTime, daysAfter, parseDate } from "../dates.js";
import type { Gap } from "../lake/gaps.js";
import type { FileList } from "../lake/manifest.js";
import { indexFrom, type Calendar } from "./calendar.js";
import { overlap, type Span } from "./day-sets.js";
import type { GapRequest } from "./gap-request.js";
import { inOrder } from "./gaps.js";

/** What is asked: bounds, `YYYYMMDD`, or null; and today in China: the data of earlier days is expected to be there. */
export interface AskedRange {
  readonly start: string | null;
  readonly end: string | null;
  readonly today: string;
}

/** The bounds that a request gives, or null: days, `YYYYMMDD`, and a version. */
export type GapBounds = Pick<GapRequest, "start" | "end" | "dataVersion">;

/** The range of a request at a moment. A version that is asked for by name does not lack what came after it. */
export function rangeOf({ start, end, dataVersion }: GapBounds, now: Date): AskedRange {
  return { start, end, today: parseDate((dataVersion ?? chinaTime(now)).slice(0, 10))! };
}

/** Rows dated more than this many days ahead are taken for errors. */
const FAR_AHEAD = 30;

/**
 * The newest day for which an entity of trading days has rows; null if there is none. An entity whose newest row is
 * further ahead does not count: one wrong date would show gaps in all others.
 */
export const newestDay = (files: (entity: string) => Pick<FileList, "last">, today: string): string | null =>
  ENTITIES.filter(({ gaps, snapshot }) => gaps !== "none" && snapshot === null)
    .flatMap(({ name }) => files(name).last ?? [])
    .filter((day) => day <= daysAfter(today, FAR_AHEAD))
    .sort()
    .at(-1) ?? null;

/**
 * The days on which gaps are looked for: from the first row of the entity to the last day that any entity has, and as
 * far as the request asks. Days outside the calendar are left out, and so is today, unless the entity has rows of today.
 * Null if there are no such days.
 */
export function coveredSpan(
  { first, last }: Pick<FileList, "first" | "last">,
  newest: string | null,
  { start, end, today }: AskedRange,
  { dates }: Calendar,
): Span | null {
  const over = daysAfter(today, -1);
  const firsts = [first, start].filter((day) => day !== null).sort();
  const lasts = [newest, end].flatMap((day) => (day === null ? [] : day < over ? day : over));
  const own = last === null ? [] : [last <= today ? last : over];
  const to = [...lasts, ...own].sort().at(-1);
  const from = firsts[0];
  if (from === undefined || to === undefined || dates.length === 0) return null;
  return overlap({ first: from, last: to }, { first: dates[0]!, last: dates.at(-1)! });
}

/** The gaps of the days that have rows, `held`, with those of the other open days that are covered. */
export function withEdges(
  entity: Entity,
  gaps: readonly Gap[],
  covered: Span,
  held: Span | null,
  { open }: Calendar,
): readonly Gap[] {
  const between = (from: string, to: string): readonly string[] =>
    open.slice(indexFrom(open, from), indexFrom(open, to));
  const afterLast = daysAfter(covered.last, 1);
  const lastOpen = open[indexFrom(open, afterLast) - 1] ?? "";
  // Rows of days that have not come yet lie after what is covered.
  const past = gaps.flatMap((gap) =>
    gap.gap_start > lastOpen ? [] : [gap.gap_end > lastOpen ? { ...gap, gap_end: lastOpen } : gap],
  );
  const sides =
    held === null
      ? [between(covered.first, afterLast)]
      : [
          between(covered.first, held.first < afterLast ? held.first : afterLast),
          between(daysAfter(held.last, 1), afterLast),
        ];
  return sides.reduce<readonly Gap[]>((all, days) => joined(entity, all, days, open), past);
}

/** Adds open days without rows, which follow each other, to the gaps; a gap next to them becomes longer. */
function joined(
  entity: Entity,
  gaps: readonly Gap[],
  days: readonly string[],
  open: readonly string[],
): readonly Gap[] {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return gaps;
  const [before, after] = [open[indexFrom(open, first) - 1], open[indexFrom(open, last) + 1]];
  const touches = (gap: Gap): boolean =>
    gap.ts_code === null &&
    ((before !== undefined && gap.gap_end === before) || (after !== undefined && gap.gap_start === after));
  const ends = [first, last, ...gaps.filter(touches).flatMap(({ gap_start, gap_end }) => [gap_start, gap_end])].sort();
  const gap = { entity: entity.name, ts_code: null, gap_start: ends[0]!, gap_end: ends.at(-1)!, kind: "missing_day" };
  return [...gaps.filter((one) => !touches(one)), gap].sort(inOrder);
}
