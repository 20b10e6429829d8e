// Finds items of ordered arrays by bisection: lists may have a hundred thousand files.

/** How many items pass. Items that pass come first. */
export function countUntil<T>(sorted: readonly T[], passes: (item: T) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(sorted[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** First and last main date, `YYYYMMDD`, inclusive; null for rows without one, which come after all others. */
interface Dated {
  readonly first: string | null;
  readonly last: string | null;
}

/** Positions in an array, from inclusive to exclusive. */
export type Positions = readonly [from: number, to: number];

/**
 * The date files that may have rows with a main date from `first` to `last` (`YYYYMMDD`, inclusive; null: unbounded).
 * Files without dates are among them if both are null.
 */
export function positionsWithin(byDate: readonly Dated[], first: string | null, last: string | null): Positions {
  if (first === null && last === null) return [0, byDate.length];
  const from = first === null ? 0 : countUntil(byDate, (file) => file.last !== null && file.last < first);
  const to = countUntil(byDate, (file) => file.first !== null && (last === null || file.first <= last));
  return [from, Math.max(from, to)];
}

/** The ranges that overlap none of these files. Both are in date order and disjoint. */
export const rangesWithout = <R extends readonly [string, string]>(
  ranges: readonly R[],
  files: readonly Dated[],
): readonly R[] =>
  ranges.filter(([first, last]) => {
    const [from, to] = positionsWithin(files, first, last);
    return from === to;
  });
