// What a statement of a user may contain, decided by its parse tree: one SELECT over entities, and functions whose result
// depends on their arguments alone. Everything that is not known to be harmless is refused.
import { ENTITY_NAMES, entityNamed } from "../catalog/index.js";
import { nearest } from "../errors.js";
import { quote } from "../query/parameters.js";
import { type Call, callOf, TABLE_FUNCTIONS } from "./calls.js";
import { nodeIn, nodesIn, nodesOf, parameterOf, placeOf, textIn, type TreeNode } from "../sql-tree.js";
import { invalidSql, notAllowed, sqlProblem } from "./problems.js";

/** Names of functions, each with whether its result depends on its arguments alone. */
type Functions = ReadonlyMap<string, boolean>;

/** What a statement uses. */
export interface Uses {
  /** Entities that it reads as tables. */
  readonly tables: ReadonlySet<string>;
  readonly calls: readonly Call[];
  /** Whether it uses `shift_days`. */
  readonly shifts: boolean;
  readonly parameters: ReadonlySet<string>;
}

/** Parts of a query, of FROM, and of what follows it. */
const KINDS: ReadonlySet<string> = new Set([
  ...["SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE"],
  ...["BASE_TABLE", "TABLE_FUNCTION", "JOIN", "SUBQUERY", "EMPTY", "EXPRESSION_LIST", "PIVOT", "CTE"],
  ...["ORDER_MODIFIER", "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER", "DISTINCT_MODIFIER"],
  ...["ORDER_DEFAULT", "ASCENDING", "DESCENDING"],
]);

/** Details of a type, such as the digits of a DECIMAL. */
const TYPE = /_TYPE_INFO$/;

const EXPRESSIONS: ReadonlySet<string> = new Set([
  ...["CONSTANT", "COLUMN_REF", "FUNCTION", "WINDOW", "CAST", "COMPARISON", "CONJUNCTION", "OPERATOR", "CASE", "STAR"],
  ...["SUBQUERY", "PARAMETER", "LAMBDA", "LAMBDA_REF", "POSITIONAL_REFERENCE", "BETWEEN", "COLLATE", "TYPE"],
]);

/** Functions that depend on their arguments as DuckDB says, but tell of the server or run other SQL. */
const REFUSED =
  /^(current_|session_|pg_|has_|inet_|json_(de)?serialize|json_execute|query|getenv|getvariable|version|user$|user_agent|parse_duckdb|duckdb_|pragma_|icu_|format_pg|col_description|obj_description|shobj_description|txid_|in_search_path|which_secret|from_substrait|get_|enum_|age$|reservoir_quantile$|vector_type$)/;

/** Names that DuckDB takes for functions of the session where no column has them. */
const SESSION: ReadonlySet<string> = new Set([
  ...["current_catalog", "current_date", "current_schema", "current_role", "current_time", "current_timestamp"],
  ...["current_user", "localtime", "localtimestamp", "session_user", "user"],
]);

/** The scalar function that `define.ts` defines. */
export const SHIFT = "shift_days";

const SAME_EVERY_TIME = "a statement gives the same rows whenever it runs over the same version";

/** Checks a tree as DuckDB writes it. `functions` are those of DuckDB. */
export function check(sql: string, tree: unknown, functions: Functions): Uses {
  const statement = onlyStatement(sql, tree as TreeNode);
  const tables = new Set<string>();
  const calls: Call[] = [];
  const parameters = new Set<string>();
  const ofTables = new Set<TreeNode>();
  let shifts = false;
  for (const [node, common] of nodesOf(statement)) {
    requireKnown(sql, node);
    const [kind, expression] = [textIn(node, "type"), textIn(node, "class")];
    if (kind === "BASE_TABLE") tables.add(tableOf(sql, node, common));
    else if (kind === "TABLE_FUNCTION") {
      const called = nodeIn(node, "function") ?? {};
      ofTables.add(called);
      const call = callOf(sql, called);
      if (call !== null) calls.push(call);
    } else if ((expression === "FUNCTION" || expression === "WINDOW") && !ofTables.has(node)) {
      const name = textIn(node, "function_name").toLowerCase();
      if (name === SHIFT) shifts = true;
      else if (name !== "unnest") requireFunction(sql, node, name, functions);
    } else if (expression === "COLUMN_REF") refuseSession(sql, node);
    const parameter = parameterOf(node);
    if (parameter !== null) parameters.add(parameter);
  }
  tables.delete("");
  return { tables, calls, shifts, parameters };
}

