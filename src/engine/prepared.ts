// Statements that a connection has prepared: questions of one kind differ in their values and files, not in their SQL.
import type { DuckDBConnection, DuckDBPreparedStatement } from "@duckdb/node-api";
import type { Statement } from "../query/sql.js";
import { toDuck } from "./values.js";

/** Of each connection: of the kinds of questions that take turns. */
const KEPT = 16;

/**
 * Characters of a statement that is kept. A longer one names many values: it takes memory for each of them, and seldom
 * comes again with just as many.
 */
const LONGEST = 4_096;

const known = new WeakMap<DuckDBConnection, Map<string, DuckDBPreparedStatement>>();

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
  const kept = known.get(connection) ?? new Map<string, DuckDBPreparedStatement>();
  known.set(connection, kept);
  const statement = kept.get(sql) ?? (await connection.prepare(sql));
  kept.delete(sql);
  kept.set(sql, statement); // the latest comes last
  if (kept.size > KEPT) {
    const [oldest, unused] = kept.entries().next().value!;
    kept.delete(oldest);
    unused.destroySync();
  }
  return statement;
}
