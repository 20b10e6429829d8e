// Lakes of a known size, made once and kept in `bench/results` between runs.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, link, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { MAIN, RESULTS } from "./servers.js";

const STOCKS = 5_000;
/** Days of the demo market from which longer ones are made, and the calendar days that they span. */
const DEMO_DAYS = 1_000;
const DEMO_SPAN = 1_505;

/** Runs one of our commands; throws with its output if it fails. */
export const tapehouse = (...args: readonly string[]): Promise<unknown> => tapehouseOf(MAIN, ...args);

/** The same for another checkout, by its `dist/main.js`. */
export const tapehouseOf = (main: string, ...args: readonly string[]): Promise<unknown> =>
  promisify(execFile)(process.execPath, [main, ...args]);

/** The date-ordered files of an entity, as a pattern. */
export const filesOf = (lake: string, entity: string): string => join(lake, "lake", entity, "*.parquet");

/** The same rows clustered by code; a small lake has them only in the order of dates. */
export function codeFilesOf(lake: string, entity: string): string {
  const folder = join(lake, "lake", entity, "by_code");
  return existsSync(folder) ? join(folder, "*.parquet") : filesOf(lake, entity);
}

/**
 * A lake of 5,000 stocks and this many days: the demo market; if that is too short, its quotes are repeated in earlier
 * years.
 */
export async function lakeOf(days: number): Promise<string> {
  const folder = join(RESULTS, `lake-${STOCKS}x${days}`);
  if (!existsSync(join(folder, "state/current"))) await makeLake(folder, days);
  await tapehouse("copies", "--data", folder);
  return folder;
}

async function makeLake(folder: string, days: number): Promise<void> {
  process.stderr.write(`making a lake of ${STOCKS} stocks and ${days} days\n`);
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  if (days <= DEMO_DAYS) {
    await tapehouse("demo", "--data", unfinished, "--stocks", `${STOCKS}`, "--days", `${days}`);
  } else await makeLongLake(unfinished, days);
  await rename(unfinished, folder);
}

/** Only what the questions need: `daily`, the stocks and the calendar. */
async function makeLongLake(folder: string, days: number): Promise<void> {
  const daily = join(folder, "daily.parquet");
  await writeShifted(daily, Math.ceil(days / DEMO_DAYS), 0, days);
  const demo = await lakeOf(DEMO_DAYS);
  const calendar = join(folder, "calendar.parquet");
  const stocks = join(folder, "stocks.parquet");
  await runSql(
    `COPY (WITH open AS (SELECT DISTINCT trade_date AS day FROM read_parquet('${daily}')),
       calendar AS (SELECT unnest(generate_series(min(day), max(day), INTERVAL 1 DAY))::DATE AS cal_date FROM open)
     SELECT 'SSE' AS exchange, cal_date, (day IS NOT NULL)::BIGINT AS is_open,
       max(day) OVER (ORDER BY cal_date ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS pretrade_date
     FROM calendar LEFT JOIN open ON day = cal_date ORDER BY cal_date) TO '${calendar}'`,
    `COPY (FROM read_parquet('${filesOf(demo, "stock_list")}') QUALIFY snapshot_date = max(snapshot_date) OVER ())
     TO '${stocks}'`,
  );
  for (const [entity, file] of Object.entries({ trade_cal: calendar, stock_list: stocks, daily })) {
    await tapehouse("import", entity, file, "--data", folder);
    await rm(file);
  }
  await tapehouse("compact", "--data", folder);
}

/**
 * Writes the demo's `daily` to one file, `copies` times, each one earlier than the last, in order; keeps the newest
 * `days` days.
 */
export async function writeShifted(file: string, copies: number, skip = 0, days = copies * DEMO_DAYS): Promise<void> {
  const source = filesOf(await lakeOf(DEMO_DAYS), "daily");
  const parts = Array.from(
    { length: copies },
    (_, i) => `SELECT * REPLACE (trade_date - ${DEMO_SPAN * (skip + copies - 1 - i)} AS trade_date)
      FROM read_parquet('${source}')`,
  );
  const all = parts.join(" UNION ALL ");
  const first = `SELECT min(day) FROM (SELECT DISTINCT trade_date AS day FROM (${all}) ORDER BY day DESC LIMIT ${days})`;
  await runSql(`COPY (SELECT * FROM (${all}) WHERE trade_date >= (${first})) TO '${file}' (FORMAT parquet)`);
}

export async function runSql(...statements: readonly string[]): Promise<void> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  for (const statement of statements) await connection.run(statement);
  connection.closeSync();
  instance.closeSync();
}

/** Calls `use` with a folder that is removed afterwards. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(RESULTS, { recursive: true });
  const folder = await mkdtemp(join(RESULTS, "scratch-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A writable lake with the same rows: immutable data files are shared by hard links. */
export async function copyLake(lake: string, folder: string): Promise<void> {
  await cp(join(lake, "state"), join(folder, "state"), { recursive: true });
  const entries = await readdir(join(lake, "lake"), { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const from = join(entry.parentPath, entry.name);
    const to = join(folder, from.slice(lake.length + 1));
    await mkdir(dirname(to), { recursive: true });
    await link(from, to);
  }
}
