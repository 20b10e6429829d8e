// Statements that a connection has prepared: questions of one kind differ in their values and files, not in their SQL.
import type { DuckDBConnection, DuckDBPreparedStatement } from "@duckdb/node-api";
import type { Statement } from "../query/statement.js";
import { toDuck } from "./values.js";

/** Of each connection: of the kinds of questions that take turns. */
const KEPT = 16;

const known = new WeakMap<DuckDBConnection, Map<string, DuckDBPreparedStatement>>();

/** The statement with its values, prepared now or before; it is for the next run of this connection only. */
export async function prepare(
  connection: DuckDBConnection,
  { sql, values }: Statement,
): Promise<DuckDBPreparedStatement> {
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
  statement.bind(values.map(toDuck));
  return statement;
}
