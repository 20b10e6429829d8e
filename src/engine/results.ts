// What results of users' statements look like: DuckDB's types as those of the API, and values of parameters.
import {
  DuckDBTypeId,
  type DuckDBPreparedStatement,
  type DuckDBValue,
  DOUBLE,
  type DuckDBType,
  LIST,
  listValue,
  SQLNULL,
} from "@duckdb/node-api";
import { SQL_TYPES, type Column, type ColumnType } from "../catalog/types.js";
import { parseDate, isoDate } from "../dates.js";
import { Problem } from "../errors.js";
import type { SqlParameter } from "../query/sql-request.js";
import { quoteName, quoteText } from "../sql-text.js";
import type { NamedStatement } from "./statements.js";

interface Shown {
  readonly type: ColumnType;
  /** The value as that type; `value` is SQL. */
  readonly sql: (value: string) => string;
}

const as = (type: ColumnType): Shown => ({ type, sql: (value) => `CAST(${value} AS ${SQL_TYPES[type]})` });

/** Formats have no number that is not finite, so it is a missing value, as in the lake. */
const finite = (value: string): string => `CASE WHEN isfinite(${value}) THEN ${value} END`;

const NUMBER: Shown = { type: "float64", sql: (value) => finite(`CAST(${value} AS DOUBLE)`) };

const WHOLE = as("int64");
const TEXT = as("text");

/** Whole numbers that need more than 64 bits, as sums of whole numbers have, are refused if they do not fit. */
const SHOWN: Partial<Record<DuckDBTypeId, Shown>> = {
  [DuckDBTypeId.DATE]: { type: "date", sql: (value) => value },
  [DuckDBTypeId.DOUBLE]: NUMBER,
  [DuckDBTypeId.FLOAT]: NUMBER,
  [DuckDBTypeId.DECIMAL]: NUMBER,
  [DuckDBTypeId.BOOLEAN]: WHOLE,
  [DuckDBTypeId.TINYINT]: WHOLE,
  [DuckDBTypeId.SMALLINT]: WHOLE,
  [DuckDBTypeId.INTEGER]: WHOLE,
  [DuckDBTypeId.BIGINT]: WHOLE,
  [DuckDBTypeId.HUGEINT]: WHOLE,
  [DuckDBTypeId.UTINYINT]: WHOLE,
  [DuckDBTypeId.USMALLINT]: WHOLE,
  [DuckDBTypeId.UINTEGER]: WHOLE,
  [DuckDBTypeId.UBIGINT]: WHOLE,
  [DuckDBTypeId.UHUGEINT]: WHOLE,
};

const NESTED: ReadonlySet<DuckDBTypeId> = new Set([
  ...[DuckDBTypeId.LIST, DuckDBTypeId.ARRAY, DuckDBTypeId.STRUCT, DuckDBTypeId.MAP],
]);

/** Lists, structs and maps are JSON; everything that is not in a table here is the text that DuckDB makes of it. */
function shownAs(described: Described, column: number): Shown {
  const id = described.columnTypeId(column);
  if (!NESTED.has(id)) return SHOWN[id] ?? TEXT;
  const type = described.columnType(column);
  return { type: "text", sql: (value) => `CAST(to_json(${withFinite(type, value, 0)}) AS VARCHAR)` };
}

/** A nested value as SQL in which numbers are missing that are not finite. `depth` tells variables apart. */
function withFinite(type: DuckDBType, value: string, depth: number): string {
  const [item, within] = [`__item${depth}`, depth + 1];
  const each = (of: DuckDBType, items: string): string | null => {
    const shown = withFinite(of, item, within);
    return shown === item ? null : `list_transform(${items}, lambda ${item}: ${shown})`;
  };
  if (type.typeId === DuckDBTypeId.DOUBLE || type.typeId === DuckDBTypeId.FLOAT) return finite(value);
  if (type.typeId === DuckDBTypeId.LIST || type.typeId === DuckDBTypeId.ARRAY)
    return each(type.valueType, value) ?? value;
  if (type.typeId === DuckDBTypeId.MAP) {
    const values = each(type.valueType, `map_values(${value})`);
    return values === null ? value : `map(map_keys(${value}), ${values})`;
  }
  if (type.typeId !== DuckDBTypeId.STRUCT) return value;
  const parts = type.entryTypes.map((_, i) => `struct_extract_at(${value}, ${i + 1})`);
  const shown = type.entryTypes.map((of, i) => withFinite(of, parts[i]!, within));
  if (shown.every((part, i) => part === parts[i])) return value;
  const named = type.entryNames.map((name, i) => `${quoteText(name)}: ${shown[i]!}`);
  const whole = type.entryNames.includes("") ? `row(${shown.join(", ")})` : `{${named.join(", ")}}`;
  return `CASE WHEN ${value} IS NOT NULL THEN ${whole} END`;
}

