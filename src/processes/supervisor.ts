// The process of `tapehouse serve`: it holds the port, keeps the other processes running and handles signals. It serves
// nothing itself.
import { shareOf, type ServerConfig } from "../config.js";
import type { Log } from "../http/observe.js";
import { tasksAt } from "../machine.js";
import { openPort } from "../http/port.js";
import { ALL_RUNS } from "../http/context.js";
import type { LakeMark } from "../http/server.js";
import { createWorkerPool } from "./worker-pool.js";
import { requireTasks } from "./tasks.js";
import { openScratch } from "./scratch.js";
import { type Companion, DUTIES, type DutyName, startCompanion } from "./companion.js";

interface SuperviseOptions {
  readonly log: Log;
  /** Called once, when every worker accepts connections. */
  readonly onListening: (url: string) => Promise<void>;
  /** The arguments of the processes that run beside the workers. */
  readonly companions: Readonly<Partial<Record<DutyName, readonly string[]>>>;
}

/** Serves until a signal ends it. Throws an OperatorError if the server cannot start or cannot be kept running. */
export async function supervise(config: ServerConfig, options: SuperviseOptions): Promise<void> {
  const { log, onListening, companions } = options;
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
  /** Until a process is found not to run, it is starting. */
  let background = ALL_RUNS;
  const pool = createWorkerPool(config.workers, log, (waits) => ({
    ...{ config: share, spill: scratch.folder(), port },
    ...{ seen, waits, hadTokens, background: () => background, onMark, onTokens },
  }));
  const onWork = (of: DutyName, isDone: boolean): void => {
    if (background[of] === isDone) return;
    background = { ...background, [of]: isDone };
    pool.give({ order: "background", background });
  };
  const startOne = (of: DutyName): readonly Companion[] => {
    const args = companions[of];
    if (args === undefined) return [];
    return [startCompanion(DUTIES[of], args, { seen: () => seen, log, onWork: (isDone) => onWork(of, isDone) })];
  };
  const startAll = (): readonly Companion[] => [...startOne("bucket"), ...startOne("inbox")];
  let running: readonly Companion[] = [];
  const stopAll = (): Promise<unknown> => Promise.all(running.map((one) => one.stop()));
  let stopping = false;

  const reload = async (): Promise<void> => {
    log.info("reloading");
    await Promise.all([pool.reload(), stopAll()]);
    if (stopping) return;
    running = startAll();
    log.info("reloaded");
  };
  const reloads = oneAfterAnother(reload);
  void signals.hurry.then(() => {
    log.warn("second signal: stopping at once");
    pool.kill();
    for (const one of running) one.kill();
  });

  try {
    running = startOne("bucket");
    // The workers start while the state of a mirror is fetched.
    const state = Promise.all(running.map(({ current }) => current));
    const url = await Promise.race([pool.start(state), signals.stop]);
    if (url === undefined) return;
    running = [...running, ...startOne("inbox")];
    signals.onReload(reloads.ask);
    await onListening(url);
    await Promise.race([signals.stop, pool.hopeless]);
    log.info({ seconds: config.grace / 1000 }, "stopping: responses in progress may finish; a second signal cuts them");
  } finally {
    stopping = true;
    port.close();
    await Promise.all([pool.stop(config.grace), stopAll()]);
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
