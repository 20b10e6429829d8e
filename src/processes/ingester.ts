// Runs `tapehouse ingest` in a process of its own, which is restarted when it dies.
import { spawn, type ChildProcess } from "node:child_process";
import type { Log } from "../http/observe.js";
import type { LakeMark } from "../http/server.js";
import { environmentOf } from "./messages.js";

export interface Ingester {
  /** Lets the current drop finish, for a while. */
  stop(): Promise<void>;
  /** Ends it at once. */
  kill(): void;
}

/** Milliseconds to wait before a restart: longer each time until a process has lived for a minute. */
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 60_000;

/** Each running statement of DuckDB takes a thread. Four lots and a compaction may run, and files are read as well. */
const THREADS = "16";

/**
 * Milliseconds that a drop may take to finish when the server stops. After that the process is killed, which loses
 * nothing.
 */
const STOP_WITHIN = 8_000;

/**
 * `args` are the arguments of the command; `seen` returns the lake that was served last. A process that ends with exit
 * code 0 is not restarted.
 */
export function startIngester(args: readonly string[], seen: () => LakeMark | null, log: Log): Ingester {
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let wait = FIRST_WAIT;

  const startAgain = (how: string, lived: number): void => {
    wait = lived > LONGEST_WAIT ? FIRST_WAIT : wait;
    log.error({ how, seconds: wait / 1000 }, "the process that watches the inbox died; it is being restarted");
    timer = setTimeout(start, wait);
    wait = Math.min(LONGEST_WAIT, wait * 2);
  };

  const start = (): void => {
    const began = performance.now();
    child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, "ingest", ...args], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: { ...environmentOf("ingester", seen()), UV_THREADPOOL_SIZE: THREADS },
    });
    const onEnd = (how: string): void => {
      if (child === undefined) return;
      child = undefined;
      const lived = performance.now() - began;
      // A signal to the whole process group may end the child before the supervisor has handled it, so wait a turn.
      setImmediate(() => {
        if (!stopped) startAgain(how, lived);
      });
    };
    child.once("error", (error) => onEnd(error.message));
    child.once("exit", (code, signal) => {
      if (code === 0) child = undefined;
      else onEnd(signal ?? `exit code ${code}`);
    });
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
