// A worker as its supervisor sees it.
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import type { ServerConfig } from "../config.js";
import { OperatorError } from "../errors.js";
import type { Log } from "../http/observe.js";
import type { ProcessMetrics } from "../http/metrics.js";
import type { Port } from "../http/listener.js";
import type { LakeMark } from "../http/server.js";
import { ALIVE_EVERY, type Order, type Report, environmentOf } from "./messages.js";

export interface Worker {
  readonly pid: number | undefined;
  /** Resolves to its URL when it accepts connections. Rejects where it could not start. */
  readonly ready: Promise<string>;
  /** Resolves when the process is gone and has left nothing behind, to how it ended. */
  readonly ended: Promise<string>;
  give(order: Order): void;
  kill(): void;
  /** What it has counted; where it does not answer at once, what it had counted when it last did. */
  count(): Promise<ProcessMetrics>;
  lastCount(): ProcessMetrics;
}

interface WorkerOptions {
  /** Of this one worker. */
  readonly config: ServerConfig;
  /** The folder, not made yet, for what DuckDB has no memory for. */
  readonly spill: string;
  readonly port: Port;
  readonly log: Log;
  /** The lake that it has to go on from; null for any. */
  readonly seen: LakeMark | null;
  /** Whether it waits for that lake, and answers that it is out of reach meanwhile; else it fails to start. */
  readonly waits: boolean;
  readonly onMark: (mark: LakeMark) => void;
  /** Whether another worker has read a token file. */
  readonly hadTokens: boolean;
  /** Called when it has read one. */
  readonly onTokens: () => void;
  /** Called with files that the worker found damaged, again and again while they are. */
  readonly onDamage: (files: readonly string[]) => void;
  /** What all workers have counted. */
  readonly gather: () => Promise<readonly ProcessMetrics[]>;
}

/** A worker that reports nothing for so many seconds hangs, and is killed. */
const SILENT_AT_MOST = 10;
/** The same for one that starts: it has to open the lake. */
const SILENT_AT_START = 60;

/** Milliseconds. */
const COUNT_WITHIN = 500;

/** Threads of libuv's pool beyond one for each query: for files, names and the rest of the process. */
const SPARE_THREADS = 8;

/**
 * A worker's heap is small and its buffers are large and short-lived: V8's helper threads cost more than they do, and
 * they take the core that DuckDB reads on; and buffers alone make it look at the whole heap again and again. See
 * docs/decisions.
 */
const COLLECTING = ["--single-threaded-gc", "--heap-growing-percent=400"];

export function startWorker(options: WorkerOptions): Worker {
  const { config, spill, port, log, seen, waits, hadTokens, onMark, onTokens, onDamage, gather } = options;
  const child = spawn(process.execPath, [...process.execArgv, ...COLLECTING, ...process.argv.slice(1)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    // The size of libuv's pool is fixed when a process first uses it, so it has to be set before the process starts.
    env: { ...environmentOf("worker"), UV_THREADPOOL_SIZE: String(config.concurrency + SPARE_THREADS) },
  });
  // That a process is gone is told by `ended` alone.
  const give = (order: Order, handle?: Port): void => void child.send(order, handle, {}, () => undefined);
  const kill = (): void => void child.kill("SIGKILL");
  const counting: ((metrics: ProcessMetrics) => void)[] = [];
  let counted: ProcessMetrics = [];

  // Ticks are counted, not time: when the whole machine stood still, nobody is to blame.
  let silent = 0;
  let silentAtMost = SILENT_AT_START;
  const watching = setInterval(() => {
    if (++silent !== silentAtMost) return;
    log.error({ worker: child.pid, seconds: silent }, "a worker does not answer: it is killed");
    kill();
  }, ALIVE_EVERY);

  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
  }).then(async (how) => {
    clearInterval(watching);
    await rm(spill, { recursive: true, force: true });
    return how;
  });

  const ready = new Promise<string>((resolve, reject) => {
    const reports: { readonly [Name in Report["report"]]: (report: Extract<Report, { report: Name }>) => void } = {
      ready({ url }) {
        silentAtMost = SILENT_AT_MOST;
        resolve(url);
      },
      failed: ({ message, known }) => reject(known ? new OperatorError(message) : new Error(message)),
      alive: () => undefined,
      mark: ({ mark }) => onMark(mark),
      tokens: onTokens,
      damaged: ({ files }) => onDamage(files),
      counts({ metrics }) {
        counted = metrics;
        for (const tell of counting.splice(0)) tell(metrics);
      },
      gather: () => void gather().then((all) => give({ order: "counted", all })),
    };
    child.on("message", (report: Report) => {
      silent = 0;
      reports[report.report](report as never);
    });
    void ended.then((how) => reject(new Error(`it ended (${how})`)));
  });
  give({ order: "serve", config, spill, seen, waits, hadTokens }, port);

  return {
    pid: child.pid,
    ready,
    ended,
    give,
    kill,
    count: () =>
      new Promise((resolve) => {
        counting.push(resolve);
        give({ order: "count" });
        setTimeout(() => resolve(counted), COUNT_WITHIN);
      }),
    lastCount: () => counted,
  };
}
