// The table functions for market data, such as known(income, '20240501'): what a call names, and the request that it means.
import { ENTITIES, ENTITY_NAMES, entityNamed } from "../catalog/index.js";
import { apiNamed } from "../catalog/tushare.js";
import type { Entity } from "../catalog/types.js";
import { nearest, type Problem } from "../errors.js";
import { quote } from "../query/parameters.js";
import { constantOf, nameOf, nodesIn, nodesOf, parameterOf, placeOf, textIn, type TreeNode } from "../sql-tree.js";
import { invalidSql, notAllowed, problemOf } from "./problems.js";

/** An argument: a constant, the name of a parameter that holds it, or what has to be computed first. */
type Argument =
  | { readonly constant: string }
  | { readonly parameter: string }
  | { readonly expression: TreeNode; readonly place: number | null };

/** Parts of an expression whose value follows from constants and parameters. */
const COMPUTABLE: ReadonlySet<string> = new Set([
  ...["", "CONSTANT", "PARAMETER", "CAST", "FUNCTION", "OPERATOR", "COMPARISON", "CONJUNCTION", "CASE", "BETWEEN"],
  "TYPE",
]);

/** A day as a timestamp, which is what DuckDB makes of a day and an interval. */
const MIDNIGHT = / 00:00:00$/;

/** A call in FROM. */
export interface Call {
  readonly name: string;
  /** The byte at which its name begins. */
  readonly place: number;
  readonly arguments: Readonly<Record<string, Argument>>;
  /** How many arguments are given by position, and the names of the others. */
  readonly positions: number;
  readonly named: readonly string[];
}

interface TableFunction {
  /** Arguments by position; any of them may be given by name too. None is called like a column: DuckDB would mix them up. */
  readonly arguments: readonly string[];
  /** Those that must be given. */
  readonly needed: number;
  readonly example: string;
}

export const FUNCTIONS = {
  known: { arguments: ["entity", "as_of"], needed: 2, example: "known(income, '20240501')" },
  latest: { arguments: ["entity", "as_of"], needed: 1, example: "latest(income)" },
  adjusted: {
    arguments: ["entity", "adjust", "first_day", "last_day", "volume"],
    needed: 2,
    example: "adjusted(daily, 'forward', last_day := '20241231')",
  },
  bars: { arguments: ["entity", "period"], needed: 2, example: "bars(daily, 'week')" },
  panel: {
    arguments: ["fields", "first_day", "last_day"],
    needed: 1,
    example: "panel('daily:close,daily_basic:pe', '20240101', '20241231')",
  },
  trading_days: { arguments: ["first_day", "last_day"], needed: 2, example: "trading_days('20240101', '20241231')" },
  universe: { arguments: ["day"], needed: 1, example: "universe('20240105')" },
} as const satisfies Record<string, TableFunction>;

export type FunctionName = keyof typeof FUNCTIONS;

export const TABLE_FUNCTIONS: readonly string[] = Object.keys(FUNCTIONS);

/** Table functions of DuckDB that read nothing. */
const PLAIN: ReadonlySet<string> = new Set(["range", "generate_series", "unnest", "repeat", "repeat_row"]);

/** The call of a function in FROM; null if it is one of DuckDB's that may be used as it is. */
export function callOf(sql: string, node: TreeNode): Call | null {
  const given = textIn(node, "function_name");
  const name = given.toLowerCase();
  const isQualified = textIn(node, "schema") !== "" || textIn(node, "catalog") !== "";
  if (!isQualified && PLAIN.has(name)) return null;
  if (isQualified || !Object.hasOwn(FUNCTIONS, name)) {
    const near = nearest(name, [...TABLE_FUNCTIONS, ...PLAIN]);
    const hint =
      near === undefined
        ? `use an entity, or one of the table functions ${TABLE_FUNCTIONS.join(", ")}`
        : `did you mean ${near}?`;
    throw notAllowed(sql, `the table function ${quote(given)} is not available`, placeOf(node), hint);
  }
  const place = placeOf(node);
  if (place === null || !standsAt(sql, name, place)) {
    throw notAllowed(
      sql,
      `${name} must be written without quotes and without a schema`,
      place,
      `write ${FUNCTIONS[name as FunctionName].example}`,
    );
  }
  return { name, place, ...argumentsOf(sql, FUNCTIONS[name as FunctionName], node) };
}

/** Whether the name of a function stands there without quotes: it is replaced by another one. */
const standsAt = (sql: string, name: string, place: number): boolean =>
  Buffer.from(sql)
    .subarray(place, place + name.length)
    .toString("latin1")
    .toLowerCase() === name;

