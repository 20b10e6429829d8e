// Counts crashes of the process for each drop. A file that crashes it repeatedly is refused, so that others can proceed.
import { rename, rm, writeFile } from "node:fs/promises";
import { readOrNone } from "../files.js";
import type { Layout } from "../lake/layout.js";
import { temporaryOf } from "../store/durable.js";

/** A file is refused after this many crashes. A single one may have another cause, such as a restart. */
export const MOST_CRASHES = 3;

export interface Crashes {
  /** How often the process died while it imported this file. */
  of(path: string): number;
  /** Runs `work`. If the process dies meanwhile, each of the files counts one more crash. */
  during<T>(paths: readonly string[], work: () => Promise<T>): Promise<T>;
  /** Call it when the files were imported or refused. */
  forget(paths: readonly string[]): Promise<void>;
}

export async function openCrashes(layout: Layout): Promise<Crashes> {
  const crashes = await readCounts(layout.taking);
  const running = new Set<string>();
  let saving: Promise<void> = Promise.resolve();

  /** Files in progress are saved with one more crash than they have, since a dying process cannot save anything. */
  const save = async (): Promise<void> => {
    const counts: Record<string, number> = Object.fromEntries(crashes);
    for (const path of running) counts[path] = (counts[path] ?? 0) + 1;
    if (Object.keys(counts).length === 0) return rm(layout.taking, { force: true });
    await writeFile(temporaryOf(layout.taking), JSON.stringify(counts));
    await rename(temporaryOf(layout.taking), layout.taking);
  };
  const saveInTurn = (): Promise<void> => {
    const saved = saving.then(save);
    saving = saved.catch(() => undefined);
    return saved;
  };

  return {
    of: (path) => crashes.get(path) ?? 0,
    async during(paths, work) {
      for (const path of paths) running.add(path);
      try {
        await saveInTurn();
        return await work();
      } finally {
        for (const path of paths) running.delete(path);
        await saveInTurn();
      }
    },
    async forget(paths) {
      if (paths.filter((path) => crashes.delete(path)).length > 0) await saveInTurn();
    },
  };
}

async function readCounts(path: string): Promise<Map<string, number>> {
  try {
    return new Map(Object.entries(JSON.parse((await readOrNone(path)) ?? "{}") as Readonly<Record<string, number>>));
  } catch {
    return new Map();
  }
}
