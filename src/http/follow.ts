// Following the lake: newer versions are served from now on. What is wrong with the data directory goes to the log once,
// and so does its end.
import { UnavailableError, type Mark } from "../lake/continuity.js";
import type { Lake } from "../lake/lake.js";
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
