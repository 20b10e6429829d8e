// Statements on a connection: preparing, binding values, and interrupting.
import { setTimeout as sleep } from "node:timers/promises";
import { type DuckDBConnection, type DuckDBPreparedStatement, type DuckDBValue, listValue } from "@duckdb/node-api";
import type { SqlValue } from "../query/bindings.js";
import type { Statement } from "../query/sql.js";

/** A statement of ours, with values by position, or of a user, with values by name. */
export type BoundStatement =
  Statement | { readonly sql: string; readonly values: Readonly<Record<string, DuckDBValue>> };

/** Calls `run` with the statement, whose values are bound. The connection must be idle. */
export async function withPrepared<T>(
  connection: DuckDBConnection,
  { sql, values }: BoundStatement,
  run: (statement: DuckDBPreparedStatement) => Promise<T>,
): Promise<T> {
  const statement = await connection.prepare(sql);
  try {
    statement.bind(isList(values) ? values.map(toDuck) : values);
    return await run(statement);
  } finally {
    statement.destroySync();
  }
}

const isList = (values: BoundStatement["values"]): values is Statement["values"] => Array.isArray(values);

// Conversion of values: plain JavaScript on our side, DuckDB's own classes on the other.

/**
 * A scalar of a small result. BIGINT is a number (a bigint beyond 2^53); every other type that is not a number is text.
 */
export type Scalar = string | number | bigint | boolean | null;

export function toDuck(value: SqlValue): DuckDBValue {
  if (typeof value === "object" && value !== null) return listValue(value);
  return value;
}

export function fromDuck(value: DuckDBValue): Scalar {
  if (value === null || typeof value === "number" || typeof value === "boolean" || typeof value === "string")
    return value;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return String(value);
}

// Ending what a connection runs.

const RETRY_MS = 5;

/**
 * Interrupts `work`, which runs on the connection, and resolves when it has ended in any way. An interrupt that comes
 * before a statement has started is lost, so it is repeated.
 */
export async function endWork(connection: DuckDBConnection, work: Promise<unknown>): Promise<void> {
  let over = false;
  const ended = work.then(
    () => (over = true),
    () => (over = true),
  );
  while (!over) {
    connection.interrupt();
    await Promise.race([ended, sleep(RETRY_MS)]);
  }
}
