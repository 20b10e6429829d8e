// The conditions of a request as data: the dates that bound it, the tests that a row must pass, and how a column is
// shown.
import { columnNamed } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import type { DataFile, FileList } from "../lake/manifest.js";
import type { Window } from "./choose.js";
import type { Position } from "./cursor.js";
import type { FileGroup } from "./files.js";
import { withBareCodes } from "./filter-values.js";
import { hasTimeParameter, type EntityRequest, type Filter } from "./request.js";
import type { Expression, Test } from "./scan.js";
import { COMPARED_AT_MOST } from "./sql.js";

/** The day of `stock_list` that is read: without a date the latest one, with `as_of` the latest one on or before it. */
export type ListDay = { readonly date: string } | { readonly latestIn: DataFile; readonly until: string } | null;

export function wantedDay(request: EntityRequest, list: FileList): ListDay {
  if (request.entity.pointInTime?.rule !== "snapshot" || hasTimeParameter(request) || list.last === null) return null;
  const { asOf } = request;
  if (asOf === null || asOf >= list.last) return { date: list.last };
  const file = list.byDate.findLast(({ first }) => first !== null && first <= asOf);
  return file ? { latestIn: file, until: asOf } : { date: asOf };
}

/** The bounds of the main date that follow from the request: its range, filter, `as_of`, and the day of the list. */
export function windowOf(request: EntityRequest, day: ListDay = null): Window {
  const { entity, start, end, asOf } = request;
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

/** The window of the request within the span of the files; unbounded where the files themselves end. */
export function spanOf({ span, files }: FileGroup, { start, end }: Window): readonly [string | null, string | null] {
  if (span === null) {
    const [first, last] = [files[0]!.first, files.at(-1)!.last];
    return [
      start !== null && first !== null && start <= first ? null : start,
      end !== null && last !== null && last <= end ? null : end,
    ];
  }
  const [first, last] = span;
  return [start !== null && start > first ? start : first, end !== null && end < last ? end : last];
}

/** A test that a date is within bounds; no test if both are null. */
export function betweenTests(column: string | null, [first, last]: readonly [string | null, string | null]): Test[] {
  if (column === null || (first === null && last === null)) return [];
  return [{ is: "between", columns: [column], first, last }];
}

/** A column as it is shown: with `as_of`, values that were not known yet are replaced by earlier ones. */
export function shown({ entity, asOf }: EntityRequest, column: Column): Expression {
  const rule = entity.pointInTime;
  const hides = rule?.rule === "announced" ? rule.hides : undefined;
  const found = asOf === null ? undefined : hides?.find((one) => one.column === column.name);
  return found && asOf !== null
    ? { column, hidden: { knownFrom: found.knownFrom, asOf, before: found.before } }
    : { column };
}

export const filterTest = (request: EntityRequest, { column, values }: Filter): Test => ({
  is: "in",
  value: shown(request, column),
  values: expandBareCodes(request.entity, column, values),
});

/** Rows that were announced on or before `as_of`. */
export function announcedTests({ entity, asOf }: EntityRequest): Test[] {
  const rule = entity.pointInTime;
  if (asOf === null || rule?.rule !== "announced") return [];
  return [{ is: "between", columns: rule.columns, first: null, last: asOf }];
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
