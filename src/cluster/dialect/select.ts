// SELECT, set operations and WITH as SQL of Spark.
import { quoteForSpark } from "../views.js";
import { ordering } from "./aggregates.js";
import { expression, type Context } from "./expressions.js";
import { columnsNamed, columnsOfStar, from, isSame, type OutputColumn, type Relations, type Scope } from "./from.js";
import {
  allowOnly,
  nodeIn,
  nodeOf,
  nodesIn,
  quoted,
  refuse,
  textIn,
  textsIn,
  wholeNumberOf,
  type Node,
} from "./tree.js";
import { condition, type Value } from "./values.js";

/** What is the same for all parts of a statement. */
export interface Statement {
  bind(text: string): string;
  parameter(node: Node, name: string): Value;
  newName(): string;
}

export interface Query {
  readonly sql: string;
  readonly columns: readonly OutputColumn[];
}

interface Item {
  /** Null if the statement gives it none. */
  readonly name: string | null;
  readonly value: Value;
}

/** A query with its WITH, ORDER BY and LIMIT. */
export function query(statement: Statement, outer: Relations, node: Node): Query {
  const { relations, sql: names } = withClause(statement, outer, node);
  const kind = textIn(node, "type");
  const found = (QUERIES[kind] ?? refuse(node, quoted(kind.toLowerCase().replaceAll("_", " "))))(
    statement,
    relations,
    node,
  );
  return { ...found, sql: `${names}${found.sql}` };
}

type Write = (statement: Statement, relations: Relations, node: Node) => Query;
const QUERIES: Readonly<Record<string, Write>> = { SELECT_NODE: select, SET_OPERATION_NODE: setOperation };

function withClause(statement: Statement, outer: Relations, node: Node) {
  const relations = new Map(outer);
  const parts = nodesIn(nodeIn(node, "cte_map") ?? {}, "map").map(({ key, value }) => {
    const name = key as string;
    allowOnly(value as Node, "WITH", "query");
    const { sql, columns } = query(statement, relations, nodeOf(nodeOf(value as Node, "query"), "node"));
    relations.set(name.toLowerCase(), { name, columns });
    return `${quoteForSpark(name)} AS (${sql})`;
  });
  return { relations, sql: parts.length === 0 ? "" : `WITH ${parts.join(", ")} ` };
}

/** What the names in an expression mean; `aliases` are those of SELECT. */
function contextOf(
  statement: Statement,
  relations: Relations,
  scope: Scope,
  aliases: readonly Item[],
  isStrict = false,
): Context {
  return {
    ...statement,
    subquery: (node) => {
      const { sql, columns } = query(statement, relations, node);
      return { sql, types: columns.map(({ type }) => type) };
    },
    column(node, names) {
      const shown = quoted(names.join("."));
      const columns = columnsNamed(scope, names);
      const alias =
        names.length === 1 ? aliases.find(({ name }) => name !== null && isSame(name, names[0]!)) : undefined;
      if (columns.length > 1) return refuse(node, `the column ${shown} of several tables`, "name the table");
      if (isStrict && alias !== undefined && columns.length === 1 && alias.value.sql !== columns[0]!.sql) {
        return refuse(node, `${shown}, which is a column and a name in SELECT,`, "use another name");
      }
      const renamed = alias === undefined ? undefined : { ...alias.value, column: alias.name! };
      return (
        columns[0] ?? renamed ?? refuse(node, `the unknown column ${shown}`, "subqueries see only their own tables")
      );
    },
  };
}

function select(statement: Statement, relations: Relations, node: Node): Query {
  const known = [
    "modifiers",
    "cte_map",
    "select_list",
    "from_table",
    "where_clause",
    "group_expressions",
    "group_sets",
    "having",
  ];
  allowOnly(node, "SELECT", ...known, "aggregate_handling");
  if (node["aggregate_handling"] !== "STANDARD_HANDLING") refuse(node, "GROUP BY ALL", "name the columns");
  const source = from(
    {
      relations,
      newName: statement.newName,
      subquery: (each) => query(statement, relations, each),
      within: (scope) => contextOf(statement, relations, scope, []),
    },
    nodeOf(node, "from_table"),
  );
  const items: Item[] = [];
  const context = contextOf(statement, relations, source.scope, items);
  for (const each of nodesIn(node, "select_list")) {
    if (each["class"] === "STAR") items.push(...columnsOfStar(source.scope, each));
    else items.push(itemOf(each, expression(context, each)));
  }
  const strict = contextOf(statement, relations, source.scope, items, true);
  const conditionOf = (key: string, word: string, names: Context) => {
    const found = nodeIn(node, key);
    return found === null ? "" : ` ${word} ${condition(found, expression(names, found))}`;
  };
  const isGrouped = nodesIn(node, "group_expressions").length > 0;
  const columns = items.map(({ name, value: { type } }, i) => ({ name: name ?? `column ${i + 1}`, type }));
  const written = items.map(({ value }, i) => `${value.sql} AS ${quoteForSpark(columns[i]!.name)}`);
  const isDistinct = nodesIn(node, "modifiers").some(({ type }) => type === "DISTINCT_MODIFIER");
  const sql = [
    `SELECT ${isDistinct ? "DISTINCT " : ""}${written.join(", ")}`,
    source.sql === "" ? "" : ` FROM ${source.sql}`,
    conditionOf("where_clause", "WHERE", context),
    isGrouped ? ` GROUP BY ${groups(node, context, items).join(", ")}` : "",
    conditionOf("having", "HAVING", strict),
  ].join("");
  const sortable = isGrouped || isDistinct ? null : strict;
  return { sql: `${sql}${modifiers(node, items, strict, sortable)}`, columns };
}

