// Work on many items that is begun before its results are needed.

/**
 * Yields each item with its result, in their order, while up to `most` of the following ones are worked on. A result that
 * was not yielded is passed to `drop`.
 */
export async function* ahead<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
  drop: (result: R) => void = () => undefined,
): AsyncGenerator<readonly [T, R], void, undefined> {
  const begun: Promise<R>[] = [];
  let next = 0;
  try {
    for (const item of items) {
      for (; next < items.length && begun.length <= most; next++) {
        const result = work(items[next]!);
        result.catch(() => undefined); // handled when its turn comes
        begun.push(result);
      }
      const result = await begun[0]!;
      void begun.shift();
      yield [item, result];
    }
  } finally {
    for (const one of await Promise.allSettled(begun)) if (one.status === "fulfilled") drop(one.value);
  }
}
