// The process of `tapehouse serve`: it holds the port, keeps the other processes running and handles signals. It serves
// nothing itself.
import { spawn, type ChildProcess } from "node:child_process";
import { shareOf, type ServerConfig } from "../config.js";
import type { Log } from "../http/observe.js";
import { tasksAt } from "../machine.js";
import { openPort } from "../http/port.js";
import type { LakeMark } from "../http/server.js";
import { createWorkerPool } from "./worker-pool.js";
import { INGESTER_POOL, requireTasks } from "./tasks.js";
import { openScratch } from "./scratch.js";
import { environmentOf } from "./messages.js";

interface SuperviseOptions {
  readonly log: Log;
  /** Called once, when every worker accepts connections. */
  readonly onListening: (url: string) => Promise<void>;
  /** The arguments of the command `ingest`; null if the inbox is not watched. */
  readonly ingest: readonly string[] | null;
}

/** Serves until a signal ends it. Throws an OperatorError if the server cannot start or cannot be kept running. */
export async function supervise(config: ServerConfig, options: SuperviseOptions): Promise<void> {
  const { log, onListening, ingest } = options;
  // First of all: without a listener, a signal would end the process and leave its files behind.
  const signals = listenToSignals(process.stdin.isTTY);
  requireTasks(config, tasksAt());
  const port = await openPort(config.host, config.port);
  const scratch = await openScratch(config.temp);
  const share = shareOf(config);

  /** No worker goes back behind this version while this process runs: that needs the decision of an operator. */
  let seen: LakeMark | null = null;
  const onMark = (mark: LakeMark): void => {
    if (seen === null || mark.sequence >= seen.sequence) seen = mark;
  };
  /** A missing token file does not mean that there are no tokens. */
  let hadTokens = false;
  const onTokens = (): void => void (hadTokens = true);
  const pool = createWorkerPool(config.workers, log, (waits) => ({
    ...{ config: share, spill: scratch.folder(), port },
    ...{ seen, waits, hadTokens, onMark, onTokens },
  }));
  const openIngester = (): Ingester | null => (ingest === null ? null : startIngester(ingest, () => seen, log));
  let ingester: Ingester | null = null;
  let stopping = false;

  const reload = async (): Promise<void> => {
    log.info("reloading");
    await Promise.all([pool.reload(), ingester?.stop()]);
    if (stopping) return;
    ingester = openIngester();
    log.info("reloaded");
  };
  const reloads = oneAfterAnother(reload);
  void signals.hurry.then(() => {
    log.warn("second signal: stopping at once");
    pool.kill();
    ingester?.kill();
  });

  try {
    const url = await Promise.race([pool.start(), signals.stop]);
    if (url === undefined) return;
    ingester = openIngester();
    signals.onReload(reloads.ask);
    await onListening(url);
    await Promise.race([signals.stop, pool.hopeless]);
    log.info({ seconds: config.grace / 1000 }, "stopping: responses in progress may finish; a second signal cuts them");
  } finally {
    stopping = true;
    port.close();
    await Promise.all([pool.stop(config.grace), ingester?.stop()]);
    await reloads.done();
    await scratch.close();
  }
}

/** Combines requests for a job: those that arrive while one is waiting to start become one. */
function oneAfterAnother(job: () => Promise<void>): { ask(): void; done(): Promise<void> } {
  let last = Promise.resolve();
  let waiting = false;
  return {
    ask() {
      if (waiting) return;
      waiting = true;
      last = last.then(() => {
        waiting = false;
        return job();
      });
    },
    done: () => last,
  };
}

// The supervisor's signals.

interface Signals {
  /** Resolves when the server should stop. */
  readonly stop: Promise<void>;
  /** Resolves at the second signal to stop, which means at once. */
  readonly hurry: Promise<void>;
  /** From now on `reload` is called when the server should reload; it is called at once if a signal came earlier. */
  onReload(reload: () => void): void;
}

/** One Ctrl-C may arrive several times, from the terminal and from the parent process. Milliseconds. */
export const SAME_SIGNAL = 500;

/**
 * SIGINT and SIGTERM stop the server. SIGHUP stops it if it belongs to a closed terminal; otherwise it calls `reload`.
 */
function listenToSignals(onTerminal: boolean): Signals {
  let reload: (() => void) | null = null;
  let isReloadDue = false;
  let asked: number | undefined;
  let stopNow: () => void;
  let hurryNow: () => void;
  const stop = new Promise<void>((resolve) => (stopNow = resolve));
  const hurry = new Promise<void>((resolve) => (hurryNow = resolve));
  const onStop = (): void => {
    asked ??= performance.now();
    stopNow();
    if (performance.now() - asked > SAME_SIGNAL) hurryNow();
  };
  const onHangUp = (): void => {
    if (reload) reload();
    else isReloadDue = true;
  };
  const listeners = { SIGINT: onStop, SIGTERM: onStop, SIGHUP: onTerminal ? onStop : onHangUp };
  for (const [signal, listener] of Object.entries(listeners)) process.on(signal, listener);
  return {
    stop,
    hurry,
    onReload(next) {
      reload = next;
      if (isReloadDue) reload();
    },
  };
}

// The ingester: `tapehouse ingest` in a process of its own, which is restarted when it dies.

interface Ingester {
  /** Lets the current drop finish, for a while. */
  stop(): Promise<void>;
  /** Ends it at once. */
  kill(): void;
}

/** Milliseconds to wait before a restart: longer each time until a process has lived for a minute. */
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 60_000;

/**
 * Milliseconds that a drop may take to finish when the server stops. After that the process is killed, which loses
 * nothing.
 */
const STOP_WITHIN = 8_000;

/**
 * `args` are the arguments of the command; `seen` returns the lake that was served last. A process that ends with exit
 * code 0 is not restarted.
 */
function startIngester(args: readonly string[], seen: () => LakeMark | null, log: Log): Ingester {
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
      env: { ...environmentOf("ingester", seen()), UV_THREADPOOL_SIZE: String(INGESTER_POOL) },
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
