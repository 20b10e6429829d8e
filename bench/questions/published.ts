// How long do the first reads of one stock take as soon as an import of many rows has published them, before any
// background work on the new files is done?
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { copyLake, lakeOf, tapehouse, withFolder, writeShifted } from "../harness/lakes.js";
import { servePeer } from "../harness/peers.js";
import { firstColumn, ourUrl, peerUrl, rowsOf } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { serveTapehouse, withServers } from "../harness/servers.js";
import { smallClient, some, timesRow } from "../harness/small.js";
import { median, quantile, round } from "../harness/turns.js";

const READS = 20;
const WARM_UP = 200;

type Times = Readonly<Record<"before" | "after" | "again" | "chdb", readonly number[]>>;

/** The files ordered by date that a folder has now, as a pattern: compaction may add others. */
async function dateFiles(folder: string): Promise<string> {
  const names = await readdir(join(folder, "lake/daily"));
  return join(folder, "lake/daily", `{${names.filter((name) => name.endsWith(".parquet")).join()}}`);
}

/** Imports the file into a copy of the lake while it is served. */
const oneImport = (lake: string, file: string): Promise<Times> =>
  withFolder(async (folder) => {
    await copyLake(lake, folder);
    return withServers({ server: serveTapehouse(folder), chdb: servePeer("chdb") }, async ({ server, chdb }) => {
      const codes = await firstColumn(server, "entities/stock_list?fields=ts_code");
      const client = smallClient();
      let asked = 0;
      const timesOf = async (count: number, url: (code: string) => string): Promise<number[]> => {
        const times: number[] = [];
        while (times.length < count) times.push(await client.ask(url(some(codes, asked++))));
        return times;
      };
      const ours = (code: string): string => ourUrl(server, `entities/daily?ts_code=${code}`);
      try {
        await timesOf(WARM_UP, ours);
        const before = await timesOf(READS, ours);
        const rows = await rowsOf(server, "daily");
        await tapehouse("import", "daily", file, "--data", folder);
        while ((await rowsOf(server, "daily")) === rows) await sleep(1);
        const files = await dateFiles(folder);
        const after = await timesOf(READS, ours);
        const again = await timesOf(READS, ours);
        const theirs = (code: string): string => {
          const query = `SELECT * FROM file('${files}', Parquet) WHERE ts_code = '${code}' ORDER BY trade_date`;
          return peerUrl(chdb, { query, format: "JSONCompact" });
        };
        return { before, after, again, chdb: await timesOf(READS, theirs) };
      } finally {
        client.close();
      }
    });
  });

export const published: Question = {
  name: "first reads after an import",
  answer: ({ smallDays, importRows, tries }) =>
    withFolder(async (folder) => {
      const lake = await lakeOf(smallDays);
      const file = `${folder}/earlier.parquet`;
      await writeShifted(file, Math.ceil(importRows / 5), 10);
      const turns: Times[] = [];
      for (let i = 0; i < tries; i++) turns.push(await oneImport(lake, file));
      const row = (reads: string, name: keyof Times): Row => {
        const times = turns.flatMap((turn) => turn[name]);
        const after = turns.flatMap((turn) => turn.after);
        return {
          "one stock, all years": reads,
          "very first ms": round(median(turns.map((turn) => turn[name][0]!)), 2),
          ...timesRow(times),
          "slowest ms": round(quantile(times, 1), 2),
          "our ratio": round(median(times) / median(after), 2),
        };
      };
      return [
        row("before the import", "before"),
        row(`first ${READS} after it`, "after"),
        row(`next ${READS}`, "again"),
        row("chdb, the same files", "chdb"),
      ];
    }),
};
