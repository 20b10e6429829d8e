// A statement on a cluster. It runs there only if it is known to give the same rows as here; DuckDB, which has the tables
// without their files, says what its columns are.
import type { Column } from "../catalog/types.js";
import type { Cluster } from "../cluster/cluster.js";
import {
  type Node,
  NotOnClusterError,
  type Parameter,
  RESULT_TYPES,
  type SparkStatement,
  toSpark,
} from "../cluster/dialect/index.js";
import { ClusterError, type ClusterFailure } from "../cluster/errors.js";
import { batchConverter } from "../cluster/results.js";
import type { Sandbox } from "../engine/sandbox.js";
import { Problem } from "../errors.js";
import { emptyList } from "../lake/manifest.js";
import type { SqlParameter } from "../query/sql-request.js";
import { SHIFT } from "./check.js";
import { define } from "./define.js";
import { type Engine, type ReadStatement, withProblems } from "./engines.js";
import { storedColumns, tablesOf } from "./files.js";
import { invalidSql, notAllowed, problemOf as duckdbProblemOf } from "./problems.js";

/** The cluster cannot answer, and nothing of the result was read. The message is for the operator. */
export class DeclinedError extends Error {
  constructor(
    readonly problem: Problem,
    reason: string,
  ) {
    super(reason);
    this.name = "DeclinedError";
  }
}

/** `target` is a host with its port; null if there is no cluster. The client of a cluster is loaded by the first statement. */
export function clusterEngine(sandbox: Sandbox, target: string | null): Engine {
  let opened: Promise<Cluster> | undefined;
  const open = (): Promise<Cluster> =>
    (opened ??= import("../cluster/cluster.js").then(({ openCluster }) => openCluster(target!)));

  return {
    async run(statement, files, { limit, deadline }, signal) {
      const { sql } = statement.asked;
      try {
        const { spark, columns } = await translated(sandbox, statement);
        const left = new AbortController();
        const query = {
          ...spark,
          tables: tablesOf(statement.uses.tables, files),
          limit: limit === null ? null : limit + 1,
        };
        const within = { deadline, signal: AbortSignal.any([signal, left.signal]) };
        const { batches } = await (await open()).run(query, within);
        const convert = batchConverter(columns);
        const close = async (): Promise<void> => left.abort(new Error("the result was left"));
        return withProblems({ columns, batches: () => map(batches, convert), close }, (error) => problemOf(sql, error));
      } catch (error) {
        const problem = problemOf(sql, error);
        const isDeclined = problem !== null && (error instanceof ClusterError || error instanceof NotOnClusterError);
        if (isDeclined && problem.code !== "deadline_exceeded")
          throw new DeclinedError(problem, (error as Error).message);
        throw problem ?? error;
      }
    },
  };
}

async function* map<T>(items: AsyncIterable<T>, convert: (item: T) => T): AsyncGenerator<T, void, undefined> {
  for await (const item of items) yield convert(item);
}

interface Translated {
  readonly spark: SparkStatement;
  readonly columns: readonly Column[];
}

/** Throws NotOnClusterError, and what DuckDB reports of a statement that is wrong. */
async function translated(sandbox: Sandbox, { asked, uses, tree }: ReadStatement): Promise<Translated> {
  const { sql, parameters } = asked;
  const [call] = uses.calls;
  if (call !== undefined) throw new NotOnClusterError(`${call.name} cannot run on the cluster`, call.place);
  if (uses.shifts) throw new NotOnClusterError(`${SHIFT} cannot run on the cluster`, null);
  const defined = define(sql, uses, parameters, NO_FILES);
  const { columns, dates } = await sandbox.describe({ ...defined, parameters });
  const tables = [...uses.tables].map((name) => ({ name, columns: storedColumns(name) }));
  const spark = toSpark(tree as Node, tables, { ...scalars(parameters), ...dated(dates) });
  const other = columns.findIndex(({ type }, i) => RESULT_TYPES[spark.columns[i]!.type] !== type);
  if (other >= 0)
    throw new NotOnClusterError(`the type of the column ${columns[other]!.name} cannot run on the cluster`, null);
  return { spark, columns };
}

const NO_FILES = { listOf: emptyList, pathOf: ({ path }: { readonly path: string }) => path };

/** Lists and missing values are none of the parameters that a cluster knows. */
const scalars = (parameters: Readonly<Record<string, SqlParameter>>): Readonly<Record<string, Parameter>> =>
  Object.fromEntries(
    Object.entries(parameters).filter((one): one is [string, string | number | boolean] => typeof one[1] !== "object"),
  );

const dated = (dates: Readonly<Record<string, string>>): Readonly<Record<string, Parameter>> =>
  Object.fromEntries(Object.entries(dates).map(([name, date]) => [name, { date }]));

const HERE = "engine=local runs the statement on this server";

/** What an error means to the author of a statement; null if it says nothing of it. */
function problemOf(sql: string, error: unknown): Problem | null {
  if (error instanceof NotOnClusterError) return notAllowed(sql, error.message, error.position, HERE);
  if (error instanceof ClusterError) return FAILURES[error.failure](sql, error);
  return duckdbProblemOf(sql, error);
}

/** Which server a cluster is, and why it is away, is not for users. */
const away = (detail: string) => (): Problem =>
  new Problem("cluster_unavailable", detail, { parameter: "engine", hint: HERE, retryAfter: 5 });

const FAILURES: Readonly<Record<ClusterFailure, (sql: string, error: ClusterError) => Problem>> = {
  failed: (sql, { message }) => invalidSql(sql, message, null, `DuckDB may accept the statement: ${HERE}`),
  deadline: () =>
    new Problem("deadline_exceeded", "the cluster took too long", { hint: "read fewer columns, days or codes" }),
  unavailable: away("the cluster cannot be reached, or lost a worker or a connection"),
  broken: away("the cluster could not run the statement"),
  incomplete: away("the cluster returned an incomplete result"),
};
