// A change of stored rows, as data and as SQL: which rows come in, which go, and which values stay.
import type { Entity } from "../catalog/types.js";
import type { Statement } from "../query/sql.js";
import { quoteName } from "../sql-text.js";
import { columnList, type FileRows } from "./datafile.js";

/**
 * Stored rows go if a fresh row has their identity, if it has their values in the columns `whole`, or if they match
 * `where`. All others stay.
 */
export interface Change {
  /** The rows that come in; absent if none do. */
  readonly fresh?: FileRows;
  /** Fresh rows have the number of their file as `__file`. */
  readonly byFile?: true;
  readonly lacking?: Lacking;
  /** A part of the identity. A fresh row without a value in one of these columns replaces only its own identity. */
  readonly whole?: readonly string[];
  readonly where?: Removal;
}

/**
 * Columns that the files of fresh rows lack: those of all rows, or of those where the column `hasColumn` is false. A
 * stored row that a fresh one replaces keeps its values in them.
 */
export type Lacking = ReadonlyMap<string, "all" | "some">;

interface Removal {
  /** A condition on the columns of a row. */
  readonly condition: Statement;
  /** Bounds of the main dates, `YYYYMMDD`; null if there are none. */
  readonly first: string | null;
  readonly last: string | null;
  /** Whether DuckDB keeps the order of the rows that do not match. */
  readonly keepsOrder: boolean;
}

/** The column that says whether the file of a row has this column. */
export const hasColumn = (name: string): string => quoteName(`__has_${name}`);

/** Whether rows `a` and `b` have the same identity. */
export const sameIdentity = ({ identity }: Entity, a: string, b: string): string =>
  identity.map((name) => `${a}.${quoteName(name)} IS NOT DISTINCT FROM ${b}.${quoteName(name)}`).join(" AND ");

/** Whether rows go only on the dates of fresh rows. */
export const isConfinedToFreshDates = ({ mainDate }: Entity, { whole, where }: Change): boolean =>
  !where && (!whole || mainDate === null || whole.includes(mainDate));

// In this SQL, `f` is a fresh row and `o` is a stored one. `freshSql` gives the fresh rows, with a name or as a query; it
// is null if there are none.

/** The conditions by which a stored row goes: it goes if it meets one of them. */
function reasons(entity: Entity, { whole, where }: Change, freshSql: string | null): readonly string[] {
  const exists = (same: string): string => `EXISTS (SELECT 1 FROM ${freshSql} f WHERE ${same})`;
  const sameWhole = (whole ?? []).map((name) => `f.${quoteName(name)} = o.${quoteName(name)}`);
  const isImplied = whole && entity.columns.every(({ name, nullable }) => !nullable || !whole.includes(name));
  return [
    ...(freshSql !== null && whole ? [exists(["true", ...sameWhole].join(" AND "))] : []),
    ...(freshSql !== null && !isImplied ? [exists(sameIdentity(entity, "f", "o"))] : []),
    ...(where ? [`(${where.condition.sql}) IS TRUE`] : []),
  ];
}

/** SQL of the condition by which a stored row goes. */
export const removalCondition = (entity: Entity, change: Change, freshSql: string | null): string =>
  ["false", ...reasons(entity, change, freshSql)].join(" OR ");

/** SQL of the stored rows that stay. */
export function keptRows(entity: Entity, change: Change, freshSql: string | null, oldSql: string): string {
  const stays = reasons(entity, change, freshSql).map((reason) => `NOT (${reason})`);
  return `SELECT ${columnList(entity)} FROM ${oldSql} o WHERE ${["true", ...stays].join(" AND ")}`;
}

/**
 * SQL of the fresh rows, with the values of stored rows in columns that their files lack. Where an identity may hold
 * several rows, this is so only if it holds one before and after; ticks keep nothing.
 */
export function filledRows(entity: Entity, lacking: Lacking | undefined, freshSql: string, oldSql: string): string {
  if (!lacking || lacking.size === 0 || entity.identityIs === "ticks") {
    return `SELECT ${columnList(entity)} FROM ${freshSql}`;
  }
  const isGroup = entity.identityIs === "group";
  const [f, o] = isGroup ? [withTwins(entity, freshSql), withTwins(entity, oldSql)] : [freshSql, oldSql];
  const same = sameIdentity(entity, "f", "o") + (isGroup ? " AND f.__twins = 1 AND o.__twins = 1" : "");
  const values = entity.columns.map(({ name }) => {
    const [column, lack] = [quoteName(name), lacksValue(lacking, name)];
    return lack === "false" ? `f.${column}` : `CASE WHEN ${lack} THEN o.${column} ELSE f.${column} END AS ${column}`;
  });
  return `SELECT ${values.join(", ")} FROM ${f} f LEFT JOIN ${o} o ON ${same}`;
}

/** Rows with the number of rows of their identity, `__twins`. */
export const withTwins = ({ identity }: Entity, rows: string): string =>
  `(SELECT *, count(*) OVER (PARTITION BY ${identity.map(quoteName).join(", ")}) AS __twins FROM ${rows})`;

/** Whether the file of a fresh row lacks a column, as SQL. */
export function lacksValue(lacking: Lacking | undefined, name: string): string {
  const lack = lacking?.get(name);
  return lack === undefined ? "false" : lack === "all" ? "true" : `NOT f.${hasColumn(name)}`;
}
