// Between the supervisor and its child processes: their messages, their environment, and the end of a child without parent.
import type { ServerConfig } from "../config.js";
import type { ProcessMetrics } from "../http/metrics.js";
import type { LakeMark } from "../http/server.js";

/** To a worker. */
export type Order =
  /**
   * The first one; the port comes with it. `spill` is the folder for what DuckDB has no memory for, `seen` the lake that
   * was served, which it has to go on from. Where nobody else serves, it `waits` for that lake. `hadTokens`: others have
   * read a token file.
   */
  | {
      readonly order: "serve";
      readonly config: ServerConfig;
      readonly spill: string;
      readonly seen: LakeMark | null;
      readonly waits: boolean;
      readonly hadTokens: boolean;
    }
  /** Another worker has taken over: end when every connection has come to its own end. */
  | { readonly order: "retire" }
  /** End when every answer under way is sent; what is left after so many milliseconds is cut. */
  | { readonly order: "stop"; readonly within: number }
  /** Report what you counted. */
  | { readonly order: "count" }
  /** Other workers found these files damaged: look at them. */
  | { readonly order: "suspect"; readonly files: readonly string[] }
  /** What all workers counted, as you asked. */
  | { readonly order: "counted"; readonly all: readonly ProcessMetrics[] };

/** From a worker. */
export type Report =
  | { readonly report: "ready"; readonly url: string }
  /** How far the lake got that it serves. */
  | { readonly report: "mark"; readonly mark: LakeMark }
  /** It has read a token file. */
  | { readonly report: "tokens" }
  /** It could not start. `known`: for a reason that its user can mend. */
  | { readonly report: "failed"; readonly message: string; readonly known: boolean }
  /** Its event loop turns. */
  | { readonly report: "alive" }
  /** Files that it found damaged and does not read. */
  | { readonly report: "damaged"; readonly files: readonly string[] }
  | { readonly report: "counts"; readonly metrics: ProcessMetrics }
  /** It wants to know what all workers counted. */
  | { readonly report: "gather" };

/** How often a worker reports that it is alive, in milliseconds. */
export const ALIVE_EVERY = 1_000;

/** What a child process of the supervisor is for. */
export type Role = "worker" | "ingester";

const MARK = "TAPEHOUSE_ROLE";
const SEEN = "TAPEHOUSE_SEEN";

/** The environment of a child process with this role; `seen` is the lake that its own must continue. */
export const environmentOf = (role: Role, seen: LakeMark | null = null): NodeJS.ProcessEnv => ({
  ...process.env,
  [MARK]: role,
  [SEEN]: JSON.stringify(seen),
});

/** The lake that the workers of the supervisor have served; null if they have served none. */
export const seenLake = (): LakeMark | null => JSON.parse(process.env[SEEN] ?? "null") as LakeMark | null;

/** Whether a supervisor started this process in this role. */
export const hasRole = (role: Role): boolean => process.env[MARK] === role;

/** Ends this process as soon as its supervisor is gone, for whatever reason. `clear` must be short. */
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
