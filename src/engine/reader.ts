// The DuckDB of the server: one locked instance, a pool of connections, and a bounded number of concurrent streams.
import type { DuckDBConnection } from "@duckdb/node-api";
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import type { EncodedRows } from "../copies/encoded.js";
import { type CopyStore, openCopyStore } from "../copies/store.js";
import type { Form } from "../encode/types.js";
import { Problem } from "../errors.js";
import type { Held, Integrity } from "../lake/integrity.js";
import type { DataFile } from "../lake/manifest.js";
import { rowsIn } from "../query/files.js";
import { neededGroups } from "../query/row-groups.js";
import { costOf, type Cost, rangesOf, type Read, type Scan } from "../query/scan.js";
import { createAdmission, type Load } from "./admission.js";
import { batchReader } from "./arrow.js";
import type { Ahead, WhenAdmitted } from "./chunks.js";
import { closeAll, fromParts, type Rows as ReadRows } from "./copied.js";
import { batchesOf, execute, inTurn, type Running, runningChunks, type Wanted } from "./execute.js";
import { orInstead } from "./instead.js";
import { type LockedOptions, openLocked } from "./locked.js";
import { isOutOfSpace } from "./statements.js";

interface ReaderOptions extends LockedOptions {
  /**
   * Statements that run at the same time, each on a thread of libuv's pool. A stream occupies a thread for one chunk at
   * a time.
   */
  readonly concurrency: number;
  /** Streams that may be open at the same time, including those with slow readers. */
  readonly streams: number;
  /** Streams that may wait to be opened. */
  readonly queue: number;
  readonly integrity: Integrity;
  /** By default there are none. */
  readonly copies?: CopyStore;
}

export interface Reader {
  /**
   * Waits for a slot. Rejects with `overloaded` if too many streams are waiting already. Of `coming`, the scans that will
   * be read in this order, those after the current one are fetched if their files are in a bucket.
   */
  open(signal: AbortSignal, cost: Cost, coming?: readonly Scan[]): Promise<ReadSession>;
  /** Opens the serving copies of these files, so that the first reads find them open. */
  prepare(files: readonly DataFile[], signal: AbortSignal): Promise<void>;
  /** A session for one read. */
  read(read: Read, signal: AbortSignal): AsyncGenerator<RecordBatch>;
  /** Open and waiting streams, and their running and waiting statements. */
  load(): { readonly streams: Load; readonly statements: Load };
  close(): Promise<void>;
}

/** Reads rows. */
export interface Rows {
  /**
   * Yields the rows of the scans in order, in batches that are valid until the next one is requested. A scan is started
   * only when it is needed, unless `wanted` says that all rows will be read. Throws DamagedFileError before a damaged
   * file is read, and at the end of a statement if one of its files changed in the meantime; IncompleteStreamError if a
   * statement did not reach its end; and the signal's reason when it is aborted.
   */
  read(scans: Iterable<Scan>, columns: readonly Column[], wanted: Wanted): AsyncGenerator<RecordBatch>;
}

/** A slot, and the rows that can be read in it. */
export interface ReadSession extends Rows {
  /** Like `read` if all rows are wanted, but the first ones of a scan may come encoded in this form. */
  readEncoded(scans: Iterable<Scan>, columns: readonly Column[], form: Form): AsyncGenerator<RecordBatch | EncodedRows>;
  close(): void;
}

/** Chunks of 2,048 rows that all streams together fetch ahead: about 24 MB of `daily`. */
const MOST_AHEAD = 128;

/** Scans whose files are fetched before they are read: at most a million rows each. */
const SCANS_AHEAD = 2;

