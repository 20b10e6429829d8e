// The writing side's DuckDB: its own instance with bounded memory, in the process of a command, never in the server's.
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { bytesOf } from "../setting-values.js";
import { EngineError, MachineError, troubleCode } from "../errors.js";
import type { SqlValue } from "../query/sql.js";
import { quoteText } from "../sql-text.js";
import { fromDuck, toDuck, type Scalar } from "./statements.js";

interface WriterOptions {
  /** Upper bound of DuckDB's memory, e.g. `4GB`. More than that spills into `tempDirectory`. */
  readonly memory: string;
  readonly tempDirectory: string;
  /** Upper bound of what lies in it, e.g. `10GB`; without one, and where less is free, most of what is free. */
  readonly spill?: string;
  readonly threads?: number;
}

/**
 * Runs statements one after another on one connection. A failure of the machine is a MachineError, too little room
 * within the settings an EngineError; what DuckDB says of a statement or a file passes through as Error.
 */
export interface Writer {
  /** Runs a statement for its effect; resolves to the number of rows changed. */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
  /** Runs a query with a small answer. Dates come as `YYYY-MM-DD`, BIGINT as number. */
  rows(sql: string, values?: readonly SqlValue[]): Promise<Record<string, Scalar>[]>;
  /** Ends the statement that runs; it fails. */
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
  // Given when the instance is made, DuckDB shows this setting and does not keep it.
  if (isBounded) await connection.run(`SET max_temp_directory_size = ${quoteText(options.spill)}`);
  return wrap(connection, isBounded, () => {
    connection.disconnectSync();
    instance.closeSync();
  });
}

/** The part of the free disk that DuckDB uses where it has no other bound. */
const SHARE_OF_DISK = 0.9;

const freeFor = (folder: string): Promise<number> =>
  statfs(dirname(folder)).then(
    ({ bavail, bsize }) => bavail * bsize * SHARE_OF_DISK,
    () => Infinity,
  );

/** The first line ends with the words of the system; what a file holds or is called stands before them. */
const SYSTEM_MESSAGE = /^IO Error: .*: ([^:]+)$/;

/** What DuckDB had set aside in its temporary folder is not what it wrote. */
const SPOILED_SPILL =
  /^IO Error: (?:Corrupt temporary file: |Could not read enough bytes from file ".*\/duckdb_temp_storage_[^/]*":)/;

/** DuckDB's messages by whose fault they are: it gives no codes. */
function typed(error: unknown, isBounded: boolean): unknown {
  if (!(error instanceof Error)) return error;
  const [line] = error.message.split("\n", 1) as [string];
  const code = troubleCode(SYSTEM_MESSAGE.exec(line)?.[1] ?? "");
  if (code !== undefined) return new MachineError(line, code);
  if (SPOILED_SPILL.test(line)) return new MachineError(line, "EIO");
  if (/^(INTERNAL|FATAL) Error: /.test(line)) return new EngineError(`DuckDB failed: ${line}`, null);
  if (!line.startsWith("Out of Memory Error: ")) return error;
  if (/allocation failure|bad allocation/i.test(line)) return new MachineError(line, "ENOMEM");
  const isDisk = line.includes("failed to offload");
  return isDisk && !isBounded ? new MachineError(line, "ENOSPC") : new EngineError(line, isDisk ? "disk" : "memory");
}

function wrap(connection: DuckDBConnection, isBounded: boolean, close: () => void): Writer {
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
    interrupt: () => connection.interrupt(),
    close,
  };
}
