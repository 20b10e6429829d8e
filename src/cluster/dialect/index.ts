// Decides whether a statement of DuckDB gives the same answer on a cluster, and writes it in Spark's SQL.
import type { Literal } from "../protocol.js";
import type { ClusterTable } from "../views.js";
import { asDouble } from "./expressions.js";
import { typeOf, type OutputColumn } from "./from.js";
import { query, type Statement } from "./select.js";
import { nodeOf, nodesOf, quoted, refuse, textOf, type Node } from "./tree.js";
import { value, type Type } from "./values.js";

export { NotOnClusterError, type Node } from "./tree.js";

export type Parameter = string | number | boolean;

export interface SparkStatement {
  readonly sql: string;
  /** The values that the SQL names: texts of the statement, and its parameters. */
  readonly args: Readonly<Record<string, Literal>>;
  readonly columns: readonly OutputColumn[];
}

/** The types of a result, and what DuckDB calls them. A HUGEINT comes as a decimal number of 38 digits. */
export const RESULT_TYPES: Partial<Record<Type, string>> = {
  text: "VARCHAR",
  date: "DATE",
  float64: "DOUBLE",
  int64: "BIGINT",
  int128: "HUGEINT",
  boolean: "BOOLEAN",
};

/**
 * A statement, as the parsed JSON of DuckDB's `json_serialize_sql`, in Spark's SQL. Throws NotOnClusterError with the reason if
 * it is not known to give the same there.
 */
export function toSpark(
  tree: Node,
  tables: readonly Pick<ClusterTable, "name" | "columns">[],
  parameters: Readonly<Record<string, Parameter>>,
): SparkStatement {
  const statements = nodesOf(tree, "statements");
  if (tree["error"] === true || statements.length !== 1) refuse(tree, "anything but one SELECT");
  const args: Record<string, Literal> = {};
  const texts = new Map<string, string>();
  let names = 0;
  const bind = (text: string): string => {
    const known = texts.get(text) ?? `text_${texts.size + 1}`;
    texts.set(text, known);
    args[known] = { string: text };
    return `:${known}`;
  };
  const statement: Statement = {
    bind,
    newName: () => `subquery ${++names}`,
    parameter(node, name) {
      const given = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
      if (typeof given === "string") return { ...value("text", bind(given)), literal: given };
      if (typeof given === "boolean") return value("boolean", String(given));
      if (given === undefined || !Number.isFinite(given)) return refuse(node, `$${quoted(name)} without a value`);
      return Number.isSafeInteger(given) ? value("int64", `${given}L`) : value("float64", asDouble(given));
    },
  };
  const relations = new Map(
    tables.map(({ name, columns }) => {
      const typed = columns.map((column) => ({ name: column.name, type: typeOf(column) }));
      return [name.toLowerCase(), { name, columns: typed }];
    }),
  );
  const root = nodeOf(statements[0]!, "node");
  const { sql, columns } = query(statement, relations, root);
  columns.forEach(({ name, type }, i) => {
    if (RESULT_TYPES[type] === undefined)
      refuse(root, `a result column of this type (${quoted(name)})`, "convert it with CAST");
    if (columns.findIndex((each) => each.name.toLowerCase() === name.toLowerCase()) !== i) {
      refuse(root, `a result with two columns ${quoted(name)}`, "name them with AS");
    }
  });
  const unnamed = nodesOf(root, "select_list").find(
    (each) => each["class"] !== "STAR" && each["class"] !== "COLUMN_REF" && textOf(each, "alias") === "",
  );
  if (unnamed !== undefined) refuse(unnamed, "a result column without a name", "name it with AS");
  return { sql, args, columns };
}
