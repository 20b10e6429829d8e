// FROM: tables, subqueries and joins, with the columns that they give. All names are resolved here, so that the SQL for the
// cluster names every column with its table.
import type { Column } from "../../catalog/types.js";
import { quoteForSpark } from "../views.js";
import { expression, type Context } from "./expressions.js";
import { allowOnly, nodeIn, nodeOf, quoted, refuse, textIn, textsIn, type Node } from "./tree.js";
import { condition, unify, value, type Type, type Value } from "./values.js";

export interface OutputColumn {
  readonly name: string;
  readonly type: Type;
}

/** A table or subquery under its alias. */
interface Source {
  readonly alias: string;
  readonly columns: readonly OutputColumn[];
  /** Columns that USING merged with those of an earlier source: only visible with the alias. */
  readonly merged: ReadonlySet<string>;
}

export type Scope = readonly Source[];

/** Tables and subqueries of WITH by their names in lower case. */
export type Relations = ReadonlyMap<string, { readonly name: string; readonly columns: readonly OutputColumn[] }>;

export interface From {
  readonly sql: string;
  readonly scope: Scope;
}

export interface FromContext {
  readonly relations: Relations;
  subquery(node: Node): { readonly sql: string; readonly columns: readonly OutputColumn[] };
  /** The meaning of names in the condition of a join. */
  within(scope: Scope): Context;
  /** A name for a subquery without one. */
  newName(): string;
}

export const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export const typeOf = ({ type }: Pick<Column, "type">): Type => (type === "code" ? "text" : type);

const columnOf = ({ alias }: Source, { name, type }: OutputColumn): Value => ({
  ...value(type, `${quoteForSpark(alias)}.${quoteForSpark(name)}`),
  column: name,
});

/** The columns with a name, which may be preceded by that of a table. */
export function columnsNamed(scope: Scope, names: readonly string[]): readonly Value[] {
  const [name, table] = [names.at(-1)!, names.length === 2 ? names[0] : undefined];
  if (names.length > 2) return [];
  return scope
    .filter(({ alias, merged }) => (table === undefined ? !merged.has(name.toLowerCase()) : isSame(alias, table)))
    .flatMap((source) =>
      source.columns.filter((each) => isSame(each.name, name)).map((each) => columnOf(source, each)),
    );
}

/** The columns that `*` or `table.*` stands for. */
export function columnsOfStar(scope: Scope, node: Node): readonly (OutputColumn & { readonly value: Value })[] {
  allowOnly(node, "*", "relation_name", "exclude_list");
  const table = textIn(node, "relation_name");
  const excluded = textsIn(node, "exclude_list");
  const sources = table === "" ? scope : scope.filter(({ alias }) => isSame(alias, table));
  if (sources.length === 0) return refuse(node, `${quoted(table)}.* of a table that is not in FROM`);
  const columns = sources.flatMap((source) =>
    source.columns
      .filter(({ name }) => table !== "" || !source.merged.has(name.toLowerCase()))
      .map((column) => ({ ...column, value: columnOf(source, column) })),
  );
  const missing = excluded.find((name) => !columns.some((each) => isSame(each.name, name)));
  if (missing !== undefined) return refuse(node, `EXCLUDE of ${quoted(missing)}, which is not a column,`);
  return columns.filter(({ name }) => !excluded.some((each) => isSame(each, name)));
}

export function from(context: FromContext, node: Node): From {
  const kind = textIn(node, "type");
  return (KINDS[kind] ?? refuse(node, `${quoted(kind.toLowerCase().replaceAll("_", " "))} in FROM`))(context, node);
}

const source = (sql: string, alias: string, columns: readonly OutputColumn[]): From => ({
  sql: `${sql} AS ${quoteForSpark(alias)}`,
  scope: [{ alias, columns, merged: new Set() }],
});

const KINDS: Readonly<Record<string, (context: FromContext, node: Node) => From>> = {
  EMPTY: () => ({ sql: "", scope: [] }),
  BASE_TABLE: ({ relations }, node) => {
    allowOnly(node, "a table", "table_name");
    const asked = textIn(node, "table_name");
    const found = relations.get(asked.toLowerCase()) ?? refuse(node, `the unknown table ${quoted(asked)}`);
    return source(quoteForSpark(found.name), textIn(node, "alias") || asked, found.columns);
  },
  SUBQUERY: ({ subquery, newName }, node) => {
    allowOnly(node, "a subquery", "subquery");
    const { sql, columns } = subquery(nodeOf(nodeOf(node, "subquery"), "node"));
    return source(`(${sql})`, textIn(node, "alias") || newName(), columns);
  },
  JOIN: join,
  TABLE_FUNCTION: (_, node) => {
    const call = nodeOf(node, "function");
    return refuse(call, `the table function ${quoted(textIn(call, "function_name"))}`);
  },
};

const JOINS: Readonly<Record<string, string>> = {
  INNER: "JOIN",
  LEFT: "LEFT JOIN",
  RIGHT: "RIGHT JOIN",
  FULL: "FULL JOIN",
};

function join(context: FromContext, node: Node): From {
  allowOnly(node, "a join", "left", "right", "condition", "join_type", "ref_type", "using_columns");
  const [left, right] = [from(context, nodeOf(node, "left")), from(context, nodeOf(node, "right"))];
  for (const { alias } of right.scope) {
    if (left.scope.some((each) => isSame(each.alias, alias))) refuse(node, `the name ${quoted(alias)} for two tables`);
  }
  const grouped = right.scope.length > 1 ? `(${right.sql})` : right.sql;
  const scope = [...left.scope, ...right.scope];
  if (node["ref_type"] === "CROSS") return { sql: `${left.sql} CROSS JOIN ${grouped}`, scope };
  const kind = textIn(node, "join_type");
  const word = JOINS[kind] ?? refuse(node, `a join of the kind ${quoted(kind)}`);
  if (node["ref_type"] !== "REGULAR") return refuse(node, `a join of the kind ${quoted(textIn(node, "ref_type"))}`);
  const using = textsIn(node, "using_columns");
  if (using.length === 0) {
    const on = nodeIn(node, "condition") ?? refuse(node, "a join without a condition");
    return { sql: `${left.sql} ${word} ${grouped} ON ${condition(on, expression(context.within(scope), on))}`, scope };
  }
  if (kind !== "INNER" && kind !== "LEFT") return refuse(node, "USING in this kind of join", "write ON a.x = b.x");
  const pairs = using.map((name) => {
    const [a, b] = [left, right].map((side) => columnsNamed(side.scope, [name]));
    if (a!.length !== 1 || b!.length !== 1)
      return refuse(node, `USING of ${quoted(name)}, which is not one column of each table,`);
    return unify(node, [a![0]!, b![0]!]).sql.join(" = ");
  });
  const merged = new Set(using.map((name) => name.toLowerCase()));
  const hidden = right.scope.map((each) => ({ ...each, merged: new Set([...each.merged, ...merged]) }));
  return { sql: `${left.sql} ${word} ${grouped} ON ${pairs.join(" AND ")}`, scope: [...left.scope, ...hidden] };
}
