// The parse tree of a statement, as DuckDB writes it in JSON: what is needed of it.

/** Anything in the tree: DuckDB has hundreds of kinds of nodes, and most of them only hold others. */
export interface TreeNode {
  readonly [field: string]: unknown;
}

/** Where DuckDB does not know a position. */
const NOWHERE = 2 ** 53;

const isNode = (value: unknown): value is TreeNode => typeof value === "object" && value !== null;

type Names = ReadonlySet<string>;

/**
 * All nodes below and with this one, parents first, each with the names that `WITH` gives to tables where it stands. As in
 * DuckDB, a name is known after its own query, and within it only if that is recursive.
 */
export function* nodesOf(value: unknown, names: Names = new Set()): Generator<readonly [TreeNode, Names]> {
  if (Array.isArray(value)) for (const item of value) yield* nodesOf(item, names);
  if (Array.isArray(value) || !isNode(value)) return;
  yield [value, names];
  const { cte_map: common, right, ...others } = value;
  let known = names;
  for (const entry of nodesIn(isNode(common) ? common : {}, "map")) {
    yield* nodesOf(entry["value"], known);
    known = new Set([...known, textIn(entry, "key").toLowerCase()]);
  }
  yield* nodesOf(Object.values(others), known);
  const isRecursive = value["type"] === "RECURSIVE_CTE_NODE";
  yield* nodesOf(right, isRecursive ? new Set([...known, textIn(value, "cte_name").toLowerCase()]) : known);
}

export const textIn = (node: TreeNode, field: string): string => {
  const value = node[field];
  return typeof value === "string" ? value : "";
};

export const nodesIn = (node: TreeNode, field: string): readonly TreeNode[] => {
  const value = node[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
};

export const nodeIn = (node: TreeNode, field: string): TreeNode | null => {
  const value = node[field];
  return isNode(value) && !Array.isArray(value) ? value : null;
};

/** The byte at which a node begins in the text; null where DuckDB does not say. */
export function placeOf(node: TreeNode): number | null {
  const place = node["query_location"];
  return typeof place === "number" && place < NOWHERE ? place : null;
}

/** The value of a constant that is text or a number, or null. A constant that is cast counts, such as a date. */
export function constantOf(node: TreeNode): string | null {
  if (node["class"] === "CAST") {
    const child = nodeIn(node, "child");
    return child && constantOf(child);
  }
  const value = node["class"] === "CONSTANT" ? nodeIn(node, "value") : null;
  const found = value?.["value"];
  return typeof found === "string" || typeof found === "number" || typeof found === "boolean" ? String(found) : null;
}

/** The name of a parameter such as `$day`; null for any other node. */
export const parameterOf = (node: TreeNode): string | null =>
  node["class"] === "PARAMETER" ? textIn(node, "identifier") : null;

/** A name that stands alone, such as that of an entity; null for any other node. */
export function nameOf(node: TreeNode): string | null {
  const names = node["class"] === "COLUMN_REF" ? node["column_names"] : null;
  return Array.isArray(names) && names.length === 1 && typeof names[0] === "string" ? names[0] : null;
}
