// How many threads and processes a server needs. libuv and V8 end a process that may not start its threads.
import { shareOf, type ServerConfig } from "../config.js";
import { OperatorError } from "../errors.js";
import type { Tasks } from "../machine.js";

/** Threads of libuv's pool in addition to one per query: for files, name lookups and the rest of the process. */
const SPARE_THREADS = 8;

/** Threads of libuv's pool of a worker, whose share of the limits is `config`. */
export const poolOf = ({ concurrency }: Pick<ServerConfig, "concurrency">): number => concurrency + SPARE_THREADS;

/** Each running statement of DuckDB takes a thread. Four lots and a compaction may run, and files are read as well. */
export const INGESTER_POOL = 16;

/** Serving copies are made while files are fetched. */
export const FOLLOWER_POOL = 8;

/** What libuv starts in a process that sets nothing. */
const USUAL_POOL = 4;

/** Threads of Node besides that pool: V8's, and its own. */
const NODE_THREADS = 7;

/** Threads of the supervisor, its workers and the processes beside them. DuckDB makes do with those it gets. */
export function tasksNeeded(config: ServerConfig): number {
  const share = shareOf(config);
  const worker = NODE_THREADS + poolOf(share) + share.encoders;
  const ingester = config.watch ? NODE_THREADS + INGESTER_POOL : 0;
  const follower = config.bucket === null ? 0 : NODE_THREADS + FOLLOWER_POOL;
  return NODE_THREADS + USUAL_POOL + config.workers * worker + ingester + follower;
}

/** Throws an OperatorError if the limit of tasks is too low for a server. */
export function requireTasks(config: ServerConfig, tasks: Tasks | null): void {
  const needed = tasksNeeded(config);
  if (tasks === null || needed <= tasks.allowed - tasks.used) return;
  const { allowed, used, limit, way } = tasks;
  throw new OperatorError(
    `the server needs up to ${needed} processes and threads, but ${limit} allows ${allowed}, of which ${used} are in ` +
      `use: ${way}, or use fewer --workers, a smaller --concurrency or --no-watch`,
  );
}
