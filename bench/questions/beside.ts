// How long do small reads take while something big runs: two wide pulls, or an import into the served lake?
import { copyLake, lakeOf, tapehouse, withFolder, writeShifted } from "../harness/lakes.js";
import { firstColumn, ourUrl, pull } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { smallClient, some, timesRow } from "../harness/small.js";
import { median, round } from "../harness/turns.js";

const BLOCK = 100;
/** Seconds to wait until reads are as fast as before. */
const PATIENCE = 120;

interface Reads {
  /** Reads one stock after another, at least once, until `until` is true; returns the milliseconds of each read. */
  (until: (times: readonly number[]) => boolean): Promise<number[]>;
}

async function withReads<T>(server: BenchServer, use: (reads: Reads) => Promise<T>): Promise<T> {
  const codes = await firstColumn(server, "entities/stock_list?fields=ts_code");
  const client = smallClient();
  let asked = 0;
  try {
    return await use(async (until) => {
      const times: number[] = [];
      do times.push(await client.ask(ourUrl(server, `entities/daily?ts_code=${some(codes, asked++)}`)));
      while (!until(times));
      return times;
    });
  } finally {
    client.close();
  }
}

/** Times of reads during `load`. */
async function during(reads: Reads, load: () => Promise<unknown>): Promise<number[]> {
  let ended = false;
  const loading = load().finally(() => (ended = true));
  const times = await reads(() => ended);
  await loading;
  return times;
}

const enough = (times: readonly number[]): boolean => times.length >= BLOCK;

const row = (name: string, times: readonly number[], alone: readonly number[]): Row => ({
  "one stock, all years": name,
  reads: times.length,
  seconds: round(times.reduce((sum, time) => sum + time, 0) / 1000, 1),
  ...timesRow(times),
  slower: round(median(times) / median(alone), 2),
});

const besideWide: Question = {
  name: "small reads beside two wide pulls",
  async answer({ smallDays, tries }) {
    const lake = await lakeOf(smallDays);
    return withServers({ server: serveTapehouse(lake) }, ({ server }) =>
      withReads(server, async (reads) => {
        const wide = ourUrl(server, "entities/daily");
        await reads(enough);
        const alone: number[] = [];
        const beside: number[] = [];
        for (let turn = 0; turn < tries; turn++) {
          alone.push(...(await reads(enough)));
          beside.push(...(await during(reads, () => Promise.all([pull(wide), pull(wide)]))));
        }
        return [row("alone", alone, alone), row("beside", beside, alone)];
      }),
    );
  },
};

const besideImport: Question = {
  name: "small reads beside an import",
  answer: ({ smallDays, importRows }) =>
    withFolder(async (folder) => {
      const file = `${folder}/earlier.parquet`;
      await copyLake(await lakeOf(smallDays), folder);
      await writeShifted(file, Math.ceil(importRows / 5), 10);
      return withServers({ server: serveTapehouse(folder) }, ({ server }) =>
        withReads(server, async (reads) => {
          await reads(enough);
          const alone = await reads(enough);
          const beside = await during(reads, () => tapehouse("import", "daily", file, "--data", folder));
          const limit = performance.now() + PATIENCE * 1000;
          const recovered = (times: readonly number[]): boolean =>
            performance.now() > limit || (times.length >= 20 && median(times.slice(-20)) < 2 * median(alone));
          const after = await reads(recovered);
          return [
            row("alone", alone, alone),
            row("while it runs", beside, alone),
            row("after it, until as fast as before", after, alone),
          ];
        }),
      );
    }),
};

export const beside: readonly Question[] = [besideWide, besideImport];
