// How long does it take until all of `daily` is a frame of pandas or polars: by our client, and by engines that read the
// same Parquet files in the process of the frame?
import { filesOf, lakeOf } from "../harness/lakes.js";
import { servePeer } from "../harness/peers.js";
import { peerUrl, rowsOf } from "../harness/pull.js";
import type { Question, Sizes } from "../harness/question.js";
import { serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { inTurn, median, round } from "../harness/turns.js";

interface Frame {
  readonly seconds: number;
  readonly rows: number;
}

/** Each in its own process. */
const READERS = {
  tapehouse: "tapehouse",
  "tapehouse, nothing kept": "tapehouse",
  polars: "polars",
  chdb: "chdb",
  duckdb: "duckdb",
} as const;
type Reader = keyof typeof READERS;

async function readFrame(process: BenchServer, parameters: Readonly<Record<string, string>>): Promise<Frame> {
  const response = await fetch(peerUrl(process, parameters));
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Frame;
}

async function answer(library: string, { days, tries }: Sizes) {
  const lake = await lakeOf(days);
  const glob = filesOf(lake, "daily");
  const ours = { caching: serveTapehouse(lake), uncached: serveTapehouse(lake, { keeping: false }) };
  const names = Object.keys(READERS) as Reader[];
  const processes = Object.fromEntries(names.map((name) => [name, servePeer("frames")])) as Record<
    Reader,
    Promise<BenchServer>
  >;
  return withServers(ours, ({ caching, uncached }) =>
    withServers(processes, async (running) => {
      const rows = await rowsOf(caching, "daily");
      const sources: Partial<Record<Reader, string>> = {
        tapehouse: caching.url,
        "tapehouse, nothing kept": uncached.url,
      };
      const read = (name: Reader) => async (): Promise<number> => {
        const source = sources[name] ?? glob;
        const frame = await readFrame(running[name], { reader: READERS[name], library, source });
        if (frame.rows !== rows) throw new Error(`${name} read ${frame.rows} of ${rows} rows`);
        return frame.seconds;
      };
      const contenders = Object.fromEntries(names.map((name) => [name, read(name)])) as Record<
        Reader,
        () => Promise<number>
      >;
      const turns = await inTurn(contenders, tries);
      return names.map((name) => ({
        reader: name,
        rows,
        seconds: round(median(turns[name]), 3),
        "rows/s": round(rows / median(turns[name])),
        "peak MB": round(running[name].peakMemory() / 1e6),
        "our ratio": round(median(turns[name]) / median(turns.tapehouse), 2),
        "our ratio, nothing kept": round(median(turns[name]) / median(turns["tapehouse, nothing kept"]), 2),
      }));
    }),
  );
}

export const frames: readonly Question[] = ["pandas", "polars"].map((library) => ({
  name: `frame ${library}`,
  answer: (sizes: Sizes) => answer(library, sizes),
}));
