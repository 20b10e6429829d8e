// A worker, as the supervisor sees it.
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { OperatorError } from "../errors.js";
import type { Log } from "../http/observe.js";
import type { ServerConfig } from "../config.js";
import { machineAt } from "../machine.js";
import type { Background } from "../http/context.js";
import type { ProcessMetrics } from "../http/metrics.js";
import type { Port } from "../http/port.js";
import type { LakeMark } from "../http/server.js";
import { poolOf } from "./tasks.js";
import { LIMITS, createSilence, signsOf } from "./silence.js";
import { ALIVE_EVERY, type Order, type Report, environmentOf } from "./messages.js";

export interface Worker {
  readonly pid: number | undefined;
  /** Resolves to the URL when the worker accepts connections. Rejects if it could not start. */
  readonly ready: Promise<string>;
  /** Resolves when the process and its files are gone, to how it ended. */
  readonly ended: Promise<string>;
  give(order: Order): void;
  kill(): void;
  /** Milliseconds from when it accepted connections to its last report. */
  responded(): number;
  /** Its metrics; if it does not answer in time, the last ones known. */
  count(): Promise<ProcessMetrics>;
  lastCount(): ProcessMetrics;
}

export interface WorkerOptions {
  /** Resolves when the lake can be opened. */
  readonly state: Promise<unknown>;
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
  /** What is done beside the workers. */
  readonly background: () => Background;
  /** Called when it has read one. */
  readonly onTokens: () => void;
  /** Called repeatedly with files that the worker found damaged, while they are. */
  readonly onDamage: (files: readonly string[]) => void;
  /** The metrics of all workers. */
  readonly gather: () => Promise<readonly ProcessMetrics[]>;
}

/** Milliseconds. */
const COUNT_WITHIN = 500;

/**
 * A worker's heap is small and its buffers are large and short-lived. V8's helper threads cost more than they save, and
 * take the core that DuckDB reads on; buffers alone would trigger full collections. See docs/decisions.
 */
const COLLECTING = ["--single-threaded-gc", "--heap-growing-percent=400"];

/**
 * V8 reserves about 10 GB of addresses for a memory of WebAssembly, so that accesses need no checks. Where `ulimit -v`
 * leaves little, the checks are cheaper.
 */
const CHECKING = ["--disable-wasm-trap-handler"];
const MANY_ADDRESSES = 64e9;

const flags = (): readonly string[] => [...COLLECTING, ...(machineAt().addresses < MANY_ADDRESSES ? CHECKING : [])];

export function startWorker(options: WorkerOptions): Worker {
  const { config, spill, port, state, log, seen, waits, hadTokens, background } = options;
  const { onMark, onTokens, onDamage, gather } = options;
  const child = spawn(process.execPath, [...process.execArgv, ...flags(), ...process.argv.slice(1)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    // libuv fixes the size of its pool on first use, so it must be set before the process starts.
    env: { ...environmentOf("worker"), UV_THREADPOOL_SIZE: String(poolOf(config)) },
  });
  // Errors are ignored: `ended` reports that the process is gone.
  const give = (order: Order, handle?: Port): void => void child.send(order, handle, {}, () => undefined);
  const kill = (): void => void child.kill("SIGKILL");
  const counting: ((metrics: ProcessMetrics) => void)[] = [];
  let counted: ProcessMetrics = [];

  const silence = createSilence();
  let readyAt: number | null = null;
  let reportedAt = 0;
  let hung = false;
  let watching: NodeJS.Timeout | undefined;
  const watch = (): void => {
    const limit = LIMITS[readyAt === null ? "starting" : "started"];
    const verdict = silence.look(limit, child.pid === undefined ? null : signsOf(child.pid));
    const facts = { worker: child.pid, seconds: silence.seconds() };
    if (verdict === "starved") log.warn(facts, "a worker responds slowly: it waits for the processor or a disk");
    if (verdict !== "hangs") return;
    clearInterval(watching);
    log.error(facts, "a worker does not respond and is killed");
    hung = true;
    kill();
  };

  let hasEnded = false;
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
  }).then(async (how) => {
    hasEnded = true;
    clearInterval(watching);
    await rm(spill, { recursive: true, force: true });
    return hung ? "it did not respond" : how;
  });

  const ready = new Promise<string>((resolve, reject) => {
    const reports: { readonly [Name in Report["report"]]: (report: Extract<Report, { report: Name }>) => void } = {
      ready({ url }) {
        readyAt = performance.now();
        resolve(url);
      },
      failed: ({ message, known, cause }) =>
        reject(known ? new OperatorError(message) : Object.assign(new Error(message), cause)),
      current: () => undefined,
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
      silence.end();
      reportedAt = performance.now();
      reports[report.report](report as never);
    });
    void ended.then((how) => reject(new OperatorError(`a worker ended while it started (${how})`)));
  });
  const serve = (): void => {
    if (hasEnded) return;
    watching = setInterval(watch, ALIVE_EVERY);
    give({ order: "serve", config, spill, seen, waits, hadTokens, background: background() }, port);
  };
  state.then(serve, kill);

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
    responded: () => (readyAt === null ? 0 : reportedAt - readyAt),
  };
}
