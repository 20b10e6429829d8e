// Aggregates and window functions that give the same on a cluster as in DuckDB.
import {
  allowOnly,
  entryOf,
  nodeIn,
  nodeOf,
  nodesIn,
  quoted,
  refuse,
  textIn,
  wholeNumberOf,
  type Node,
} from "./tree.js";
import { backToInteger, condition, exactly, name, toFloat, unify, value, type Value } from "./values.js";

type Write = (node: Node) => Value;

interface Call extends Value {
  /** What is done to the result, after FILTER and OVER. */
  readonly finish?: (sql: string) => string;
}

/** `distinct` is `DISTINCT ` or empty. */
type Aggregate = (node: Node, args: readonly Value[], distinct: string) => Call;

const single =
  (write: (node: Node, argument: Value, distinct: string) => Call): Aggregate =>
  (node, args, distinct) =>
    args.length === 1
      ? write(node, args[0]!, distinct)
      : refuse(node, `${quoted(textIn(node, "function_name"))} with ${args.length} arguments`);

const float = (spark: string) =>
  single((node, x, distinct) => value("float64", `${spark}(${distinct}${toFloat(node, exact(node, x))})`));

/** A literal such as 1.5 stays a decimal number in DuckDB. */
const exact = (node: Node, x: Value): Value =>
  x.type === "decimal" ? refuse(node, "an aggregate of decimal numbers", "write 1.5e0") : x;

const toInt128 = (sql: string): string => `CAST(${sql} AS DECIMAL(38,0))`;

const sum = single((node, x, distinct) =>
  x.type === "int64"
    ? { type: "int128", sql: `sum(${distinct}${exactly(x.sql)})`, finish: toInt128 }
    : value("float64", `sum(${distinct}${floatOnly(node, x)})`),
);

const floatOnly = (node: Node, x: Value): string =>
  x.type === "float64" ? x.sql : refuse(node, `${name(x.type)} in ${quoted(textIn(node, "function_name"))}`);

const extreme = (spark: string) =>
  single((node, x) => {
    const { type, sql } = unify(node, [x]);
    return value(type, `${spark}(${sql[0]!})`);
  });

const logical = (spark: string) =>
  single((node, x) =>
    x.type === "boolean" ? value("boolean", `${spark}(${x.sql})`) : refuse(node, `${name(x.type)} in ${spark}`),
  );

const OVER_ROWS: Readonly<Record<string, Aggregate>> = {
  sum,
  avg: float("avg"),
  mean: float("avg"),
  min: extreme("min"),
  max: extreme("max"),
  count: single((_node, { sql }, distinct) => value("int64", `count(${distinct}${sql})`)),
  count_star: (node, args) => (args.length === 0 ? value("int64", "count(1)") : refuse(node, "count(*) of a column")),
};

const AGGREGATES: Readonly<Record<string, Aggregate>> = {
  ...OVER_ROWS,
  stddev: float("stddev_samp"),
  stddev_samp: float("stddev_samp"),
  stddev_pop: float("stddev_pop"),
  variance: float("var_samp"),
  var_samp: float("var_samp"),
  var_pop: float("var_pop"),
  median: float("median"),
  quantile_cont: (node, [x]) => {
    const at = nodesIn(node, "children")[1];
    const { type, value: digits } =
      at === undefined ? {} : ((nodeOf(at, "value") ?? {}) as { type?: Node; value?: unknown });
    const scale = type === undefined ? undefined : nodeIn(type, "type_info")?.["scale"];
    if (typeof digits !== "number") return refuse(node, "quantile_cont of anything but one number");
    const quantile = typeof scale === "number" ? digits / 10 ** scale : digits;
    if (!(quantile >= 0 && quantile <= 1)) return refuse(node, "a quantile that is not between 0 and 1");
    return value("float64", `percentile(${toFloat(node, exact(node, x!))}, ${quantile}D)`);
  },
  bool_and: logical("bool_and"),
  bool_or: logical("bool_or"),
};

export const isAggregate = (call: string): boolean => entryOf(AGGREGATES, call) !== undefined;

/** A call of an aggregate; `write` gives the SQL of a part of it. */
export function aggregate(node: Node, write: Write): Value {
  const call = textIn(node, "function_name").toLowerCase();
  allowOnly(node, quoted(call), "function_name", "children", "filter", "distinct", "schema", "is_operator");
  const distinct = node["distinct"] === true ? "DISTINCT " : "";
  const { type, sql, finish = unchanged } = AGGREGATES[call]!(node, nodesIn(node, "children").map(write), distinct);
  const filter = nodeIn(node, "filter");
  const only = filter === null ? "" : ` FILTER (WHERE ${condition(filter, write(filter))})`;
  return value(type, finish(`${sql}${only}`));
}

