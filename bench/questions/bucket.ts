// How long do reads take from a bucket that is 30 ms away, when no data file is here and when they are, and from a folder?
// How soon does a new replica answer?
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { FAR_AWAY, pullOverOneConnection, withBucket } from "../harness/bucket.js";
import { lakeOf, tapehouse, withFolder } from "../harness/lakes.js";
import { sendLongLake } from "../harness/long-lake.js";
import { firstColumn, ourUrl, pull } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { RESULTS, serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { smallClient, some } from "../harness/small.js";
import { inTurn, median, round } from "../harness/turns.js";

const ADDRESS = "s3://bench/lake";
const LONG_ADDRESS = "s3://bench/long";
/** Data files of early days in the lists of the lake at that address. */
const LONG = 100_000;
/** Reads for each figure. */
const READS = 15;
/** How often the same reads are repeated once their files are here. */
const WARM_TURNS = 5;
/** No server has serving copies or cached rows, so that all read data files. */
const OPTIONS = { keeping: false, more: ["--copies", "none"] };

/** The target: the most milliseconds, the greatest ratio, or the least share. */
const TARGETS = { oneStock: 90, oneDay: 180, warmRatio: 1.1, shareOfConnection: 0.8, start: 2_000 };

interface Measured {
  readonly values: readonly number[];
  /** None for figures that only explain others. */
  readonly target?: number;
  /** Where more is better. */
  readonly isLeast?: true;
}

function row(figure: string, { values, target, isLeast }: Measured): Row {
  const middle = median(values);
  const decimals = middle < 10 ? 2 : 0;
  return {
    figure,
    median: round(middle, decimals),
    best: round(isLeast ? Math.max(...values) : Math.min(...values), decimals),
    ...(target === undefined ? {} : { target, met: (isLeast ? middle >= target : middle <= target) ? "yes" : "no" }),
  };
}

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

async function smallRows(far: BenchServer, near: BenchServer, mirror: string): Promise<readonly Row[]> {
  const [one] = await firstColumn(near, "entities/daily?fields=ts_code&limit=1");
  const days = await firstColumn(near, `entities/daily?fields=trade_date&ts_code=${one!}`);
  const codes = await firstColumn(near, `entities/daily?fields=ts_code&trade_date=${days.at(-1)!}`);
  const client = smallClient();
  const rows: Row[] = [];
  for (const [name, target, path] of [
    ["one stock, all years", TARGETS.oneStock, (i: number) => `entities/daily?ts_code=${some(codes, i)}`],
    ["one day, whole market", TARGETS.oneDay, (i: number) => `entities/daily?trade_date=${some(days, i)}`],
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
    rows.push(
      row(`${name}, cold, ms`, { values: cold, target }),
      row(`${name}, warm, times as long as from a folder`, {
        values: [median(warm) / median(folder)],
        target: TARGETS.warmRatio,
      }),
      row(`${name}, from a folder, ms`, { values: folder }),
    );
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

/** The bytes of the files that a wide pull reads, fetched one after another. */
async function connection(folder: string): Promise<WidePull & { readonly bytes: number }> {
  const keys = (await readdir(join(folder, "lake/daily"))).filter((name) => name.endsWith(".parquet"));
  const { seconds, bytes } = await pullOverOneConnection(keys.map((key) => `bench/lake/lake/daily/${key}`));
  return { seconds, bytes, processorSeconds: 0 };
}

async function wideRows(
  { far, near }: Record<"far" | "near", BenchServer>,
  { mirror, objects }: { readonly mirror: string; readonly objects: string },
  tries: number,
): Promise<readonly Row[]> {
  const { bytes } = await connection(objects);
  const pulls = await inTurn(
    {
      connection: () => connection(objects),
      async cold() {
        await empty(mirror);
        return widePull(far);
      },
      warm: () => widePull(far),
      folder: () => widePull(near),
    },
    tries,
  );
  const secondsOf = (name: keyof typeof pulls): number[] => pulls[name].map(({ seconds }) => seconds);
  const processorOf = (name: keyof typeof pulls): number[] => pulls[name].map((one) => one.processorSeconds);
  const shareOf = (times: readonly number[]): number[] => times.map((seconds) => bytes / seconds / FAR_AWAY.bandwidth);
  return [
    row("wide, cold, share of a connection's bandwidth", {
      values: shareOf(secondsOf("cold")),
      target: TARGETS.shareOfConnection,
      isLeast: true,
    }),
    row("wide, from a folder, the same share", { values: shareOf(secondsOf("folder")), isLeast: true }),
    row("one connection here, the same share", { values: shareOf(secondsOf("connection")), isLeast: true }),
    row("wide, warm, times as long as from a folder", {
      values: [median(secondsOf("warm")) / median(secondsOf("folder"))],
      target: TARGETS.warmRatio,
    }),
    row("wide, cold, processor s", { values: processorOf("cold") }),
    row("wide, from a folder, processor s", { values: processorOf("folder") }),
    row("peak memory, MB", { values: [far.peakMemory() / 1e6] }),
    row("peak memory from a folder, MB", { values: [near.peakMemory() / 1e6] }),
  ];
}

/** From the start of the command with an empty mirror to the response for a small read. */
async function startRows(folder: string, tries: number): Promise<readonly Row[]> {
  const client = smallClient();
  const milliseconds: number[] = [];
  const processor: number[] = [];
  for (let i = 0; i <= tries; i++) {
    const mirror = join(folder, `start-${i}`);
    const began = performance.now();
    const server = await serveTapehouse(LONG_ADDRESS, {
      ...OPTIONS,
      more: [...OPTIONS.more, "--mirror", mirror, "--no-watch"],
    });
    try {
      const { status } = (await (await fetch(`${server.url}/health`)).json()) as { status: string };
      if (status !== "ok") throw new Error(`a new replica is ${status}`);
      await client.ask(ourUrl(server, "entities/daily?limit=10&order=desc"));
      // The first start reads the programs from the disk.
      if (i > 0) milliseconds.push(performance.now() - began);
      if (i > 0) processor.push(server.processorTime());
    } finally {
      await server.stop();
      await rm(mirror, { recursive: true, force: true });
    }
  }
  client.close();
  return [
    row(`start with ${LONG} files in the lists, ms`, { values: milliseconds, target: TARGETS.start }),
    row("this start, processor s", { values: processor }),
  ];
}

export const bucket: Question = {
  name: "bucket reads",
  answer: async ({ smallDays, tries }) => {
    const lake = await lakeOf(smallDays);
    const kept = join(RESULTS, `bucket-${smallDays}`);
    const objects = join(kept, "bench/lake");
    return withBucket(kept, () =>
      withFolder(async (folder) => {
        const mirror = join(folder, "mirror");
        if (!existsSync(join(objects, "state/versions"))) await fill(lake, mirror);
        if (!existsSync(join(kept, "bench/long/state/versions"))) await sendLongLake(LONG_ADDRESS, LONG);
        const far = serveTapehouse(ADDRESS, {
          ...OPTIONS,
          ...{ workers: "1", more: [...OPTIONS.more, "--mirror", mirror] },
        });
        const near = serveTapehouse(lake, { ...OPTIONS, workers: "1" });
        const reads = await withServers({ far, near }, async (servers) => [
          ...(await smallRows(servers.far, servers.near, mirror)),
          ...(await wideRows(servers, { mirror, objects }, tries)),
        ]);
        return [...reads, ...(await startRows(folder, tries))];
      }),
    );
  },
};
