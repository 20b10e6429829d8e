// Work on many items that is begun before its results are needed.

/** Yields each item with its result, in their order, while up to `most` of the following ones are worked on. */
export async function* ahead<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<readonly [T, R]> {
  const begun: Promise<R>[] = [];
  try {
    for (const [i, item] of items.entries()) {
      while (begun.length < items.length && begun.length <= i + most) {
        const result = work(items[begun.length]!);
        result.catch(() => undefined); // handled when its turn comes
        begun.push(result);
      }
      yield [item, await begun[i]!];
    }
  } finally {
    await Promise.allSettled(begun);
  }
}
