// A straightforward handler: Express, getRowsJson, JSON.stringify.
import { DuckDBInstance } from "@duckdb/node-api";
import { listen } from "./listen.mjs";

const instance = await DuckDBInstance.create(":memory:");

listen(async ({ query }, res) => {
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll(query);
  const columns = reader.columnNames().map((name) => ({ name }));
  const rows = reader.getRowsJson();
  connection.disconnectSync();
  res.type("json").send(JSON.stringify({ columns, rows, count: rows.length }));
});
