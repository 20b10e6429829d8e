// A process that a supervisor started does not outlive it.
import type { LakeMark } from "../http/server.js";

/** What a supervisor starts. */
export type Part = "worker" | "ingester";

const MARK = "TAPEHOUSE_PART";
const SEEN = "TAPEHOUSE_SEEN";

/** The environment of a process that is to be such a part; `seen` is the lake that it may go on from. */
export const environmentOf = (part: Part, seen: LakeMark | null = null): NodeJS.ProcessEnv => ({
  ...process.env,
  [MARK]: part,
  [SEEN]: JSON.stringify(seen),
});

/** The lake that the supervisor's workers have served; null where they have served none. */
export const seenLake = (): LakeMark | null => JSON.parse(process.env[SEEN] ?? "null") as LakeMark | null;

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
