// Admission: so many at once, so many in the queue, the rest is told to come back. What is wide gets half of each.
import { Problem } from "../errors.js";
import type { Width } from "../query/statement.js";

export interface GateLoad {
  readonly inside: number;
  readonly waiting: number;
}

export interface Gate {
  /** Waits for a place; resolves to the function that gives it back. Rejects with `full` where the queue is full. */
  enter(signal: AbortSignal, width: Width): Promise<() => void>;
  /** Does a job in a place of its own. */
  run<T>(job: () => Promise<T>, signal: AbortSignal, width: Width): Promise<T>;
  /** Resolves when nobody is inside. */
  empty(): Promise<void>;
  load(): GateLoad;
}

interface Waiter {
  readonly width: Width;
  readonly admit: () => void;
}

const tooManyQueries = (): Problem => new Problem("overloaded", "too many queries are waiting", { retryAfter: 1 });

/** `full` is what those are told who find the queue full. Of one place alone, what is wide may have it. */
export function createGate(places: number, queueLength: number, full: () => Problem = tooManyQueries): Gate {
  const most: Record<Width, number> = { small: places, wide: Math.max(1, Math.floor(places / 2)) };
  const mostWaiting: Record<Width, number> = { small: queueLength, wide: Math.ceil(queueLength / 2) };
  const inside: Record<Width, number> = { small: 0, wide: 0 };
  const queue: Waiter[] = [];
  const onEmpty: (() => void)[] = [];

  const all = (): number => inside.small + inside.wide;
  const hasRoom = (width: Width): boolean => all() < places && inside[width] < most[width];
  const waiting = (width: Width): number =>
    width === "small" ? queue.length : queue.reduce((sum, waiter) => sum + Number(waiter.width === width), 0);

  const takePlace = (width: Width): (() => void) => {
    inside[width]++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside[width]--;
      const next = queue.findIndex((waiter) => hasRoom(waiter.width));
      if (next >= 0) queue.splice(next, 1)[0]!.admit();
      else if (all() === 0) for (const resolve of onEmpty.splice(0)) resolve();
    };
  };

  async function enter(signal: AbortSignal, width: Width): Promise<() => void> {
    signal.throwIfAborted();
    if (hasRoom(width)) return takePlace(width);
    if (waiting(width) >= mostWaiting[width]) throw full();
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        width,
        admit: () => {
          signal.removeEventListener("abort", abort);
          resolve(takePlace(width));
        },
      };
      queue.push(waiter);
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  return {
    enter,
    async run(job, signal, width) {
      const leave = await enter(signal, width);
      try {
        return await job();
      } finally {
        leave();
      }
    },
    async empty() {
      if (all() > 0) await new Promise<void>((resolve) => onEmpty.push(resolve));
    },
    load: () => ({ inside: all(), waiting: queue.length }),
  };
}
