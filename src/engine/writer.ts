// The DuckDB of commands that write: an instance of their own with bounded memory, never in the server's process.
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { bytesOf } from "../setting-values.js";
import { EngineError, InterruptedError, MachineError, systemErrorCode } from "../errors.js";
import type { SqlValue } from "../query/bindings.js";
import { quoteText } from "../sql-text.js";
import { fromDuck, toDuck, type Scalar } from "./statements.js";

export interface WriterOptions {
  /** Upper bound of DuckDB's memory, e.g. `4GB`. Anything above it spills into `tempDirectory`. */
  readonly memory: string;
  readonly tempDirectory: string;
  /** Upper bound of the size of that folder, e.g. `10GB`; by default, and if less is free, 90% of the free disk. */
  readonly spill?: string;
  readonly threads?: number;
}

/**
 * Runs statements one after another on one connection. A failure of the machine is a MachineError; reaching the limits
 * of the settings is an EngineError; what DuckDB reports about a statement or a file is passed on as Error.
 */
export interface Writer {
  /** Runs a statement for its effect; resolves to the number of changed rows. */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
  /** Runs a query with a small result. Dates are `YYYY-MM-DD`, BIGINT is a number. */
  rows(sql: string, values?: readonly SqlValue[]): Promise<Record<string, Scalar>[]>;
  /** Runs such work one after another; all statements get a single thread meanwhile. */
  onOneThread<T>(work: () => Promise<T>): Promise<T>;
  /** Interrupts the current statement, which then fails. */
  interrupt(): void;
  close(): void;
}

export async function openWriter(options: WriterOptions): Promise<Writer> {
  const instance = await DuckDBInstance.create(":memory:", {
    memory_limit: options.memory,
    temp_directory: options.tempDirectory,
    ...(options.threads ? { threads: String(options.threads) } : {}),
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    enable_external_file_cache: "false",
    preserve_insertion_order: "true",
  });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  const isBounded = options.spill !== undefined && bytesOf(options.spill) < (await freeFor(options.tempDirectory));
  // DuckDB accepts this setting when the instance is created, but ignores it.
  if (isBounded) await connection.run(`SET max_temp_directory_size = ${quoteText(options.spill)}`);
  const [[threads]] = (await connection.runAndReadAll("SELECT current_setting('threads')")).getRows() as [[bigint]];
  return wrap(connection, isBounded, Number(threads), () => {
    connection.disconnectSync();
    instance.closeSync();
  });
}

/** The share of the free disk that DuckDB uses by default. */
const SHARE_OF_DISK = 0.9;

const freeFor = (folder: string): Promise<number> =>
  statfs(dirname(folder)).then(
    ({ bavail, bsize }) => bavail * bsize * SHARE_OF_DISK,
    () => Infinity,
  );

/** The first line ends with the system's message, after any name or content of a file. */
const SYSTEM_MESSAGE = /^IO Error: .*: ([^:]+)$/;

/** What DuckDB reads from its temporary folder is not what it wrote. */
const SPOILED_SPILL =
  /^IO Error: (?:Corrupt temporary file: |Could not read enough bytes from file ".*\/duckdb_temp_storage_[^/]*":)/;

/** Sorts DuckDB's errors by their text: it has no error codes. */
function typed(error: unknown, isBounded: boolean): unknown {
  if (!(error instanceof Error)) return error;
  const [line] = error.message.split("\n", 1) as [string];
  const code = systemErrorCode(SYSTEM_MESSAGE.exec(line)?.[1] ?? "");
  if (code !== undefined) return new MachineError(line, code);
  if (SPOILED_SPILL.test(line)) return new MachineError(line, "EIO");
  if (line.startsWith("INTERRUPT Error: ")) return new InterruptedError(line);
  if (/^(INTERNAL|FATAL) Error: /.test(line)) return new EngineError(`DuckDB failed: ${line}`, null);
  if (!line.startsWith("Out of Memory Error: ")) return error;
  if (/allocation failure|bad allocation/i.test(line)) return new MachineError(line, "ENOMEM");
  const isDisk = line.includes("failed to offload");
  return isDisk && !isBounded ? new MachineError(line, "ENOSPC") : new EngineError(line, isDisk ? "disk" : "memory");
}

function wrap(connection: DuckDBConnection, isBounded: boolean, threads: number, close: () => void): Writer {
  let lastOnOneThread: Promise<unknown> = Promise.resolve();
  const rethrow = (error: unknown): never => {
    throw typed(error, isBounded);
  };
  return {
    async run(sql, values = []) {
      const result = await connection.run(sql, values.map(toDuck)).catch(rethrow);
      return result.rowsChanged;
    },
    async rows(sql, values = []) {
      const reader = await connection.runAndReadAll(sql, values.map(toDuck)).catch(rethrow);
      const names = reader.columnNames();
      return reader.getRows().map((row) => Object.fromEntries(row.map((value, i) => [names[i]!, fromDuck(value)])));
    },
    onOneThread(work) {
      const done = lastOnOneThread.then(async () => {
        await connection.run("SET threads = 1");
        try {
          return await work();
        } finally {
          await connection.run(`SET threads = ${threads}`);
        }
      });
      lastOnOneThread = done.catch(() => undefined);
      return done;
    },
    interrupt: () => connection.interrupt(),
    close,
  };
}
