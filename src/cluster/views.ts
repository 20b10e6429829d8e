// A table as a relation over explicit Parquet files: which files those are decides which version of the lake is read.
import type { Column, ColumnType } from "../catalog/types.js";
import { count, plural } from "../words.js";
import { ClusterError } from "./errors.js";

export interface ClusterTable {
  readonly name: string;
  readonly columns: readonly Pick<Column, "name" | "type">[];
  /** Absolute paths that every worker of the cluster can read, or URLs such as `s3://bucket/key`. */
  readonly files: readonly string[];
  /** The rows of all files. */
  readonly rows: number;
}

const TYPES = {
  code: "STRING",
  text: "STRING",
  date: "DATE",
  float64: "DOUBLE",
  int64: "BIGINT",
} as const satisfies Record<ColumnType, string>;

/** A name as an identifier of Spark. */
export const quoteForSpark = (name: string): string => `\`${name.replaceAll("`", "``")}\``;

export function viewOf({ columns, files }: ClusterTable) {
  const fields = columns.map(({ name, type }) => ({ name: quoteForSpark(name), type: TYPES[type] }));
  const common = { planId: 1 };
  if (files.length === 0) {
    const nothing = fields.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${name}`).join(", ");
    return { common, sql: { query: `SELECT ${nothing} WHERE false` } };
  }
  const schema = fields.map(({ name, type }) => `${name} ${type}`).join(", ");
  return { common, read: { dataSource: { format: "parquet", schema, paths: files.map(urlOf) } } };
}

/** Clusters take some characters of a path for a pattern. */
function urlOf(path: string): string {
  if (/[*?[\]{}\\%]/.test(path)) {
    throw new ClusterError(
      "failed",
      "a folder above the data files has a name with one of * ? [ ] { } \\ %: rename it",
    );
  }
  return path.startsWith("/") ? `file://${path}` : path;
}

/** SQL that counts the rows of tables: a cluster may take a file that it does not see for an empty one. */
export const countsOf = (tables: readonly ClusterTable[]): string =>
  tables.map(({ name }, i) => `SELECT ${i}L AS t, count(1) AS n FROM ${quoteForSpark(name)}`).join(" UNION ALL ");

/** Throws if not all rows of a table were counted. `counted` are rows of a table's position and count. */
export function expectWhole(tables: readonly ClusterTable[], counted: readonly (readonly [bigint, bigint])[]): void {
  tables.forEach(({ name, rows }, i) => {
    const found = counted.find(([table]) => table === BigInt(i))?.[1] ?? 0n;
    if (found === BigInt(rows)) return;
    const message = `the cluster sees ${count(Number(found))} of ${plural(rows, "row")} of ${name}`;
    throw new ClusterError("incomplete", `${message}: check that all of its workers can read the data files`);
  });
}
