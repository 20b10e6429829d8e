// How long do reads take from a bucket that is 30 ms away, when no data file is here and when they are, and from a folder?
import { existsSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { FAR_AWAY, withBucket } from "../harness/bucket.js";
import { filesOf, lakeOf, tapehouse, withFolder } from "../harness/lakes.js";
import { firstColumn, ourUrl, pull } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { RESULTS, serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { smallClient, some } from "../harness/small.js";
import { inTurn, median, round } from "../harness/turns.js";

const ADDRESS = "s3://bench/lake";
/** Reads for each figure. */
const READS = 15;
/** How often the same reads are repeated once their files are here. */
const WARM_TURNS = 5;
/** Neither server has serving copies or cached rows, so that both read data files. */
const OPTIONS = { keeping: false, workers: "1", more: ["--copies", "none"] };

/** Sends the entity `daily` of a lake to the bucket, with a code copy. */
async function fill(lake: string, mirror: string): Promise<void> {
  const files = (await readdir(join(lake, "lake/daily"))).filter((name) => name.endsWith(".parquet"));
  const paths = files.sort().map((name) => join(lake, "lake/daily", name));
  await tapehouse("import", "daily", ...paths, "--data", ADDRESS, "--mirror", mirror);
  await tapehouse("compact", "--data", ADDRESS, "--mirror", mirror);
  await rm(mirror, { recursive: true, force: true });
}

/** Removes all data files of a mirror. */
async function empty(mirror: string): Promise<void> {
  for (const folder of ["daily", ".excerpts"]) await rm(join(mirror, "lake", folder), { recursive: true, force: true });
}

async function sizeOf(pattern: string): Promise<number> {
  const folder = join(pattern, "..");
  let bytes = 0;
  for (const name of await readdir(folder))
    if (name.endsWith(".parquet")) bytes += (await stat(join(folder, name))).size;
  return bytes;
}

async function smallRows(far: BenchServer, near: BenchServer, mirror: string): Promise<readonly Row[]> {
  const [one] = await firstColumn(near, "entities/daily?fields=ts_code&limit=1");
  const days = await firstColumn(near, `entities/daily?fields=trade_date&ts_code=${one!}`);
  const codes = await firstColumn(near, `entities/daily?fields=ts_code&trade_date=${days.at(-1)!}`);
  const client = smallClient();
  const rows: Row[] = [];
  for (const [name, path] of [
    ["one stock, all years", (i: number) => `entities/daily?ts_code=${some(codes, i)}`],
    ["one day, whole market", (i: number) => `entities/daily?trade_date=${some(days, i)}`],
  ] as const) {
    const cold: number[] = [];
    // The first reads compile the code of both servers.
    for (let i = 0; i < 2 * READS; i++) {
      await client.ask(ourUrl(near, path(i)));
      await empty(mirror);
      const time = await client.ask(ourUrl(far, path(i)));
      if (i >= READS) cold.push(time);
    }
    const warm: number[] = [];
    const folder: number[] = [];
    for (let turn = 0; turn <= WARM_TURNS; turn++) {
      for (let i = 0; i < READS; i++) {
        const [here, beside] = [await client.ask(ourUrl(far, path(i))), await client.ask(ourUrl(near, path(i)))];
        if (turn === 0) continue;
        warm.push(here);
        folder.push(beside);
      }
    }
    rows.push({
      read: name,
      "cold ms": round(median(cold), 1),
      "fastest cold ms": round(Math.min(...cold), 1),
      "warm ms": round(median(warm), 2),
      "folder ms": round(median(folder), 2),
      "warm ratio": round(median(warm) / median(folder), 2),
    });
  }
  client.close();
  return rows;
}

interface WidePull {
  readonly seconds: number;
  readonly processorSeconds: number;
}

/** All rows of `daily`. */
async function widePull(server: BenchServer): Promise<WidePull> {
  const before = server.processorTime();
  const { total } = await pull(ourUrl(server, "entities/daily?format=arrow"));
  return { seconds: total, processorSeconds: server.processorTime() - before };
}

async function wideRow(
  far: BenchServer,
  near: BenchServer,
  mirror: string,
  bytes: number,
  tries: number,
): Promise<Row> {
  const contenders = {
    async cold() {
      await empty(mirror);
      return widePull(far);
    },
    warm: () => widePull(far),
    folder: () => widePull(near),
  };
  const pulls = await inTurn(contenders, tries);
  const seconds = (name: keyof typeof pulls): number => median(pulls[name].map((one) => one.seconds));
  const processor = (name: keyof typeof pulls): number =>
    round(median(pulls[name].map((one) => one.processorSeconds)), 2);
  return {
    read: "wide, Arrow",
    "cold ms": round(seconds("cold") * 1000),
    "fastest cold ms": round(Math.min(...pulls.cold.map((one) => one.seconds)) * 1000),
    "warm ms": round(seconds("warm") * 1000),
    "folder ms": round(seconds("folder") * 1000),
    "warm ratio": round(seconds("warm") / seconds("folder"), 2),
    "of a connection": round(bytes / seconds("cold") / FAR_AWAY.bandwidth, 2),
    "processor s, cold": processor("cold"),
    "processor s, folder": processor("folder"),
    "peak MB": round(far.peakMemory() / 1e6),
    "peak MB, folder": round(near.peakMemory() / 1e6),
  };
}

export const bucket: Question = {
  name: "bucket reads",
  answer: async ({ smallDays, tries }) => {
    const lake = await lakeOf(smallDays);
    const kept = join(RESULTS, `bucket-${smallDays}`);
    return withBucket(kept, () =>
      withFolder(async (folder) => {
        const mirror = join(folder, "mirror");
        if (!existsSync(join(kept, "bench/lake/state/versions"))) await fill(lake, mirror);
        const far = serveTapehouse(ADDRESS, { ...OPTIONS, more: [...OPTIONS.more, "--mirror", mirror] });
        const near = serveTapehouse(lake, OPTIONS);
        return withServers({ far, near }, async (servers) => [
          ...(await smallRows(servers.far, servers.near, mirror)),
          await wideRow(servers.far, servers.near, mirror, await sizeOf(filesOf(lake, "daily")), tries),
        ]);
      }),
    );
  },
};
