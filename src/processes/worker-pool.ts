// The worker pool: a fixed number of workers. One that dies is replaced, all can be replaced on request, and all end
// together.
import { setTimeout as sleep } from "node:timers/promises";
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { OperatorError } from "../errors.js";
import type { Log } from "../http/observe.js";
import type { ServerConfig } from "../config.js";
import { machineAt } from "../machine.js";
import type { Background } from "../http/context.js";
import { type ProcessMetrics, addUp } from "../http/metrics.js";
import type { Port } from "../http/port.js";
import type { LakeMark } from "../http/server.js";
import { poolOf } from "./tasks.js";
import { LIMITS, createSilence, signsOf } from "./silence.js";
import { ALIVE_EVERY, type Order, type Report, environmentOf } from "./messages.js";

interface WorkerPool {
  /** Resolves to the URL when every worker accepts connections. Rejects if one cannot start. */
  start(): Promise<string>;
  /** Replaces the workers one after another; the old one retires when the new one serves. */
  reload(): Promise<void>;
  /** Ends all workers; responses in progress have `within` milliseconds. */
  stop(within: number): Promise<void>;
  /** Ends all at once. */
  kill(): void;
  /** Gives all workers an order. */
  give(order: Order): void;
  /** Rejects when no worker serves and new ones keep dying. */
  readonly hopeless: Promise<never>;
}

interface Position {
  serving: Worker | null;
  starting: boolean;
  /** Consecutive deaths of workers that had just started. */
  earlyDeaths: number;
}

/** A worker that responded for this long was not broken from the start. Milliseconds. */
const LONG = 10_000;
const EARLY_DEATHS_AT_MOST = 6;

/** Milliseconds to wait before a worker is replaced: none at first, then longer each time. */
const waitAfter = (earlyDeaths: number): number =>
  earlyDeaths < 2 ? 0 : Math.min(10_000, 250 * 2 ** (earlyDeaths - 2));

/** Milliseconds that a worker has to close its files, in addition to the grace period. Then it is killed. */
const CLOSE_WITHIN = 5_000;

const KILLED = "if the system ended it for lack of memory, lower --memory, --concurrency or --streams";

/** `optionsOf` gives those of the next worker; it receives whether the worker waits for a lake that is unavailable. */
export function createWorkerPool(
  size: number,
  log: Log,
  optionsOf: (waits: boolean) => Omit<WorkerOptions, "log" | "onDamage" | "gather">,
): WorkerPool {
  const positions = Array.from({ length: size }, (): Position => ({ serving: null, starting: false, earlyDeaths: 0 }));
  /** All running workers, including those that start or retire. */
  const living = new Set<Worker>();
  const stopping = new AbortController();
  let giveUp: (error: OperatorError) => void;
  const hopeless = new Promise<never>((_, reject) => (giveUp = reject));
  hopeless.catch(() => undefined);

  /** The metrics of workers that have ended. */
  let past: ProcessMetrics = [];
  const gather = async (): Promise<readonly ProcessMetrics[]> => [
    past,
    ...(await Promise.all([...living].map((worker) => worker.count()))),
  ];
  const give = (order: Order): void => {
    for (const worker of living) worker.give(order);
  };
  const onDamage = (files: readonly string[]): void => give({ order: "suspect", files });
  const start = (waits: boolean): Worker => {
    const worker = startWorker({ ...optionsOf(waits), log, onDamage, gather });
    void worker.ended.then(async () => (past = await addUp([past, worker.lastCount()])));
    return worker;
  };

  /** Starts a new worker in the position; the one that is there retires. Rejects if the new one cannot start. */
  async function fill(position: Position): Promise<string> {
    position.starting = true;
    // A worker that serves goes on until its replacement is ready.
    const worker = start(position.serving === null);
    living.add(worker);
    void worker.ended.then((how) => {
      living.delete(worker);
      if (position.serving !== worker) return;
      position.serving = null;
      position.earlyDeaths = worker.responded() < LONG ? position.earlyDeaths + 1 : 0;
      if (stopping.signal.aborted) return;
      const hint = how === "SIGKILL" ? { hint: KILLED } : {};
      log.error({ worker: worker.pid, how, ...hint }, "a worker died with its requests; it is being replaced");
      if (!position.starting) void refill(position);
    });
    try {
      const url = await worker.ready;
      position.serving?.give({ order: "retire" });
      position.serving = worker;
      return url;
    } finally {
      position.starting = false;
    }
  }

  /** Tries until a worker serves in the position. */
  async function refill(position: Position): Promise<void> {
    while (!position.serving && !stopping.signal.aborted) {
      if (positions.every(({ serving, earlyDeaths }) => !serving && earlyDeaths >= EARLY_DEATHS_AT_MOST)) {
        giveUp(new OperatorError("workers keep dying at startup; giving up"));
        return;
      }
      await sleep(waitAfter(position.earlyDeaths), undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      await fill(position).catch((error: unknown) => {
        position.earlyDeaths++;
        log.error({ how: (error as Error).message }, "a worker could not start");
      });
    }
  }

  const kill = (): void => {
    stopping.abort();
    for (const worker of living) worker.kill();
  };

  return {
    hopeless,
    start: async () => (await Promise.all(positions.map(fill)))[0]!,
    async reload() {
      for (const position of positions) {
        // An empty position gets a new worker anyway.
        if (!position.serving || stopping.signal.aborted) continue;
        try {
          await fill(position);
        } catch (error) {
          log.error({ how: (error as Error).message }, "a new worker could not start; the old workers keep running");
          void refill(position);
          return;
        }
      }
    },
    async stop(within) {
      stopping.abort();
      give({ order: "stop", within });
      const killing = setTimeout(kill, within + CLOSE_WITHIN);
      await Promise.all([...living].map(({ ended }) => ended));
      clearTimeout(killing);
    },
    kill,
    give,
  };
}

// A worker, as the supervisor sees it.

interface Worker {
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
  /** What is done beside the workers. */
  readonly background: Background;
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

function startWorker(options: WorkerOptions): Worker {
  const { config, spill, port, log, seen, waits, hadTokens, background, onMark, onTokens, onDamage, gather } = options;
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
  const watching = setInterval(() => {
    const limit = LIMITS[readyAt === null ? "starting" : "started"];
    const verdict = silence.look(limit, child.pid === undefined ? null : signsOf(child.pid));
    const facts = { worker: child.pid, seconds: silence.seconds() };
    if (verdict === "starved") log.warn(facts, "a worker responds slowly: it waits for the processor or a disk");
    if (verdict !== "hangs") return;
    clearInterval(watching);
    log.error(facts, "a worker does not respond and is killed");
    hung = true;
    kill();
  }, ALIVE_EVERY);

  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
  }).then(async (how) => {
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
  give({ order: "serve", config, spill, seen, waits, hadTokens, background }, port);

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
