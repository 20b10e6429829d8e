// Whether a process that reports nothing hangs, or only waits for the processor or a disk.
import { readFileSync } from "node:fs";

/** What the system says of a process. Times are processor time in milliseconds. */
export interface Signs {
  /** Of the main thread, which runs the event loop. */
  readonly main: number;
  /** Of all threads. */
  readonly all: number;
  /** Whether the main thread could run, or waits for a disk: what it lacks is not up to it. */
  readonly waits: boolean;
}

interface Limit {
  /** Looks, a second apart, without progress; and seconds of processor time without a report. */
  readonly seconds: number;
  /** The threads whose processor time is progress. */
  readonly progress: "main" | "all";
}

/** A process reports every second once it has started; until then, other threads may work for it. */
export const LIMITS = {
  starting: { seconds: 60, progress: "all" },
  started: { seconds: 10, progress: "main" },
  /** The process that watches the inbox: when it counts as not running, and when it is killed. */
  importing: { seconds: 10, progress: "all" },
  hungImport: { seconds: 60, progress: "all" },
} as const satisfies Record<string, Limit>;

export type Verdict =
  | "lives"
  /** It has been silent for twice its limit, but makes progress or may not run. Given once. */
  | "starved"
  /** It does not run, or runs without returning to its event loop. */
  | "hangs";

export interface Silence {
  /** The process has reported something. */
  end(): void;
  /** To be called every second, with the signs of the process. */
  look(limit: Limit, signs: Signs | null): Verdict;
  /** Looks since the last report. */
  seconds(): number;
}

/**
 * Counts looks, not time: if the whole machine was suspended or this process is starved itself, the other one is not at
 * fault. Where the system gives no signs, silence alone counts.
 */
export function createSilence(): Silence {
  let silent = 0;
  let still = 0;
  let first: Signs | null = null;
  let last: Signs | null = null;

  return {
    end() {
      [silent, still] = [0, 0];
      [first, last] = [null, null];
    },
    look({ seconds, progress }, signs) {
      silent++;
      if (signs && last && signs[progress] > last[progress]) still = 0;
      else if (!signs?.waits) still++;
      first ??= signs;
      last = signs;
      const used = signs && first ? signs.main - first.main : 0;
      if (still >= seconds || used >= 1000 * seconds) return "hangs";
      return silent === 2 * seconds ? "starved" : "lives";
    },
    seconds: () => silent,
  };
}

/** Linux counts processor time for users in hundredths of a second. */
const TICK = 10;

/** The signs of a process of this user; null if it has ended or the system has no `/proc`. */
export function signsOf(pid: number): Signs | null {
  try {
    const main = readTimes(`/proc/${pid}/task/${pid}/stat`);
    return { main: main.used, all: readTimes(`/proc/${pid}/stat`).used, waits: /[RD]/.test(main.state) };
  } catch {
    return null;
  }
}

/** Fields 3, 14 and 15 of proc_pid_stat(5). The name in field 2 may hold blanks and brackets. */
function readTimes(path: string): { readonly state: string; readonly used: number } {
  const text = readFileSync(path, "latin1");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0]!, used: TICK * (Number(fields[11]) + Number(fields[12])) };
}
