// The process that watches the inbox, as the supervisor sees it: `tapehouse ingest`. It is restarted when it dies, and
// replaced when it hangs.
import { spawn, type ChildProcess } from "node:child_process";
import type { Log } from "../http/observe.js";
import type { LakeMark } from "../http/server.js";
import { ALIVE_EVERY, environmentOf } from "./messages.js";
import { LIMITS, createSilence, signsOf } from "./silence.js";
import { INGESTER_POOL } from "./tasks.js";

export interface Ingester {
  /** Lets the current drop finish, for a while. */
  stop(): Promise<void>;
  /** Ends it at once. */
  kill(): void;
}

interface IngesterOptions {
  /** The lake that was served last. */
  readonly seen: () => LakeMark | null;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** Called with whether the inbox is watched, whenever that may have changed. */
  readonly onInbox: (runs: boolean) => void;
}

/** Milliseconds to wait before a restart: longer each time until a process has responded for a minute. */
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 60_000;

/**
 * Milliseconds that a drop may take to finish when the server stops. After that the process is killed, which loses
 * nothing.
 */
const STOP_WITHIN = 8_000;

/** `args` are the arguments of the command. A process that ends with exit code 0 is not restarted. */
export function startIngester(args: readonly string[], { seen, log, onInbox }: IngesterOptions): Ingester {
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let wait = FIRST_WAIT;

  const startAgain = (how: string, responded: number): void => {
    wait = responded > LONGEST_WAIT ? FIRST_WAIT : wait;
    log.error({ how, seconds: wait / 1000 }, "the process that watches the inbox died; it is being restarted");
    timer = setTimeout(start, wait);
    wait = Math.min(LONGEST_WAIT, wait * 2);
  };

  const start = (): void => {
    const began = performance.now();
    let reportedAt = began;
    const started = spawn(process.execPath, [...process.execArgv, process.argv[1]!, "ingest", ...args], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: { ...environmentOf("ingester", seen()), UV_THREADPOOL_SIZE: String(INGESTER_POOL) },
    });
    child = started;
    const watch = watchResponses(started, { log, onInbox });
    started.on("message", () => (reportedAt = performance.now()));
    const onEnd = (how: string | null): void => {
      if (child !== started) return;
      child = undefined;
      watch.end();
      // A signal to the whole process group may end the child before the supervisor has handled it, so wait a turn.
      setImmediate(() => {
        if (stopped) return;
        onInbox(false);
        if (how === null) log.warn("the process that watches the inbox has ended; nothing is imported from it");
        else startAgain(watch.hung() ? "it did not respond" : how, reportedAt - began);
      });
    };
    started.once("error", (error) => onEnd(error.message));
    started.once("exit", (code, signal) => onEnd(code === 0 ? null : (signal ?? `exit code ${code}`)));
  };
  start();

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const running = child;
      if (!running) return;
      const ended = new Promise<void>((resolve) => running.once("exit", () => resolve()));
      running.kill("SIGTERM");
      const killing = setTimeout(() => running.kill("SIGKILL"), STOP_WITHIN);
      await ended;
      clearTimeout(killing);
    },
    kill: () => void child?.kill("SIGKILL"),
  };
}

/**
 * Reports a process that stops responding, and kills it if it does not respond for much longer. An import may wait for
 * DuckDB's threads, so their work is progress too.
 */
function watchResponses(
  child: ChildProcess,
  { log, onInbox }: Pick<IngesterOptions, "log" | "onInbox">,
): { end(): void; hung(): boolean } {
  const [silence, longSilence] = [createSilence(), createSilence()];
  let hasStarted = false;
  let responds = true;
  let hung = false;
  const watching = setInterval(() => {
    const signs = child.pid === undefined ? null : signsOf(child.pid);
    const long = longSilence.look(LIMITS.hungImport, signs);
    const verdict = hasStarted ? silence.look(LIMITS.importing, signs) : "lives";
    const facts = { process: child.pid, seconds: longSilence.seconds() };
    if (verdict === "starved")
      log.warn(facts, "the process that watches the inbox responds slowly: it waits for the processor or a disk");
    if (verdict === "hangs" && responds) {
      responds = false;
      onInbox(false);
      log.error(facts, "the process that watches the inbox does not respond; nothing is imported meanwhile");
    }
    if (long !== "hangs") return;
    clearInterval(watching);
    log.error(facts, "the process that watches the inbox still does not respond and is killed");
    hung = true;
    child.kill("SIGKILL");
  }, ALIVE_EVERY);

  child.on("message", () => {
    silence.end();
    longSilence.end();
    hasStarted = true;
    onInbox(true);
    if (!responds) log.info({ process: child.pid }, "the process that watches the inbox responds again");
    responds = true;
  });
  return { end: () => clearInterval(watching), hung: () => hung };
}
