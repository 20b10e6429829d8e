// Ends an import early: the process stops, the disk is full, or the batch is slower than a small one may be.
import type { Writer } from "../engine/writer.js";
import { NoSpaceError } from "../errors.js";
import type { Layout } from "../lake/layout.js";
import { isShort, freeSpace } from "../lake/status.js";

/** The import must end, for no fault of its files. */
export class StoppedError extends Error {}

/** A small batch turned out to be large or slow, and must be imported as such. */
export class SlowBatch extends StoppedError {}

/** Resolves to the reason why the import must end now; undefined if it may continue. */
export type Check = () => Promise<Error | undefined>;

/** When the process must stop, a running import may continue for this many milliseconds. */
const FINISH_WITHIN = 4_000;

interface Stops {
  readonly signal: AbortSignal;
  /** For a small batch: if it fires, the import ends with SlowBatch. */
  readonly stop: AbortSignal | null;
}

export function createCheck(layout: Layout, { signal, stop }: Stops): Check {
  let end = Infinity;
  return async () => {
    if (stop?.aborted) return new SlowBatch();
    if (signal.aborted) end = Math.min(end, performance.now() + FINISH_WITHIN);
    if (performance.now() > end) return new StoppedError("the process is stopping");
    return isShort(await freeSpace(layout)) ? new NoSpaceError("only reserved disk space is left") : undefined;
  };
}

const CHECK_EVERY = 250;

/**
 * Runs `work` while the check gives no reason to end. When it gives one, interrupts the writer and throws the reason. Work
 * that also takes long without the writer calls `proceed` now and then: it throws if there is a reason.
 */
export async function unless<T>(writer: Writer, check: Check, work: (proceed: () => void) => Promise<T>): Promise<T> {
  let reason = await check();
  if (reason) throw reason;
  let isOver = false;
  let timer: NodeJS.Timeout;
  const look = async (): Promise<void> => {
    reason ??= await check();
    if (isOver) return;
    if (reason) writer.interrupt();
    wait();
  };
  const wait = (): void => void (timer = setTimeout(() => void look(), CHECK_EVERY));
  wait();
  try {
    return await work(() => {
      if (reason) throw reason;
    });
  } catch (error) {
    throw reason ?? error;
  } finally {
    isOver = true;
    clearTimeout(timer!);
  }
}
