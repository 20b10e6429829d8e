// The processes that run statements of users, as a server sees them, one statement each at a time. The first statement
// starts the first one; from then on one is always there.
import { type ChildProcess, spawn } from "node:child_process";
import { createAdmission, type Load } from "../engine/admission.js";
import { Problem } from "../errors.js";
import type { Answering, Asked, Files, Order, Reply, RunnerOptions, SentProblem, Side } from "./messages.js";

interface Begun {
  /** Whether rows are left out; null if that is not known yet. */
  readonly truncated: boolean | null;
}

/** Why a cluster cannot answer: for users, and for the log. The statement may be run again on the other side. */
export interface Declined {
  readonly problem: Problem;
  readonly reason: string;
}

/** One statement at a time, in a process of its own. */
interface SqlSession {
  /** Reads and checks a statement; resolves to the names of the entities that it reads. Rejects with its problem. */
  read(asked: Asked): Promise<readonly string[]>;
  /** Runs it; resolves when its first rows are there. */
  run(side: Side, files: Files, answering: Answering): Promise<Begun | Declined>;
  /** The body. `onRows` is called with the number of rows so far. */
  pieces(onRows: (rows: number) => void): AsyncGenerator<Uint8Array>;
  close(): void;
}

export interface SqlPool {
  /** Waits for a process. Rejects with `overloaded` if too many statements wait already. */
  open(signal: AbortSignal): Promise<SqlSession>;
  load(): Load;
  close(): Promise<void>;
}

interface PoolOptions extends RunnerOptions {
  readonly processes: number;
  readonly queue: number;
  /** The program of a process; by default the one beside this one. */
  readonly entry?: URL | undefined;
}

const ENTRY = new URL("../sql/runner.js", import.meta.url);

/** Variables that may hold secrets, which such a process does not need. */
const SECRET = /^(TAPEHOUSE|AWS)_/;

/** Milliseconds that a process has to end a statement before it is killed. */
const STOP_WITHIN = 2_000;
/** Milliseconds after which a process without work ends, if it is not the only one. */
const IDLE = 60_000;

const full = (): Problem => new Problem("overloaded", "too many statements are waiting", { retryAfter: 5 });

export function openSqlPool({ processes, queue, entry = ENTRY, ...options }: PoolOptions): SqlPool {
  const admission = createAdmission(processes, queue, full);
  /** Those without work and the timers that end them, the last one used at the end. */
  const idle = new Map<Runner, NodeJS.Timeout>();
  const living = new Set<Runner>();
  let isClosed = false;

  const start = (): Runner => {
    const runner = startRunner(entry, options);
    living.add(runner);
    void runner.ended.then((wasReady) => {
      living.delete(runner);
      wake(runner);
      // One that could not start would end again.
      if (wasReady && !isClosed && living.size === 0) rest(start());
    });
    return runner;
  };
  const wake = (runner: Runner): void => {
    clearTimeout(idle.get(runner));
    idle.delete(runner);
  };
  const rest = (runner: Runner): void => {
    const endUnlessAlone = (): void => {
      if (idle.size === 1) return;
      wake(runner);
      runner.kill();
    };
    idle.set(runner, setTimeout(endUnlessAlone, IDLE).unref());
  };
  const take = (): Runner => {
    const runner = [...idle.keys()].at(-1) ?? start();
    wake(runner);
    return runner;
  };

  return {
    async open(signal) {
      if (processes === 0)
        throw new Problem("unknown_route", "this server runs no SQL", {
          hint: "its operator allows it with --sql-processes",
        });
      const release = await admission.admit(signal, "light");
      const runner = take();
      const onAbort = (): void => runner.interrupt();
      signal.addEventListener("abort", onAbort, { once: true });
      let isRunning = false;
      const ask = async (order: Order): Promise<Reply> => {
        signal.throwIfAborted();
        isRunning ||= order.order === "run";
        try {
          const reply = await runner.ask(order);
          if (reply.reply === "end") isRunning = false;
          return reply;
        } catch (error) {
          isRunning = false;
          signal.throwIfAborted();
          throw error;
        }
      };
      return {
        async read(asked) {
          const found = await ask({ order: "read", asked });
          return found.reply === "read" ? found.entities : [];
        },
        async run(side, files, answering) {
          const found = await ask({ order: "run", side, files, answering });
          if (found.reply === "declined") return { problem: received(found.problem), reason: found.reason };
          return { truncated: found.reply === "begun" ? found.truncated : null };
        },
        async *pieces(onRows) {
          for (let next = ask({ order: "more" }); ;) {
            const piece = await next;
            if (piece.reply === "end") onRows(piece.rows);
            if (piece.reply !== "piece") return;
            // The next one is made while this one is sent.
            next = ask({ order: "more" });
            next.catch(() => undefined); // errors are thrown at the await
            onRows(piece.rows);
            yield piece.bytes;
          }
        },
        close() {
          signal.removeEventListener("abort", onAbort);
          void runner.settle(isRunning).then((isUsable) => {
            if (isUsable) rest(runner);
            release();
          });
        },
      };
    },
    load: () => admission.load(),
    async close() {
      isClosed = true;
      for (const runner of living) runner.kill();
      await Promise.all([...living].map(({ ended }) => ended));
    },
  };
}

