// The only file that writes SQL for reads: each scan becomes one statement. Identifiers come from the catalog; user
// text is always bound.
import { SQL_TYPES, type Column } from "../catalog/types.js";
import { isoDate } from "../dates.js";
import type { DataFile } from "../lake/manifest.js";
import { quoteName } from "../sql-text.js";
import { datesJson, hasNull, listJson } from "./filter-values.js";
import type { Expression, Scan, Select, Test } from "./scan.js";

/** A value that is bound to a statement, never written into its text. */
export type SqlValue = string | number | bigint | boolean | null | readonly string[];

/** A SELECT; values are bound to $1, $2, … */
export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/**
 * A scan as one statement. `pathOf` returns the path of a file for DuckDB. With `marked`, the statement has one more
 * column and one more row, the last one, in which that column is true: the completeness marker.
 */
export function render(scan: Scan, pathOf: (file: DataFile) => string, end?: "marked"): Statement {
  const bindings = new Bindings();
  const files = `read_parquet(${bindings.add(scan.files.map(pathOf))})`;
  const { list, from, groupBy } = renderSelect(scan.select, bindings);
  const range = scan.rowRange === null ? [] : rowRangeSql(scan.rowRange, bindings);
  const where = [...range, ...scan.tests.flatMap((test) => testSql(test, bindings))];
  const rows = files + (where.length === 0 ? "" : ` WHERE ${where.join(" AND ")}`);
  const limit = scan.limit === null ? "" : ` LIMIT ${scan.limit}`;
  const sql = `SELECT ${list.join(", ")} FROM ${from(rows)}${groupBy}${orderSql(scan.order)}${limit}`;
  const nulls = list.map(() => "NULL").join(", ");
  return {
    sql: end === "marked" ? `SELECT *, false FROM (${sql}) UNION ALL SELECT ${nulls}, true` : sql,
    values: bindings.values,
  };
}

