// How fast is the import of one big Parquet file, compared with DuckDB sorting and writing the same rows?
import { tapehouse, withFolder, writeShifted } from "../harness/lakes.js";
import { servePeer } from "../harness/peers.js";
import { peerUrl, pull, rowsOf } from "../harness/pull.js";
import type { Question } from "../harness/question.js";
import { serveTapehouse, withServers } from "../harness/servers.js";
import { inTurn, median, round } from "../harness/turns.js";

const TURNS = 2;

export const importing: Question = {
  name: "import",
  answer: ({ importRows }) =>
    withFolder(async (folder) => {
      const file = `${folder}/rows.parquet`;
      await writeShifted(file, Math.ceil(importRows / 5));
      let lakes = 0;
      const ours = async (): Promise<number> => {
        const started = performance.now();
        await tapehouse("import", "daily", file, "--data", `${folder}/lake-${++lakes}`);
        return (performance.now() - started) / 1000;
      };
      return withServers({ duckdb: servePeer("duckdb-copy") }, async ({ duckdb }) => {
        const copy = async (order: string): Promise<number> => {
          const query = `SELECT * FROM read_parquet('${file}') ORDER BY ${order}`;
          return (await pull(peerUrl(duckdb, { query, format: "parquet, ROW_GROUP_SIZE 25000" }))).total;
        };
        const byHand = async (): Promise<number> =>
          (await copy("trade_date, ts_code")) + (await copy("ts_code, trade_date"));
        const turns = await inTurn({ tapehouse: ours, "duckdb, two sorted copies, discarded": byHand }, TURNS);
        const rows = await withServers({ server: serveTapehouse(`${folder}/lake-1`) }, ({ server }) =>
          rowsOf(server, "daily"),
        );
        return Object.entries(turns).map(([name, seconds]) => ({
          import: name,
          rows,
          seconds: round(median(seconds), 1),
          "rows/s": round(rows / median(seconds)),
          "our ratio": round(median(seconds) / median(turns.tapehouse), 2),
        }));
      });
    }),
};
