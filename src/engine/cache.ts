// A small cache of values that take long to make. Callers that wait for the same value share it; it is abandoned when
// all of them have left.
import { LRUCache } from "lru-cache";

interface Cache<T> {
  /**
   * The cached value of `key`, or the result of `make`. Rejects with the signal's reason when it is aborted; the signal
   * passed to `make` is aborted when every caller has left. A value that could not be made is not cached.
   */
  get(key: string, make: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface Making<T> {
  readonly value: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/** Keeps the `size` most recently used values. */
export function createCache<T extends object | string>(size: number): Cache<T> {
  const made = new LRUCache<string, T>({ max: size });
  const making = new Map<string, Making<T>>();

  const start = (key: string, make: (signal: AbortSignal) => Promise<T>): Making<T> => {
    const controller = new AbortController();
    const entry: Making<T> = { value: make(controller.signal), controller, waiting: 0 };
    making.set(key, entry);
    entry.value.then(
      (value) => {
        made.set(key, value);
        forget(key, entry);
      },
      () => forget(key, entry),
    );
    return entry;
  };
  const forget = (key: string, entry: Making<T>): boolean => making.get(key) === entry && making.delete(key);

  return {
    async get(key, make, signal) {
      signal.throwIfAborted();
      const known = made.get(key);
      if (known !== undefined) return known;
      const entry = making.get(key) ?? start(key, make);
      entry.waiting++;
      try {
        return await orAborted(entry.value, signal);
      } finally {
        entry.waiting--;
        if (entry.waiting === 0 && forget(key, entry)) entry.controller.abort(signal.reason);
      }
    },
  };
}

/** What `promise` resolves to, unless the signal is aborted first: then it rejects with the signal's reason. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort: () => void;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort!);
  }
}
