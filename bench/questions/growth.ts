// Do speed and memory of a pull stay constant when the lake grows?
import { lakeOf } from "../harness/lakes.js";
import { ourUrl, pull, rowsOf } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { serveTapehouse, withServers } from "../harness/servers.js";
import { inTurn, median, round } from "../harness/turns.js";

/** The cases: the format, and whether encoded rows are cached. */
const CASES = [
  { format: "json", keeping: false },
  { format: "json", keeping: true },
  { format: "arrow", keeping: false },
] as const;

export const growth: Question = {
  name: "growth",
  async answer({ growth: sizes }) {
    const table: Row[] = [];
    for (const { format, keeping } of CASES) {
      const lakes = new Map<number, string>();
      for (const days of sizes) lakes.set(days, await lakeOf(days));
      const servers = Object.fromEntries(
        [...lakes].map(([days, lake]) => [`${days}`, serveTapehouse(lake, { keeping })] as const),
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
            asked: `${format}, ${keeping ? "repeated" : "nothing kept"}`,
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
