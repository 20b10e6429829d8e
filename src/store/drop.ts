// Joins staged files into one drop, as if they had been imported one after another.
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import type { Staged } from "../intake/normalise.js";
import type { RowSpan } from "../lake/ledger.js";
import type { Statement } from "../query/sql.js";
import { quoteName } from "../sql-text.js";
import { orderOf } from "./datafile.js";
import { hasColumn, type Change, type Lacking } from "./change.js";

export interface Drop {
  readonly change: Change;
  /** The temp tables that hold its rows. */
  readonly tables: readonly string[];
  readonly rows: number;
  readonly first: string | null;
  readonly last: string | null;
}

export interface DropOptions {
  /** The columns whose values the files stand for as a whole: their rows replace all others with these values. */
  readonly whole?: readonly string[] | undefined;
  /** Each file stands for its values by itself, and so replaces rows of the files before it; otherwise all of them do. */
  readonly each?: boolean;
}

/** If a day is to be looked for among no more rows than this, each file of the lake is sorted when it is written. */
const ROWS_SORTED_LATER = 1_000_000;

/** Of rows with the same identity, those of the last file stay, with the values of columns that only earlier files have. */
export async function joinDrop(
  writer: Writer,
  entity: Entity,
  staged: readonly Staged[],
  { whole, each = false }: DropOptions = {},
): Promise<Drop> {
  const lacking = lackingOf(entity, staged);
  // The files of a table have the same columns.
  const tables = [...new Map(staged.map((one) => [one.table, one])).values()];
  const union = unionOf(tables, lacking);
  const isApart = areApart(entity, staged, whole);
  const isInOrder = isApart && areInOrder(tables, staged);
  // Many rows become several files, each of which would look for its rows among all that may be of its days.
  const reach = isApart ? rowsInReach(tables, staged) : rowsOf(staged);
  const isSorted = !isInOrder && reach > ROWS_SORTED_LATER;
  let relation = tables.length === 1 ? tables[0]!.table : `(${union})`;
  let held = tables.map(({ table }) => table);
  if (!isApart || isSorted) {
    relation = "drop_of_all_files";
    const rows = isApart ? union : joined(entity, union, lacking, each ? whole : undefined);
    const order = isSorted ? ` ORDER BY ${orderOf(entity, "byDate")}` : "";
    await writer.run(`CREATE TEMP TABLE ${relation} AS SELECT * FROM (${rows})${order}`);
    for (const table of held) await writer.run(`DROP TABLE ${table}`);
    held = [relation];
  }
  const date = entity.mainDate === null ? "NULL::DATE" : quoteName(entity.mainDate);
  const [summary] = await writer.rows(
    `SELECT count(*) AS rows, strftime(min(${date}), '%Y%m%d') AS first, strftime(max(${date}), '%Y%m%d') AS last
     FROM ${relation}`,
  );
  return {
    change: { fresh: { relation, sorted: isInOrder || isSorted }, byFile: true, lacking, ...(whole && { whole }) },
    tables: held,
    ...(summary as unknown as Omit<Drop, "change" | "tables">),
  };
}

/** The columns that all or some files lack. Those of the identity are as the file has them: missing. */
function lackingOf(entity: Entity, staged: readonly Pick<Staged, "missing">[]): Lacking {
  const lacking = new Map<string, "all" | "some">();
  for (const { name } of entity.columns) {
    const files = staged.filter(({ missing }) => missing.includes(name)).length;
    if (files > 0 && !entity.identity.includes(name)) lacking.set(name, files === staged.length ? "all" : "some");
  }
  return lacking;
}

/** SQL of the rows of all files, with `__file` and the columns that tell what each file has. */
function unionOf(tables: readonly Staged[], lacking: Lacking): string {
  const parts = tables.map(({ table, missing }) => {
    const has = namesOf(lacking).map((name) => `, ${!missing.includes(name)} AS ${hasColumn(name)}`);
    return `SELECT *${has.join("")} FROM ${table}`;
  });
  return parts.join(" UNION ALL ");
}

/** The columns that only some of the files have. */
const namesOf = (lacking: Lacking): readonly string[] =>
  [...lacking].filter(([, files]) => files === "some").map(([name]) => name);

/** Whether the spans of the files show that no row of one can replace a row of another. */
function areApart({ mainDate, code, identity }: Entity, staged: readonly Staged[], whole?: readonly string[]): boolean {
  const decides = (name: string): boolean => identity.includes(name) && (whole?.includes(name) ?? true);
  return (
    staged.length === 1 ||
    (mainDate !== null && decides(mainDate) && follow(staged.map(({ span }) => [span.first, span.last]))) ||
    (decides(code) && follow(staged.map(({ span }) => [span.firstCode, span.lastCode])))
  );
}

type Bounds = readonly [string | null, string | null];

