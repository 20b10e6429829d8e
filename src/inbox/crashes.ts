// Files at which the ingesting process died: one that kills it again and again is refused, so that the others go on.
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import type { Layout } from "../lake/layout.js";
import { temporaryOf } from "../store/durable.js";

/** A file is refused when the process died so often while it was taken; a restart may come at a bad moment too. */
export const MOST_CRASHES = 3;

export interface Crashes {
  /** How often the process died while this file was being taken. */
  of(path: string): number;
  /** Runs `work` with a note of the files that it takes, which is left where the process dies. */
  taking<T>(paths: readonly string[], work: () => Promise<T>): Promise<T>;
  /** The file was dealt with, or has changed. */
  forget(path: string): void;
}

export async function openCrashes(layout: Layout): Promise<Crashes> {
  const crashes = await readCounts(layout.taking);
  const running = new Set<string>();
  let saving: Promise<void> = Promise.resolve();

  /** A file that is being taken is counted as if it had killed the process: if it does, nobody else can count it. */
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
    async taking(paths, work) {
      for (const path of paths) running.add(path);
      try {
        await saveInTurn();
        return await work();
      } finally {
        for (const path of paths) running.delete(path);
        await saveInTurn();
      }
    },
    forget: (path) => void crashes.delete(path),
  };
}

async function readCounts(path: string): Promise<Map<string, number>> {
  try {
    return new Map(Object.entries(JSON.parse(await readFile(path, "utf8")) as Readonly<Record<string, number>>));
  } catch {
    return new Map();
  }
}
