// Following what changes on the disk: newer versions, damaged files that other processes found, whatever else a server looks
// for. A failure is logged once.
import { ENTITY_NAMES } from "../catalog/index.js";
import { type Mark, UnavailableError } from "../lake/continuity.js";
import type { Lake } from "../lake/lake.js";
import type { DataFile } from "../lake/manifest.js";
import type { Context } from "./context.js";
import type { Log } from "./observe.js";

/**
 * Returns a function that refreshes the lake and calls `onMark` when a newer version is open. It rejects when the manifest is
 * damaged. A directory that is missing or has been replaced is logged here.
 */
export function createFollower(lake: Lake, log: Log, onMark: (mark: Mark) => void): () => Promise<void> {
  let trouble: string | null = null;
  let last: Mark | null = null;
  const report = (): void => {
    const { state, absent } = lake.faults();
    const found = state instanceof UnavailableError ? state.message : describeAbsent(absent);
    if (found === trouble) return;
    trouble = found;
    const { data_version } = lake.mark();
    if (found !== null) log.error({ data_version }, found);
    else if (state === null) log.warn({ data_version }, "the data directory is as it was");
  };
  return async () => {
    try {
      await lake.refresh();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
    } finally {
      report();
      if (lake.mark() !== last) onMark((last = lake.mark()));
    }
  };
}

function describeAbsent(absent: readonly string[]): string | null {
  if (absent.length === 0) return null;
  const folders = absent.map((entity) => `lake/${entity}`).join(", ");
  return `folders of data files are missing: ${folders}; bring them back, or see: tapehouse verify`;
}

/** A function that runs all tasks, each named by the log line of its failure. A failing one does not stop the others. */
export function createLook(log: Pick<Log, "error">, tasks: Readonly<Record<string, () => Promise<unknown>>>) {
  const troubles = new Map<string, string>();
  const run = async (failure: string, task: () => Promise<unknown>): Promise<void> => {
    try {
      await task();
      troubles.delete(failure);
    } catch (error) {
      if (troubles.get(failure) !== String(error)) log.error({ err: error }, failure);
      troubles.set(failure, String(error));
    }
  };
  return async (): Promise<void> => {
    await Promise.all(Object.entries(tasks).map(([failure, task]) => run(failure, task)));
  };
}

type Served = Pick<Context, "lake" | "integrity">;

/** Paths of the served files that this process has found damaged. The others look at them too, so that all report the same health. */
export async function damagedFiles({ lake, integrity }: Served): Promise<readonly string[]> {
  return (await integrity.stillDamaged(servedFiles(lake))).map(({ path }) => path);
}

/** Looks at files that another process has found damaged. */
export async function lookAt({ lake, integrity }: Served, paths: readonly string[]): Promise<void> {
  const suspects = servedFiles(lake).filter(({ path }) => paths.includes(path));
  await Promise.allSettled(suspects.map((file) => integrity.check([file])));
}

function servedFiles(lake: Context["lake"]): readonly DataFile[] {
  const files = lake.opened()?.files;
  if (!files) return [];
  return ENTITY_NAMES.flatMap((name) => [...files(name).byDate, ...files(name).byCode]);
}
