// DuckDB's own writer without HTTP: runs `query` as COPY to /dev/null in `format` on both cores, and reports that it is
// done.
import { DuckDBInstance } from "@duckdb/node-api";
import { listen } from "./listen.mjs";

const connection = await (await DuckDBInstance.create(":memory:")).connect();

listen(async ({ query, format }, res) => {
  await connection.run(`COPY (${query}) TO '/dev/null' (FORMAT ${format})`);
  res.send("done");
});
