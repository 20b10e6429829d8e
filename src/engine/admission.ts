// Admission control: a bounded number of jobs runs, a bounded number waits, the rest is refused. Heavy jobs get at most
// half of each.
import { Problem } from "../errors.js";
import type { Cost } from "../query/scan.js";

export interface Load {
  readonly active: number;
  readonly waiting: number;
}

export interface Admission {
  /** Waits for a slot; resolves to the function that releases it. Rejects with `full` if the queue is full. */
  admit(signal: AbortSignal, cost: Cost): Promise<() => void>;
  /** Runs a job in a slot of its own. */
  run<T>(job: () => Promise<T>, signal: AbortSignal, cost: Cost): Promise<T>;
  /** Resolves when no slot is taken. */
  empty(): Promise<void>;
  load(): Load;
}

interface Waiter {
  readonly cost: Cost;
  readonly enter: () => void;
}

const tooManyQueries = (): Problem => new Problem("overloaded", "too many queries are waiting", { retryAfter: 1 });

/** `full` creates the problem for callers that find the queue full. A heavy read may take the only slot. */
export function createAdmission(slots: number, queueLength: number, full: () => Problem = tooManyQueries): Admission {
  const most: Record<Cost, number> = { light: slots, heavy: Math.max(1, Math.floor(slots / 2)) };
  const mostWaiting: Record<Cost, number> = { light: queueLength, heavy: Math.ceil(queueLength / 2) };
  const active: Record<Cost, number> = { light: 0, heavy: 0 };
  const queue: Waiter[] = [];
  const onEmpty: (() => void)[] = [];

  const allActive = (): number => active.light + active.heavy;
  const hasFreeSlot = (cost: Cost): boolean => allActive() < slots && active[cost] < most[cost];
  const waiting = (cost: Cost): number =>
    cost === "light" ? queue.length : queue.reduce((sum, waiter) => sum + Number(waiter.cost === cost), 0);

  const takeSlot = (cost: Cost): (() => void) => {
    active[cost]++;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      active[cost]--;
      const next = queue.findIndex((waiter) => hasFreeSlot(waiter.cost));
      if (next >= 0) queue.splice(next, 1)[0]!.enter();
      else if (allActive() === 0) for (const resolve of onEmpty.splice(0)) resolve();
    };
  };

  async function admit(signal: AbortSignal, cost: Cost): Promise<() => void> {
    signal.throwIfAborted();
    if (hasFreeSlot(cost)) return takeSlot(cost);
    if (waiting(cost) >= mostWaiting[cost]) throw full();
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        cost,
        enter: () => {
          signal.removeEventListener("abort", abort);
          resolve(takeSlot(cost));
        },
      };
      queue.push(waiter);
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  return {
    admit,
    async run(job, signal, cost) {
      const release = await admit(signal, cost);
      try {
        return await job();
      } finally {
        release();
      }
    },
    async empty() {
      if (allActive() > 0) await new Promise<void>((resolve) => onEmpty.push(resolve));
    },
    load: () => ({ active: allActive(), waiting: queue.length }),
  };
}