interface Runner {
  /** Rejects with the problem that the process reports, or because it failed or is gone. */
  ask(order: Order): Promise<Reply>;
  /** Ends the statement that runs. */
  interrupt(): void;
  /** Ends the statement if it still runs, or is being ended; resolves to whether the process can run another one. */
  settle(isRunning: boolean): Promise<boolean>;
  kill(): void;
  /** Resolves to whether it had been ready for statements. */
  readonly ended: Promise<boolean>;
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

function startRunner(entry: URL, options: RunnerOptions): Runner {
  const child = spawn(process.execPath, [entry.pathname], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
    // Results must not depend on where a server is.
    env: { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !SECRET.test(name))), TZ: "UTC" },
  });
  const waiting: Waiting[] = [];
  let [alive, wasReady] = [true, false];
  const kill = (): void => void child.kill("SIGKILL");
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  }).then(() => {
    alive = false;
    for (const { reject } of waiting.splice(0)) reject(gone());
    return wasReady;
  });
  child.on("message", (reply: Reply) => {
    const next = waiting.shift();
    if (reply.reply === "problem") next?.reject(received(reply.problem));
    else if (reply.reply === "failed") {
      // It may be of no more use: after some errors DuckDB refuses every statement. One that was stopped ends as it should.
      if (stopped === null) kill();
      next?.reject(failure(reply.message));
    } else next?.resolve(reply);
  });
  const ask = (order: Order): Promise<Reply> =>
    new Promise((resolve, reject) => {
      if (!alive) {
        reject(gone());
        return;
      }
      waiting.push({ resolve, reject });
      send(child, order);
    });
  const begun = ask({ order: "begin", options });
  begun.then(
    () => (wasReady = true),
    () => undefined, // errors are thrown at the await
  );
  let stopped: Promise<boolean> | null = null;
  const stop = (): Promise<boolean> => {
    const killing = setTimeout(kill, STOP_WITHIN);
    return ask({ order: "stop" })
      .then(
        () => true,
        () => false,
      )
      .finally(() => clearTimeout(killing));
  };
  return {
    ended,
    kill,
    async ask(order) {
      await begun;
      return ask(order);
    },
    interrupt() {
      stopped ??= stop();
    },
    async settle(isRunning) {
      // Without a turn of the event loop, so that the next request finds the process.
      const isUsable = stopped === null && !isRunning ? alive : await (stopped ?? stop());
      stopped = null;
      return isUsable;
    },
  };
}

/** What DuckDB says in its first line; where our code was then says nothing. */
function failure(message: string): Error {
  const error = new Error(message.split("\n")[0]);
  error.stack = error.message;
  return error;
}

const received = ({ code, detail, extras }: SentProblem): Problem => new Problem(code, detail, extras);

/** Errors are ignored: `ended` tells that the process is gone. */
const send = (child: ChildProcess, order: Order): void => void child.send(order, undefined, {}, () => undefined);

const gone = (): Problem =>
  new Problem("out_of_room", "the process that ran the statement ended, probably for lack of memory", {
    parameter: "sql",
    hint: "read fewer columns, days or codes, or aggregate before you join",
    retryAfter: 5,
  });
