// Messages between the supervisor and its child processes, the environment of a child, and the end of a child whose
// parent is gone.
import type { ServerConfig } from "../config.js";
import type { Background } from "../http/context.js";
import type { ProcessMetrics } from "../http/metrics.js";
import type { LakeMark } from "../http/server.js";

/** Supervisor → worker. */
export type Order =
  /**
   * The first message; the port is sent with it. `spill` is the folder for DuckDB's temporary files. `seen` is the lake
   * that was served before, from which the worker must continue. If no other worker serves, it `waits` for that lake.
   * `hadTokens`: another worker has read a token file. `background`: as in the order of that name.
   */
  | {
      readonly order: "serve";
      readonly config: ServerConfig;
      readonly spill: string;
      readonly seen: LakeMark | null;
      readonly waits: boolean;
      readonly hadTokens: boolean;
      readonly background: Background;
    }
  /** What is done beside the workers has changed. */
  | { readonly order: "background"; readonly background: Background }
  /** Another worker has replaced this one: end when every connection has ended. */
  | { readonly order: "retire" }
  /** End when every response in progress is sent; after `within` milliseconds the rest is cut. */
  | { readonly order: "stop"; readonly within: number }
  /** Report your metrics. */
  | { readonly order: "count" }
  /** Other workers found these files damaged: check them. */
  | { readonly order: "suspect"; readonly files: readonly string[] }
  /** The metrics of all workers, as requested. */
  | { readonly order: "counted"; readonly all: readonly ProcessMetrics[] };

/**
 * Worker → supervisor. The processes beside the workers only report that they are alive or could not start, and the one that
 * follows a bucket that its mirror is up to date.
 */
export type Report =
  | { readonly report: "ready"; readonly url: string }
  /** The position of the lake that it serves. */
  | { readonly report: "mark"; readonly mark: LakeMark }
  /** It has read a token file. */
  | { readonly report: "tokens" }
  /**
   * It could not start. `known`: for a reason that the user can fix, with the exit code of the command. `cause`: what the
   * system says of another reason.
   */
  | {
      readonly report: "failed";
      readonly message: string;
      readonly known: boolean;
      readonly exitCode?: 1 | 2;
      readonly cause?: SystemError;
    }
  /** It has followed the bucket once, or found that what was fetched before can be served. */
  | { readonly report: "current" }
  /** Its event loop is running. `works` is false if something outside prevents its work. */
  | { readonly report: "alive"; readonly works?: boolean }
  /** Files that it found damaged and does not read. */
  | { readonly report: "damaged"; readonly files: readonly string[] }
  | { readonly report: "counts"; readonly metrics: ProcessMetrics }
  /** It needs the metrics of all workers. */
  | { readonly report: "gather" };

/** What an error of a system call names; where the supervisor has it, the message is that of a command that failed. */
type SystemError = Pick<NodeJS.ErrnoException, "code" | "path" | "syscall">;

/** Resolves when the message is sent. Errors are ignored: `endWhenAlone` notices that the supervisor is gone. */
export const send = (report: Report): Promise<void> =>
  new Promise((resolve) => process.send!(report, undefined, undefined, () => resolve()));

/** How often a child process reports that it is alive, in milliseconds. */
export const ALIVE_EVERY = 1_000;

/** Reports from now on that the event loop of this process is running. It keeps no process from ending. */
export function reportAlive(works = (): boolean => true): void {
  const tell = (): void => void send({ report: "alive", works: works() });
  tell();
  setInterval(tell, ALIVE_EVERY).unref();
}

/** What a child process of the supervisor is for. */
type Role = "worker" | "ingest" | "follow";

const MARK = "TAPEHOUSE_ROLE";
const SEEN = "TAPEHOUSE_SEEN";

/** The environment of a child process with this role; `seen` is the lake from which it must continue. */
export const environmentOf = (role: Role, seen: LakeMark | null = null): NodeJS.ProcessEnv => ({
  ...process.env,
  [MARK]: role,
  [SEEN]: JSON.stringify(seen),
});

/** The lake that the workers of the supervisor have served; null if they have served none. */
export const seenLake = (): LakeMark | null => JSON.parse(process.env[SEEN] ?? "null") as LakeMark | null;

/** Whether a supervisor started this process in this role. */
export const hasRole = (role: Role): boolean => process.env[MARK] === role;

/** Ends this process when its supervisor is gone, for any reason. `clear` must be fast. */
export function endWhenAlone(clear: () => void = () => undefined): void {
  const end = (): void => {
    clear();
    endAtOnce();
  };
  // The supervisor may have ended while this process started.
  if (!process.connected) end();
  process.once("disconnect", end);
}

/** A normal exit would wait for libuv's threads: a query may run for minutes. */
export const endAtOnce = (): void => void process.kill(process.pid, "SIGKILL");
