// Bars of weeks and months that are made of their days: adjusted ones, and those of indices, which are not stored.
import { entityNamed } from "../catalog/index.js";
import type { Period } from "../catalog/types.js";
import { daysAfter, firstDayOf, lastDayOf } from "../dates.js";
import type { FileList } from "../lake/manifest.js";
import { afterTests, betweenTests, conditionsOn, requestedDates } from "./conditions.js";
import type { Position } from "./cursor.js";
import { rowsIn, type DateBounds } from "./files.js";
import { columnsOf, keysOf, partsOf, selectOf, type Plan } from "./plan.js";
import { adjustedColumns, codeFilter, longestList, shownKeys, type EntityRequest } from "./request.js";
import { costOf, scanOf, type BarsSource, type Part, type Scan, type Test } from "./scan.js";

export type ListsOf = (entity: string) => FileList;

/** Dates of bars, inclusive. */
interface Span {
  readonly first: string;
  readonly last: string;
}

/** Adjusted bars of a request, whose stored bars are in `list`; each is made of its days. */
export function planAdjustedBars(
  request: EntityRequest,
  list: FileList,
  listsOf: ListsOf,
  after: Position | null,
): Plan {
  const { entity, adjust } = request;
  const { factors, days } = entity.adjustment!;
  const { entity: dayName, period } = days!;
  // What is adjusted forward is rebased by a factor of its code.
  const needsKeys = adjust === "forward" && adjustedColumns(request).length > 0 && shownKeys(request) === null;
  const parts = (name: string, dates: DateBounds): readonly Part[] =>
    partsOf(entityNamed(name)!, listsOf(name), dates, request);
  return planBars(request, list, after, needsKeys, ({ first, last }) => {
    const start = firstDayOf(first, period);
    const bars = partsOf(entity, list, { start: first, end: last }, request);
    if (bars.length === 0) return null;
    const end = lastDayOf(last, period);
    const source: BarsSource = {
      how: "rebuilt",
      period,
      volume: request.adjustVolume !== null,
      bars,
      days: parts(dayName, { start, end }),
      factors: parts(factors, { start: firstDayOf(daysAfter(start, -1), period), end }),
    };
    return { source, parts: [...source.bars, ...source.days, ...source.factors], tests: [], atMost: bars };
  });
}

/** How many periods before a bar the bar before it may be: a holiday may close a week. */
const REACH = 2;

/** Bars that are not stored. A bar has the date of the last trading day of its period, and is there from that day on. */
export function planBuiltBars(request: EntityRequest, listsOf: ListsOf, after: Position | null): Plan {
  const { days, calendar, period } = request.entity.builtFrom!;
  const [list, trading] = [listsOf(days), listsOf(calendar)];
  return planBars(request, list, after, false, ({ first, last }) => {
    const dates = { start: firstDayOf(first, period), end: lastDayOf(last, period) };
    let from = dates.start;
    for (let i = 0; i < REACH; i++) from = firstDayOf(daysAfter(from, -1), period);
    const own = partsOf(entityNamed(days)!, list, { ...dates, start: from }, request);
    if (own.length === 0) return null;
    // The last trading day of a period that the calendar does not cover to its end is not known.
    const known = trading.last === null ? null : lastWhole(trading.last, period);
    const end = known !== null && known < dates.end ? known : dates.end;
    const covered =
      known === null || known < dates.start
        ? []
        : partsOf(entityNamed(calendar)!, trading, { ...dates, end }, request, null);
    const source: BarsSource = {
      how: "grouped",
      period,
      days: own,
      calendar: covered,
      until: list.last!,
      reach: REACH,
    };
    const tests = betweenTests(request.entity.mainDate, [first, last]);
    return { source, parts: [...own, ...covered], tests, atMost: own };
  });
}

interface BarsOfSpan {
  readonly source: BarsSource;
  /** Everything that is read. */
  readonly parts: readonly Part[];
  /** What bars must fulfil beside the conditions of the request. */
  readonly tests: readonly Test[];
  /** There are at most as many bars as rows of these. */
  readonly atMost: readonly Part[];
}

/** Each scan makes the bars of a year, or all of them if they are of few codes. `list` tells which dates there are. */
function planBars(
  request: EntityRequest,
  list: FileList,
  after: Position | null,
  needsKeys: boolean,
  barsOf: (span: Span) => BarsOfSpan | null,
): Plan {
  const { entity, limit, order } = request;
  const position = limit === null && !needsKeys ? null : keysOf(entity);
  const asked = requestedDates(request);
  const reached = after?.date ?? null;
  const starts = [asked.start, order === "asc" ? reached : null, list.first].filter((date) => date !== null);
  const ends = [asked.end, order === "asc" ? null : reached, list.last].filter((date) => date !== null);
  const [begin, end] = [starts.sort().at(-1), ends.sort()[0]];
  const spans = begin === undefined || end === undefined || begin > end ? [] : spansOf(request, begin, end);
  const scans = (order === "asc" ? spans : spans.toReversed()).flatMap((span): Scan[] => {
    const bars = barsOf(span);
    if (bars === null) return [];
    const files = bars.parts.flatMap((part) => part.files);
    return [
      scanOf([...new Set(files)], selectOf(request, position), {
        derived: bars.source,
        tests: [...bars.tests, ...conditionsOn(request, null), ...afterTests(request, after)],
        order: { columns: keysOf(entity), descending: order === "desc" },
        bounds: { atMost: bars.atMost.reduce((sum, part) => sum + rowsIn(part.files), 0), exact: false },
      }),
    ];
  });
  const rows = scans.reduce((sum, { files }) => sum + rowsIn(files), 0);
  return { ...columnsOf(request, position), scans, cost: costOf(rows, longestList(request)) };
}

/** More codes than this are read year by year, so that the first rows come early and memory is bounded. */
const FEW_CODES = 20;

function spansOf(request: EntityRequest, first: string, last: string): readonly Span[] {
  const codes = codeFilter(request);
  if (codes !== null && codes.values.length <= FEW_CODES) return [{ first, last }];
  const years = Array.from({ length: +last.slice(0, 4) - +first.slice(0, 4) + 1 }, (_, i) => +first.slice(0, 4) + i);
  return years.map((year) => {
    const [start, end] = [`${year}0101`, `${year}1231`];
    return { first: start < first ? first : start, last: end > last ? last : end };
  });
}

/** The last day of the last week or month that has ended by a date. */
function lastWhole(date: string, period: Period): string {
  return lastDayOf(date, period) === date ? date : daysAfter(firstDayOf(date, period), -1);
}
