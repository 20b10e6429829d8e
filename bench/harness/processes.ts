// Memory and processor time of running processes, from /proc.
import { readFileSync } from "node:fs";

export interface Memory {
  /** Bytes of all pages that the processes have; a shared page counts in each of them. */
  readonly resident: number;
  /**
   * The same, but a page that n processes share counts as 1/n in each of them. The program itself is also shared with
   * other servers and with this process.
   */
  readonly proportional: number;
}

/** A process and its children: a server may run in a child process of its command. */
export function processTree(pid: number): number[] {
  const children = procFile(pid, `task/${pid}/children`).trim().split(" ").filter(Boolean);
  return [pid, ...children.flatMap((child) => processTree(Number(child)))];
}

/** The sum of the peak resident memory of each, in bytes. */
export const peakOf = (pids: readonly number[]): number =>
  sumOf(pids, (pid) => bytesIn(procFile(pid, "status"), "VmHWM"));

/** What they use now. */
export function memoryOf(pids: readonly number[]): Memory {
  const rollups = pids.map((pid) => procFile(pid, "smaps_rollup"));
  return {
    resident: sumOf(rollups, (text) => bytesIn(text, "Rss")),
    proportional: sumOf(rollups, (text) => bytesIn(text, "Pss")),
  };
}

/** Seconds, in the program and in the kernel. The kernel counts in hundredths of a second. */
export const processorTimeOf = (pids: readonly number[]): number =>
  sumOf(pids, (pid) => {
    const fields = procFile(pid, "stat").split(") ").at(-1)!.split(" ");
    return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
  });

const sumOf = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0);

const bytesIn = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0) * 1024;

/** A file of a process; empty if the process has ended. */
function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
