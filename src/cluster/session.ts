// A session on a cluster: settings and views of its own, one statement at a time. Another query gets another session, so
// that no view of one version of the lake is seen by a query over another one.
import { status, type Client, type ClientReadableStream, type ServiceError } from "@grpc/grpc-js";
import { randomUUID } from "node:crypto";
import { finished } from "node:stream/promises";
import { ClusterError } from "./errors.js";
import { call, execute, type CallLimits, type ExecutePlanResponse, type Literal } from "./protocol.js";
import { viewOf, type ClusterTable } from "./views.js";

export interface Session {
  createView(table: ClusterTable): Promise<void>;
  /** `limit`: the first rows of the result alone; null for all. */
  query(
    sql: string,
    args: Readonly<Record<string, Literal>>,
    limit: number | null,
  ): ClientReadableStream<ExecutePlanResponse>;
  /** Ends the session, and before it what still runs in it. Never fails: the cluster forgets idle sessions itself. */
  end(interrupt: boolean): Promise<void>;
}

/** Errors instead of overflows and of text that is no number, and days that do not depend on a place. */
const SETTINGS = { "spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC" };

const ENDING = 10_000;

/** Opens a session whose calls keep to the limits. Throws ClusterError if the cluster does not answer by a time. */
export async function openSession(client: Client, limits: CallLimits, answersBy: number): Promise<Session> {
  const user = "tapehouse";
  const common = { sessionId: randomUUID(), userContext: { userId: user, userName: user }, clientType: user };
  const pairs = Object.entries(SETTINGS).map(([key, value]) => ({ key, value }));
  const setting = call(
    client,
    "config",
    { ...common, operation: { set: { pairs } } },
    { ...limits, deadline: answersBy },
  );
  await setting.catch((error: unknown) => {
    const isSilent = (error as Partial<ServiceError>).code === status.DEADLINE_EXCEEDED && answersBy < limits.deadline;
    throw isSilent ? new ClusterError("unavailable", "the cluster does not answer; check that it runs") : error;
  });

  const run = (plan: object) => execute(client, { ...common, operationId: randomUUID(), plan }, limits);

  return {
    async createView(table) {
      const view = { name: table.name, replace: true, isGlobal: false, input: viewOf(table) };
      const responses = run({ command: { createDataframeView: view } });
      await finished(responses.resume());
    },
    query(sql, args, limit) {
      const namedArguments = Object.fromEntries(Object.entries(args).map(([name, literal]) => [name, { literal }]));
      const rows = { common: { planId: 1 }, sql: { query: sql, namedArguments } };
      return run({ root: limit === null ? rows : { common: { planId: 2 }, limit: { input: rows, limit } } });
    },
    async end(interrupt) {
      const within = () => ({ deadline: Date.now() + ENDING });
      const ignore = () => undefined;
      if (interrupt) {
        const all = { ...common, interruptType: "INTERRUPT_TYPE_ALL" };
        await call(client, "interrupt", all, within()).catch(ignore);
      }
      await call(client, "releaseSession", common, within()).catch(ignore);
    },
  };
}
