// DuckDB's parse tree as JSON, and how a part of it is refused. What is not known to mean the same on a cluster is refused.
import { placeOf, textIn, type TreeNode as Node } from "../../sql-tree.js";
import { clip, printable } from "../../words.js";

export { nodeIn, nodesIn, textIn, type TreeNode as Node } from "../../sql-tree.js";

/** The statement cannot run on a cluster with the same answer. */
export class NotOnClusterError extends Error {
  constructor(
    message: string,
    /** Where in the statement, in bytes from its beginning; null if the tree does not say. */
    readonly position: number | null,
  ) {
    super(message);
    this.name = "NotOnClusterError";
  }
}

export function refuse(node: Node, what: string, wayOut?: string): never {
  const message = `${what} cannot run on the cluster${wayOut === undefined ? "" : `: ${wayOut}`}`;
  throw new NotOnClusterError(message, placeOf(node));
}

export const quoted = (name: string): string => printable(clip(name));

/** Keys that every node may have, and what the others hold if they are not used. */
const COMMON = new Set(["class", "type", "alias", "query_location"]);
const UNUSED: readonly unknown[] = [
  "NO_OTHER",
  "STANDARD_HANDLING",
  "INVALID",
  "CTE_MATERIALIZE_DEFAULT",
  "REGULAR",
  "ORDER_MODIFIER",
];

/** Refuses a node that uses anything beyond some keys. */
export function allowOnly(node: Node, what: string, ...known: readonly string[]): void {
  for (const [key, value] of Object.entries(node)) {
    if (!COMMON.has(key) && !known.includes(key) && isUsed(value))
      refuse(node, `${what} with ${key.replaceAll("_", " ")}`);
  }
}

const isUsed = (value: unknown): boolean =>
  typeof value === "object" && value !== null
    ? Object.values(value).some(isUsed)
    : Boolean(value) && !UNUSED.includes(value);

export const nodeOf = (node: Node, key: string): Node => node[key] as Node;
export const textsIn = (node: Node, key: string): readonly string[] =>
  (node[key] as readonly string[] | undefined) ?? [];

/** The whole number of a constant, such as that of `LIMIT`. */
export function wholeNumberOf(node: Node, what: string): number {
  const value = node["class"] === "CONSTANT" ? nodeOf(node, "value")["value"] : undefined;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && isInteger(node)
    ? value
    : refuse(node, `${what} that is not a whole number`);
}

const isInteger = (node: Node): boolean => textIn(nodeOf(nodeOf(node, "value"), "type"), "id") !== "DECIMAL";

/** The entry of a table for a key that users wrote. */
export const entryOf = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
