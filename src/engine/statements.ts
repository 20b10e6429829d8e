// Statements on a connection: preparing, binding values, and interrupting.
import { setTimeout as sleep } from "node:timers/promises";
import {
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  type DuckDBType,
  type DuckDBValue,
  listValue,
} from "@duckdb/node-api";
import type { SqlValue } from "../query/bindings.js";
import type { Statement } from "../query/sql.js";

/** A statement of a user, with values by name. */
export interface NamedStatement {
  readonly sql: string;
  readonly values: Readonly<Record<string, DuckDBValue>>;
  /** Types of those whose type does not follow from their value. */
  readonly types: Readonly<Record<string, DuckDBType>>;
}

/** A statement of ours has values by position. */
export type BoundStatement = Statement | NamedStatement;

/** Calls `run` with the statement, whose values are bound. The connection must be idle. */
export async function withPrepared<T>(
  connection: DuckDBConnection,
  bound: BoundStatement,
  run: (statement: DuckDBPreparedStatement) => Promise<T>,
): Promise<T> {
  const statement = await connection.prepare(bound.sql);
  try {
    if ("types" in bound) statement.bind(bound.values, bound.types);
    else statement.bind(bound.values.map(toDuck));
    return await run(statement);
  } finally {
    statement.destroySync();
  }
}

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

/** Whether DuckDB says that neither memory nor disk has space for what it sorts or groups. */
export const isOutOfSpace = (error: unknown): boolean =>
  error instanceof Error && /^Out of Memory Error|^IO Error: Could not write file/.test(error.message);
