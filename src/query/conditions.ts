// The conditions of a request as data: the dates that bound it, the tests that a row must pass, and how a column is
// shown.
import { columnNamed } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import type { DataFile, FileList } from "../lake/manifest.js";
import { countUntil } from "../lake/ordered.js";
import { AS_OF } from "./as-of.js";
import type { Position } from "./cursor.js";
import type { DateBounds, FileGroup } from "./files.js";
import { withBareCodes } from "./filter-values.js";
import { type EntityRequest, type Filter, hasTimeParameter } from "./request.js";
import type { Expression, Numbering, Test } from "./scan.js";
import { COMPARED_AT_MOST } from "./sql.js";

/** The day of `stock_list` that is read: without a date the latest one, with `as_of` the latest one on or before it. */
export type ListDay = { readonly date: string } | { readonly latestIn: DataFile; readonly until: string } | null;

export function wantedDay(request: EntityRequest, list: FileList): ListDay {
  if (request.entity.pointInTime?.rule !== "snapshot" || hasTimeParameter(request) || list.last === null) return null;
  const { asOf } = request;
  if (asOf === null || asOf >= list.last) return { date: list.last };
  const file = list.byDate[countUntil(list.byDate, ({ first }) => first !== null && first <= asOf) - 1];
  return file ? { latestIn: file, until: asOf } : { date: asOf };
}

/** The bounds of the main date that follow from the request: its range, filter, `as_of`, and the day of the list. */
export function requestedDates(request: EntityRequest, day: ListDay = null): DateBounds {
  const { entity, asOf } = request;
  const [start, end] = rangeOn(request, entity.mainDate);
  if (entity.mainDate === null) return { start: null, end: null };
  if (day) {
    if ("date" in day) return { start: day.date, end: day.date };
    return { start: day.latestIn.first, end: day.until };
  }
  const starts = start === null ? [] : [start];
  const ends = end === null ? [] : [end];
  const dates = request.filters.find((filter) => filter.column.name === entity.mainDate)?.values ?? [];
  if (dates.length > 0 && !dates.includes(null)) {
    const sorted = dates.map(String).sort();
    starts.push(sorted[0]!);
    ends.push(sorted.at(-1)!);
  }
  const rule = entity.pointInTime;
  if (asOf !== null && rule?.rule === "announced" && rule.columns[0] === entity.mainDate) ends.push(asOf);
  return { start: starts.sort().at(-1) ?? null, end: ends.sort()[0] ?? null };
}

/** `start_date` and `end_date` if they bound this column. */
function rangeOn(
  { entity, start, end }: EntityRequest,
  column: string | null,
): readonly [string | null, string | null] {
  return (entity.rangeOf ?? entity.mainDate) === column ? [start, end] : [null, null];
}

/** Tests of the range that are not tests of the main date. */
function otherRangeTests(request: EntityRequest): Test[] {
  const { rangeOf = null, mainDate } = request.entity;
  return rangeOf === mainDate ? [] : betweenTests(rangeOf, rangeOn(request, rangeOf));
}

/** First and last of the requested dates that rows of the group must have; null where its files hold no others. */
export function datesToTest(
  { onlyDates, files }: FileGroup,
  { start, end }: DateBounds,
): readonly [string | null, string | null] {
  if (onlyDates === null) {
    const [first, last] = [files[0]!.first, files.at(-1)!.last];
    return [
      start !== null && first !== null && start <= first ? null : start,
      end !== null && last !== null && last <= end ? null : end,
    ];
  }
  const [first, last] = onlyDates;
  return [start !== null && start > first ? start : first, end !== null && end < last ? end : last];
}

/** What a row must fulfil: to have one of the dates `tested`, to meet the conditions, and to follow the previous page. */
export function testsOf(
  request: EntityRequest,
  tested: readonly [string | null, string | null],
  day: ListDay,
  after: Position | null,
): readonly Test[] {
  return [
    ...betweenTests(request.entity.mainDate, tested),
    ...conditionsOn(request, day),
    ...afterTests(request, after),
  ];
}

/** All tests but those of the dates and of the position. How many rows pass them is not known. */
export function conditionsOn(request: EntityRequest, day: ListDay): readonly Test[] {
  const { entity, filters } = request;
  const last: Test[] = day && "latestIn" in day ? [{ is: "last", column: entity.mainDate!, until: day.until }] : [];
  const wanted = filters.map((filter) => filterTest(request, filter));
  return [...wanted, ...otherRangeTests(request), ...announcedTests(request), ...last];
}

