// Looking for what changed on the disk: what fails keeps nothing else from being looked at, and is logged once.
import type { Log } from "./observe.js";

/** A function that runs every one of `tasks`, which are named by what is logged where they fail. It never rejects. */
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
