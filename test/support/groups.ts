// Control groups with limits, which only root can create, and only where the system lets it.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEachFile } from "./folders.js";

const made: string[] = [];

afterEachFile(() => {
  for (const folder of made.splice(0)) rmdirSync(folder);
});

interface Limits {
  /** Parts of a core. */
  readonly cpu?: number;
  /** Bytes. */
  readonly memory?: number;
  readonly pids?: number;
}

const PERIOD = 100_000;

/** What to write into which file of a controller: of the first version, or of the second. */
const FILES: { readonly [Name in keyof Limits]-?: (value: number, isOld: boolean) => readonly [string, string] } = {
  cpu: (value, isOld) =>
    isOld ? ["cpu.cfs_quota_us", String(value * PERIOD)] : ["cpu.max", `${value * PERIOD} ${PERIOD}`],
  memory: (value, isOld) => [isOld ? "memory.limit_in_bytes" : "memory.max", String(value)],
  pids: (value) => ["pids.max", String(value)],
};

/** A command that runs another one, its arguments, within these limits; null where this user may not set them. */
export function groupWith(limits: Limits): readonly string[] | null {
  const name = `tapehouse-${process.pid}-${made.length}`;
  const joined = new Set<string>();
  try {
    for (const [controller, value] of Object.entries(limits) as [keyof Limits, number][]) {
      const old = join("/sys/fs/cgroup", controller);
      const isOld = existsSync(join(old, "cgroup.procs"));
      const folder = join(isOld ? old : "/sys/fs/cgroup", name);
      if (!existsSync(folder)) {
        mkdirSync(folder);
        made.push(folder);
      }
      const [file, text] = FILES[controller](value, isOld);
      if (!existsSync(join(folder, file))) return null;
      writeFileSync(join(folder, file), text);
      joined.add(join(folder, "cgroup.procs"));
    }
  } catch {
    return null;
  }
  return ["sh", "-c", `for group in ${[...joined].join(" ")}; do echo $$ > $group; done; exec "$@"`, "sh"];
}
