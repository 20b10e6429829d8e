// Prepares the data directory of a watched inbox, and checks that it is available and still holds the same lake.
import { access, constants, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ENTITY_NAMES } from "../catalog/index.js";
import { OperatorError } from "../errors.js";
import { describeRefusal } from "../files.js";
import { UnavailableError } from "../lake/continuity.js";
import { openLake, type Lake } from "../lake/lake.js";
import type { Layout } from "../lake/layout.js";
import type { WriteOptions } from "../store/session.js";

/** Creates `inbox` with a folder for each entity. Throws OperatorError if the data directory cannot be written. */
export async function makeInbox(layout: Layout): Promise<void> {
  try {
    for (const name of ENTITY_NAMES) await mkdir(join(layout.inbox, name), { recursive: true });
    await mkdir(layout.state, { recursive: true });
    await access(layout.state, constants.W_OK);
  } catch (error) {
    const refusal = describeRefusal(error);
    if (refusal !== undefined) throw new OperatorError(refusal);
    throw new OperatorError(`${layout.root} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}

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
