// A process that dies within its work: before one of its writing calls, the lake is copied as it is on the disk.
import { cpSync } from "node:fs";
import promises, { readdir, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { temporaryFolder } from "./folders.js";

type Call = (...given: readonly unknown[]) => unknown;

const NAMES = ["rename", "link", "rm", "mkdir", "open", "writeFile", "appendFile"] as const;

/**
 * Runs `work` on a lake. Resolves to a copy of the lake before the call of this number, without locks, as if their
 * holder were dead; to null if there are fewer calls.
 */
export async function copyAtCall(call: number, lake: string, work: () => Promise<unknown>): Promise<string | null> {
  const copy = await temporaryFolder();
  const functions = promises as unknown as Record<string, Call>;
  const originals = NAMES.map((name) => functions[name]!);
  let calls = 0;
  for (const [i, name] of NAMES.entries()) {
    functions[name] = (...given) => {
      const isRead = name === "open" && given[1] !== "w" && given[1] !== "wx" && given[1] !== "a" && given[1] !== "a+";
      if (!isRead && ++calls === call)
        cpSync(lake, copy, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
      return originals[i]!.apply(promises, given as unknown[]);
    };
  }
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    for (const [i, name] of NAMES.entries()) functions[name] = originals[i]!;
    syncBuiltinESMExports();
  }
  if (calls < call) return null;
  const state = join(copy, "state");
  for (const name of await readdir(state).catch(() => [])) {
    if (name.includes(".lock")) await rm(join(state, name), { force: true });
  }
  return copy;
}
