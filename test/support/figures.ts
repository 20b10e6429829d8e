// Memory and open files of running processes, as the system reports them.
import { readdirSync, readFileSync } from "node:fs";

const statusOf = (pid: number, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);

/** Resident bytes; 0 if the process has ended. */
export const memoryOf = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + orZero(() => statusOf(pid, "VmRSS") * 1024), 0);

export const openFilesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

export const threadsOf = (pid: number): number => statusOf(pid, "Threads");

function orZero(read: () => number): number {
  try {
    return read();
  } catch {
    return 0;
  }
}

/** The middle one. */
export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
