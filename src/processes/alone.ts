// A process that a supervisor started does not outlive it.

/** What a supervisor starts. */
export type Part = "worker" | "ingester";

const MARK = "TAPEHOUSE_PART";

/** The environment of a process that is to be such a part. */
export const environmentOf = (part: Part): NodeJS.ProcessEnv => ({ ...process.env, [MARK]: part });

/** Whether a supervisor started this process as such a part. */
export const isPart = (part: Part): boolean => process.env[MARK] === part;

/** Ends this process as soon as its supervisor is gone, however that one ended. `clear` has to be short. */
export function endWhenAlone(clear: () => void = () => undefined): void {
  const end = (): void => {
    clear();
    endAtOnce();
  };
  // It may have gone while this process started.
  if (!process.connected) end();
  process.once("disconnect", end);
}

/** A plain exit would wait for what runs on libuv's threads: a query, perhaps for minutes. */
export const endAtOnce = (): void => void process.kill(process.pid, "SIGKILL");
