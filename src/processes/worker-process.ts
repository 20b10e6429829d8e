// A worker, as the supervisor sees it.
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
  /** Resolves to the URL when the worker accepts connections. Rejects if it could not start. */
  readonly ready: Promise<string>;
  /** Resolves when the process and its files are gone, to how it ended. */
  readonly ended: Promise<string>;
  give(order: Order): void;
  kill(): void;
  /** Its metrics; if it does not answer in time, the last ones known. */
  count(): Promise<ProcessMetrics>;
  lastCount(): ProcessMetrics;
}

interface WorkerOptions {
  /** The settings of this worker. */
  readonly config: ServerConfig;
  /** The folder for DuckDB's temporary files; the worker creates it. */
  readonly spill: string;
  readonly port: Port;
  readonly log: Log;
  /** The lake from which it must continue; null for any. */
  readonly seen: LakeMark | null;
  /**
   * Whether it waits for that lake, and meanwhile answers that the data is unavailable; otherwise it fails to start.
   */
  readonly waits: boolean;
  readonly onMark: (mark: LakeMark) => void;
  /** Whether another worker has read a token file. */
  readonly hadTokens: boolean;
  /** Called when it has read one. */
  readonly onTokens: () => void;
  /** Called repeatedly with files that the worker found damaged, while they are. */
  readonly onDamage: (files: readonly string[]) => void;
  /** The metrics of all workers. */
  readonly gather: () => Promise<readonly ProcessMetrics[]>;
}

/** A worker that reports nothing for this many seconds hangs, and is killed. */
const SILENT_AT_MOST = 10;
/** The same while it starts, because it has to open the lake. */
const SILENT_AT_START = 60;

/** Milliseconds. */
const COUNT_WITHIN = 500;

/** Threads of libuv's pool in addition to one per query: for files, name lookups and the rest of the process. */
const SPARE_THREADS = 8;

/**
 * A worker's heap is small and its buffers are large and short-lived. V8's helper threads cost more than they save, and
 * take the core that DuckDB reads on; buffers alone would trigger full collections. See docs/decisions.
 */
const COLLECTING = ["--single-threaded-gc", "--heap-growing-percent=400"];

export function startWorker(options: WorkerOptions): Worker {
  const { config, spill, port, log, seen, waits, hadTokens, onMark, onTokens, onDamage, gather } = options;
  const child = spawn(process.execPath, [...process.execArgv, ...COLLECTING, ...process.argv.slice(1)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    // libuv fixes the size of its pool on first use, so it must be set before the process starts.
    env: { ...environmentOf("worker"), UV_THREADPOOL_SIZE: String(config.concurrency + SPARE_THREADS) },
  });
  // Errors are ignored: `ended` reports that the process is gone.
  const give = (order: Order, handle?: Port): void => void child.send(order, handle, {}, () => undefined);
  const kill = (): void => void child.kill("SIGKILL");
  const counting: ((metrics: ProcessMetrics) => void)[] = [];
  let counted: ProcessMetrics = [];

  // Counts ticks, not time: if the whole machine was suspended, the worker is not at fault.
  let silent = 0;
  let silentAtMost = SILENT_AT_START;
  const watching = setInterval(() => {
    if (++silent !== silentAtMost) return;
    log.error({ worker: child.pid, seconds: silent }, "a worker does not respond and is killed");
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
