// Retries after failures that are not a file's fault, with growing delays, while everything else continues.
import { EngineError, NoSpaceError, reasonOf } from "../errors.js";
import { clip } from "../words.js";

/** Delays before a retry, in milliseconds. */
const FIRST_RETRY = 1_000;
const LONGEST_RETRY = 60_000;
/** Characters of an error in the log. */
const LONGEST_REASON = 2_000;

interface Retries {
  isWaiting(name: string): boolean;
  /** Runs `work`. If it fails, logs the error and makes `name` wait, longer each time. */
  guard<T>(name: string, what: string, work: () => Promise<T>): Promise<T | undefined>;
}

/** For failures such as a full disk, a damaged lake, or another writer at work. */
export function createRetries(clock: () => number, log: (line: string) => void): Retries {
  const waits = new Map<string, { readonly until: number; readonly delay: number }>();
  return {
    isWaiting: (name) => (waits.get(name)?.until ?? -Infinity) > clock(),
    async guard(name, what, work) {
      try {
        const result = await work();
        waits.delete(name);
        return result;
      } catch (error) {
        const delay = Math.min(LONGEST_RETRY, (waits.get(name)?.delay ?? FIRST_RETRY / 2) * 2);
        waits.set(name, { until: clock() + delay, delay });
        log(`${what}: ${clip(reasonOf(error), LONGEST_REASON)}; next try in ${delay / 1000} s`);
        return undefined;
      }
    },
  };
}

/** Whether the work needed more memory or disk than there is. */
export const isExcess = (error: unknown): boolean => error instanceof EngineError || error instanceof NoSpaceError;

const OPTIONS = { memory: "--ingest-memory", disk: "--ingest-spill" } as const;

/** Why a file is refused that needs too much by itself. */
export function excessReason(error: unknown): string {
  const lack = error instanceof EngineError ? error.lack : null;
  if (lack === null) return `it needs more than there is: ${reasonOf(error)}`;
  return `it needs more ${lack} than ${OPTIONS[lack]} allows: split it, or allow more and drop it again`;
}
