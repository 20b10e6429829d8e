// Work that is lost to a faster writer of the same bucket begins again, after a pause, until it succeeds or time is up.
import { setTimeout as sleep } from "node:timers/promises";
import { OperatorError } from "../errors.js";

/** What an attempt throws if another writer was faster. Nothing was changed. */
export class LostRaceError extends OperatorError {
  constructor(message = LOST_RACE) {
    super(message);
    this.name = "LostRaceError";
  }
}

export const LOST_RACE = "another writer published at the same time; nothing was changed, try again";

/** In milliseconds. A pause is random, so that writers that lost together do not meet again, up to a limit that doubles. */
const FIRST_PAUSE = 25;
const LONGEST_PAUSE = 2_000;

/** As long as a writer waits for the lock of another one on the same machine. In milliseconds. */
const PATIENCE = 600_000;

/** Work that takes longer than that by itself is tried this often nevertheless. */
const FEWEST_TRIES = 5;

export interface Timing {
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** From 0 to less than 1. */
  readonly random: () => number;
  readonly pause: (milliseconds: number) => Promise<unknown>;
}

const REAL: Timing = { clock: () => performance.now(), random: Math.random, pause: (ms) => sleep(ms) };

/**
 * Runs `attempt` again while it throws LostRaceError. After 10 minutes, and at least five tries, throws an OperatorError
 * that says what others keep changing (`what`, in words).
 */
export async function untilWon<T>(what: string, attempt: () => Promise<T>, timing: Timing = REAL): Promise<T> {
  const deadline = timing.clock() + PATIENCE;
  for (let [tries, longest] = [1, FIRST_PAUSE]; ; tries++, longest = Math.min(2 * longest, LONGEST_PAUSE)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LostRaceError)) throw error;
      if (tries >= FEWEST_TRIES && timing.clock() > deadline) throw new OperatorError(givenUp(what, tries));
    }
    await timing.pause(timing.random() * longest);
  }
}

const givenUp = (what: string, tries: number): string =>
  `other writers keep changing ${what}: each of ${tries} tries came too late, and nothing was changed; stop the others, ` +
  `such as tapehouse serve without --no-watch on another machine, or try again when they have less to do`;
