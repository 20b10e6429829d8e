// A hand-written handler over the same files: Express, getRowsJson, JSON.stringify.
import type { AddressInfo } from "node:net";
import { DuckDBInstance } from "@duckdb/node-api";
import express from "express";

const [glob] = process.argv.slice(2);
const instance = await DuckDBInstance.create(":memory:");
const app = express();
app.get("/daily", async (_req, res) => {
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll(`SELECT * FROM read_parquet('${glob}') ORDER BY trade_date, ts_code`);
  const columns = reader.columnNames().map((name) => ({ name }));
  const rows = reader.getRowsJson();
  connection.disconnectSync();
  res.type("json").send(JSON.stringify({ entity: "daily", columns, rows, count: rows.length }));
});
const server = app.listen(0, "127.0.0.1", () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.once("SIGTERM", () => process.exit(0));
