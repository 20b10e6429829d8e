// A small cache of what takes long to make: made once for all who wait for it, given up when nobody waits any more.

export interface Cache<T> {
  /**
   * The value of `key`, made by `make` where it is not there. Rejects with the signal's reason when it is aborted; the
   * signal that `make` gets is aborted when all who wait have left. A value that could not be made is not kept.
   */
  get(key: string, make: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface Entry<T> {
  readonly value: Promise<T>;
  readonly controller: AbortController;
  made: boolean;
  waiting: number;
}

/** Keeps the `size` values that were asked for last. */
export function createCache<T>(size: number): Cache<T> {
  const entries = new Map<string, Entry<T>>();

  const start = (key: string, make: (signal: AbortSignal) => Promise<T>): Entry<T> => {
    const controller = new AbortController();
    const entry: Entry<T> = { value: make(controller.signal), controller, made: false, waiting: 0 };
    entry.value.then(
      () => (entry.made = true),
      () => forget(key, entry),
    );
    return entry;
  };
  const forget = (key: string, entry: Entry<T>): void => {
    if (entries.get(key) === entry) entries.delete(key);
  };

  return {
    async get(key, make, signal) {
      signal.throwIfAborted();
      const entry = entries.get(key) ?? start(key, make);
      entries.delete(key);
      entries.set(key, entry);
      if (entries.size > size) entries.delete(entries.keys().next().value!);
      if (entry.made) return entry.value;
      entry.waiting++;
      try {
        return await orAborted(entry.value, signal);
      } finally {
        entry.waiting--;
        if (entry.waiting === 0 && !entry.made) {
          forget(key, entry);
          entry.controller.abort(signal.reason);
        }
      }
    },
  };
}

/** What `promise` resolves to, or the signal's reason where that comes first. */
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
