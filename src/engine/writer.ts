// The writing side's DuckDB: its own instance with bounded memory, in the process of a command, never in the server's.
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import type { SqlValue } from "../query/statement.js";
import { fromDuck, toDuck, type Scalar } from "./values.js";

export interface WriterOptions {
  /** Upper bound of DuckDB's memory, e.g. `4GB`. More than that spills into `tempDirectory`. */
  readonly memory: string;
  readonly tempDirectory: string;
  readonly threads?: number;
}

/** Runs statements one after another on one connection. DuckDB's own error messages pass through as Error. */
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
  return wrap(connection, () => {
    connection.disconnectSync();
    instance.closeSync();
  });
}

function wrap(connection: DuckDBConnection, close: () => void): Writer {
  return {
    async run(sql, values = []) {
      const result = await connection.run(sql, values.map(toDuck));
      return result.rowsChanged;
    },
    async rows(sql, values = []) {
      const reader = await connection.runAndReadAll(sql, values.map(toDuck));
      const names = reader.columnNames();
      return reader.getRows().map((row) => Object.fromEntries(row.map((value, i) => [names[i]!, fromDuck(value)])));
    },
    interrupt: () => connection.interrupt(),
    close,
  };
}
