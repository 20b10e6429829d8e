// How long do small reads take while something big runs: two wide pulls, or an import into the lake that is served?
import { copyLake, lakeOf, tapehouse, withFolder, writeShifted } from "../harness/lakes.js";
import { firstColumn, ourUrl, pull } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { smallClient, some, timesRow } from "../harness/small.js";
import { median, round } from "../harness/turns.js";

const BLOCK = 100;

/** Times of small reads, in turns alone and beside `load`, which runs again and again meanwhile. */
async function aloneAndBeside(server: BenchServer, load: () => Promise<unknown>, turns: number): Promise<Row[]> {
  const codes = await firstColumn(server, "entities/stock_list?fields=ts_code");
  const client = smallClient();
  let asked = 0;
  const block = async (into: number[]): Promise<void> => {
    for (let i = 0; i < BLOCK; i++) {
      into.push(await client.ask(ourUrl(server, `entities/daily?ts_code=${some(codes, asked++)}`)));
    }
  };
  await block([]);
  const alone: number[] = [];
  const beside: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    await block(alone);
    let ended = false;
    const loading = load().then(() => (ended = true));
    do await block(beside);
    while (!ended);
    await loading;
  }
  client.close();
  const row = (name: string, times: readonly number[]): Row => ({
    "one stock, all years": name,
    reads: times.length,
    ...timesRow(times),
    slower: round(median(times) / median(alone), 2),
  });
  return [row("alone", alone), row("beside", beside)];
}

const besideWide: Question = {
  name: "small reads beside two wide pulls",
  async answer({ smallDays, tries }) {
    const lake = await lakeOf(smallDays);
    return withServers({ server: serveTapehouse(lake) }, ({ server }) => {
      const wide = ourUrl(server, "entities/daily");
      return aloneAndBeside(server, () => Promise.all([pull(wide), pull(wide)]), tries);
    });
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
        aloneAndBeside(server, () => tapehouse("import", "daily", file, "--data", folder), 1),
      );
    }),
};

export const beside: readonly Question[] = [besideWide, besideImport];
