// Expressions of DuckDB as SQL of Spark, with their types.
import { SCALARS } from "./functions.js";
import { aggregate, isAggregate, windowed } from "./aggregates.js";
import { allowOnly, entryOf, nodeIn, nodeOf, nodesIn, quoted, refuse, textIn, textsIn, type Node } from "./tree.js";
import { cast, condition, name, unify, value, type Type, type Value } from "./values.js";

/** What the names in an expression mean. */
export interface Context {
  /** The value of a column, given its name with or without that of its table. */
  column(node: Node, names: readonly string[]): Value;
  /** A subquery with its columns. */
  subquery(node: Node): { readonly sql: string; readonly types: readonly Type[] };
  /** A text as a bound value: the SQL that stands for it. */
  bind(text: string): string;
  parameter(node: Node, name: string): Value;
}

const COMPARISONS: Readonly<Record<string, string>> = {
  COMPARE_EQUAL: "=",
  COMPARE_NOTEQUAL: "<>",
  COMPARE_LESSTHAN: "<",
  COMPARE_GREATERTHAN: ">",
  COMPARE_LESSTHANOREQUALTO: "<=",
  COMPARE_GREATERTHANOREQUALTO: ">=",
};

export function expression(context: Context, node: Node): Value {
  const write = (child: Node): Value => expression(context, child);
  const kind = textIn(node, "class");
  return (WRITERS[kind] ?? refuse(node, `an expression of the kind ${quoted(textIn(node, "type"))}`))(
    node,
    write,
    context,
  );
}

type Writer = (node: Node, write: (node: Node) => Value, context: Context) => Value;

const boolean = (sql: string): Value => value("boolean", `(${sql})`);

const constant: Writer = (node, _write, context) => {
  allowOnly(node, "a literal", "value");
  const { type, is_null: isNull, value: held } = nodeOf(node, "value");
  const id = textIn(type as Node, "id");
  if (isNull === true) return value("null", "NULL");
  if (id === "VARCHAR" && typeof held === "string") return { ...value("text", context.bind(held)), literal: held };
  if (typeof held === "number") {
    if (id === "DOUBLE") return value("float64", asDouble(held));
    if ((id === "INTEGER" || id === "BIGINT") && Number.isSafeInteger(held)) return value("int64", `${held}L`);
    const info = nodeIn(type as Node, "type_info");
    if (id === "DECIMAL" && (info?.["width"] as number) <= 15) {
      return value("decimal", asDouble(held / 10 ** (info!["scale"] as number)));
    }
  }
  return refuse(node, `a literal of type ${quoted(id)}`);
};

export const asDouble = (held: number): string => `${String(held).toUpperCase()}D`;

const comparison: Writer = (node, write) => {
  allowOnly(node, "a comparison", "left", "right");
  const sides = unify(node, [write(nodeOf(node, "left")), write(nodeOf(node, "right"))]).sql;
  const type = textIn(node, "type");
  if (type === "COMPARE_NOT_DISTINCT_FROM") return boolean(sides.join(" <=> "));
  if (type === "COMPARE_DISTINCT_FROM") return boolean(`NOT (${sides.join(" <=> ")})`);
  return boolean(sides.join(` ${COMPARISONS[type] ?? refuse(node, quoted(type))} `));
};

const OPERATORS: Readonly<Record<string, Writer>> = {
  OPERATOR_NOT: (node, write) =>
    boolean(
      `NOT ${nodesIn(node, "children")
        .map((each) => condition(each, write(each)))
        .join()}`,
    ),
  OPERATOR_IS_NULL: (node, write) => boolean(`${write(nodesIn(node, "children")[0]!).sql} IS NULL`),
  OPERATOR_IS_NOT_NULL: (node, write) => boolean(`${write(nodesIn(node, "children")[0]!).sql} IS NOT NULL`),
  OPERATOR_COALESCE: (node, write) => {
    const { type, sql } = unify(node, nodesIn(node, "children").map(write));
    return value(type, `coalesce(${sql.join(", ")})`);
  },
  COMPARE_IN: (node, write) => boolean(listed(node, write, "IN")),
  COMPARE_NOT_IN: (node, write) => boolean(listed(node, write, "NOT IN")),
};

