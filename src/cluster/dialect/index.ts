// Decides whether a statement of DuckDB gives the same answer on a cluster, and writes it in Spark's SQL.
import type { ColumnType } from "../../catalog/types.js";
import type { Literal } from "../protocol.js";
import type { ClusterTable } from "../views.js";
import { asDouble } from "./expressions.js";
import { typeOf, type OutputColumn } from "./from.js";
import { query, type Statement } from "./select.js";
import { nodeOf, nodesIn, quoted, refuse, type Node } from "./tree.js";
import { dateLiteral, value, type Type } from "./values.js";

export { NotOnClusterError, type Node } from "./tree.js";

/** A value of a parameter; `date`: `YYYY-MM-DD`, where DuckDB takes the parameter for a date. */
export type Parameter = string | number | boolean | { readonly date: string };

export interface SparkStatement {
  readonly sql: string;
  /** The values that the SQL names: texts of the statement, and its parameters. */
  readonly args: Readonly<Record<string, Literal>>;
  /** By position: DuckDB knows what they are called. */
  readonly columns: readonly OutputColumn[];
}

/** The types of a result as types of the API. A sum of whole numbers comes as a decimal number of 38 digits. */
export const RESULT_TYPES: Partial<Record<Type, ColumnType>> = {
  text: "text",
  date: "date",
  float64: "float64",
  int64: "int64",
  int128: "int64",
  boolean: "int64",
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
  const statements = nodesIn(tree, "statements");
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
      if (typeof given === "object") return value("date", dateLiteral(node, given.date));
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
  return { sql, args, columns };
}
