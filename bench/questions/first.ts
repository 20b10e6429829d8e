// How much slower is the first wide pull of a server that has just started than a repeated one?
import { filesOf, lakeOf } from "../harness/lakes.js";
import { ourUrl, peerUrl, pull, rowsOf, type Pull } from "../harness/pull.js";
import type { Question } from "../harness/question.js";
import { servePeer, serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { inTurn, median, round } from "../harness/turns.js";

/** Pulls of one server: the first, the second, and the third. */
const pulls = (starting: Promise<BenchServer>, url: (server: BenchServer) => string): Promise<Pull[]> =>
  withServers({ server: starting }, async ({ server }) => [
    await pull(url(server)),
    await pull(url(server)),
    await pull(url(server)),
  ]);

export const first: readonly Question[] = ["json", "arrow"].map((format) => ({
  name: `first and repeated ${format}`,
  async answer({ days, tries }) {
    const lake = await lakeOf(days);
    const rows = await withServers({ server: serveTapehouse(lake) }, ({ server }) => rowsOf(server, "daily"));
    const query = `SELECT * FROM file('${filesOf(lake, "daily")}', Parquet)
      SETTINGS output_format_arrow_compression_method = 'none'`;
    const chdbFormat = format === "json" ? "JSONCompact" : "ArrowStream";
    const turns = await inTurn(
      {
        tapehouse: () => pulls(serveTapehouse(lake), (server) => ourUrl(server, `entities/daily?format=${format}`)),
        chdb: () => pulls(servePeer("chdb"), (server) => peerUrl(server, { query, format: chdbFormat })),
      },
      tries,
    );
    const seconds = (server: "tapehouse" | "chdb", i: number): number => median(turns[server].map((t) => t[i]!.total));
    return ["first", "second", "third"].map((pullName, i) => ({
      pull: pullName,
      "tapehouse rows/s": round(rows / seconds("tapehouse", i)),
      "first byte ms": round(median(turns.tapehouse.map((t) => t[i]!.firstByte)) * 1000, 1),
      "chdb rows/s": round(rows / seconds("chdb", i)),
      "our ratio": round(seconds("chdb", i) / seconds("tapehouse", i), 2),
    }));
  },
}));
