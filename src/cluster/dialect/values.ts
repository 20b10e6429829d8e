// Expressions of Spark's SQL with the type that they have in DuckDB, and the conversions between types that DuckDB makes by
// itself. All are written out, since Spark has other ones.
import { quoted, refuse, type Node } from "./tree.js";

/**
 * `int64` is BIGINT, `int128` HUGEINT, `float64` DOUBLE. `decimal`: a literal such as `1.5`, whose SQL is that of a DOUBLE.
 * `midnight`: a TIMESTAMP that `date_trunc` gives, whose SQL is that of a date.
 */
export type Type = "text" | "date" | "float64" | "int64" | "int128" | "boolean" | "decimal" | "midnight" | "null";

export interface Value {
  readonly sql: string;
  readonly type: Type;
  /** The text of a literal or parameter: DuckDB takes it for a date next to dates. */
  readonly literal?: string;
  /** A DOUBLE without a fraction, so that nothing is rounded if it becomes an integer. */
  readonly isWhole?: boolean;
  /** The name of a column that is selected as it is. */
  readonly column?: string;
}

const SPARK_TYPES: Partial<Record<Type, string>> = {
  text: "STRING",
  date: "DATE",
  float64: "DOUBLE",
  int64: "BIGINT",
  int128: "DECIMAL(38,0)",
  boolean: "BOOLEAN",
};

export const value = (type: Type, sql: string): Value => ({ type, sql });

const RANK: readonly Type[] = ["int64", "int128", "float64"];

const isNumber = ({ type }: Value): boolean => RANK.includes(type) || type === "decimal";

/** The value as a DOUBLE, as DuckDB converts any number. */
export function toFloat(node: Node, { type, sql }: Value): string {
  if (type === "float64" || type === "decimal") return sql;
  if (type === "int64" || type === "int128") return `CAST(${sql} AS DOUBLE)`;
  return refuse(node, `${name(type)} in place of a number`);
}

/** Values with the one type that DuckDB gives them in a comparison, a list or the branches of a CASE. */
export function unify(node: Node, values: readonly Value[]): { readonly type: Type; readonly sql: readonly string[] } {
  const known = values.filter(({ type }) => type !== "null");
  const type = commonType(node, known);
  return { type, sql: values.map((each) => convert(node, each, type)) };
}

function commonType(node: Node, values: readonly Value[]): Type {
  if (values.length === 0) return refuse(node, "NULL without a type", "write CAST(NULL AS DOUBLE) or the like");
  if (values.every(isNumber)) {
    const exact = values.filter(({ type }) => type !== "decimal");
    if (exact.length === values.length) return RANK[Math.max(...exact.map(({ type }) => RANK.indexOf(type)))]!;
    if (exact.some(({ type }) => type === "float64")) return "float64";
    return refuse(node, "a decimal number such as 1.5 that does not meet a DOUBLE", "write 1.5e0");
  }
  const types = [...new Set(values.map(({ type }) => type))];
  if (types.length === 1) return types[0]!;
  if (values.every(({ type, literal }) => type === "date" || literal !== undefined)) return "date";
  return refuse(node, types.map(name).join(" next to "), "convert one of them with CAST");
}

/** A conversion that DuckDB makes by itself. */
function convert(node: Node, given: Value, type: Type): string {
  if (given.type === type) return given.sql;
  if (given.type === "null") return nullOf(node, type);
  if (type === "date" && given.literal !== undefined) return dateLiteral(node, given.literal);
  if (type === "float64") return toFloat(node, given);
  if (type === "int128") return `CAST(${given.sql} AS DECIMAL(38,0))`;
  return refuse(node, `${name(given.type)} in place of ${name(type)}`, "convert it with CAST");
}

function nullOf(node: Node, type: Type): string {
  const spark = SPARK_TYPES[type] ?? refuse(node, `NULL of type ${name(type)}`);
  return `CAST(NULL AS ${spark})`;
}

export function dateLiteral(node: Node, text: string): string {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : null;
  const isDate = date !== null && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
  return isDate ? `DATE '${text}'` : refuse(node, `the date '${quoted(text)}'`, "write it as YYYY-MM-DD");
}

const NAMES: Record<Type, string> = {
  text: "text",
  date: "a date",
  float64: "a DOUBLE",
  int64: "an integer",
  int128: "a sum of integers",
  boolean: "a BOOLEAN",
  decimal: "a decimal number",
  midnight: "a TIMESTAMP",
  null: "NULL",
};

export const name = (type: Type): string => NAMES[type];

/** The SQL of a condition. */
export function condition(node: Node, { type, sql }: Value): string {
  return type === "boolean" ? sql : refuse(node, `${name(type)} as a condition`);
}

/** Whole numbers without an overflow that one engine reports and another one does not: as decimals, and back. */
export const exactly = (sql: string): string => `CAST(${sql} AS DECIMAL(19,0))`;
export const backToInteger = (sql: string): Value => value("int64", `CAST(${sql} AS BIGINT)`);

/** A cast that the statement asks for. `to` is the name of DuckDB's type. */
export function cast(node: Node, given: Value, to: string): Value {
  const { type, sql, literal } = given;
  if (to === "DATE" && literal !== undefined) return value("date", dateLiteral(node, literal));
  if (to === "BOOLEAN" && (literal === "t" || literal === "f")) return value("boolean", String(literal === "t"));
  const target = TARGETS[to];
  if (target === undefined) return refuse(node, `CAST to ${quoted(to)}`);
  if (type === "null") return value(target, nullOf(node, target));
  if (type === "float64" && target === "int64" && given.isWhole !== true) {
    return refuse(
      node,
      "CAST of a DOUBLE to an integer",
      "clusters round halves in different ways: write round(x), floor(x) or ceil(x) within it",
    );
  }
  const converted = CASTS[`${type} ${target}`]?.(sql);
  if (converted === undefined) return refuse(node, `CAST of ${name(type)} to ${to}`);
  const isInteger = to === "INTEGER" && type !== "boolean";
  return isInteger ? backToInteger(`CAST(${converted} AS INT)`) : value(target, converted);
}

const TARGETS: Readonly<Record<string, Type>> = {
  DATE: "date",
  DOUBLE: "float64",
  BIGINT: "int64",
  INTEGER: "int64",
  VARCHAR: "text",
  BOOLEAN: "boolean",
};

const same = (sql: string): string => sql;
const to = (type: string) => (sql: string) => `CAST(${sql} AS ${type})`;

const CASTS: Readonly<Record<string, (sql: string) => string>> = {
  "date date": same,
  "midnight date": same,
  "float64 float64": same,
  "decimal float64": same,
  "int64 float64": to("DOUBLE"),
  "int128 float64": to("DOUBLE"),
  "int64 int64": same,
  "int128 int64": to("BIGINT"),
  "float64 int64": to("BIGINT"),
  "boolean int64": to("BIGINT"),
  "text text": same,
  "date text": to("STRING"),
  "int64 text": to("STRING"),
  "boolean boolean": same,
};
