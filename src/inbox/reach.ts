// Whether the data directory that is watched is there, and still the one that it was.
import { setTimeout as sleep } from "node:timers/promises";
import { UnavailableError } from "../lake/continuity.js";
import { openLake, type Lake } from "../lake/lake.js";
import type { WriteOptions } from "../store/session.js";

/** How often to look for a data directory that is missing, in milliseconds. */
export const OUT_OF_REACH = 500;

/** Looks whether the directory is what it was: nothing is read of another one, or written to it. Tells when this changes. */
export function watchReach(lake: Lake, log: (line: string) => void): () => Promise<boolean> {
  let trouble: string | null = null;
  return async () => {
    const fault = await lake.refresh().then(
      () => null,
      (error: unknown) => error,
    );
    const [absent] = lake.faults().absent;
    const isAbsent = absent === undefined ? null : `the folder lake/${absent} is missing`;
    const found = fault instanceof UnavailableError ? fault.message : isAbsent;
    if (found !== trouble) log(found === null ? "watching the inbox again" : `not watching the inbox: ${found}`);
    trouble = found;
    return found === null;
  };
}

interface ReachOptions extends Pick<WriteOptions, "after"> {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Resolves when the directory holds the lake that was seen, or when the signal fires. */
export async function untilThere(root: string, { after, log, signal }: ReachOptions): Promise<void> {
  const lake = await openLake(root, { ...(after ? { after } : {}), waits: true });
  const reach = watchReach(lake, log);
  while (!(await reach()) && !signal.aborted) {
    await sleep(OUT_OF_REACH, undefined, { signal }).catch(() => undefined);
  }
}
