// What this process may use of the machine: control groups (of a container or a service) and `ulimit` may allow less
// than there is. And how it leaves the processor to others.
import { readFileSync, readdirSync } from "node:fs";
import { availableParallelism, getPriority, setPriority, totalmem } from "node:os";
import { join } from "node:path";

export interface Machine {
  /** Processor cores, at least 1. */
  readonly cores: number;
  /** Bytes. */
  readonly memory: number;
  /** Bytes of address space that each process may reserve; Infinity without a limit. */
  readonly addresses: number;
}

/** Processes and threads, which the system counts alike. */
export interface Tasks {
  readonly allowed: number;
  /** By others than this process. */
  readonly used: number;
  /** What sets the limit, and how to raise it. */
  readonly limit: string;
  readonly way: string;
}

/** `root` holds the folders `proc` and `sys` of the system. */
export function machineAt(root = "/"): Machine {
  const ours = groups(root);
  const quotas = ours.flatMap((group) => quotaOf(group("cpu")));
  const sizes = ours.flatMap((group) => numberIn(group("memory"), ["memory.max", "memory.limit_in_bytes"]));
  return {
    cores: Math.max(1, Math.ceil(Math.min(availableParallelism(), ...quotas))),
    memory: Math.min(totalmem(), ...sizes),
    addresses: limitOf(root, "Max address space"),
  };
}

/** The limit of tasks that leaves the fewest; null if there is none. */
export function tasksAt(root = "/"): Tasks | null {
  const own = Number(/^Threads:\s*(\d+)/m.exec(readOr(join(root, "proc/self/status"), ""))?.[1] ?? 0);
  const found = [
    ...groups(root).flatMap((group): Tasks[] => {
      const [allowed] = numberIn(group("pids"), ["pids.max"]);
      const [used] = numberIn(group("pids"), ["pids.current"]);
      const way = "raise --pids-limit of the container or TasksMax of the service";
      return allowed === undefined || used === undefined ? [] : [{ allowed, used, limit: "the control group", way }];
    }),
    ...userTasks(root),
  ];
  const [least] = found.sort((a, b) => a.allowed - a.used - (b.allowed - b.used));
  return least === undefined ? null : { ...least, used: Math.max(0, least.used - own) };
}

/** The folder of a controller in a control group. */
type Group = (controller: string) => string;

/**
 * Gives this process at least this nice value. On Linux each thread has its own; threads take that of the one which starts
 * them.
 */
export function lowerPriority(least: number): void {
  // Only the system administrator may lower it again.
  const nice = Math.max(least, getPriority());
  setPriority(nice);
  for (const thread of foldersIn("/proc/self/task")) {
    try {
      setPriority(Number(thread), nice);
    } catch {
      // It has ended.
    }
  }
}

/** The control groups of this process and those above them, of both versions. A missing folder limits nothing. */
function groups(root: string): readonly Group[] {
  const lines = readOr(join(root, "proc/self/cgroup"), "").split("\n").filter(Boolean);
  return lines.flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [, "", "/"];
    const above = (path ?? "/").split("/").filter(Boolean);
    const paths = [...above.map((_, i) => above.slice(0, i + 1).join("/")), ""];
    const owned = (controllers ?? "").split(",");
    return paths.map((folder): Group => {
      if (controllers === "") return () => join(root, "sys/fs/cgroup", folder);
      return (controller) => join(root, "sys/fs/cgroup", owned.includes(controller) ? controller : "none", folder);
    });
  });
}

/** Cores that a control group may use at a time. */
function quotaOf(folder: string): readonly number[] {
  const [quota, period] = readOr(join(folder, "cpu.max"), "max").split(" ").map(Number);
  if (quota && period) return [quota / period];
  const [old] = numberIn(folder, ["cpu.cfs_quota_us"]);
  const [per] = numberIn(folder, ["cpu.cfs_period_us"]);
  return old && per && old > 0 ? [old / per] : [];
}

/** The number in the first of these files that has one: `max` is none. */
function numberIn(folder: string, names: readonly string[]): readonly number[] {
  return names.flatMap((name) => /^-?\d+$/.exec(readOr(join(folder, name), "").trim()) ?? []).map(Number);
}

/** `ulimit -u` counts the tasks of a user on the whole machine. It does not bind those who may exceed limits. */
function userTasks(root: string): readonly Tasks[] {
  const allowed = limitOf(root, "Max processes");
  const own = readOr(join(root, "proc/self/status"), "");
  const capabilities = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)/m.exec(own)?.[1] ?? "0"}`);
  if (allowed === Infinity || (capabilities & MAY_EXCEED) !== 0n) return [];
  const user = userIn(own);
  const statuses = readdirSync(join(root, "proc"))
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readOr(join(root, "proc", name, "status"), ""));
  const used = statuses
    .filter((status) => userIn(status) === user)
    .reduce((sum, status) => sum + Number(/^Threads:\s*(\d+)/m.exec(status)?.[1] ?? 0), 0);
  return [{ allowed, used, limit: "ulimit -u", way: "raise it with ulimit -u" }];
}

/** What `ulimit` sets; Infinity without a limit. */
function limitOf(root: string, name: string): number {
  const [, limit] = new RegExp(`^${name} +(\\d+)`, "m").exec(readOr(join(root, "proc/self/limits"), "")) ?? [];
  return Number(limit ?? Infinity);
}

/** CAP_SYS_ADMIN and CAP_SYS_RESOURCE. */
const MAY_EXCEED = (1n << 21n) | (1n << 24n);

const userIn = (status: string): string | undefined => /^Uid:\s*(\d+)/m.exec(status)?.[1];

function foldersIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return otherwise;
  }
}
