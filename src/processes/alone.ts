// A process that belongs to another one does not outlive it.

/** Ends this process as soon as the one that started it is gone, however that one ended. `clear` has to be short. */
export function endWhenAlone(clear: () => void = () => undefined): void {
  process.once("disconnect", () => {
    clear();
    endAtOnce();
  });
}

/** A plain exit would wait for what runs on libuv's threads: a query, perhaps for minutes. */
export const endAtOnce = (): void => void process.kill(process.pid, "SIGKILL");