/** What a prepared statement and a result tell of their columns. */
type Described = Pick<DuckDBPreparedStatement, "columnCount" | "columnName" | "columnType" | "columnTypeId">;

/** DuckDB's types of what it does not know before values are bound; the first one has no name in its client. */
const UNKNOWN: ReadonlySet<number> = new Set([0, DuckDBTypeId.ANY]);

/** Whether all types are known; if not, they depend on the values of parameters. */
export const isTyped = (described: Described): boolean =>
  described.columnCount > 0 && typesOf(described).every((type) => !UNKNOWN.has(type));

const typesOf = (described: Described): readonly DuckDBTypeId[] =>
  Array.from({ length: described.columnCount }, (_, i) => described.columnTypeId(i));

/** The columns of a result. Throws a problem if two have the same name. */
export function columnsOf(described: Described): readonly { readonly column: Column; readonly sql: string }[] {
  const seen = new Set<string>();
  return typesOf(described).map((_, i) => {
    const name = described.columnName(i);
    if (seen.has(name.toLowerCase())) {
      throw new Problem("invalid_sql", `two columns of the result are called ${name}`, {
        parameter: "sql",
        hint: "give one of them another name with AS",
      });
    }
    seen.add(name.toLowerCase());
    const shown = shownAs(described, i);
    return {
      column: { name, type: shown.type, nullable: true },
      sql: `${shown.sql(quoteName(name))} AS ${quoteName(name)}`,
    };
  });
}

/** The values to bind, and the types of those whose type the client would get wrong. A date may be given as YYYYMMDD. */
export function bindingsOf(
  prepared: DuckDBPreparedStatement,
  parameters: Readonly<Record<string, SqlParameter>>,
): Pick<NamedStatement, "values" | "types"> {
  const names = Array.from({ length: prepared.parameterCount }, (_, i) => prepared.parameterName(i + 1));
  const given = names.map((name, i) => [name, parameters[name] ?? null, isDate(prepared, i + 1)] as const);
  const types = given.flatMap(([name, value]) => {
    const type = typeOf(value);
    return type === undefined ? [] : [[name, type] as const];
  });
  return {
    values: Object.fromEntries(given.map(([name, value, date]) => [name, valueOf(value, date)])),
    types: Object.fromEntries(types),
  };
}

/** The values, as `YYYY-MM-DD`, of parameters that DuckDB takes for dates. */
export function datesAmong(prepared: DuckDBPreparedStatement, { values }: Pick<NamedStatement, "values">) {
  const names = Array.from({ length: prepared.parameterCount }, (_, i) => prepared.parameterName(i + 1));
  const dates = names.filter((name, i) => isDate(prepared, i + 1) && typeof values[name] === "string");
  return Object.fromEntries(dates.map((name) => [name, values[name] as string]));
}

function valueOf(value: SqlParameter, date: boolean): DuckDBValue {
  if (typeof value === "object" && value !== null) return listValue(value.map((one) => valueOf(one, date)));
  if (!date || typeof value !== "string") return value;
  const day = parseDate(value);
  return day === undefined ? value : isoDate(day);
}

/** The client of DuckDB takes the type of a list from its first item, and that of a whole number is never DOUBLE. */
function typeOf(value: SqlParameter): DuckDBType | undefined {
  if (typeof value === "number") return isSmall(value) ? undefined : DOUBLE;
  if (typeof value !== "object" || value === null) return undefined;
  if (value.length === 0) return LIST(SQLNULL);
  return value.some((one: string | number) => typeof one === "number" && !isSmall(one)) ? LIST(DOUBLE) : undefined;
}

const isSmall = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 31;

/** DuckDB does not know the type of every parameter. */
function isDate(prepared: DuckDBPreparedStatement, index: number): boolean {
  try {
    return prepared.parameterTypeId(index) === DuckDBTypeId.DATE;
  } catch {
    return false;
  }
}