/** Whether the ranges, in any order, do not overlap. */
function follow(ranges: readonly Bounds[]): boolean {
  const sorted = [...ranges].sort(([a], [b]) => (a === b ? 0 : a === null || (b !== null && a < b) ? -1 : 1));
  return sorted.every(([first, last], i) => first !== null && last !== null && (i === 0 || sorted[i - 1]![1]! < first));
}

const rowsOf = (parts: readonly { readonly rows: number }[]): number => parts.reduce((sum, { rows }) => sum + rows, 0);

/** How many rows, on average, are in the tables that may hold a given day. */
function rowsInReach(tables: readonly Staged[], staged: readonly Staged[]): number {
  const parts = tables.map(({ table }) => {
    const files = staged.filter((one) => one.table === table);
    const days = files.flatMap(({ span: { first, last } }) => [first, last]).sort();
    const isBounded = !days.includes(null);
    return { rows: rowsOf(files), first: isBounded ? days[0]! : null, last: isBounded ? days.at(-1)! : null };
  });
  const isApart = (a: (typeof parts)[number], b: (typeof parts)[number]): boolean =>
    a.first !== null && b.first !== null && (a.last! < b.first || b.last! < a.first);
  const looks = parts.map((part) => part.rows * rowsOf(parts.filter((other) => !isApart(part, other))));
  return looks.reduce((sum, one) => sum + one, 0) / Math.max(1, rowsOf(parts));
}

/** Whether all rows are in the entity's order if the tables are read one after another. */
function areInOrder(tables: readonly Staged[], staged: readonly Staged[]): boolean {
  const files = tables.flatMap(({ table }) => staged.filter((one) => one.table === table));
  const isAfter = ({ span }: Staged, before: Staged): boolean =>
    span.first !== null && before.span.last !== null && before.span.last < span.first;
  return files.every((one, i) => one.sorted && (i === 0 || isAfter(one, files[i - 1]!)));
}

/** SQL that leaves the rows of the last files. */
function joined(entity: Entity, union: string, lacking: Lacking, whole: readonly string[] | undefined): string {
  const some = namesOf(lacking);
  const all = `(${union})`;
  const identity = entity.identity.map(quoteName).join(", ");
  const isLast = (columns: string): string => `__file = max(__file) OVER (${columns && `PARTITION BY ${columns}`})`;
  const keys = (whole ?? []).map(quoteName);
  const isCurrent = whole
    ? `(${isLast(keys.join(", "))} OR ${["false", ...keys.map((k) => `${k} IS NULL`)].join(" OR ")})`
    : "true";
  const stays = `${isLast(identity)} AND ${isCurrent}`;
  if (some.length === 0 || entity.identityIs === "ticks") return `SELECT * FROM ${all} QUALIFY ${stays}`;
  const values = entity.columns
    .filter(({ name }) => !entity.identity.includes(name))
    .map(({ name }) => {
      const has = some.includes(name) ? ` FILTER (${hasColumn(name)})` : "";
      return `arg_max_null(${quoteName(name)}, __file)${has} AS ${quoteName(name)}`;
    });
  const has = some.map((name) => `bool_or(${hasColumn(name)}) AS ${hasColumn(name)}`);
  const list = [identity, ...values, ...has, "max(__file) AS __file"].join(", ");
  const one = (rows: string): string => `(SELECT ${list} FROM ${rows} GROUP BY ${identity})`;
  if (entity.identityIs === "row") return `SELECT * FROM ${one(all)} QUALIFY ${stays}`;
  // Rows of several files can be joined only if no file has more than one of an identity.
  const most = `(SELECT *, max(__twins) OVER (PARTITION BY ${identity}) AS __most FROM
    (SELECT *, count(*) OVER (PARTITION BY ${identity}, __file) AS __twins FROM ${all}))`;
  const single = one(`${most} WHERE __most = 1`);
  const several = `(SELECT * EXCLUDE (__row, __twins, __most) FROM ${most} WHERE __most > 1)`;
  return `SELECT * FROM (SELECT * FROM ${single} UNION ALL BY NAME SELECT * FROM ${several}) QUALIFY ${stays}`;
}

/** What the rows of a table or query span. */
export async function readSpan(
  writer: Writer,
  entity: Entity,
  rows: string,
  values: Statement["values"] = [],
): Promise<RowSpan> {
  const date = entity.mainDate === null ? "NULL::DATE" : quoteName(entity.mainDate);
  const code = quoteName(entity.code);
  const [span] = await writer.rows(
    // Rows without a date or a code have no bounds.
    `SELECT CASE WHEN count(${date}) = count(*) THEN strftime(min(${date}), '%Y%m%d') END AS first,
            CASE WHEN count(${date}) = count(*) THEN strftime(max(${date}), '%Y%m%d') END AS last,
            CASE WHEN count(${code}) = count(*) THEN min(${code}) END AS "firstCode",
            CASE WHEN count(${code}) = count(*) THEN max(${code}) END AS "lastCode" FROM ${rows}`,
    values,
  );
  return span as unknown as RowSpan;
}