function onlyStatement(sql: string, tree: TreeNode): TreeNode {
  if (tree["error"] === true) {
    if (tree["error_type"] === "not implemented" && textIn(tree, "error_message").startsWith("Only SELECT")) {
      const hint = /\bpivot\b/i.test(sql)
        ? "PIVOT has to name its columns: FROM (PIVOT daily ON ts_code IN ('000001.SZ', '600519.SH') USING sum(vol) GROUP BY trade_date)"
        : "write SELECT … FROM …, with WITH before it if you like";
      throw notAllowed(sql, "only SELECT is supported", null, hint);
    }
    const place = tree["position"] === undefined ? null : Number(tree["position"]);
    throw invalidSql(sql, textIn(tree, "error_message"), place);
  }
  const [first, second] = nodesIn(tree, "statements");
  if (first === undefined) throw invalidSql(sql, "there is no statement", null);
  if (second !== undefined) throw notAllowed(sql, "there are several statements", null, "send one at a time");
  return first;
}

function requireKnown(sql: string, node: TreeNode): void {
  const [kind, expression] = [textIn(node, "type"), textIn(node, "class")];
  const isKnown = expression === "" ? kind === "" || KINDS.has(kind) || TYPE.test(kind) : EXPRESSIONS.has(expression);
  if (!isKnown && !(kind === "SHOW_REF" && node["show_type"] === "DESCRIBE")) {
    const what = (expression || kind).toLowerCase().replaceAll("_", " ");
    const hint = "DESCRIBE daily shows the columns of an entity; the entities are in /api/v1/meta";
    throw kind === "SHOW_REF"
      ? notAllowed(sql, "SHOW and SUMMARIZE are not supported", placeOf(node), hint)
      : notAllowed(sql, `${what} is not supported`, placeOf(node));
  }
  if (nodeIn(node, "sample")) throw notAllowed(sql, "a sample is not supported", placeOf(node), SAME_EVERY_TIME);
  if (nodeIn(node, "at_clause"))
    throw notAllowed(sql, "AT is not supported", placeOf(node), "choose a version with data_version");
}

/** The entity of a table; empty if the statement defines it. */
function tableOf(sql: string, node: TreeNode, common: ReadonlySet<string>): string {
  const given = textIn(node, "table_name");
  const name = given.toLowerCase();
  const isQualified = textIn(node, "schema_name") !== "" || textIn(node, "catalog_name") !== "";
  if (!isQualified && common.has(name)) return "";
  if (!isQualified && entityNamed(name)) return name;
  if (isQualified && entityNamed(name))
    throw invalidSql(sql, `${name} has no schema`, placeOf(node), `write ${name} alone`);
  const near = nearest(name, [...ENTITY_NAMES, ...common]);
  throw sqlProblem("invalid_sql", sql, `there is no table ${quote(given)}`, placeOf(node), {
    allowed: ENTITY_NAMES,
    ...(near === undefined ? {} : { hint: `did you mean ${near}?` }),
  });
}

function requireFunction(sql: string, node: TreeNode, name: string, functions: Functions): void {
  // DuckDB itself names its schema where it writes [1, 2] as a function.
  const isQualified = !["", "main"].includes(textIn(node, "schema")) || textIn(node, "catalog") !== "";
  if (!isQualified && functions.get(name) === true && !REFUSED.test(name)) return;
  if (TABLE_FUNCTIONS.includes(name)) {
    throw notAllowed(sql, `${name} gives a table`, placeOf(node), `write it after FROM: FROM ${name}(…)`);
  }
  const known = [...functions.keys(), SHIFT].filter((one) => !REFUSED.test(one));
  const near = functions.has(name) ? undefined : nearest(name, known);
  const hint = functions.has(name)
    ? `functions of time, chance and the server are left out: ${SAME_EVERY_TIME}`
    : near === undefined
      ? "functions of DuckDB are available if their result depends on their arguments alone"
      : `did you mean ${near}?`;
  throw notAllowed(sql, `the function ${quote(name)} is not available`, placeOf(node), hint);
}

function refuseSession(sql: string, node: TreeNode): void {
  const names = node["column_names"] as readonly string[];
  if (names.length > 1 || !SESSION.has(names[0]!.toLowerCase())) return;
  const hint = `${SAME_EVERY_TIME}; pass a day as a parameter, e.g. $day`;
  throw notAllowed(sql, `${names[0]!} is not available`, placeOf(node), hint);
}
