// Whether the data directory that is watched is there, and still the one that it was.
import { setTimeout as sleep } from "node:timers/promises";
import { UnavailableError } from "../lake/continuity.js";
import { openLake, type Lake } from "../lake/lake.js";
import type { WriteOptions } from "../store/session.js";

/** How often to look for a data directory that is missing, in milliseconds. */
export const RETRY_AFTER = 500;

/** Looks whether the directory is what it was: nothing is read of another one, or written to it. Tells when this changes. */
export function watchDataDirectory(lake: Lake, log: (line: string) => void): () => Promise<boolean> {
  let reported: string | null = null;
  return async () => {
    const fault = await lake.refresh().then(
      () => null,
      (error: unknown) => error,
    );
    const [absent] = lake.faults().absent;
    const isAbsent = absent === undefined ? null : `the folder lake/${absent} is missing`;
    const found = fault instanceof UnavailableError ? fault.message : isAbsent;
    if (found !== reported) log(found === null ? "watching the inbox again" : `not watching the inbox: ${found}`);
    reported = found;
    return found === null;
  };
}

interface WaitOptions extends Pick<WriteOptions, "after"> {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Resolves when the directory holds the lake that was seen, or when the signal fires. */
export async function untilAvailable(root: string, { after, log, signal }: WaitOptions): Promise<void> {
  const lake = await openLake(root, { ...(after ? { after } : {}), waits: true });
  const isAvailable = watchDataDirectory(lake, log);
  while (!(await isAvailable()) && !signal.aborted) {
    await sleep(RETRY_AFTER, undefined, { signal }).catch(() => undefined);
  }
}