const itemOf = (node: Node, value: Value): Item => ({ name: textIn(node, "alias") || (value.column ?? null), value });

function groups(node: Node, context: Context, items: readonly Item[]): readonly string[] {
  const expressions = nodesIn(node, "group_expressions");
  const sets = node["group_sets"] as readonly (readonly number[])[];
  if (sets.length !== 1 || sets[0]!.length !== expressions.length) refuse(node, "GROUP BY with several groupings");
  return expressions.map((each) => {
    const item = ordinal(each, items);
    return (item?.value ?? expression(context, each)).sql;
  });
}

/** The item that a number in GROUP BY or ORDER BY stands for. */
function ordinal(node: Node, items: readonly Item[]): Item | undefined {
  if (node["class"] !== "CONSTANT") return undefined;
  return items[wholeNumberOf(node, "a literal in GROUP BY or ORDER BY") - 1] ?? refuse(node, "a number of no column");
}

/**
 * ORDER BY and LIMIT. Without `sortable`, rows are ordered by columns of the result alone; `names` then only tells whether
 * an expression is one of them.
 */
function modifiers(node: Node, items: readonly Item[], names: Context | null, sortable: Context | null): string {
  const order = nodesIn(node, "modifiers").find(({ type }) => type === "ORDER_MODIFIER");
  const orders = order === undefined ? [] : nodesIn(order, "orders").map((each) => ordering(each, orderBy(each)));
  const parts = nodesIn(node, "modifiers").map((modifier) => {
    if (modifier["type"] === "DISTINCT_MODIFIER") allowOnly(modifier, "DISTINCT");
    else if (modifier["type"] === "LIMIT_MODIFIER") return limit(modifier);
    else if (modifier !== order) refuse(node, quoted(textIn(modifier, "type")));
    return "";
  });
  return `${orders.length === 0 ? "" : ` ORDER BY ${orders.join(", ")}`}${parts.join("")}`;

  function orderBy(each: Node): string {
    const by = nodeOf(each, "expression");
    const column = by["class"] === "COLUMN_REF" ? textsIn(by, "column_names") : [];
    const named = column.length === 1 ? items.find(({ name }) => name !== null && isSame(name, column[0]!)) : undefined;
    const item = named ?? ordinal(by, items);
    if (item !== undefined) return outputOf(item);
    if (by["class"] === "STAR") return refuse(by, "ORDER BY ALL", "name the columns");
    if (names === null) return refuse(by, "ORDER BY something other than a result column");
    const { sql } = expression(names, by);
    const same = items.find(({ value }) => value.sql === sql);
    if (same !== undefined) return outputOf(same);
    return sortable === null ? refuse(by, "an order by what is not selected", "select it, too") : sql;
  }

  function outputOf(item: Item): string {
    const i = items.indexOf(item);
    return quoteForSpark(item.name ?? `column ${i + 1}`);
  }

  function limit(modifier: Node): string {
    allowOnly(modifier, "LIMIT", "limit", "offset");
    if (orders.length === 0) refuse(node, "LIMIT without ORDER BY", "which rows it gives would depend on chance");
    const [most, skipped] = [nodeIn(modifier, "limit"), nodeIn(modifier, "offset")];
    const rows = most === null ? "" : ` LIMIT ${wholeNumberOf(most, "LIMIT")}`;
    return skipped === null ? rows : `${rows} OFFSET ${wholeNumberOf(skipped, "OFFSET")}`;
  }
}

const SET_OPERATIONS: Readonly<Record<string, string>> = { UNION: "UNION", EXCEPT: "EXCEPT", INTERSECT: "INTERSECT" };

function setOperation(statement: Statement, relations: Relations, node: Node): Query {
  allowOnly(node, "a set operation", "modifiers", "cte_map", "setop_type", "left", "right", "setop_all", "children");
  const kind = textIn(node, "setop_type");
  const word = SET_OPERATIONS[kind] ?? refuse(node, quoted(kind));
  const nested = nodesIn(node, "children");
  const sides = nested.length > 0 ? nested : [nodeOf(node, "left"), nodeOf(node, "right")];
  const queries = sides.map((side) => query(statement, relations, side));
  const [{ columns }] = queries as [Query];
  for (const other of queries) {
    if (other.columns.length !== columns.length || other.columns.some(({ type }, i) => type !== columns[i]!.type)) {
      refuse(node, `${kind} of queries with different columns`, "convert them with CAST");
    }
  }
  const all = node["setop_all"] === true ? " ALL" : "";
  const items = columns.map(({ name, type }) => ({ name, value: { type, sql: quoteForSpark(name) } }));
  const sql = queries.map((each) => `(${each.sql})`).join(` ${word}${all} `);
  return { sql: `${sql}${modifiers(node, items, null, null)}`, columns };
}
