// The worker pool: a fixed number of workers. One that dies is replaced, all are replaced on demand, and all end together.
import { setTimeout as sleep } from "node:timers/promises";
import { OperatorError } from "../errors.js";
import type { Log } from "../http/observe.js";
import type { Worker } from "./worker-process.js";

interface WorkerPool {
  /** Resolves to the URL when every worker accepts connections. Rejects where one cannot start. */
  start(): Promise<string>;
  /** Puts a new worker in the place of each, one after another; the old one goes when the new one serves. */
  reload(): Promise<void>;
  /** Ends all; answers under way get `within` milliseconds. */
  stop(within: number): Promise<void>;
  /** Ends all at once. */
  kill(): void;
  /** All that live: those that start or retire as well. */
  workers(): readonly Worker[];
  /** Rejects when no worker serves and new ones die again and again. */
  readonly hopeless: Promise<never>;
}

interface Place {
  serving: Worker | null;
  coming: boolean;
  /** Deaths in a row of workers that had not lived for long. */
  earlyDeaths: number;
}

/** A worker that lived for so long was not broken from the start. Milliseconds. */
const LONG = 10_000;
const EARLY_DEATHS_AT_MOST = 6;

/** Milliseconds to wait before a worker is replaced: the first time none, then longer each time. */
const waitAfter = (earlyDeaths: number): number =>
  earlyDeaths < 2 ? 0 : Math.min(10_000, 250 * 2 ** (earlyDeaths - 2));

/** Besides the grace, a worker may need so long to close what it has open, in milliseconds. Then it is killed. */
const CLOSE_WITHIN = 5_000;

/** `startWorker` is told whether the worker waits for a lake that is out of reach. */
export function createWorkerPool(size: number, startWorker: (waits: boolean) => Worker, log: Log): WorkerPool {
  const places = Array.from({ length: size }, (): Place => ({ serving: null, coming: false, earlyDeaths: 0 }));
  const living = new Set<Worker>();
  const stopping = new AbortController();
  let giveUp: (error: OperatorError) => void;
  const hopeless = new Promise<never>((_, reject) => (giveUp = reject));
  hopeless.catch(() => undefined);

  /** Puts a new worker in the place; the one that is there retires. Rejects where the new one cannot start. */
  async function fill(place: Place): Promise<string> {
    const began = performance.now();
    place.coming = true;
    // Where one serves, that one goes on until the new one can.
    const worker = startWorker(place.serving === null);
    living.add(worker);
    void worker.ended.then((how) => {
      living.delete(worker);
      if (place.serving !== worker) return;
      place.serving = null;
      place.earlyDeaths = performance.now() - began < LONG ? place.earlyDeaths + 1 : 0;
      if (stopping.signal.aborted) return;
      log.error({ worker: worker.pid, how }, "a worker died with its requests; another one takes its place");
      if (!place.coming) void refill(place);
    });
    try {
      const url = await worker.ready;
      place.serving?.give({ order: "retire" });
      place.serving = worker;
      return url;
    } finally {
      place.coming = false;
    }
  }

  /** Tries until a worker serves in the place. */
  async function refill(place: Place): Promise<void> {
    while (!place.serving && !stopping.signal.aborted) {
      if (places.every(({ serving, earlyDeaths }) => !serving && earlyDeaths >= EARLY_DEATHS_AT_MOST)) {
        giveUp(new OperatorError("workers die as soon as they start; giving up"));
        return;
      }
      await sleep(waitAfter(place.earlyDeaths), undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      await fill(place).catch((error: unknown) => {
        place.earlyDeaths++;
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
    workers: () => [...living],
    start: async () => (await Promise.all(places.map(fill)))[0]!,
    async reload() {
      for (const place of places) {
        // An empty place gets a new worker anyway.
        if (!place.serving || stopping.signal.aborted) continue;
        try {
          await fill(place);
        } catch (error) {
          log.error({ how: (error as Error).message }, "a new worker could not start, so the old ones go on");
          void refill(place);
          return;
        }
      }
    },
    async stop(within) {
      stopping.abort();
      for (const worker of living) worker.give({ order: "stop", within });
      const killing = setTimeout(kill, within + CLOSE_WITHIN);
      await Promise.all([...living].map(({ ended }) => ended));
      clearTimeout(killing);
    },
    kill,
  };
}