export async function openReader(options: ReaderOptions): Promise<Reader> {
  const instance = await openLocked(options);
  const open = createAdmission(options.streams, options.queue);
  const working = createAdmission(options.concurrency, Infinity);
  const { copies = openCopyStore(null) } = options;
  const ahead: Ahead = { held: 0, most: MOST_AHEAD };
  const idle: DuckDBConnection[] = [];
  const busy = new Set<DuckDBConnection>();
  let closing = false;

  async function openSession(signal: AbortSignal, cost: Cost, coming: readonly Scan[] = []): Promise<ReadSession> {
    if (closing) throw new Problem("shutting_down", "the server is stopping");
    const releaseSlot = await open.admit(signal, cost);
    const whenAdmitted: WhenAdmitted = (job) => working.run(job, signal, cost);
    /** Busy connections of the session, how the files that each one reads are checked, and what to call when it no longer does. */
    const own = new Map<DuckDBConnection, { readonly check: () => Promise<void>; readonly leave: () => void }>();
    const interrupt = (): void => {
      for (const connection of own.keys()) connection.interrupt();
    };
    signal.addEventListener("abort", interrupt);

    /** A stream that was abandoned may still run, so its connection is not reused. */
    const release = (connection: DuckDBConnection, clean: boolean): void => {
      const reading = own.get(connection);
      if (!reading) return;
      own.delete(connection);
      reading.leave();
      busy.delete(connection);
      if (clean && !closing && !signal.aborted) {
        idle.push(connection);
        return;
      }
      connection.interrupt();
      connection.disconnectSync();
    };

    /** Fetches the files of this and the next scans, one after another. */
    const fetchAfter = async (scan: Scan): Promise<void> => {
      const at = coming.findLastIndex(({ files }) => files.includes(scan.files[0]!));
      if (at < 0) return;
      for (const next of coming.slice(at, at + 1 + SCANS_AHEAD)) {
        // If it cannot be fetched, the read fails.
        if (!signal.aborted) await options.integrity.expect(next.files, neededGroups(next)).catch(() => undefined);
      }
    };

    async function* batches(
      scans: Iterable<Scan>,
      columns: readonly Column[],
      wanted: Wanted,
      form: Form | null,
    ): AsyncGenerator<ReadRows, void, undefined> {
      const toBatch = batchReader(columns);
      const runOn = async (scan: Scan, held: Held): Promise<Running> => {
        if (signal.aborted) held.leave();
        signal.throwIfAborted();
        const connection = idle.pop() ?? (await instance.connect());
        busy.add(connection);
        own.set(connection, held);
        const chunks = execute(scan, columns.length, { connection, whenAdmitted, ahead, pathOf: held.pathOf });
        return runningChunks(chunks, toBatch, async () => {
          // Files must not change while they are read.
          await held.checkAgain();
          release(connection, true);
        });
      };
      const runStatement = async (scan: Scan): Promise<Running> => {
        const held = await options.integrity.hold(scan.files, neededGroups(scan));
        const running = await runOn(scan, held);
        // DuckDB fails where a row group is missing. To fetch late the other columns of no row at all, it reads all of them.
        const onWhole = async (): Promise<Running> => runOn(scan, await options.integrity.hold(scan.files));
        return held.isExcerpt ? orInstead(running, signal, onWhole) : running;
      };
      /** If all rows are wanted, statements are so small that the next one can be decoded while rows are sent. */
      const fromDuckdb = async (scan: Scan): Promise<Running> => {
        const ranges = wanted === "all" ? rangesOf(scan) : [scan];
        if (wanted === "all") void fetchAfter(scan);
        return ranges.length === 1 ? runStatement(scan) : inTurn(startEach(ranges, runStatement), wanted);
      };
      const run = async (scan: Scan): Promise<Running<ReadRows>> => {
        const parts = await copies.open(scan, columns, form);
        if (signal.aborted) closeAll(parts ?? []);
        signal.throwIfAborted();
        return parts === null ? fromDuckdb(scan) : fromParts(parts, signal, fromDuckdb);
      };
      try {
        yield* batchesOf(inTurn(startEach(scans, run), wanted));
      } catch (error) {
        signal.throwIfAborted();
        // A changed file is a better explanation than the error that DuckDB makes of it.
        await Promise.all([...own.values()].map(({ check }) => check()));
        throw spaceProblem(error) ?? error;
      }
    }

    return {
      // Without a form, nothing is encoded.
      read: (scans, columns, wanted) =>
        batches(scans, columns, wanted, null) as AsyncGenerator<RecordBatch, void, undefined>,
      readEncoded: (scans, columns, form) => batches(scans, columns, "all", form),
      close() {
        signal.removeEventListener("abort", interrupt);
        for (const connection of own.keys()) release(connection, false);
        releaseSlot();
      },
    };
  }

  async function* read({ scans, columns }: Read, signal: AbortSignal): AsyncGenerator<RecordBatch> {
    const session = await openSession(signal, costOf(rowsIn(scans.flatMap(({ files }) => files))));
    try {
      yield* session.read(scans, columns, "some");
    } finally {
      session.close();
    }
  }

  return {
    open: openSession,
    prepare: copies.prepare,
    read,
    load: () => ({ streams: open.load(), statements: working.load() }),
    async close() {
      closing = true;
      for (const connection of busy) connection.interrupt();
      await open.empty();
      for (const connection of idle.splice(0)) connection.disconnectSync();
      instance.closeSync();
      await copies.close();
    },
  };
}

/** Starts one scan at each call; null after the last. */
function startEach<B>(
  scans: Iterable<Scan>,
  run: (scan: Scan) => Promise<Running<B>>,
): () => Promise<Running<B>> | null {
  const queue = scans[Symbol.iterator]();
  return () => {
    const next = queue.next();
    return next.done === true ? null : run(next.value);
  };
}

const spaceProblem = (error: unknown): Problem | null =>
  isOutOfSpace(error)
    ? new Problem("out_of_room", "neither memory nor disk has enough space to sort these rows", {
        hint: "request fewer codes or days at a time, or retry when the server is less busy; the operator can raise --memory and --spill",
        retryAfter: 5,
      })
    : null;
