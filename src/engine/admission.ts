// Admission control: some at once, some in the queue, the rest is refused for now. What is heavy gets half of each.
import { Problem } from "../errors.js";
import type { Cost } from "../query/scan.js";

export interface Load {
  readonly inside: number;
  readonly waiting: number;
}

export interface Admission {
  /** Waits for a slot; resolves to the function that releases it. Rejects with `full` where the queue is full. */
  admit(signal: AbortSignal, cost: Cost): Promise<() => void>;
  /** Does a job in a slot of its own. */
  run<T>(job: () => Promise<T>, signal: AbortSignal, cost: Cost): Promise<T>;
  /** Resolves when nobody is inside. */
  empty(): Promise<void>;
  load(): Load;
}

interface Waiter {
  readonly cost: Cost;
  readonly enter: () => void;
}

const tooManyQueries = (): Problem => new Problem("overloaded", "too many queries are waiting", { retryAfter: 1 });

/** `full` is the problem of those who find the queue full. A heavy read may have the only slot. */
export function createAdmission(slots: number, queueLength: number, full: () => Problem = tooManyQueries): Admission {
  const most: Record<Cost, number> = { light: slots, heavy: Math.max(1, Math.floor(slots / 2)) };
  const mostWaiting: Record<Cost, number> = { light: queueLength, heavy: Math.ceil(queueLength / 2) };
  const inside: Record<Cost, number> = { light: 0, heavy: 0 };
  const queue: Waiter[] = [];
  const onEmpty: (() => void)[] = [];

  const all = (): number => inside.light + inside.heavy;
  const hasRoom = (cost: Cost): boolean => all() < slots && inside[cost] < most[cost];
  const waiting = (cost: Cost): number =>
    cost === "light" ? queue.length : queue.reduce((sum, waiter) => sum + Number(waiter.cost === cost), 0);

  const takeSlot = (cost: Cost): (() => void) => {
    inside[cost]++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside[cost]--;
      const next = queue.findIndex((waiter) => hasRoom(waiter.cost));
      if (next >= 0) queue.splice(next, 1)[0]!.enter();
      else if (all() === 0) for (const resolve of onEmpty.splice(0)) resolve();
    };
  };

  async function admit(signal: AbortSignal, cost: Cost): Promise<() => void> {
    signal.throwIfAborted();
    if (hasRoom(cost)) return takeSlot(cost);
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
      if (all() > 0) await new Promise<void>((resolve) => onEmpty.push(resolve));
    },
    load: () => ({ inside: all(), waiting: queue.length }),
  };
}
