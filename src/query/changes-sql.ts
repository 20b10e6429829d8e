// The SQL of changes: the rows of two versions are compared, and what differs becomes a long table.
import { SQL_TYPES, type Column, type ColumnType } from "../catalog/types.js";
import { quoteName, quoteText } from "../sql-text.js";
import type { Bindings } from "./bindings.js";
import type { ChangesSelect } from "./scan.js";

/** What is read of one version: a source with its conditions; null if that version has nothing to compare. */
type Side = string | null;

interface Changes {
  readonly sql: string;
  /** The number of columns. */
  readonly columns: number;
}

/** Rows are compared as they are stored. Only what differs is spelled and sorted. */
export function changesSql(select: ChangesSelect, older: Side, newer: Side, bindings: Bindings): Changes {
  const differences = (select.isGroup ? groupDifferences : rowDifferences)(select, older, newer);
  return select.shows === "counts" ? countsSql(select, differences) : cellsSql(select, differences, bindings);
}

/** Each differing row once: `__change`, its identity, and the lists of its values before and after. */
function rowDifferences({ identity, columns }: ChangesSelect, older: Side, newer: Side): string {
  const both = ({ name }: Column): readonly [string, string] => [`o.${quoteName(name)}`, `n.${quoteName(name)}`];
  const same = identity.map((column) => both(column).join(" IS NOT DISTINCT FROM "));
  const others = columns.filter((column) => !identity.includes(column));
  const differ = others.map((column) => both(column).join(" IS DISTINCT FROM "));
  const list = [
    "CASE WHEN o.__in IS NULL THEN 'added' WHEN n.__in IS NULL THEN 'removed' ELSE 'changed' END AS __change",
    ...identity.map((column) => `coalesce(${both(column).join(", ")}) AS ${quoteName(column.name)}`),
    ...listsSql(columns, "o", "before"),
    ...listsSql(columns, "n", "after"),
  ];
  return (
    `SELECT ${list.join(", ")} FROM (SELECT true AS __in, ${sideSql(columns, older)}) o ` +
    `FULL JOIN (SELECT true AS __in, ${sideSql(columns, newer)}) n ON ${same.join(" AND ")} ` +
    `WHERE ${["o.__in IS NULL", "n.__in IS NULL", ...differ].join(" OR ")}`
  );
}

/** Equal rows are counted: a row is added or removed as many times as the two counts differ. */
function groupDifferences({ identity, columns }: ChangesSelect, older: Side, newer: Side): string {
  const names = columns.map(({ name }) => quoteName(name)).join(", ");
  const both = `SELECT -1 AS __n, ${sideSql(columns, older)} UNION ALL SELECT 1 AS __n, ${sideSql(columns, newer)}`;
  const counted = `SELECT ${names}, sum(__n)::BIGINT AS __n FROM (${both}) GROUP BY ${names} HAVING sum(__n) <> 0`;
  const list = [
    "CASE WHEN d.__n > 0 THEN 'added' ELSE 'removed' END AS __change",
    ...identity.map(({ name }) => `d.${quoteName(name)}`),
    ...listsSql(columns, "d", "before"),
    ...listsSql(columns, "d", "after"),
  ];
  return `SELECT ${list.join(", ")} FROM (SELECT *, unnest(range(abs(__n))) FROM (${counted})) d`;
}

/** The columns of one version under their names, and where they are read. */
function sideSql(columns: readonly Column[], side: Side): string {
  const list = columns.map(({ name, type, derived }) => {
    const value = side === null ? `NULL::${SQL_TYPES[type]}` : derived;
    return value === undefined ? quoteName(name) : `${value} AS ${quoteName(name)}`;
  });
  return list.join(", ") + (side === null ? " WHERE false" : ` FROM ${side}`);
}

/**
 * The values of a row as lists, one for each SQL type, with a place for every column in each of them. With expressions
 * for every column instead, DuckDB takes seconds to plan a statement on 150 of them.
 */
const listsSql = (columns: readonly Column[], side: string, when: When): readonly string[] =>
  typesOf(columns).map((type) => {
    const values = columns.map((column) =>
      SQL_TYPES[column.type] === type ? `${side}.${quoteName(column.name)}` : "NULL",
    );
    return `[${values.join(", ")}]::${type}[] AS ${listOf(when, type)}`;
  });

const WHENS = ["before", "after"] as const;
type When = (typeof WHENS)[number];
type SqlType = (typeof SQL_TYPES)[ColumnType];

const typesOf = (columns: readonly Column[]): readonly SqlType[] => [
  ...new Set(columns.map(({ type }) => SQL_TYPES[type])),
];

/** The list of a type; once the lists are unnested, the value of a cell if it has that type. */
const listOf = (when: When, type: SqlType): string => `__${when}_${type.toLowerCase()}`;

/** Each changed cell, and each added or removed row as one cell: `__place`, `column`, `before` and `after`. */
function cellsOf({ columns }: ChangesSelect, differences: string): string {
  const types = typesOf(columns);
  const ofChanged = (list: string, otherwise: string): string =>
    `unnest(CASE WHEN __change = 'changed' THEN ${list} ELSE [${otherwise}] END)`;
  const lists = types.flatMap((type) => WHENS.map((when) => listOf(when, type)));
  const unnested = [
    `${ofChanged(`range(${columns.length})`, "0")} AS __place`,
    `${ofChanged(`[${columns.map(({ name }) => quoteText(name)).join(", ")}]`, "NULL")} AS "column"`,
    ...lists.map((list) => `${ofChanged(list, "NULL")} AS ${list}`),
  ];
  const cells = `SELECT * EXCLUDE (${lists.join(", ")}), ${unnested.join(", ")} FROM (${wholeRowsSql(columns, differences)})`;
  const differ = types.map((type) => `${listOf("before", type)} IS DISTINCT FROM ${listOf("after", type)}`);
  const shown = WHENS.map((when) => {
    const texts = types.map((type) => TEXTS[type](listOf(when, type)));
    return `coalesce(__row_${when}, ${texts.join(", ")}) AS ${quoteName(when)}`;
  });
  return `SELECT *, ${shown.join(", ")} FROM (${cells}) WHERE __change <> 'changed' OR ${differ.join(" OR ")}`;
}

