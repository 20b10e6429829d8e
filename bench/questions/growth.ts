// Does a pull stay as fast, and memory as flat, when the lake grows?
import { lakeOf } from "../harness/lakes.js";
import { ourUrl, pull, rowsOf } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { serveTapehouse, withServers } from "../harness/servers.js";
import { inTurn, median, round } from "../harness/turns.js";

const FORMATS = ["json", "arrow", "parquet"] as const;

export const growth: Question = {
  name: "growth",
  async answer({ growth: sizes }) {
    const table: Row[] = [];
    for (const format of FORMATS) {
      const servers = Object.fromEntries(
        await Promise.all(sizes.map(async (days) => [`${days}`, serveTapehouse(await lakeOf(days))] as const)),
      );
      await withServers(servers, async (running) => {
        const path = `entities/daily?format=${format}`;
        const pulls = await inTurn(
          Object.fromEntries(sizes.map((days) => [`${days}`, () => pull(ourUrl(running[`${days}`]!, path))])),
          2,
        );
        for (const days of sizes) {
          const server = running[`${days}`]!;
          const rows = await rowsOf(server, "daily");
          table.push({
            format,
            rows,
            "rows/s": round(rows / median(pulls[`${days}`]!.map(({ total }) => total))),
            "first byte ms": round(median(pulls[`${days}`]!.map(({ firstByte }) => firstByte)) * 1000, 1),
            "peak MB": round(server.peakMemory() / 1e6),
          });
        }
      });
    }
    return table;
  },
};
