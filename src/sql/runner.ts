// The process that runs statements of users, one at a time: whatever a statement does, it harms no process that serves rows.
import { openSandbox, type Sandbox } from "../engine/sandbox.js";
import { Problem } from "../errors.js";
import { lowerPriority } from "../machine.js";
import { bytesOf } from "../setting-values.js";
import { answerStatement, readStatement, type SqlAnswer } from "./answer.js";
import { clusterEngine, DeclinedError } from "./cluster-engine.js";
import { duckdbEngine, type Engine, type ReadStatement } from "./engines.js";
import type { Order, Reply, SentProblem, Side } from "./messages.js";

/** Rows are served first. */
const NICE = 10;

/** What DuckDB does not count, such as long texts, may take this many bytes in addition to its limit. */
const SPARE = 400e6;
const LOOK_EVERY = 50;

/** Ends this process if it takes too much memory, as long as it can still be ended: then no other process is in danger. */
function watchMemory(most: number): void {
  setInterval(() => {
    if (process.memoryUsage.rss() > most) process.kill(process.pid, "SIGKILL");
  }, LOOK_EVERY).unref();
}

let sandbox: Promise<Sandbox> | null = null;
let engines: Readonly<Record<Side, Engine>> | null = null;
let statement: ReadStatement | null = null;
let answer: SqlAnswer | null = null;
let pieces: AsyncGenerator<Uint8Array, undefined> | null = null;
let stopping = new AbortController();
/** Orders are followed one after another. */
let last: Promise<unknown> = Promise.resolve();

const send = (reply: Reply): void => void process.send!(reply, undefined, {}, () => undefined);

const followed: { readonly [Name in Order["order"]]: (order: Extract<Order, { order: Name }>) => Promise<Reply> } = {
  async begin({ options }) {
    watchMemory(bytesOf(options.memory) + SPARE);
    sandbox = openSandbox(options);
    await (await sandbox).functions();
    engines = { local: duckdbEngine(await sandbox), cluster: clusterEngine(await sandbox, options.cluster) };
    // The start has the usual priority: a request waits for it.
    lowerPriority(NICE);
    return { reply: "ready" };
  },
  async read({ asked }) {
    statement = await readStatement(await sandbox!, asked);
    return { reply: "read", entities: statement.entities };
  },
  async run({ side, files, answering }) {
    answer = await answerStatement(engines![side], statement!, files, answering, stopping.signal);
    pieces = answer.pieces();
    return { reply: "begun", truncated: answer.truncated };
  },
  async more() {
    const { value } = await pieces!.next();
    const rows = answer!.rows();
    if (value !== undefined) return { reply: "piece", bytes: value, rows };
    await end();
    return { reply: "end", rows };
  },
  async stop() {
    await end();
    stopping = new AbortController();
    return { reply: "stopped" };
  },
};

async function end(): Promise<void> {
  const [body, ended] = [pieces, answer];
  [pieces, answer, statement] = [null, null, null];
  await body?.return(undefined);
  await ended?.close();
}

const sent = ({ code, detail, extras }: Problem): SentProblem => ({ code, detail, extras });

function replyOf(error: unknown): Reply {
  if (error instanceof DeclinedError) return { reply: "declined", problem: sent(error.problem), reason: error.message };
  if (error instanceof Problem) return { reply: "problem", problem: sent(error) };
  return { reply: "failed", message: error instanceof Error ? error.message : String(error) };
}

process.on("message", (order: Order) => {
  // What runs now ends, and then the order is followed.
  if (order.order === "stop") stopping.abort(new Error("the statement was stopped"));
  const done = last
    .then(() => followed[order.order](order as never))
    .catch(async (error: unknown) => {
      // What the cluster declines may still run here.
      if (!(error instanceof DeclinedError)) await end();
      throw error;
    });
  last = done.catch(() => undefined);
  done.then(send, (error: unknown) => send(replyOf(error)));
});
// A statement may still run, so a normal exit could take minutes.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
