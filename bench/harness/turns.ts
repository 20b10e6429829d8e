// Fair order of runs, and robust statistics.

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)]!;

export const round = (value: number, decimals = 0): number => Number(value.toFixed(decimals));

/**
 * Runs each contender `tries` times in turn (A B A B …) after one warm-up, so that changes of the machine affect all of
 * them.
 */
export async function inTurn<K extends string, T>(
  contenders: Readonly<Record<K, () => Promise<T>>>,
  tries: number,
): Promise<Record<K, T[]>> {
  const entries = Object.entries(contenders) as [K, () => Promise<T>][];
  for (const [, run] of entries) await run();
  const results = Object.fromEntries(entries.map(([name]) => [name, []])) as unknown as Record<K, T[]>;
  for (let i = 0; i < tries; i++) {
    for (const [name, run] of entries) results[name].push(await run());
  }
  return results;
}
