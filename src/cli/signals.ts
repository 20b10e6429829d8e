// Work that a signal ends, but not before it has cleaned up.
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Milliseconds. */
const ARRIVES_WITHIN = 1_000;

/**
 * Runs `work`, which should stop soon when the signal it is given fires. Then the process ends as if it had not waited: by
 * the signal that it got. A second one ends it at once.
 */
export async function untilSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  let got: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    for (const one of SIGNALS) process.off(one, onSignal);
    got = signal;
    stopping.abort();
  };
  for (const one of SIGNALS) process.on(one, onSignal);
  try {
    return await work(stopping.signal);
  } finally {
    for (const one of SIGNALS) process.off(one, onSignal);
    if (got !== undefined) {
      process.kill(process.pid, got);
      // The signal arrives in a moment; what follows would print a result that is none.
      await sleep(ARRIVES_WITHIN);
      // The first process of a container gets no signal that it does not handle.
      process.exit(128 + constants.signals[got]);
    }
  }
}
