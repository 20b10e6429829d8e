// A DuckDB in memory, from before the first test of a file until after its last one.
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { afterAll, beforeAll } from "vitest";

export interface InMemory {
  readonly connection: DuckDBConnection;
  connect(): Promise<DuckDBConnection>;
}

export function duckdbInMemory(options: Readonly<Record<string, string>> = {}): InMemory {
  let instance: DuckDBInstance;
  let connection: DuckDBConnection;
  beforeAll(async () => {
    instance = await DuckDBInstance.create(":memory:", { ...options });
    connection = await instance.connect();
  });
  afterAll(() => {
    connection.disconnectSync();
    instance.closeSync();
  });
  return {
    get connection() {
      return connection;
    },
    connect: () => instance.connect(),
  };
}
