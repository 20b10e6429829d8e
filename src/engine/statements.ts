// Statements on a connection: prepared ones, the values they bind, and the interrupt. Requests of one kind differ in values
// and files, not in SQL.
import { LRUCache } from "lru-cache";
import { setTimeout as sleep } from "node:timers/promises";
import { type DuckDBConnection, type DuckDBPreparedStatement, type DuckDBValue, listValue } from "@duckdb/node-api";
import type { SqlValue, Statement } from "../query/sql.js";

/** Of each connection: of the kinds of questions that take turns. */
const KEPT = 16;

/**
 * Characters of a statement that is kept. A longer one names many values: it takes memory for each of them, and seldom
 * comes again with just as many.
 */
const LONGEST = 4_096;

const prepared = new WeakMap<DuckDBConnection, LRUCache<string, DuckDBPreparedStatement>>();

/** Does `run` with the statement and its values, prepared now or before. Nothing else may run on the connection. */
export async function withPrepared<T>(
  connection: DuckDBConnection,
  { sql, values }: Statement,
  run: (statement: DuckDBPreparedStatement) => Promise<T>,
): Promise<T> {
  const isKept = sql.length <= LONGEST;
  const statement = isKept ? await keptStatement(connection, sql) : await connection.prepare(sql);
  try {
    statement.bind(values.map(toDuck));
    return await run(statement);
  } finally {
    if (!isKept) statement.destroySync();
  }
}

async function keptStatement(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
  const kept = prepared.get(connection) ?? new LRUCache({ max: KEPT, dispose: (unused) => unused.destroySync() });
  prepared.set(connection, kept);
  const statement = kept.get(sql) ?? (await connection.prepare(sql));
  if (!kept.has(sql)) kept.set(sql, statement);
  return statement;
}

// Values bound into SQL and values read back: plain JavaScript on our side, DuckDB's own classes on the other.

/** A scalar read from a small result. BIGINT comes as number (as bigint beyond 2^53), every other non-number as text. */
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

const AGAIN_AFTER_MS = 5;

/**
 * Resolves when `work`, which runs on the connection, is over, however it ends. An interrupt that comes before a statement
 * has begun is lost, so it is repeated.
 */
export async function endWork(connection: DuckDBConnection, work: Promise<unknown>): Promise<void> {
  let over = false;
  const ended = work.then(
    () => (over = true),
    () => (over = true),
  );
  while (!over) {
    connection.interrupt();
    await Promise.race([ended, sleep(AGAIN_AFTER_MS)]);
  }
}
