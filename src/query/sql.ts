// Writes SQL for reads, with the other `*-sql.ts`: each scan becomes one statement. Identifiers come from the catalog; user
// text is always bound.
import { SQL_TYPES, type Column } from "../catalog/types.js";
import type { DataFile } from "../lake/manifest.js";
import { quoteName } from "../sql-text.js";
import { Bindings, type SqlValue } from "./bindings.js";
import { barsSql } from "./bars-sql.js";
import { changesSql } from "./changes-sql.js";
import { joinedSql } from "./lookups-sql.js";
import { datesJson, hasNull, listJson } from "./filter-values.js";
import { panelSql } from "./panel-sql.js";
import { numberedSql, REVISION, ROW_NUMBER } from "./revisions-sql.js";
import type { ChangesSelect, Expression, Part, Scan, Select, Test } from "./scan.js";

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
  const limit = scan.limit === null ? "" : ` LIMIT ${scan.limit}`;
  const rows = rowsSql(scan, pathOf, bindings);
  const sql = rows.sql + limit;
  const nulls = Array.from({ length: rows.columns }, () => "NULL").join(", ");
  return {
    sql: end === "marked" ? `SELECT *, false FROM (${sql}) UNION ALL SELECT ${nulls}, true` : sql,
    values: bindings.values,
  };
}

/** Tests as one condition on rows, for WHERE. */
export function conditionOf(tests: readonly Test[]): Statement {
  const bindings = new Bindings();
  const all = tests.flatMap((test) => testSql(test, bindings));
  return { sql: all.length === 0 ? "true" : all.join(" AND "), values: bindings.values };
}

interface Rows {
  readonly sql: string;
  /** The number of columns. */
  readonly columns: number;
}

/** A scan as a SELECT without its limit. */
function rowsSql(scan: Scan, pathOf: (file: DataFile) => string, bindings: Bindings): Rows {
  const { files, select, derived, rowRange, tests } = scan;
  const read = (some: readonly DataFile[]): string => `read_parquet(${bindings.add(some.map(pathOf))})`;
  const passing = (source: string): string => {
    const range = rowRange === null ? [] : rowRangeSql(rowRange, bindings);
    const where = [...range, ...tests.flatMap((test) => testSql(test, bindings))];
    return source + (where.length === 0 ? "" : ` WHERE ${where.join(" AND ")}`);
  };
  if (select.what === "changes") {
    const sides = [files.slice(0, select.older), files.slice(select.older)];
    const [older, newer] = sides.map((side) => (side.length === 0 ? null : passing(read(side))));
    return changesSql(select, older!, newer!, bindings);
  }
  const source = derived === null ? read(files) : derivedSql(derived, files, read, bindings);
  const { list, from, groupBy } = renderSelect(select, bindings);
  const sql = `SELECT ${list.join(", ")} FROM ${from(passing(source))}${groupBy}${orderSql(scan.order)}`;
  return { sql, columns: list.length };
}

interface SelectSql {
  readonly list: readonly string[];
  /** The FROM clause, given the rows that pass the tests. */
  readonly from: (rows: string) => string;
  readonly groupBy: string;
}

type Read = (files: readonly DataFile[]) => string;

function derivedSql(
  derived: NonNullable<Scan["derived"]>,
  files: readonly DataFile[],
  read: Read,
  bindings: Bindings,
): string {
  if (derived.how === "joined") return joinedSql(derived, read);
  const whereSql = (tests: readonly Test[]): string => tests.flatMap((test) => testSql(test, bindings)).join(" AND ");
  if (derived.how === "numbered") return numberedSql(derived, read(files), whereSql(derived.among));
  const select = ({ files: own, tests }: Part, columns: string): string =>
    `SELECT ${columns} FROM ${[read(own), whereSql(tests)].filter((sql) => sql !== "").join(" WHERE ")}`;
  if (derived.how === "panel") {
    return panelSql(derived, select, bindings, (expression) => expressionSql(expression, bindings));
  }
  return barsSql(derived, select, (date) => bindings.date(date));
}

