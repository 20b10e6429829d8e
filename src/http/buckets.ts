// Counting by key in constant memory: each key may take so many in a window, which refills evenly.

export interface Taken {
  readonly allowed: boolean;
  /** What is left, whole ones. */
  readonly remaining: number;
  /** Seconds until everything may be taken again. */
  readonly reset: number;
  /** Seconds until one may be taken; 0 where one may be now. */
  readonly retryAfter: number;
}

export interface Buckets {
  /** Takes one. `at` is a time in milliseconds that never goes back. */
  take(key: string, at: number): Taken;
  /** Whether one could be taken. */
  hasAny(key: string, at: number): boolean;
}

interface Bucket {
  left: number;
  at: number;
}

/** `window` in milliseconds. The `kept` keys that took last are remembered. */
export function createBuckets(quota: number, window: number, kept: number): Buckets {
  const buckets = new Map<string, Bucket>();
  const perMs = quota / window;
  const leftOf = (bucket: Bucket | undefined, at: number): number =>
    bucket ? Math.min(quota, bucket.left + (at - bucket.at) * perMs) : quota;
  const seconds = (missing: number): number => Math.max(0, Math.ceil(missing / perMs / 1000));

  return {
    hasAny: (key, at) => leftOf(buckets.get(key), at) >= 1,
    take(key, at) {
      const found = leftOf(buckets.get(key), at);
      const allowed = found >= 1;
      const left = allowed ? found - 1 : found;
      buckets.delete(key);
      buckets.set(key, { left, at });
      if (buckets.size > kept) buckets.delete(buckets.keys().next().value!);
      return { allowed, remaining: Math.floor(left), reset: seconds(quota - left), retryAfter: seconds(1 - left) };
    },
  };
}
