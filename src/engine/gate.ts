// Admission: so many at once, so many in the queue, the rest is told to come back.
import { Problem } from "../errors.js";

export interface GateLoad {
  readonly inside: number;
  readonly waiting: number;
}

export interface Gate {
  /** Waits for a place; resolves to the function that gives it back. Rejects with `full` where the queue is full. */
  enter(signal: AbortSignal): Promise<() => void>;
  /** Does a job in a place of its own. */
  run<T>(job: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Resolves when nobody is inside. */
  empty(): Promise<void>;
  load(): GateLoad;
}

interface Waiter {
  readonly admit: () => void;
  readonly signal: AbortSignal;
}

const tooManyQueries = (): Problem => new Problem("overloaded", "too many queries are waiting", { retryAfter: 1 });

/** `full` is what those are told who find the queue full. */
export function createGate(places: number, queueLength: number, full: () => Problem = tooManyQueries): Gate {
  let inside = 0;
  const queue: Waiter[] = [];
  const onEmpty: (() => void)[] = [];

  const leaveOnce = (): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside--;
      const next = queue.shift();
      if (next) next.admit();
      else if (inside === 0) for (const resolve of onEmpty.splice(0)) resolve();
    };
  };

  async function enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (inside < places) {
      inside++;
      return leaveOnce();
    }
    if (queue.length >= queueLength) throw full();
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        signal,
        admit: () => {
          signal.removeEventListener("abort", abort);
          inside++;
          resolve(leaveOnce());
        },
      };
      queue.push(waiter);
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  return {
    enter,
    async run(job, signal) {
      const leave = await enter(signal);
      try {
        return await job();
      } finally {
        leave();
      }
    },
    async empty() {
      if (inside > 0) await new Promise<void>((resolve) => onEmpty.push(resolve));
    },
    load: () => ({ inside, waiting: queue.length }),
  };
}
