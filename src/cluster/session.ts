// A session on a cluster: settings and views of its own, one statement at a time. Another query gets another session, so
// that no view of one version of the lake is seen by a query over another one.
import type { Client, ClientReadableStream } from "@grpc/grpc-js";
import { randomUUID } from "node:crypto";
import { finished } from "node:stream/promises";
import { call, execute, type CallLimits, type ExecutePlanResponse, type Literal } from "./protocol.js";
import { viewOf, type ClusterTable } from "./views.js";

export interface Session {
  createView(table: ClusterTable): Promise<void>;
  query(sql: string, args: Readonly<Record<string, Literal>>): ClientReadableStream<ExecutePlanResponse>;
  /** Ends the session, and before it what still runs in it. Never fails: the cluster forgets idle sessions itself. */
  end(interrupt: boolean): Promise<void>;
}

/** Errors instead of overflows and of text that is no number, and days that do not depend on a place. */
const SETTINGS = { "spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC" };

/** The first answer of a cluster must come within this time, in milliseconds. */
const FIRST_ANSWER = 30_000;
const ENDING = 10_000;

/** Opens a session whose calls keep to the limits. */
export async function openSession(client: Client, limits: CallLimits): Promise<Session> {
  const user = "tapehouse";
  const common = { sessionId: randomUUID(), userContext: { userId: user, userName: user }, clientType: user };
  const pairs = Object.entries(SETTINGS).map(([key, value]) => ({ key, value }));
  const deadline = Math.min(limits.deadline, Date.now() + FIRST_ANSWER);
  await call(client, "config", { ...common, operation: { set: { pairs } } }, { ...limits, deadline });

  const run = (plan: object) => execute(client, { ...common, operationId: randomUUID(), plan }, limits);

  return {
    async createView(table) {
      const view = { name: table.name, replace: true, isGlobal: false, input: viewOf(table) };
      const responses = run({ command: { createDataframeView: view } });
      await finished(responses.resume());
    },
    query(sql, args) {
      const namedArguments = Object.fromEntries(Object.entries(args).map(([name, literal]) => [name, { literal }]));
      return run({ root: { common: { planId: 1 }, sql: { query: sql, namedArguments } } });
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
