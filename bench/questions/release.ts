// How fast is this checkout compared with another one, in the same run and on the same rows?
import { join } from "node:path";
import { copyLake, lakeOf, tapehouseOf, withFolder, writeShifted } from "../harness/lakes.js";
import { firstColumn, ourUrl, pull, rowsOf } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { type BenchServer, MAIN, serveTapehouse, withServers } from "../harness/servers.js";
import { smallClient, some } from "../harness/small.js";
import { inTurn, median, round } from "../harness/turns.js";

/** Requests of one try, and before the first one. */
const SMALL = 50;

type Pair<T> = Readonly<Record<"here" | "there", T>>;

/** Times the same work in both, in turn. */
async function compared(question: string, work: Pair<() => Promise<number>>, tries: number): Promise<Row> {
  const turns = await inTurn(work, tries);
  const [here, there] = [median(turns.here), median(turns.there)];
  return { question, "seconds here": round(here, 4), there: round(there, 4), "times as fast": round(there / here, 2) };
}

const both = <T, U>({ here, there }: Pair<T>, of: (one: T) => U): Pair<U> => ({ here: of(here), there: of(there) });

export const release: Question = {
  name: "release",
  async answer({ days, tries, release: other }) {
    if (other === null) throw new Error("name the other checkout, where npm run build has run: --release DIR");
    const mains: Pair<string> = { here: MAIN, there: join(other, "dist/main.js") };
    const source = await lakeOf(days);
    return withFolder(async (folder) => {
      const file = join(folder, "rows.parquet");
      await writeShifted(file, 1, 0, Math.min(days, 250));
      let lakes = 0;
      const importing = both(mains, (main) => async () => {
        const started = performance.now();
        await tapehouseOf(main, "import", "daily", file, "--data", join(folder, `import-${++lakes}`));
        return (performance.now() - started) / 1000;
      });
      const rows = [await compared("import", importing, Math.min(tries, 3))];
      const lakeFor: Pair<string> = { here: join(folder, "here"), there: join(folder, "there") };
      for (const [name, lake] of Object.entries(lakeFor) as [keyof Pair<string>, string][]) {
        await copyLake(source, lake);
        // A release before serving copies does not know the command.
        await tapehouseOf(mains[name], "copies", "--data", lake).catch(() => undefined);
      }
      for (const keeping of [false, true]) {
        const starting = {
          here: serveTapehouse(lakeFor.here, { keeping, main: mains.here }),
          there: serveTapehouse(lakeFor.there, { keeping, main: mains.there }),
        };
        const kept = keeping ? "cached" : "nothing kept";
        await withServers(starting, async (servers) => {
          const total = await rowsOf(servers.here, "daily");
          for (const format of ["json", "arrow", "csv", "ndjson", "parquet"]) {
            const path = `entities/daily?format=${format}`;
            const wide = both(servers, (server) => async () => (await pull(ourUrl(server, path))).total);
            rows.push(await compared(`${total} rows as ${format}, ${kept}`, wide, tries));
          }
          if (!keeping) rows.push(...(await smallReads(servers, tries)));
        });
      }
      return rows;
    });
  },
};

async function smallReads(servers: Pair<BenchServer>, tries: number): Promise<readonly Row[]> {
  const codes = await firstColumn(servers.here, "entities/stock_list?fields=ts_code");
  const days = await firstColumn(servers.here, `entities/daily?fields=trade_date&ts_code=${codes[0]!}`);
  const three = "fields=ts_code,trade_date,close";
  const questions: Readonly<Record<string, (i: number) => string>> = {
    "three columns as JSON": () => `entities/daily?${three}`,
    "three columns as Arrow": () => `entities/daily?${three}&format=arrow`,
    "one stock, all days": (i) => `entities/daily?ts_code=${some(codes, i)}`,
    "one day, whole market": (i) => `entities/daily?trade_date=${some(days, i)}`,
    "100 stocks, all days": (i) =>
      `entities/daily?ts_code=${Array.from({ length: 100 }, (_, k) => some(codes, i * 100 + k)).join(",")}`,
  };
  const rows: Row[] = [];
  for (const [name, path] of Object.entries(questions)) {
    const requests = /^(three|100)/.test(name) ? 1 : SMALL;
    const asking = both(servers, (server) => {
      const client = smallClient();
      let i = 0;
      return async () => {
        const times: number[] = [];
        for (let n = 0; n < requests; n++) times.push((await client.ask(ourUrl(server, path(i++)))) / 1000);
        return median(times);
      };
    });
    rows.push(await compared(name, asking, tries));
  }
  return rows;
}
