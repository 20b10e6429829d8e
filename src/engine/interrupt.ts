// Ending what a connection runs.
import { setTimeout as sleep } from "node:timers/promises";
import type { DuckDBConnection } from "@duckdb/node-api";

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
