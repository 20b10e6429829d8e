// The threads that encode parts of responses, as those see them that need parts.
import { Worker } from "node:worker_threads";
import { adoptBuffer, takeUnused } from "../buffers.js";
import type { EncodedRows } from "../copies/encoded.js";
import { DamagedCopyError } from "../copies/open.js";
import type { EncoderOf } from "../copies/store.js";
import { type Job, type JobResult, READY } from "./messages.js";
import { type Part, UnreadablePartError } from "./part.js";

export interface EncoderThreads {
  /** Gives null while no thread runs. */
  readonly encoderOf: EncoderOf;
  /** Resolves once all threads run or have failed to start. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

interface Thread {
  readonly worker: Worker;
  readonly jobs: Map<
    number,
    { readonly resolve: (rows: EncodedRows) => void; readonly reject: (error: Error) => void }
  >;
  /** Bytes of the buffers of its last result. */
  sizes: readonly number[];
}

/** Milliseconds until a thread that ended is replaced: twice as many each time until one has encoded something. */
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 60_000;

const ENTRY = new URL("../threads/thread.js", import.meta.url);

/**
 * Starts `count` threads of the program `entry`. `onEnd` is called with the reason when one ends by itself; another one
 * replaces it.
 */
export function openThreads(count: number, onEnd: (reason: string) => void, entry = ENTRY): EncoderThreads {
  const threads = new Set<Thread>();
  let ids = 0;
  let isClosed = false;

  function replace(reason: string, wait: number): void {
    if (isClosed) return;
    onEnd(reason);
    setTimeout(() => void start(Math.min(LONGEST_WAIT, wait * 2)), wait).unref();
  }

  /** `wait` is the time until it is replaced if it ends before it has encoded anything. */
  async function start(wait: number): Promise<void> {
    if (isClosed) return;
    let worker: Worker;
    try {
      worker = new Worker(entry, { name: "encoder" });
    } catch (error) {
      // The system may allow no more threads.
      replace(`it could not start: ${(error as Error).message}`, wait);
      return;
    }
    worker.unref();
    const thread: Thread = { worker, jobs: new Map(), sizes: [] };
    let reason = "it ended";
    worker.on("error", (error: Error) => (reason = error.message));
    worker.once("exit", () => {
      threads.delete(thread);
      for (const { reject } of thread.jobs.values()) reject(new Error("the thread ended"));
      replace(reason, thread.sizes.length > 0 ? FIRST_WAIT : wait);
    });
    await new Promise<void>((resolve) => {
      worker.on("message", (message: JobResult | typeof READY) => {
        if (message !== READY) {
          finish(thread, message);
          return;
        }
        threads.add(thread);
        resolve();
      });
      worker.once("exit", () => resolve());
    });
  }

  const started = Array.from({ length: count }, () => start(FIRST_WAIT));
  return {
    encoderOf: (form, columns) =>
      threads.size === 0
        ? null
        : async (rows, isContinued) => {
            const files = rows.map(({ file: { copy, sources }, range: [from, to] }) => {
              return { path: copy.path, sha256: copy.index.sha256, identity: copy.identity, from, to, sources };
            });
            try {
              return await encodeIn(leastBusy(threads), { ...form, files, columns, isContinued }, ++ids);
            } catch (error) {
              const unreadable = error instanceof UnreadablePartError ? error.sha256 : null;
              const found = rows.find(({ file }) => file.copy.index.sha256 === unreadable);
              throw found === undefined ? error : new DamagedCopyError(found.file.copy);
            }
          },
    async ready() {
      await Promise.all(started);
    },
    async close() {
      isClosed = true;
      await Promise.all(started);
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}

/** Undefined if none runs any more. */
const leastBusy = (threads: ReadonlySet<Thread>): Thread | undefined =>
  [...threads].toSorted((a, b) => a.jobs.size - b.jobs.size)[0];

async function encodeIn(thread: Thread | undefined, part: Part, id: number): Promise<EncodedRows> {
  if (thread === undefined) throw new Error("no thread runs");
  const unused = takeUnused(thread.sizes);
  return new Promise((resolve, reject) => {
    thread.jobs.set(id, { resolve, reject });
    const job: Job = { id, part, unused };
    thread.worker.postMessage(job, unused);
  });
}

function finish(thread: Thread, result: JobResult): void {
  const job = thread.jobs.get(result.id)!;
  thread.jobs.delete(result.id);
  if ("failed" in result) {
    job.reject(result.sha256 === null ? new Error(result.failed) : new UnreadablePartError(result.sha256));
    return;
  }
  const pieces = result.rows.pieces.map(adoptBuffer);
  thread.sizes = pieces.map(({ buffer }) => buffer.byteLength);
  job.resolve({ ...result.rows, pieces });
}