/** Collects bound values and hands out their placeholders. */
class Bindings {
  readonly values: SqlValue[] = [];
  add(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
  /** A `YYYYMMDD` date as a DATE. */
  date(compact: string): string {
    return `${this.add(isoDate(compact))}::DATE`;
  }
}

interface SelectSql {
  readonly list: readonly string[];
  /** The FROM clause, given the rows that pass the tests. */
  readonly from: (rows: string) => string;
  readonly groupBy: string;
}

const asIs = (rows: string): string => rows;

const SELECTS: { [W in Select["what"]]: (select: Extract<Select, { what: W }>, bindings: Bindings) => SelectSql } = {
  rows: ({ columns, position }, bindings) => {
    const shown = columns.map((expression) => {
      const [sql, name] = [expressionSql(expression, bindings), quoteName(expression.column.name)];
      return sql === name ? sql : `${sql} AS ${name}`;
    });
    const list = position === null ? shown : [...shown, ...position.map(quoteName), ROW_NUMBER];
    return { list, from: asIs, groupBy: "" };
  },
  latest: ({ code, date, value }) => {
    const [byCode, byDate] = [quoteName(code), quoteName(date)];
    const list = [byCode, `max(${byDate})`, `arg_max(${quoteName(value)}, ${byDate})`];
    return { list, from: asIs, groupBy: ` GROUP BY ${byCode}` };
  },
  days: ({ code, date, first, bits }, bindings) => {
    const shown = code === null ? "DISTINCT NULL::VARCHAR" : expressionSql(code, bindings);
    const inner = `SELECT ${shown} AS code, ${quoteName(date)} - ${bindings.date(first)} AS day`;
    const days = `to_base64(bitstring_agg(day, 0, ${bits - 1})::BLOB) AS days`;
    return { list: ["code", days], from: (rows) => `(${inner} FROM ${rows})`, groupBy: " GROUP BY code" };
  },
};

const renderSelect = (select: Select, bindings: Bindings): SelectSql =>
  (SELECTS[select.what] as (select: Select, bindings: Bindings) => SelectSql)(select, bindings);

const ROW_NUMBER = "file_row_number";

function expressionSql({ column, hidden, bare }: Expression, bindings: Bindings): string {
  const name = column.derived ?? quoteName(column.name);
  if (bare) return `split_part(${name}, '.', 1)`;
  if (!hidden) return name;
  const later = `${quoteName(hidden.knownFrom)} > ${bindings.date(hidden.asOf)}`;
  return `CASE WHEN ${later} THEN ${bindings.add(hidden.before)}::${SQL_TYPES[column.type]} ELSE ${name} END`;
}

const rowRangeSql = ([from, to]: readonly [number, number], bindings: Bindings): string[] => [
  `${ROW_NUMBER} >= ${bindings.add(from)}::BIGINT`,
  `${ROW_NUMBER} < ${bindings.add(to)}::BIGINT`,
];

/** Conditions that all must hold. */
const TESTS: { [I in Test["is"]]: (test: Extract<Test, { is: I }>, bindings: Bindings) => readonly string[] } = {
  between: ({ columns, first, last }, bindings) => {
    const names = columns.map(quoteName);
    const date = names.length === 1 ? names[0]! : `coalesce(${names.join(", ")})`;
    return [
      ...(first === null ? [] : [`${date} >= ${bindings.date(first)}`]),
      ...(last === null ? [] : [`${date} <= ${bindings.date(last)}`]),
    ];
  },
  in: ({ value, values }, bindings) => {
    const sql = expressionSql(value, bindings);
    const isIn = values.length > COMPARED_AT_MOST ? listSql : valuesSql;
    const present = isIn(sql, value.column, values, bindings);
    const tests = [...(hasNull(values) ? [`${sql} IS NULL`] : []), ...present];
    return [tests.length === 1 ? tests[0]! : `(${tests.join(" OR ")})`];
  },
  positive: ({ column }) => [`${quoteName(column)} > 0`],
  last: ({ column, until }, bindings) => {
    const name = quoteName(column);
    // $1 is the list of the scan's files.
    return [`${name} = (SELECT max(${name}) FROM read_parquet($1) WHERE ${name} <= ${bindings.date(until)})`];
  },
  beyond: ({ keys, row, descending }, bindings) => {
    const rowNumber = `${ROW_NUMBER} ${descending ? "<" : ">"} ${bindings.add(row)}::BIGINT`;
    return [keys.reduceRight((then, key) => beyondKey(key, then, descending, bindings), rowNumber)];
  },
};

/** At most this many values are compared one by one. For more, DuckDB uses a join, whose rows have no order. */
export const COMPARED_AT_MOST = 4;

type Values = Extract<Test, { is: "in" }>["values"];

/** Binds each value on its own; no condition if all are null. */
function valuesSql(sql: string, { type }: Column, values: Values, bindings: Bindings): readonly string[] {
  const bound = values.flatMap((one) => {
    if (one === null) return [];
    return [type === "date" ? bindings.date(String(one)) : `${bindings.add(one)}::${SQL_TYPES[type]}`];
  });
  if (bound.length === 0) return [];
  return [bound.length === 1 ? `${sql} = ${bound[0]!}` : `${sql} IN (${bound.join(", ")})`];
}

/** Binds all values as one list: to bind 60,000 of them one by one takes 200 ms in every statement. */
function listSql(sql: string, { type }: Column, values: Values, bindings: Bindings): readonly string[] {
  const list = bindings.add(type === "date" ? datesJson(values) : listJson(values));
  return [`${sql} IN (SELECT unnest(from_json(${list}, '["${SQL_TYPES[type]}"]')))`];
}

const testSql = (test: Test, bindings: Bindings): readonly string[] =>
  (TESTS[test.is] as (test: Test, bindings: Bindings) => readonly string[])(test, bindings);

type Key = Extract<Test, { is: "beyond" }>["keys"][number];

/**
 * The key is beyond its value, or equal to it and `then` holds. Null comes after every value. The first comparison
 * alone lets DuckDB skip row groups.
 */
function beyondKey({ column, value }: Key, then: string, descending: boolean, bindings: Bindings): string {
  const name = quoteName(column.name);
  if (value === null) return descending ? `(${name} IS NOT NULL OR (${then}))` : `(${name} IS NULL AND (${then}))`;
  const bound = column.type === "date" ? bindings.date(value) : bindings.add(value);
  if (descending) return `(${name} <= ${bound} AND (${name} < ${bound} OR (${then})))`;
  const ahead = `(${name} >= ${bound} AND (${name} > ${bound} OR (${then})))`;
  return column.nullable ? `(${ahead} OR ${name} IS NULL)` : ahead;
}

function orderSql(order: Scan["order"]): string {
  if (order === null) return "";
  const direction = order.descending ? " DESC" : "";
  return ` ORDER BY ${[...order.columns.map(quoteName), ROW_NUMBER].map((name) => name + direction).join(", ")}`;
}
