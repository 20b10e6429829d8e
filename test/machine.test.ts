import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { machineAt, tasksAt } from "../src/machine.js";
import { temporaryFolder } from "./support/folders.js";

/** The folders `proc` and `sys` of a system, with these files. */
async function systemWith(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await temporaryFolder();
  mkdirSync(join(root, "proc"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
  return root;
}

const WHOLE = { cores: availableParallelism(), memory: totalmem(), addresses: Infinity };
const STATUS = "Uid:\t1000\t1000\t1000\t1000\nThreads:\t7\nCapEff:\t0000000000000000";
const LIMITS = "Limit                     Soft Limit           Hard Limit           Units\nMax processes";

test("a machine without limits is used as a whole", async () => {
  const root = await systemWith({});
  expect(machineAt(root)).toEqual(WHOLE);
  expect(tasksAt(root)).toBeNull();
  const { cores, memory } = machineAt();
  expect([cores >= 1 && cores <= WHOLE.cores, memory > 0 && memory <= WHOLE.memory]).toEqual([true, true]);
});

test("a control group limits cores and memory, as do those above it", async () => {
  const root = await systemWith({
    "proc/self/cgroup": "0::/a/b",
    "sys/fs/cgroup/a/cpu.max": "50000 100000",
    "sys/fs/cgroup/a/memory.max": "max",
    "sys/fs/cgroup/a/b/cpu.max": "max 100000",
    "sys/fs/cgroup/a/b/memory.max": "104857600",
  });
  expect(machineAt(root)).toEqual({ cores: 1, memory: 104857600, addresses: Infinity });
});

test("so do control groups of the first version, also where a container sees only its own as the root", async () => {
  const root = await systemWith({
    "proc/self/cgroup": "8:pids:/docker/1\n4:memory:/docker/1\n1:cpu,cpuacct:/docker/1\n0::/",
    "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000",
    "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "209715200",
    "sys/fs/cgroup/pids/docker/1/pids.max": "64",
    "sys/fs/cgroup/pids/docker/1/pids.current": "20",
    "proc/self/status": STATUS,
  });
  expect(machineAt(root)).toEqual({ cores: 1, memory: 209715200, addresses: Infinity });
  expect(tasksAt(root)).toMatchObject({ allowed: 64, used: 13, limit: "the control group" });
});

test("a quota of -1 and the largest number are no limits", async () => {
  const root = await systemWith({
    "proc/self/cgroup": "4:memory:/\n1:cpu:/",
    "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
    "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
  });
  expect(machineAt(root)).toEqual(WHOLE);
});

test("ulimit -u counts all tasks of the user, and not those of others; a privileged process has no limit", async () => {
  const files = {
    "proc/self/limits": `${LIMITS}             100                  100                  processes`,
    "proc/self/status": STATUS,
    "proc/10/status": STATUS,
    "proc/11/status": STATUS.replace("7", "50"),
    "proc/12/status": STATUS.replaceAll("1000\t", "1001\t"),
  };
  expect(tasksAt(await systemWith(files))).toMatchObject({ allowed: 100, used: 50, limit: "ulimit -u" });
  const privileged = { ...files, "proc/self/status": STATUS.replace(/0{16}/, "000001ffffffffff") };
  expect(tasksAt(await systemWith(privileged))).toBeNull();
});

test("of several limits of tasks, the one that leaves the fewest counts", async () => {
  const root = await systemWith({
    "proc/self/cgroup": "0::/a",
    "sys/fs/cgroup/a/pids.max": "40",
    "sys/fs/cgroup/a/pids.current": "7",
    "proc/self/limits": `${LIMITS}             100                  100                  processes`,
    "proc/self/status": STATUS,
    "proc/11/status": STATUS.replace("7", "90"),
  });
  expect(tasksAt(root)).toMatchObject({ allowed: 100, used: 83, limit: "ulimit -u" });
});

test("ulimit -v limits the addresses of each process", async () => {
  const limits = (value: string) => `Max address space         ${value}           unlimited            bytes`;
  expect(machineAt(await systemWith({ "proc/self/limits": limits("4096000000") })).addresses).toBe(4_096_000_000);
  expect(machineAt(await systemWith({ "proc/self/limits": limits("unlimited") })).addresses).toBe(Infinity);
});
