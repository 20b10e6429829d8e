// Is a server of one worker or one of two faster? Decides what `--workers auto` starts.
import { lakeOf } from "../harness/lakes.js";
import { firstColumn, ourUrl, pullTogether, rowsOf } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { some } from "../harness/small.js";
import { inTurn, median, round } from "../harness/turns.js";

const SMALL_REQUESTS = 400;

export const workers: Question = {
  name: "workers",
  async answer({ days, smallDays, tries }) {
    const table: Row[] = [];
    const ask = async (
      question: string,
      unit: string,
      amount: number,
      [one, two]: readonly [BenchServer, BenchServer],
      run: (server: BenchServer) => Promise<number>,
    ): Promise<void> => {
      const turns = await inTurn({ one: () => run(one), two: () => run(two) }, tries);
      table.push({
        question,
        [`1 worker ${unit}`]: round(amount / median(turns.one)),
        [`2 workers ${unit}`]: round(amount / median(turns.two)),
        "ratio of 2 to 1": round(median(turns.one) / median(turns.two), 2),
        "peak MB": [one, two].map((server) => round(server.peakMemory() / 1e6)).join(" "),
      });
    };
    const both = (lake: string, keeping: boolean) => ({
      one: serveTapehouse(lake, { keeping, workers: "1" }),
      two: serveTapehouse(lake, { keeping, workers: "2" }),
    });

    await withServers(both(await lakeOf(smallDays), true), async ({ one, two }) => {
      const codes = await firstColumn(one, "entities/stock_list?fields=ts_code");
      for (const clients of [1, 4, 16]) {
        const urls = (server: BenchServer): readonly string[] =>
          Array.from({ length: SMALL_REQUESTS }, (_, i) => ourUrl(server, `entities/daily?ts_code=${some(codes, i)}`));
        await ask(`one stock, ${clients} clients`, "per s", SMALL_REQUESTS, [one, two], (server) =>
          pullTogether(urls(server), clients),
        );
      }
    });
    for (const keeping of [false, true]) {
      await withServers(both(await lakeOf(days), keeping), async ({ one, two }) => {
        const rows = await rowsOf(one, "daily");
        for (const clients of [1, 4]) {
          await ask(
            `whole daily ${keeping ? "kept" : "anew"}, ${clients} clients`,
            "per s",
            clients * rows,
            [one, two],
            (server) => pullTogether(Array<string>(clients).fill(ourUrl(server, "entities/daily")), clients),
          );
        }
      });
    }
    return table;
  },
};
