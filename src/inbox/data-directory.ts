// Checks that the data directory of a watched inbox is available and still holds the same lake.
import { setTimeout as sleep } from "node:timers/promises";
import { UnavailableError } from "../lake/continuity.js";
import { openLake, type Lake } from "../lake/lake.js";
import type { WriteOptions } from "../store/session.js";

/** How often to look for a missing data directory, in milliseconds. */
export const RETRY_AFTER = 500;

/**
 * Returns a function that checks whether the directory is available and holds the same lake, and logs each change. While
 * it resolves to false, the directory must be neither read nor written.
 */
export function watchDataDirectory(lake: Lake, log: (line: string) => void): () => Promise<boolean> {
  let reported: string | null = null;
  return async () => {
    const fault = await lake.refresh().then(
      () => null,
      (error: unknown) => error,
    );
    const [absent] = lake.faults().absent;
    const missing = absent === undefined ? null : `the folder lake/${absent} is missing`;
    const problem = fault instanceof UnavailableError ? fault.message : missing;
    if (problem !== reported) log(problem === null ? "watching the inbox again" : `not watching the inbox: ${problem}`);
    reported = problem;
    return problem === null;
  };
}

interface WaitOptions extends Pick<WriteOptions, "after"> {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Resolves when the directory holds the lake `after`, or when the signal fires. */
export async function untilAvailable(root: string, { after, log, signal }: WaitOptions): Promise<void> {
  const lake = await openLake(root, { ...(after ? { after } : {}), waits: true });
  const isAvailable = watchDataDirectory(lake, log);
  while (!(await isAvailable()) && !signal.aborted) {
    await sleep(RETRY_AFTER, undefined, { signal }).catch(() => undefined);
  }
}
