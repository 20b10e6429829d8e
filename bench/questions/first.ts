// How much slower is the first wide pull of a server that has just started than a repeated one?
import { lakeOf } from "../harness/lakes.js";
import { servePeer } from "../harness/peers.js";
import { pull, rowsOf, type Pull } from "../harness/pull.js";
import type { Question } from "../harness/question.js";
import { urlsOf, type Format } from "../harness/selection.js";
import { serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { inTurn, median, round } from "../harness/turns.js";

interface Fresh {
  /** The first, the second, and the third. */
  readonly pulls: readonly Pull[];
  /** Seconds from the start of the process to the end of the first pull. */
  readonly fromStart: number;
}

async function fresh(start: () => Promise<BenchServer>, url: (server: BenchServer) => string): Promise<Fresh> {
  const started = performance.now();
  return withServers({ server: start() }, async ({ server }) => {
    const first = await pull(url(server));
    const fromStart = (performance.now() - started) / 1000;
    return { pulls: [first, await pull(url(server)), await pull(url(server))], fromStart };
  });
}

export const first: readonly Question[] = (["json", "arrow"] as const satisfies Format[]).map((format) => ({
  name: `first and repeated ${format}`,
  async answer({ days, tries }) {
    const lake = await lakeOf(days);
    const rows = await withServers({ server: serveTapehouse(lake) }, ({ server }) => rowsOf(server, "daily"));
    const urls = urlsOf(lake, { entity: "daily" }, format);
    const turns = await inTurn(
      {
        tapehouse: () => fresh(() => serveTapehouse(lake), urls.tapehouse),
        chdb: () => fresh(() => servePeer("chdb"), urls.chdb),
      },
      tries,
    );
    const row = (name: string, seconds: (one: Fresh) => number, firstByte?: (one: Fresh) => number) => {
      const [ours, theirs] = [median(turns.tapehouse.map(seconds)), median(turns.chdb.map(seconds))];
      return {
        pull: name,
        "tapehouse rows/s": round(rows / ours),
        "first byte ms": firstByte ? round(median(turns.tapehouse.map(firstByte)) * 1000, 1) : "",
        "chdb rows/s": round(rows / theirs),
        "our ratio": round(theirs / ours, 2),
      };
    };
    return [
      row("first, with the start of the process", ({ fromStart }) => fromStart),
      ...["first", "second", "third"].map((name, i) =>
        row(
          name,
          ({ pulls }) => pulls[i]!.total,
          ({ pulls }) => pulls[i]!.firstByte,
        ),
      ),
    ];
  },
}));
