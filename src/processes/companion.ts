// Processes beside the workers, as the supervisor sees them: one watches the inbox, another follows a bucket. Each is
// restarted when it dies, and replaced when it hangs.
import { spawn, type ChildProcess } from "node:child_process";
import { OperatorError } from "../errors.js";
import type { Log } from "../http/observe.js";
import type { LakeMark } from "../http/server.js";
import { ALIVE_EVERY, environmentOf, type Report } from "./messages.js";
import { LIMITS, createSilence, signsOf } from "./silence.js";
import { FOLLOWER_POOL, INGESTER_POOL } from "./tasks.js";

/** What a process beside the workers is for. */
export interface Duty {
  /** The command that it runs, which is also its role. */
  readonly command: "ingest" | "follow";
  /** What messages call it. */
  readonly name: string;
  /** What does not happen without it. */
  readonly loss: string;
  /** Threads of libuv's pool. */
  readonly pool: number;
}

export const DUTIES = {
  inbox: {
    command: "ingest",
    name: "the process that watches the inbox",
    loss: "nothing is imported",
    pool: INGESTER_POOL,
  },
  bucket: {
    command: "follow",
    name: "the process that follows the bucket",
    loss: "new versions are not served",
    pool: FOLLOWER_POOL,
  },
} as const satisfies Record<string, Duty>;

export type DutyName = keyof typeof DUTIES;

export interface Companion {
  /** Resolves when its mirror is up to date. Rejects if it cannot start. */
  readonly current: Promise<void>;
  /** Lets the current work finish, for a while. */
  stop(): Promise<void>;
  /** Ends it at once. */
  kill(): void;
}

interface CompanionOptions {
  /** The lake that was served last. */
  readonly seen: () => LakeMark | null;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** Called with whether the work is done, whenever that may have changed. */
  readonly onWork: (isDone: boolean) => void;
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
export function startCompanion(
  { command, name, loss, pool }: Duty,
  args: readonly string[],
  { seen, log, onWork }: CompanionOptions,
): Companion {
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let wait = FIRST_WAIT;
  let beCurrent: () => void;
  let fail: (error: OperatorError) => void;
  const current = new Promise<void>((resolve, reject) => ([beCurrent, fail] = [resolve, reject]));
  current.catch(() => undefined);

  const startAgain = (how: string, responded: number): void => {
    wait = responded > LONGEST_WAIT ? FIRST_WAIT : wait;
    log.error({ how, seconds: wait / 1000 }, `${name} died; it is being restarted`);
    timer = setTimeout(start, wait);
    wait = Math.min(LONGEST_WAIT, wait * 2);
  };

  const start = (): void => {
    const began = performance.now();
    let reportedAt = began;
    let failure: string | undefined;
    const started = spawn(process.execPath, [...process.execArgv, process.argv[1]!, command, ...args], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: { ...environmentOf(command, seen()), UV_THREADPOOL_SIZE: String(pool) },
    });
    child = started;
    const watch = watchResponses(started, { name, loss, log, onWork });
    started.on("message", (report: Report) => {
      reportedAt = performance.now();
      if (report.report === "current") beCurrent();
      if (report.report !== "failed") return;
      failure = report.message;
      fail(new OperatorError(report.message, report.exitCode));
    });
    const onEnd = (how: string | null): void => {
      if (child !== started) return;
      child = undefined;
      watch.end();
      // A signal to the whole process group may end the child before the supervisor has handled it, so wait a turn.
      setImmediate(() => {
        if (stopped) return;
        onWork(false);
        if (how === null) log.warn(`${name} has ended; ${loss}`);
        else startAgain(watch.hung() ? "it did not respond" : how, reportedAt - began);
      });
    };
    started.once("error", (error) => onEnd(error.message));
    started.once("exit", (code, signal) => onEnd(code === 0 ? null : (failure ?? signal ?? `exit code ${code}`)));
  };
  start();

  return {
    current,
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
  { name, loss, log, onWork }: Pick<Duty, "name" | "loss"> & Pick<CompanionOptions, "log" | "onWork">,
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
    if (verdict === "starved") log.warn(facts, `${name} responds slowly: it waits for the processor or a disk`);
    if (verdict === "hangs" && responds) {
      responds = false;
      onWork(false);
      log.error(facts, `${name} does not respond; ${loss} meanwhile`);
    }
    if (long !== "hangs") return;
    clearInterval(watching);
    log.error(facts, `${name} still does not respond and is killed`);
    hung = true;
    child.kill("SIGKILL");
  }, ALIVE_EVERY);

  child.on("message", (report: Report) => {
    silence.end();
    longSilence.end();
    hasStarted = true;
    onWork(report.report !== "alive" || report.works !== false);
    if (!responds) log.info({ process: child.pid }, `${name} responds again`);
    responds = true;
  });
  return { end: () => clearInterval(watching), hung: () => hung };
}
