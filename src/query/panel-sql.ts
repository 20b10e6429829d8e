// SQL of panels: the rows of the first member, with the values of the others on the same day or as known by then.
import { SQL_TYPES } from "../catalog/types.js";
import { quoteName, quoteText } from "../sql-text.js";
import type { Bindings } from "./bindings.js";
import { newestSql, ROW_NUMBER } from "./revisions-sql.js";
import type { Expression, Panel, Member, Part } from "./scan.js";

/** Writes the rows of a part with some columns. */
type SelectPart = (part: Part, columns: string) => string;
type Write = (expression: Expression) => string;

/** The joined rows: code and date of the first member under their names, the fields under theirs, and a row number. */
export function panelSql(joining: Panel, select: SelectPart, bindings: Bindings, write: Write): string {
  const { members, fields, layout } = joining;
  const [first, ...others] = members;
  const key = [`r.${quoteName(first.code)}`, `r.${quoteName(first.date)}`] as const;
  const rows = unionSql(first, select, [first.code, first.date].map(quoteName).concat(shownSql(first, write)));
  const joins = others.flatMap((member, i) => {
    if (member.parts.length === 0) return [];
    const on = [`${key[0]} = m${i}.__code`, ...dayTests(member, `m${i}`, key[1])];
    return [`LEFT JOIN ${memberSql(member, select, bindings, write)} m${i} ON ${on.join(" AND ")}`];
  });
  const absent = new Set(
    others.filter(({ parts }) => parts.length === 0).flatMap((one) => one.fields.map(({ name }) => name)),
  );
  const values = fields.map(({ name, type }) => (absent.has(name) ? `NULL::${SQL_TYPES[type]}` : quoteName(name)));
  const list = layout === "wide" ? wideList(fields, values) : longList(fields, values);
  return `(SELECT ${[...key, ...list].join(", ")} FROM ${[`${rows} r`, ...joins].join(" ")})`;
}

type Fields = Panel["fields"];

/** One row for each code and date, so that all have the same number. */
const wideList = (fields: Fields, values: readonly string[]): readonly string[] => [
  ...fields.map(({ name }, i) => `${values[i]!} AS ${quoteName(name)}`),
  `0::BIGINT AS ${ROW_NUMBER}`,
];

const longList = (fields: Fields, values: readonly string[]): readonly string[] => [
  `unnest([${fields.map(({ name }) => quoteText(name)).join(", ")}]) AS field`,
  `unnest([${values.map((value) => `${value}::DOUBLE`).join(", ")}]) AS value`,
  `unnest(range(${fields.length})) AS ${ROW_NUMBER}`,
];

/** A member as a table with `__code`, the days for which each row holds, and its fields. */
function memberSql(member: Member, select: SelectPart, bindings: Bindings, write: Write): string {
  const { code, date, newest } = member;
  const shown = shownSql(member, write);
  if (newest === null) {
    return unionSql(member, select, [`${quoteName(code)} AS __code`, `${quoteName(date)} AS __date`, ...shown]);
  }
  return newestSql(newest, code, shown, (columns) => unionOf(member, select, columns), bindings);
}

const dayTests = ({ newest }: Member, member: string, day: string): readonly string[] =>
  newest === null ? [`${day} = ${member}.__date`] : [`${day} >= ${member}.__from`, `${day} < ${member}.__until`];

const shownSql = ({ fields }: Member, write: Write): string[] =>
  fields.map(({ value, name }) => `${write(value)} AS ${quoteName(name)}`);

const unionSql = (member: Member, select: SelectPart, columns: readonly string[]): string =>
  `(${unionOf(member, select, columns.join(", "))})`;

const unionOf = ({ parts }: Member, select: SelectPart, columns: string): string =>
  parts.map((part) => select(part, columns)).join(" UNION ALL ");
