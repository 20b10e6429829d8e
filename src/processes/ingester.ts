// Runs `tapehouse ingest` beside the server: a process of its own that is started again when it dies.
import { spawn, type ChildProcess } from "node:child_process";
import type { Log } from "../http/observe.js";
import type { LakeMark } from "../http/server.js";
import { environmentOf } from "./messages.js";

export interface Ingester {
  /** Lets the drop that is being taken finish, for a while. */
  stop(): Promise<void>;
  /** Ends it at once. */
  kill(): void;
}

/** After a death the next start waits, in milliseconds: longer each time until one has lived for a minute. */
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 60_000;

/** Each statement of DuckDB holds one while it runs; four lots of drops and a compaction may, and files are read besides. */
const THREADS = "16";

/** So long a drop may take to finish at a stop, in milliseconds. A crash then loses nothing. */
const STOP_WITHIN = 8_000;

/** `args` are those of the command; `seen` is the lake that was served last. A process that ends with exit code 0 has nothing to do here. */
export function startIngester(args: readonly string[], seen: () => LakeMark | null, log: Log): Ingester {
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let wait = FIRST_WAIT;

  const startAgain = (how: string, lived: number): void => {
    wait = lived > LONGEST_WAIT ? FIRST_WAIT : wait;
    log.error({ how, seconds: wait / 1000 }, "the process that watches the inbox died; it is started again");
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
      // A signal to the whole group may end it before it handles signals. The supervisor then knows of its own a turn later.
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
