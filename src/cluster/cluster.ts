// Runs SQL on a cluster that speaks Spark Connect, such as Apache Spark or Sail. A result is whole, or ends with an error.
import { Client, credentials, status, type ClientReadableStream, type ServiceError } from "@grpc/grpc-js";
import { RecordBatchReader, type Int64, type RecordBatch, type Schema } from "apache-arrow";
import { clusterError, ClusterError } from "./errors.js";
import type { ArrowBatch, CallLimits, ExecutePlanResponse, Literal } from "./protocol.js";
import { openSession, type Session } from "./session.js";
import { countsOf, expectWhole, type ClusterTable } from "./views.js";

/** A statement in Spark's SQL, which names its values `:name`, over tables that exist for it alone. */
export interface ClusterQuery {
  readonly sql: string;
  readonly args: Readonly<Record<string, Literal>>;
  readonly tables: readonly ClusterTable[];
  /** At most this many rows, the first ones; null for all. */
  readonly limit: number | null;
}

/** Both end a query: the deadline and the signal. */
export type QueryLimits = Required<CallLimits>;

interface ClusterResult {
  readonly schema: Schema;
  /**
   * In the order of the statement. Throws ClusterError if a part is missing. Whoever stops reading ends the query; whoever does
   * not begin to read must abort the signal.
   */
  readonly batches: AsyncIterable<RecordBatch>;
}

export interface Cluster {
  /**
   * Resolves with the first rows. Until then a query that was lost with a connection or a worker is tried once more.
   * Throws ClusterError, or the reason of the signal.
   */
  run(query: ClusterQuery, limits: QueryLimits): Promise<ClusterResult>;
  /** Ends after the sessions of all queries have ended. */
  close(): Promise<void>;
}

/** A cluster that answers nothing within this time is away, in milliseconds. */
const FIRST_ANSWER = 15_000;

/** How long a second attempt waits for a connection, in milliseconds. */
const RECONNECT = 1_000;

const OPTIONS = {
  "grpc.max_receive_message_length": 256 << 20,
  "grpc-node.flow_control_window": 8 << 20,
  // A cluster that is back is found again within a second.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
};

/** The cluster at `target`, a host with its port. It connects with the first query. */
export function openCluster(target: string): Cluster {
  const client = new Client(target, credentials.createInsecure(), OPTIONS);
  const ending = new Set<Promise<void>>();
  const end = (session: Session, interrupt: boolean) => {
    const ended = session.end(interrupt).finally(() => ending.delete(ended));
    ending.add(ended);
  };

  async function attempt({ sql, args, tables, limit }: ClusterQuery, limits: QueryLimits, answersBy: number) {
    limits.signal.throwIfAborted();
    const session = await openSession(client, limits, answersBy);
    try {
      for (const table of tables) await session.createView(table);
      if (tables.length > 0) expectWhole(tables, await collect(session.query(countsOf(tables), {}, null)));
      limits.signal.throwIfAborted();
    } catch (error) {
      end(session, true);
      throw error;
    }
    const responses = session.query(sql, args, limit);
    responses.once("status", ({ code }) => end(session, code !== status.OK));
    const parts = wholeParts(responses);
    const first = await parts.next();
    if (first.done) throw new ClusterError("incomplete", `the cluster ${target} sent no result`);
    return { first: first.value, parts };
  }

  const failureOf = (error: unknown, { signal }: QueryLimits): unknown => {
    if (signal.aborted) return signal.reason;
    return isServiceError(error) ? clusterError(error, target) : error;
  };

  /** Resolves when there is a connection again, or soon. */
  const connected = ({ deadline }: QueryLimits) =>
    new Promise<void>((resolve) => client.waitForReady(Math.min(deadline, Date.now() + RECONNECT), () => resolve()));

  return {
    async run(query, limits) {
      const failed = (error: unknown): never => {
        throw failureOf(error, limits);
      };
      const answersBy = Math.min(limits.deadline, Date.now() + FIRST_ANSWER);
      const { first, parts } = await attempt(query, limits, answersBy).catch((error: unknown) => {
        const failure = failureOf(error, limits);
        if (!(failure instanceof ClusterError) || failure.failure !== "unavailable") throw failure;
        return connected(limits).then(() => attempt(query, limits, answersBy).catch(failed));
      });
      return {
        schema: first.schema,
        batches: (async function* () {
          try {
            yield* first.batches;
            for await (const { batches } of parts) yield* batches;
          } catch (error) {
            failed(error);
          } finally {
            await parts.return();
          }
        })(),
      };
    },
    async close() {
      await Promise.all(ending);
      client.close();
    },
  };
}

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && "code" in error && "details" in error;

/** The rows of a small result of two numbers each. */
async function collect(responses: ClientReadableStream<ExecutePlanResponse>): Promise<readonly [bigint, bigint][]> {
  const rows: [bigint, bigint][] = [];
  for await (const { batches } of wholeParts(responses)) {
    for (const batch of batches) {
      const [first, second] = [batch.getChildAt<Int64>(0)!, batch.getChildAt<Int64>(1)!];
      for (let row = 0; row < batch.numRows; row++) rows.push([first.get(row)!, second.get(row)!]);
    }
  }
  return rows;
}

interface Part {
  readonly schema: Schema;
  readonly batches: readonly RecordBatch[];
  readonly rows: number;
}

/** The rows of all responses, each counted. Ends without an error only if the server has said that it sent everything. */
async function* wholeParts(responses: ClientReadableStream<ExecutePlanResponse>): AsyncGenerator<Part, void, void> {
  const final = new Promise<status>((resolve) => responses.once("status", ({ code }) => resolve(code)));
  let before = 0;
  try {
    for await (const { arrowBatch } of responses as AsyncIterable<ExecutePlanResponse>) {
      if (arrowBatch === undefined) continue;
      const part = partOf(arrowBatch, before);
      yield part;
      before += part.rows;
    }
    if ((await final) !== status.OK) throw new ClusterError("incomplete", `the result ended after ${before} rows`);
  } finally {
    responses.cancel();
  }
}

function partOf({ data, rowCount = 0, startOffset }: ArrowBatch, before: number): Part {
  const reader = RecordBatchReader.from(data).open();
  const { schema } = reader;
  const batches = [...reader];
  const rows = batches.reduce((sum, { numRows }) => sum + numRows, 0);
  if (rows !== rowCount || (startOffset ?? before) !== before) {
    const found = `${rows} of ${rowCount} rows at ${startOffset ?? before}`;
    throw new ClusterError("incomplete", `a part of the result is missing: after ${before} rows came ${found}`);
  }
  return { schema, batches, rows };
}