const unchanged = (sql: string): string => sql;

const NULLS: Readonly<Record<string, string>> = {
  ORDER_DEFAULT: "NULLS LAST",
  "NULLS LAST": "NULLS LAST",
  "NULLS FIRST": "NULLS FIRST",
};

/** `ORDER BY` with the nulls where DuckDB has them, unless the statement says where. */
export function ordering(order: Node, sql: string): string {
  allowOnly(order, "ORDER BY", "expression", "null_order");
  const direction = order["type"] === "DESCENDING" ? "DESC" : "ASC";
  const nulls = NULLS[textIn(order, "null_order")] ?? refuse(order, "this order of nulls");
  return `${sql} ${direction} ${nulls}`;
}

const RANKS: Readonly<Record<string, string>> = {
  row_number: "row_number()",
  rank: "rank()",
  dense_rank: "dense_rank()",
};

const EDGES: Readonly<Record<string, string>> = {
  UNBOUNDED_PRECEDING: "UNBOUNDED PRECEDING",
  UNBOUNDED_FOLLOWING: "UNBOUNDED FOLLOWING",
  CURRENT_ROW_ROWS: "CURRENT ROW",
};

/** A window function with its window. */
export function windowed(node: Node, write: Write): Value {
  const call = textIn(node, "function_name").toLowerCase();
  const known = ["function_name", "children", "partitions", "orders", "start", "end", "start_expr", "end_expr"];
  allowOnly(node, `${quoted(call)} OVER`, ...known, "offset_expr", "default_expr", "schema");
  const orders = nodesIn(node, "orders").map((order) => ordering(order, write(nodeOf(order, "expression")).sql));
  const partitions = nodesIn(node, "partitions").map((each) => write(each).sql);
  const args = nodesIn(node, "children").map(write);
  const frame = frameOf(node, orders.length > 0);
  const window = [
    ...(partitions.length > 0 ? [`PARTITION BY ${partitions.join(", ")}`] : []),
    ...(orders.length > 0 ? [`ORDER BY ${orders.join(", ")}`] : []),
  ];
  const over = (sql: string, ...more: readonly string[]) => `${sql} OVER (${[...window, ...more].join(" ")})`;
  const inOrder = () => {
    if (orders.length === 0) refuse(node, `${quoted(call)} without ORDER BY`, "its result would depend on chance");
    if (frame !== null) refuse(node, `${quoted(call)} over a part of its window`);
  };

  const rank = entryOf(RANKS, call);
  if (rank !== undefined) {
    inOrder();
    return backToInteger(over(rank));
  }
  if (call === "lag" || call === "lead") {
    inOrder();
    const offset = nodeIn(node, "offset_expr");
    const standIn = nodeIn(node, "default_expr");
    const { type, sql } = unify(node, standIn === null ? args : [...args, write(standIn)]);
    if (type !== args[0]?.type) return refuse(node, `${call} with a default of another type`);
    const steps = offset === null ? 1 : wholeNumberOf(offset, "a number of rows");
    return value(type, over(`${call}(${[sql[0]!, steps, ...sql.slice(1)].join(", ")})`));
  }
  const found = entryOf(OVER_ROWS, call) ?? refuse(node, `${quoted(call)} as a window function`);
  const { type, sql, finish = unchanged } = found(node, args, "");
  return value(type, finish(over(sql, ...(frame === null ? [] : [frame]))));
}

/** Null for the window that both engines assume. */
function frameOf(node: Node, isOrdered: boolean): string | null {
  const [start, end] = [textIn(node, "start"), textIn(node, "end")];
  if (start === "UNBOUNDED_PRECEDING" && end === "CURRENT_ROW_RANGE") return null;
  if (!isOrdered) return refuse(node, "a part of a window without ORDER BY");
  const edge = (at: string, key: string) =>
    at.startsWith("EXPR_") && at.endsWith("_ROWS")
      ? `${wholeNumberOf(nodeOf(node, key), "a number of rows")} ${at.split("_")[1]!}`
      : (EDGES[at] ?? refuse(node, "a window that is not made of ROWS"));
  return `ROWS BETWEEN ${edge(start, "start_expr")} AND ${edge(end, "end_expr")}`;
}
