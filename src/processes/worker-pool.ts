// The worker pool: a fixed number of workers. One that dies is replaced, all can be replaced on request, and all end
// together.
import { setTimeout as sleep } from "node:timers/promises";
import { OperatorError } from "../errors.js";
import type { Log } from "../http/observe.js";
import { type ProcessMetrics, addUp } from "../http/metrics.js";
import type { Order } from "./messages.js";
import { startWorker, type Worker, type WorkerOptions } from "./worker-process.js";

interface WorkerPool {
  /**
   * Resolves to the URL when every worker accepts connections. Rejects if one cannot start. The lake is opened when `state`
   * resolves; the workers load their programs meanwhile.
   */
  start(state: Promise<unknown>): Promise<string>;
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
  optionsOf: (waits: boolean) => Omit<WorkerOptions, "state" | "log" | "onDamage" | "gather">,
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
  const start = (waits: boolean, state: Promise<unknown>): Worker => {
    const worker = startWorker({ ...optionsOf(waits), state, log, onDamage, gather });
    void worker.ended.then(async () => (past = await addUp([past, worker.lastCount()])));
    return worker;
  };

  /** Starts a new worker in the position; the one that is there retires. Rejects if the new one cannot start. */
  async function fill(position: Position, state: Promise<unknown> = Promise.resolve()): Promise<string> {
    position.starting = true;
    // A worker that serves goes on until its replacement is ready.
    const worker = start(position.serving === null, state);
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
    async start(state) {
      const starting = positions.map((position) => fill(position, state));
      const [, url] = await Promise.all([state, ...starting]);
      return url!;
    },
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