function listed(node: Node, write: (node: Node) => Value, word: string): string {
  const [x, ...list] = unify(node, nodesIn(node, "children").map(write)).sql;
  return `${x!} ${word} (${list.join(", ")})`;
}

const subquery: Writer = (node, write, context) => {
  allowOnly(node, "a subquery", "subquery", "subquery_type", "child", "comparison_type");
  const { sql, types } = context.subquery(nodeOf(nodeOf(node, "subquery"), "node"));
  const kind = textIn(node, "subquery_type");
  if (kind === "EXISTS") return boolean(`EXISTS (${sql})`);
  if (types.length !== 1) return refuse(node, `a subquery with ${types.length} columns as a value`);
  if (kind === "SCALAR") return value(types[0]!, `(${sql})`);
  if (kind !== "ANY" || node["comparison_type"] !== "COMPARE_EQUAL")
    return refuse(node, "this comparison with a subquery");
  const x = write(nodeOf(node, "child"));
  return x.type === types[0]!
    ? boolean(`${x.sql} IN (${sql})`)
    : refuse(node, `${name(x.type)} IN a subquery of ${name(types[0]!)}`, "convert it with CAST");
};

const choice: Writer = (node, write) => {
  allowOnly(node, "CASE", "case_checks", "else_expr");
  const checks = nodesIn(node, "case_checks");
  const conditions = checks.map((check) => {
    const when = nodeOf(check, "when_expr");
    return condition(when, write(when));
  });
  const results = [...checks.map((check) => nodeOf(check, "then_expr")), nodeOf(node, "else_expr")];
  const { type, sql } = unify(node, results.map(write));
  const branches = conditions.map((when, i) => `WHEN ${when} THEN ${sql[i]!}`);
  return value(type, `CASE ${branches.join(" ")} ELSE ${sql.at(-1)!} END`);
};

const call: Writer = (node, write) => {
  const function_ = textIn(node, "function_name").toLowerCase();
  if (isAggregate(function_)) return aggregate(node, write);
  const known = entryOf(SCALARS, function_);
  if (known === undefined) return refuse(node, `the function ${quoted(function_)}`);
  allowOnly(node, quoted(function_), "function_name", "children", "is_operator", "schema");
  return known(node, nodesIn(node, "children").map(write));
};

const WRITERS: Readonly<Record<string, Writer>> = {
  CONSTANT: constant,
  COMPARISON: comparison,
  SUBQUERY: subquery,
  CASE: choice,
  FUNCTION: call,
  WINDOW: (node, write) => windowed(node, write),
  COLUMN_REF: (node, _write, context) => {
    allowOnly(node, "a column", "column_names");
    return context.column(node, textsIn(node, "column_names"));
  },
  PARAMETER: (node, _write, context) => context.parameter(node, textIn(node, "identifier")),
  CAST: (node, write) => {
    allowOnly(node, "CAST", "child", "cast_type");
    return cast(node, write(nodeOf(node, "child")), textIn(nodeOf(node, "cast_type"), "id"));
  },
  CONJUNCTION: (node, write) => {
    allowOnly(node, "a condition", "children");
    const word = node["type"] === "CONJUNCTION_OR" ? " OR " : " AND ";
    return boolean(
      nodesIn(node, "children")
        .map((each) => condition(each, write(each)))
        .join(word),
    );
  },
  BETWEEN: (node, write) => {
    allowOnly(node, "BETWEEN", "input", "lower", "upper");
    const [x, lower, upper] = unify(
      node,
      ["input", "lower", "upper"].map((key) => write(nodeOf(node, key))),
    ).sql;
    return boolean(`${x!} BETWEEN ${lower!} AND ${upper!}`);
  },
  OPERATOR: (node, write, context) => {
    allowOnly(node, "an operator", "children");
    const known = OPERATORS[textIn(node, "type")] ?? refuse(node, `the operator ${quoted(textIn(node, "type"))}`);
    return known(node, write, context);
  },
};
