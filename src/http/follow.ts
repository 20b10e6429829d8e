// Polls the disk for changes: new versions, damaged files that other processes found, and more. Each failure is logged
// once.
import { ENTITY_NAMES } from "../catalog/index.js";
import { type Mark, UnavailableError } from "../lake/continuity.js";
import type { Lake } from "../lake/lake.js";
import type { DataFile, FileList } from "../lake/manifest.js";
import type { Context } from "./context.js";
import type { Log } from "./observe.js";

/**
 * Returns a function that refreshes the lake and calls `onMark` when a newer version is open. It rejects if the
 * manifest is damaged. It logs if the directory is missing or has been replaced.
 */
export function createFollower(lake: Lake, log: Log, onMark: (mark: Mark) => void): () => Promise<void> {
  let reported: string | null = null;
  let last: Mark | null = null;
  const report = (): void => {
    const { state, absent } = lake.faults();
    const found = state instanceof UnavailableError ? state.message : describeAbsent(absent);
    if (found === reported) return;
    reported = found;
    const { data_version } = lake.mark();
    if (found !== null) log.error({ data_version }, found);
    else if (state === null) log.warn({ data_version }, "the data directory is available again");
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
  return `folders of data files are missing: ${folders}; restore them, or run: tapehouse verify`;
}

/**
 * Returns a function that runs all tasks. Each is named by the log message of its failure. A failure does not stop the
 * other tasks.
 */
export function createPoll(log: Pick<Log, "error">, tasks: Readonly<Record<string, () => Promise<unknown>>>) {
  const failures = new Map<string, string>();
  const run = async (failure: string, task: () => Promise<unknown>): Promise<void> => {
    try {
      await task();
      failures.delete(failure);
    } catch (error) {
      if (failures.get(failure) !== String(error)) log.error({ err: error }, failure);
      failures.set(failure, String(error));
    }
  };
  return async (): Promise<void> => {
    await Promise.all(Object.entries(tasks).map(([failure, task]) => run(failure, task)));
  };
}

type Served = Pick<Context, "lake" | "integrity">;

/**
 * Paths of served files that this process found damaged. Other processes check them too, so that all report the same
 * health.
 */
export async function damagedFiles({ lake, integrity }: Served): Promise<readonly string[]> {
  return (await integrity.stillDamaged(servedLists(lake))).map(({ path }) => path);
}

/** Checks files that another process found damaged. */
export async function checkFiles({ lake, integrity }: Served, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const isSuspect = ({ path }: DataFile): boolean => paths.includes(path);
  const suspects = servedLists(lake).flatMap(({ byDate, byCode }) => [...byDate, ...byCode].filter(isSuspect));
  await Promise.allSettled(suspects.map((file) => integrity.check([file])));
}

function servedLists(lake: Context["lake"]): readonly FileList[] {
  const files = lake.opened()?.files;
  return files ? ENTITY_NAMES.map((name) => files(name)) : [];
}