function argumentsOf(
  sql: string,
  wanted: TableFunction,
  node: TreeNode,
): Pick<Call, "arguments" | "positions" | "named"> {
  const found: Record<string, Argument> = {};
  const named: string[] = [];
  let positions = 0;
  for (const child of nodesIn(node, "children")) {
    const alias = textIn(child, "alias").toLowerCase();
    const name = alias === "" ? wanted.arguments[positions++] : alias;
    if (name === undefined || !wanted.arguments.includes(name)) {
      const what = alias === "" ? "there are too many arguments" : `there is no argument ${quote(alias)}`;
      throw invalidSql(sql, what, placeOf(node), `write ${wanted.example}`);
    }
    if (found[name]) throw invalidSql(sql, `${name} is given twice`, placeOf(node), `write ${wanted.example}`);
    if (alias !== "") named.push(alias);
    found[name] = argumentOf(sql, child, wanted.example);
  }
  const missing = wanted.arguments.slice(0, wanted.needed).find((name) => !found[name]);
  if (missing !== undefined) throw invalidSql(sql, `${missing} is missing`, placeOf(node), `write ${wanted.example}`);
  return { arguments: found, positions, named };
}

function argumentOf(sql: string, node: TreeNode, example: string): Argument {
  const parameter = parameterOf(node);
  if (parameter !== null) return { parameter };
  const constant = constantOf(node) ?? nameOf(node);
  if (constant !== null) return { constant };
  for (const [part] of nodesOf(node)) if (!COMPUTABLE.has(textIn(part, "class"))) throw notConstant(sql, node, example);
  return { expression: node, place: placeOf(node) };
}

const notConstant = (sql: string, node: TreeNode, example: string): Problem =>
  invalidSql(
    sql,
    "an argument depends on more than constants and parameters",
    placeOf(node),
    `write ${example}; to use a day from a table, query it first and pass it as a parameter`,
  );

/** A call whose arguments are known. `compute` gives the text of a value, or null if it has none. */
export async function computed(
  sql: string,
  call: Call,
  compute: (expression: TreeNode) => Promise<string | null>,
): Promise<Call> {
  const known = Object.entries(call.arguments).map(async ([name, one]): Promise<[string, Argument]> => {
    if (!("expression" in one)) return [name, one];
    const value = await compute(one.expression).catch((error: unknown) => {
      const problem = problemOf("", error);
      if (problem === null) throw error;
      throw invalidSql(sql, `${name} cannot be computed: ${problem.detail}`, one.place, problem.extras.hint);
    });
    if (value === null) throw invalidSql(sql, `${name} is NULL`, one.place);
    return [name, { constant: value.replace(MIDNIGHT, "") }];
  });
  return { ...call, arguments: Object.fromEntries(await Promise.all(known)) };
}

/** The text of an argument; undefined if it is not given. */
export function argument(call: Call, name: string, parameters: Readonly<Record<string, unknown>>): string | undefined {
  const found = call.arguments[name];
  if (found === undefined) return undefined;
  if ("expression" in found) throw new Error(`${name} was not computed`);
  return "constant" in found ? found.constant : String(parameters[found.parameter]);
}

/** The entity that a call names first. */
export function entityOf(sql: string, call: Call, parameters: Readonly<Record<string, unknown>>): Entity {
  const name = argument(call, "entity", parameters) ?? "";
  const entity = entityNamed(name.toLowerCase());
  if (entity) return entity;
  const near = nearest(name, ENTITY_NAMES);
  throw invalidSql(sql, `there is no entity ${quote(name)}`, call.place, near && `did you mean ${near}?`);
}

/** Entities of the catalog, and the bars of indices, which are not stored. */
const BARS: readonly Entity[] = [
  ...ENTITIES,
  ...["index_weekly", "index_monthly"].map((name) => apiNamed(name)!.entity),
];

/** The entity whose rows are the weeks or months of these days. */
export function barsOf(sql: string, call: Call, parameters: Readonly<Record<string, unknown>>): Entity {
  const days = entityOf(sql, call, parameters);
  const period = argument(call, "period", parameters) ?? "";
  const found = BARS.find(
    ({ builtFrom, adjustment }) =>
      (builtFrom?.days === days.name && builtFrom.period === period) ||
      (adjustment?.days?.entity === days.name && adjustment.days.period === period),
  );
  if (found) return found;
  throw invalidSql(
    sql,
    `there are no bars of ${quote(period)} of ${days.name}`,
    call.place,
    "write bars(daily, 'week'), bars(daily, 'month'), or the same of index_daily",
  );
}
