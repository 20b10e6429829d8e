// The serving side's DuckDB: one locked-down instance, a pool of connections, a bounded number of streams at a time.
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import { Problem } from "../errors.js";
import type { Integrity } from "../lake/integrity.js";
import type { DataFile } from "../lake/manifest.js";
import { widthOf, type ReadStep, type Width } from "../query/statement.js";
import { runAtOnce } from "./at-once.js";
import { fetchChunks, type Ahead, type Turn } from "./chunks.js";
import { createGate, type GateLoad } from "./gate.js";
import { openLocked, type LockedOptions } from "./locked.js";
import { streamBatches, type Overlap, type Running } from "./stream.js";

export interface ReaderOptions extends LockedOptions {
  /** Statements that work at the same time, each on a thread of libuv's pool. A stream works a chunk at a time. */
  readonly concurrency: number;
  /** Streams that may be open at the same time, those whose reader is slow included. */
  readonly streams: number;
  /** Streams that may wait to be opened. */
  readonly queue: number;
  readonly integrity: Integrity;
}

export interface Reader {
  /** Waits for a place among the open streams. Rejects with `overloaded` where too many wait already. */
  open(signal: AbortSignal, width: Width): Promise<Session>;
  /** A session for one read. */
  read(steps: readonly ReadStep[], columns: readonly Column[], signal: AbortSignal): AsyncGenerator<RecordBatch>;
  /** Streams that are open or wait to be, and statements of theirs that work or wait for their turn. */
  load(): { readonly streams: GateLoad; readonly statements: GateLoad };
  close(): Promise<void>;
}

/** Reads rows. */
export interface Rows {
  /**
   * Runs the steps one after another, or the next beside the one that is read, and yields their rows in order, in batches
   * that are valid until the next one is asked for. Throws DamagedFileError before a damaged file is read, and at the end
   * of a step of which a file has changed meanwhile; IncompleteStreamError where a step did not reach its end; and the
   * signal's reason when it is aborted.
   */
  read(steps: Iterable<ReadStep>, columns: readonly Column[], overlap?: Overlap): AsyncGenerator<RecordBatch>;
}

/** A place among the open streams. */
export interface Session extends Rows {
  close(): void;
}

/** Chunks of 2,048 rows that all streams together fetch before they are asked for: some 24 MB of `daily`. */
const MOST_AHEAD = 128;

/** A statement of no more rows is run in one go: all trading days of a stock, a page. Four chunks. */
const ROWS_AT_ONCE = 8_192;

export async function openReader(options: ReaderOptions): Promise<Reader> {
  const instance = await openLocked(options);
  const open = createGate(options.streams, options.queue);
  const working = createGate(options.concurrency, Infinity);
  const ahead: Ahead = { held: 0, most: MOST_AHEAD };
  const idle: DuckDBConnection[] = [];
  const busy = new Set<DuckDBConnection>();
  let closing = false;

  async function openSession(signal: AbortSignal, width: Width): Promise<Session> {
    if (closing) throw new Problem("shutting_down", "the server is stopping");
    const leave = await open.enter(signal, width);
    const turn: Turn = (job) => working.run(job, signal, width);
    /** Connections at work for the session, and the files that each of them reads. */
    const own = new Map<DuckDBConnection, readonly DataFile[]>();
    const interrupt = (): void => {
      for (const connection of own.keys()) connection.interrupt();
    };
    signal.addEventListener("abort", interrupt);

    /** A stream that was left early may still run: its connection is never given to another one. */
    const release = (connection: DuckDBConnection, clean: boolean): void => {
      if (!own.delete(connection)) return;
      busy.delete(connection);
      if (clean && !closing && !signal.aborted) {
        idle.push(connection);
        return;
      }
      connection.interrupt();
      connection.disconnectSync();
    };

    return {
      async *read(steps, columns, overlap = "none") {
        const queue = steps[Symbol.iterator]();
        const run = async (step: ReadStep): Promise<Running> => {
          await options.integrity.check(step.files);
          signal.throwIfAborted();
          const connection = idle.pop() ?? (await instance.connect());
          busy.add(connection);
          own.set(connection, step.files);
          const statement = withPaths(step, options.lakeFolder);
          const isSmall = (step.count?.atMost ?? Infinity) <= ROWS_AT_ONCE;
          const chunks = isSmall
            ? runAtOnce(connection, statement, turn)
            : fetchChunks(connection, statement, columns, turn, ahead);
          return { connection, chunks };
        };
        const start = (): Promise<Running> | null => {
          const { done, value } = queue.next() as IteratorResult<ReadStep, undefined>;
          return done === true ? null : run(value);
        };
        /** Files must be to the end what they were when their reading began. */
        const done = async ({ connection }: Running): Promise<void> => {
          await options.integrity.checkAgain(own.get(connection)!);
          release(connection, true);
        };
        try {
          yield* streamBatches(start, done, columns, overlap);
        } catch (error) {
          signal.throwIfAborted();
          // That a file has changed says more than what DuckDB makes of it.
          await options.integrity.check([...own.values()].flat());
          throw roomProblem(error) ?? error;
        }
      },
      close() {
        signal.removeEventListener("abort", interrupt);
        for (const connection of own.keys()) release(connection, false);
        leave();
      },
    };
  }

  async function* read(
    steps: readonly ReadStep[],
    columns: readonly Column[],
    signal: AbortSignal,
  ): AsyncGenerator<RecordBatch> {
    const rows = steps.flatMap(({ files }) => files).reduce((sum, file) => sum + file.rows, 0);
    const session = await openSession(signal, widthOf(rows));
    try {
      yield* session.read(steps, columns);
    } finally {
      session.close();
    }
  }

  return {
    open: openSession,
    read,
    load: () => ({ streams: open.load(), statements: working.load() }),
    async close() {
      closing = true;
      for (const connection of busy) connection.interrupt();
      await open.empty();
      for (const connection of idle.splice(0)) connection.disconnectSync();
      instance.closeSync();
    },
  };
}

/** What DuckDB says where neither memory nor disk has room for what it sorts or groups. */
const NO_ROOM = /^Out of Memory Error|^IO Error: Could not write file/;

const roomProblem = (error: unknown): Problem | null =>
  error instanceof Error && NO_ROOM.test(error.message)
    ? new Problem("out_of_room", "there is no room left, neither in memory nor on disk, to put so many rows in order", {
        hint: "ask for fewer codes or days at a time, or again when less is asked; the operator gives more by --memory and --spill",
        retryAfter: 5,
      })
    : null;

/** `$1` names files relative to the lake folder; DuckDB needs to know where that is. */
function withPaths(step: ReadStep, lakeFolder: string): ReadStep {
  const paths = step.files.map((file) => join(lakeFolder, file.path));
  return { ...step, values: [paths, ...step.values.slice(1)] };
}