const asIs = (rows: string): string => rows;

/** What is read of one version; changes compare two. */
type OfOneVersion = Exclude<Select, ChangesSelect>;

const SELECTS: {
  [W in OfOneVersion["what"]]: (select: Extract<Select, { what: W }>, bindings: Bindings) => SelectSql;
} = {
  rows: ({ columns, position }, bindings) => {
    const shown = columns.map((expression) => {
      const [sql, name] = [expressionSql(expression, bindings), quoteName(expression.column.name)];
      return sql === name ? sql : `${sql} AS ${name}`;
    });
    const list = position === null ? shown : [...shown, ...position.map(quoteName), ROW_NUMBER];
    return { list, from: asIs, groupBy: "" };
  },
  latest: ({ code, date, value, upTo }, bindings) => {
    const [byCode, byDate] = [quoteName(code), quoteName(date)];
    const list = [byCode, `max(${byDate})`, ...(value === null ? [] : [`arg_max(${quoteName(value)}, ${byDate})`])];
    const groupBy = ` GROUP BY ${byCode}`;
    if (upTo === null) return { list, from: asIs, groupBy };
    const items = (json: string, type: string): string => `unnest(from_json(${bindings.add(json)}, '["${type}"]'))`;
    const from = (rows: string): string => {
      const until = `SELECT ${items(listJson(upTo.codes), "VARCHAR")} AS __code, ${items(datesJson(upTo.dates), "DATE")} AS __until`;
      return `(SELECT * FROM (FROM ${rows}) JOIN (${until}) ON ${byCode} = __code AND ${byDate} <= __until)`;
    };
    return { list, from, groupBy };
  },
  days: ({ code, date, first, bits }, bindings) => {
    const shown = code === null ? "DISTINCT NULL::VARCHAR" : expressionSql(code, bindings);
    const inner = `SELECT ${shown} AS code, ${quoteName(date)} - ${bindings.date(first)} AS day`;
    const days = `to_base64(bitstring_agg(day, 0, ${bits - 1})::BLOB) AS days`;
    return { list: ["code", days], from: (rows) => `(${inner} FROM ${rows})`, groupBy: " GROUP BY code" };
  },
  statistics: ({ value, date }, bindings) => {
    const sql = expressionSql(value, bindings);
    const last = date === null ? "NULL::DATE" : `max(${quoteName(date)}) FILTER (${sql} IS NOT NULL)`;
    const counts = [`count(*) - count(${sql})`, `count(DISTINCT ${sql})`];
    return { list: [...counts, `min(${sql})`, `max(${sql})`, last], from: asIs, groupBy: "" };
  },
};

const renderSelect = (select: OfOneVersion, bindings: Bindings): SelectSql =>
  (SELECTS[select.what] as (select: OfOneVersion, bindings: Bindings) => SelectSql)(select, bindings);

function expressionSql({ column, hidden, bare, newest, constant }: Expression, bindings: Bindings): string {
  if (constant !== undefined) return bindings.date(constant);
  const name = column.derived ?? quoteName(column.name);
  if (newest) return `(${REVISION} = 1)::INTEGER::${SQL_TYPES[column.type]}`;
  if (bare) return `split_part(${name}, '.', 1)`;
  if (!hidden) return name;
  const { knownFrom, asOf, before, after } = hidden;
  const when = (is: ">" | "<=", value: string | null): string =>
    `WHEN ${quoteName(knownFrom)} ${is} ${bindings.date(asOf)} THEN ${bindings.add(value)}::${SQL_TYPES[column.type]}`;
  return `CASE ${when(">", before)}${after === undefined ? "" : ` ${when("<=", after)}`} ELSE ${name} END`;
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
  newest: () => [`${REVISION} = 1`],
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