/**
 * How the revisions among the rows of a request are numbered; null if it needs no numbers. The rows that count are those
 * known by `as_of`, or without it those in the requested range; and of these, those of the requested codes and periods.
 */
export function numberingOf(request: EntityRequest): Numbering | null {
  const { entity, asOf, latest, filters } = request;
  const { revisions, mainDate, identity } = entity;
  if (revisions === null) return null;
  const { of, date, flag } = revisions;
  if (latest === null && (asOf === null || flag === undefined)) return null;
  return {
    how: "numbered",
    among: [
      ...(asOf === null ? betweenTests(mainDate, rangeOn(request, mainDate)) : announcedTests(request)),
      ...filters.filter((filter) => isAmong(request, filter)).map((filter) => filterTest(request, filter)),
    ],
    of,
    date,
    others: identity.filter((name) => !of.includes(name) && name !== flag),
    flag: flag === undefined ? null : { column: flag, first: asOf !== null },
  };
}

/** Whether a filter says which rows are numbered; the others choose among the numbered ones. */
const isAmong = ({ entity: { revisions, mainDate }, asOf }: EntityRequest, { column: { name } }: Filter): boolean =>
  revisions!.of.includes(name) || (asOf === null && name === mainDate);

/** What a numbered row must fulfil. */
export function testsOnNumbered(request: EntityRequest, after: Position | null): readonly Test[] {
  const { entity, asOf, latest, filters } = request;
  return [
    ...(latest === null ? [] : [{ is: "newest" } as const]),
    ...(asOf === null ? [] : betweenTests(entity.mainDate, rangeOn(request, entity.mainDate))),
    ...otherRangeTests(request),
    ...filters.filter((filter) => !isAmong(request, filter)).map((filter) => filterTest(request, filter)),
    ...afterTests(request, after),
  ];
}

/** A test that a date is within bounds; no test if both are null. */
export function betweenTests(column: string | null, [first, last]: readonly [string | null, string | null]): Test[] {
  if (column === null || (first === null && last === null)) return [];
  return [{ is: "between", columns: [column], first, last }];
}

/** A column as it is shown: with `as_of`, values that were not known yet are replaced by earlier ones. */
export function shown({ entity, asOf }: EntityRequest, column: Column): Expression {
  if (asOf === null) return { column };
  if (column === AS_OF) return { column, constant: asOf };
  if (column.name === entity.revisions?.flag) return { column, newest: true };
  const found = entity.pointInTime?.hides?.find((one) => one.column === column.name);
  if (!found) return { column };
  const { knownFrom, before, after } = found;
  return { column, hidden: { knownFrom, asOf, before, ...(after === undefined ? {} : { after }) } };
}

export const filterTest = (request: EntityRequest, { column, values }: Filter): Test => ({
  is: "in",
  value: shown(request, column),
  values: expandBareCodes(request.entity, column, values),
});

/** Rows that were announced on or before `as_of`, of periods that had ended by then. */
export function announcedTests({ entity, asOf }: EntityRequest): Test[] {
  const rule = entity.pointInTime;
  if (asOf === null || rule?.rule !== "announced") return [];
  const { columns, periodEnd } = rule;
  const upTo = (names: readonly string[]): Test => ({ is: "between", columns: names, first: null, last: asOf });
  return [upTo(columns), ...(periodEnd === undefined ? [] : [upTo([periodEnd])])];
}

/** Rows after the previous page. */
export function afterTests({ entity, order }: EntityRequest, after: Position | null): Test[] {
  if (after === null) return [];
  const code = { column: columnNamed(entity, entity.code)!, value: after.code };
  const date = entity.mainDate === null ? [] : [{ column: columnNamed(entity, entity.mainDate)!, value: after.date }];
  return [{ is: "beyond", keys: [...date, code], row: after.row, descending: order === "desc" }];
}

/** Whether rows that pass a filter keep the order of their files. */
export const keepsOrder = ({ entity }: EntityRequest, { column, values }: Filter): boolean =>
  expandBareCodes(entity, column, values).length <= COMPARED_AT_MOST;

/** If codes may lack their suffix, a code matches with and without it. */
const expandBareCodes = (entity: Entity, { type }: Column, values: Filter["values"]): Filter["values"] =>
  entity.bareCodes && type === "code" ? withBareCodes(values) : values;
