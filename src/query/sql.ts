// The only place that writes SQL for reads. Identifiers come from the catalog; everything a user said is bound.
import { columnNamed } from "../catalog/index.js";
import { SQL_TYPES, type Column, type Entity } from "../catalog/types.js";
import { quoteName } from "../sql-text.js";
import type { Position } from "./cursor.js";
import { datesJson, hasNull, listJson, withBareCodes } from "./filter-values.js";
import type { EntityRequest, Filter } from "./request.js";
import type { SqlValue } from "./statement.js";

/** Collects bound values and hands out their placeholders. */
export class Bindings {
  readonly values: SqlValue[] = [];
  add(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
  /** A `YYYYMMDD` date as a DATE. */
  date(compact: string): string {
    return `${this.add(`${compact.slice(0, 4)}-${compact.slice(4, 6)}-${compact.slice(6, 8)}`)}::DATE`;
  }
}

/** A column as it is shown: under `as_of`, what was not known yet as it was before. */
export function visible(request: EntityRequest, column: Column, bindings: Bindings): string {
  const rule = request.entity.pointInTime;
  const name = column.derived ?? quoteName(column.name);
  if (request.asOf === null || rule?.rule !== "announced") return name;
  const hidden = rule.hides?.find((one) => one.column === column.name);
  if (!hidden) return name;
  const later = `${quoteName(hidden.knownFrom)} > ${bindings.date(request.asOf)}`;
  return `CASE WHEN ${later} THEN ${bindings.add(hidden.before)}::${SQL_TYPES[column.type]} ELSE ${name} END`;
}

/** `column IN (values)`, with null meaning a missing value. */
export function filterSql(request: EntityRequest, { column, values }: Filter, bindings: Bindings): string {
  const sql = visible(request, column, bindings);
  const all = expandBareCodes(request.entity, column, values);
  if (all.length > COMPARED_AT_MOST) {
    // Bound as one value: to bind each of 60,000 takes 200 ms, in every statement of a plan.
    const list = bindings.add(column.type === "date" ? datesJson(all) : listJson(all));
    const isIn = `${sql} IN (SELECT unnest(from_json(${list}, '["${SQL_TYPES[column.type]}"]')))`;
    return hasNull(all) ? `(${sql} IS NULL OR ${isIn})` : isIn;
  }
  const present = all.filter((value) => value !== null);
  const tests: string[] = [];
  if (values.includes(null)) tests.push(`${sql} IS NULL`);
  if (present.length > 0) {
    const bound = present.map((value) =>
      column.type === "date" ? bindings.date(String(value)) : `${bindings.add(value)}::${SQL_TYPES[column.type]}`,
    );
    tests.push(bound.length === 1 ? `${sql} = ${bound[0]!}` : `${sql} IN (${bound.join(", ")})`);
  }
  return tests.length === 1 ? tests[0]! : `(${tests.join(" OR ")})`;
}

/** So many values are compared one by one; DuckDB finds more of them by a join, and a join gives its rows in any order. */
const COMPARED_AT_MOST = 4;

/** Whether rows that pass a filter come in the order in which they lie in their files. */
export const keepsOrder = ({ entity }: EntityRequest, { column, values }: Filter): boolean =>
  expandBareCodes(entity, column, values).length <= COMPARED_AT_MOST;

/** Where codes may lack their suffix, a code matches with and without it. */
const expandBareCodes = (entity: Entity, { type }: Column, values: Filter["values"]): Filter["values"] =>
  entity.bareCodes && type === "code" ? withBareCodes(values) : values;

/** Rows that were announced on or before `as_of`. */
export function announcedSql(request: EntityRequest, bindings: Bindings): string | null {
  const rule = request.entity.pointInTime;
  if (request.asOf === null || rule?.rule !== "announced") return null;
  const columns = rule.columns.map(quoteName);
  const known = columns.length === 1 ? columns[0]! : `coalesce(${columns.join(", ")})`;
  return `${known} <= ${bindings.date(request.asOf)}`;
}

/** Inclusive bounds of a column of dates. */
export function betweenSql(column: string, start: string | null, end: string | null, bindings: Bindings): string[] {
  const name = quoteName(column);
  return [
    ...(start === null ? [] : [`${name} >= ${bindings.date(start)}`]),
    ...(end === null ? [] : [`${name} <= ${bindings.date(end)}`]),
  ];
}

/** The rows of a file from `start` up to but without `end`, counted from 0. */
export const rowsSql = (start: number, end: number, bindings: Bindings): string[] => [
  `file_row_number >= ${bindings.add(start)}::BIGINT`,
  `file_row_number < ${bindings.add(end)}::BIGINT`,
];

/**
 * Rows that come after a position in an order of main date, code and place in the file, nulls last; before it where
 * `descending`. Written so that the first comparison alone lets row groups be skipped.
 */
export function afterSql(entity: Entity, position: Position, descending: boolean, bindings: Bindings): string {
  const row = `file_row_number ${descending ? "<" : ">"} ${bindings.add(position.row)}::BIGINT`;
  const code = position.code === null ? null : bindings.add(position.code);
  const afterCode = beyond(columnNamed(entity, entity.code)!, code, row, descending);
  if (entity.mainDate === null) return afterCode;
  const date = position.date === null ? null : bindings.date(position.date);
  return beyond(columnNamed(entity, entity.mainDate)!, date, afterCode, descending);
}

/** Beyond `value` in `column`, or equal to it and `then`. Null stands after every value. */
function beyond(column: Column, value: string | null, then: string, descending: boolean): string {
  const name = quoteName(column.name);
  if (value === null) return descending ? `(${name} IS NOT NULL OR (${then}))` : `(${name} IS NULL AND (${then}))`;
  if (descending) return `(${name} <= ${value} AND (${name} < ${value} OR (${then})))`;
  const ahead = `(${name} >= ${value} AND (${name} > ${value} OR (${then})))`;
  return column.nullable ? `(${ahead} OR ${name} IS NULL)` : ahead;
}