function cellsSql(select: ChangesSelect, differences: string, bindings: Bindings): Changes {
  const { identity, date, order, numbered, after } = select;
  const sorted = [...order.map(quoteName), "__change DESC", "__place", '"before"', '"after"'].join(", ");
  const found = `(${cellsOf(select, differences)})`;
  const list = [
    "__change AS change",
    ...[...identity.map(({ name }) => name), "column", "before", "after"].map(quoteName),
    ...(numbered && date !== null ? [`${quoteName(date)} AS __date`] : []),
    ...(numbered ? ["__row"] : []),
  ];
  const rows = `SELECT ${list.join(", ")} FROM `;
  if (!numbered && after === null) return { sql: `${rows}${found} ORDER BY ${sorted}`, columns: list.length };
  const onDate = date === null ? "" : `PARTITION BY ${quoteName(date)} `;
  const withRows = `(SELECT *, row_number() OVER (${onDate}ORDER BY ${sorted}) AS __row FROM ${found})`;
  const where = after === null ? "" : ` WHERE ${beyondSql(date, after, bindings)}`;
  // Equal rows have no other order than their numbers.
  const byNumber = [...(date === null ? [] : [quoteName(date)]), "__row"].join(", ");
  return { sql: `${rows}${withRows}${where} ORDER BY ${byNumber}`, columns: list.length };
}

function beyondSql(date: string | null, after: NonNullable<ChangesSelect["after"]>, bindings: Bindings): string {
  const row = `__row > ${bindings.add(after.row)}::BIGINT`;
  if (date === null || after.date === null) return row;
  return `(${quoteName(date)} IS DISTINCT FROM ${bindings.date(after.date)} OR ${row})`;
}

function countsSql({ date }: ChangesSelect, differences: string): Changes {
  const days = date === null ? ["NULL::DATE", "NULL::DATE"] : [`min(${quoteName(date)})`, `max(${quoteName(date)})`];
  const list = ["__change", "count(*)", ...days];
  return { sql: `SELECT ${list.join(", ")} FROM (${differences}) GROUP BY __change`, columns: list.length };
}

// Values as text, spelled as the API spells them in JSON and CSV.

const TEXTS: Record<SqlType, (value: string) => string> = {
  VARCHAR: (value) => value,
  DATE: (value) => `strftime(${value}, '%Y%m%d')`,
  BIGINT: (value) => `${value}::VARCHAR`,
  DOUBLE: numberSql,
};

/** Whole numbers up to this one are exact, and have all their digits. */
const LARGEST_EXACT = 2 ** 53;

/** As JavaScript does. DuckDB's JSON has the same digits, but ends whole numbers in `.0`, and has no `+` in an exponent. */
function numberSql(value: string): string {
  const json = `replace(replace(to_json(${value})::VARCHAR, 'e', 'e+'), 'e+-', 'e-')`;
  return (
    `CASE WHEN abs(${value}) < ${LARGEST_EXACT} AND ${value} = trunc(${value}) THEN TRY_CAST(${value} AS BIGINT)::VARCHAR ` +
    `ELSE regexp_replace(${json}, '\\.0$', '') END`
  );
}

/** The differing rows, with each removed row in `__row_before` and each added one in `__row_after`, as JSON. */
function wholeRowsSql(columns: readonly Column[], differences: string): string {
  const ofWhole = (when: When, sql: string): string =>
    `CASE WHEN __change = '${when === "before" ? "removed" : "added"}' THEN ${sql} END`;
  const numbers = typesOf(columns).includes("DOUBLE")
    ? WHENS.map((when) => {
        const spelled = `list_transform(${listOf(when, "DOUBLE")}, lambda x: ${numberSql("x")})`;
        return `, ${ofWhole(when, spelled)} AS __numbers_${when}`;
      })
    : [];
  const rows = WHENS.map((when) => `${ofWhole(when, jsonSql(columns, when))} AS __row_${when}`);
  return `SELECT *, ${rows.join(", ")} FROM (SELECT *${numbers.join("")} FROM (${differences}))`;
}

/** A whole row as one JSON object, as in NDJSON, from its lists. */
function jsonSql(columns: readonly Column[], when: When): string {
  const members = columns.map(({ name, type }, i) => {
    const key = quoteText(`${i === 0 ? "{" : ","}${JSON.stringify(name)}:`);
    return `${key}, coalesce(${JSONS[SQL_TYPES[type]](when, i + 1)}, 'null')`;
  });
  return `concat(${members.join(", ")}, '}')`;
}

/** The value at a place of the lists as JSON. Numbers are spelled all at once before, by one expression. */
const JSONS: Record<SqlType, (when: When, place: number) => string> = {
  VARCHAR: (when, place) => `to_json(${listOf(when, "VARCHAR")}[${place}])::VARCHAR`,
  DATE: (when, place) => `'"' || ${TEXTS.DATE(`${listOf(when, "DATE")}[${place}]`)} || '"'`,
  BIGINT: (when, place) => TEXTS.BIGINT(`${listOf(when, "BIGINT")}[${place}]`),
  DOUBLE: (when, place) => `__numbers_${when}[${place}]`,
};
