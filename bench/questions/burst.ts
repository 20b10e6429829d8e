// How long does it take until thousands of one-day files, dropped at once in any order, are served? And how much disk do
// they need, compared with one import of the same rows?
import { mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runSql, tapehouse, withFolder, writeShifted } from "../harness/lakes.js";
import { rowsOf } from "../harness/pull.js";
import type { Question } from "../harness/question.js";
import { serveTapehouse, withServers } from "../harness/servers.js";
import { round } from "../harness/turns.js";

/** Six of ten stocks, so that `--import-rows 25` gives 5,000 files and 13 million rows. */
const SOME = "ts_code[6] < '6'";

/** How long the background work may take, in milliseconds. */
const QUIET = 90_000;

export const burst: Question = {
  name: "burst",
  answer: ({ importRows }) =>
    withFolder(async (folder) => {
      const whole = join(folder, "rows.parquet");
      await writeShifted(whole, Math.ceil(importRows / 5));
      await runSql(`COPY (SELECT * FROM read_parquet('${whole}') WHERE ${SOME}) TO '${whole}.some' (FORMAT parquet)`);
      await rename(`${whole}.some`, whole);
      const files = await writeDays(whole, join(folder, "days"));
      const imported = join(folder, "imported");
      await tapehouse("import", "daily", whole, "--data", imported);
      await tapehouse("compact", "--data", imported);
      const dropped = join(folder, "dropped");
      await mkdir(join(dropped, "inbox/daily"), { recursive: true });
      return withServers(
        { one: serveTapehouse(imported), burst: serveTapehouse(dropped) },
        async ({ one, burst: server }) => {
          const rows = await rowsOf(one, "daily");
          const [started, busy] = [performance.now(), server.processorTime()];
          await rename(join(folder, "days"), join(dropped, "inbox/daily/days"));
          while ((await rowsOf(server, "daily").catch(() => 0)) < rows) await sleep(200);
          const seconds = (performance.now() - started) / 1000;
          const processor = server.processorTime() - busy;
          const served = await bytesBelow(join(dropped, "lake"));
          await sleep(QUIET);
          const [ours, theirs] = [await bytesBelow(join(dropped, "lake")), await bytesBelow(join(imported, "lake"))];
          return [
            {
              files,
              rows,
              "seconds until all are served": round(seconds, 1),
              "processor seconds": round(processor, 1),
              "lake MB when served": round(served / 1e6),
              "after background work": round(ours / 1e6),
              "one import, compacted": round(theirs / 1e6),
              ratio: round(ours / theirs, 2),
            },
          ];
        },
      );
    }),
};

/** Writes one file for each day; their times put the days in no order. Resolves to the number of files. */
async function writeDays(source: string, folder: string): Promise<number> {
  const parts = `${folder}.parts`;
  // Each thread would write files of its own.
  await runSql(
    "SET threads = 1",
    `COPY (FROM read_parquet('${source}')) TO '${parts}' (FORMAT parquet, PARTITION_BY (trade_date), WRITE_PARTITION_COLUMNS true)`,
  );
  await mkdir(folder);
  const days = (await readdir(parts)).sort();
  for (const [i, day] of days.entries()) {
    const names = await readdir(join(parts, day));
    if (names.length > 1) throw new Error(`${day} became ${names.length} files`);
    const file = join(folder, `${day.replace("trade_date=", "")}.parquet`);
    await rename(join(parts, day, names[0]!), file);
    const time = 1.7e9 + ((i * 7_919) % days.length);
    await utimes(file, time, time);
  }
  await rm(parts, { recursive: true });
  return days.length;
}

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        stat(join(entry.parentPath, entry.name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
