// Whatever copies there are, whole, damaged or none: the server sends the bytes that it sends without them.
import { copyFile, mkdir, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { makeCopies } from "../../src/copier/copier.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";
import { size } from "../support/size.js";

const never = new AbortController().signal;
const CODES = 30;

const DAILY = (first: string, days: number): string => `SELECT printf('%06d.SZ', c) AS ts_code,
    DATE '${first}' + d::INT AS trade_date, CASE WHEN (c * d) % 7 = 0 THEN NULL ELSE c + d / 8 END AS open,
    c * 100 + d + 0.25 AS close, d AS vol
  FROM range(${CODES}) s(c), range(${days}) t(d) WHERE (c * 31 + d * 17) % 11 <> 0`;
const FACTORS = `SELECT printf('%06d.SZ', c) AS ts_code, DATE '2024-01-01' + d::INT AS trade_date, 1 + d / 100 AS adj_factor
  FROM range(${CODES}) s(c), range(400) t(d)`;
const NEWS = `SELECT printf('%06d.SZ', c) AS ts_code, DATE '2024-01-01' + d::INT AS ann_date, '公告, "' || repeat('x', d::INT) AS title
  FROM range(${CODES}) s(c), range(40) t(d)`;

/** An entity without a main date, and one with few rows on many days. */
const COMPANIES = `SELECT printf('%06d.SZ', c) AS ts_code, 'name ' || c AS chairman, '省' AS province FROM range(${CODES}) s(c)`;
const CHANGES = `SELECT printf('%06d.SZ', (c * 7 + d) % ${CODES}) AS ts_code, DATE '2024-01-01' + d::INT AS ann_date,
    'name ' || d AS name, DATE '2024-01-01' + d::INT AS start_date FROM range(2) s(c), range(300) t(d)`;

let folder: string;
let stash: string;
let paths: readonly string[];
let withCopies: TestServer;
let without: TestServer;

beforeAll(async () => {
  const root = await temporaryFolder();
  const rows = { daily: DAILY("2024-01-01", 60), adj_factor: FACTORS, anns_d: NEWS };
  await publishRows(root, { ...rows, stock_company: COMPANIES, namechange: CHANGES }, { codeCopy: true });
  // A file by date for each part; only the first one is in the copy by code.
  for (const first of ["2024-04-01", "2024-07-01", "2024-10-01"]) await publishRows(root, { daily: DAILY(first, 20) });
  [folder, stash] = [join(root, "copies"), await temporaryFolder()];
  await makeCopies(root, { folder, size: "auto", log: () => undefined, signal: never });
  paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith(".arrow")).toSorted();
  for (const path of paths) await copyOf(join(folder, path), join(stash, path));
  withCopies = await serve(root, { cache: "0" });
  without = await serve(root, { cache: "0", copies: "0" });
});

async function copyOf(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
}

const day = fc
  .integer({ min: -3, max: 310 })
  .map((days) => new Date(Date.UTC(2024, 0, 1) + days * 86_400_000).toISOString().slice(0, 10).replaceAll("-", ""));
const code = fc.integer({ min: 0, max: CODES }).map((c) => `${String(c).padStart(6, "0")}.SZ`);
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  daily: ["ts_code", "trade_date", "open", "close", "vol", "amount"],
  adj_factor: ["ts_code", "trade_date", "adj_factor"],
  anns_d: ["ts_code", "ann_date", "title"],
  stock_company: ["ts_code", "chairman", "province"],
  namechange: ["ts_code", "name", "ann_date"],
};
const question = fc
  .constantFrom("daily", "daily", "adj_factor", "anns_d", "stock_company", "namechange")
  .chain((entity) =>
    fc
      .record(
        {
          ts_code: fc.uniqueArray(code, { minLength: 1, maxLength: 12 }).map((codes) => codes.join(",")),
          dates: fc.tuple(day, day).map((days) => days.toSorted()),
          order: fc.constantFrom("asc", "desc"),
          limit: fc.integer({ min: 1, max: 900 }).map(String),
          fields: fc.shuffledSubarray([...FIELDS[entity]!], { minLength: 1 }).map((names) => names.join(",")),
          format: fc.constantFrom("json", "ndjson", "csv", "arrow", "parquet"),
          adjust: fc.constantFrom("forward", "backward"),
        },
        { requiredKeys: ["format"] },
      )
      .map(({ dates, adjust, ...others }) => {
        const range = dates && entity !== "stock_company" ? { start_date: dates[0]!, end_date: dates[1]! } : {};
        const adjusted = entity === "daily" && adjust !== undefined ? { adjust } : {};
        return `/api/v1/entities/${entity}?${new URLSearchParams({ ...others, ...range, ...adjusted }).toString()}`;
      }),
  );

/** What becomes of a copy before a question. */
const treatment = fc.constantFrom("whole", "whole", "whole", "removed", "damaged", "cut", "empty");

/** Changes the file in place, since the server may have it open. */
async function treat(path: string, how: string, at: number): Promise<void> {
  const copy = join(folder, path);
  const bytes = await readFile(join(stash, path));
  const position = Math.floor(at * bytes.length);
  if (how === "damaged") bytes[position]! ^= 0xff;
  if (how === "removed") bytes.fill(0);
  await writeFile(copy, bytes);
  if (how === "removed") await rm(copy);
  if (how === "cut") await truncate(copy, position);
  if (how === "empty") await truncate(copy, 0);
}

test("every response has the same bytes with any copies as without", async () => {
  const cases = fc.record({
    treatments: fc.array(treatment, { minLength: 10, maxLength: 10 }),
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    questions: fc.array(question, { minLength: 3, maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ treatments, at, questions }) => {
      for (const [i, path] of paths.entries()) await treat(path, treatments[i % 10]!, at);
      for (const path of questions) {
        const [one, other] = await Promise.all([withCopies.get(path), without.get(path)]);
        const [body, wanted] = await Promise.all([one.arrayBuffer(), other.arrayBuffer()]);
        expect([path, one.status, one.headers.get("ETag")]).toEqual([path, other.status, other.headers.get("ETag")]);
        expect(Buffer.from(body).equals(Buffer.from(wanted)), path).toBe(true);
      }
    }),
    { numRuns: size("SERVING", 30, 300), endOnFailure: true },
  );
  const metrics = await (await withCopies.get("/metrics")).text();
  const count = (line: string): number => Number(metrics.split(`\n${line} `)[1]!.split("\n")[0]);
  // The questions did find whole, partial, missing and damaged copies.
  const scans = ["copies", "parquet", "both"].map((source) => `tapehouse_scans_total{source="${source}"}`);
  for (const line of [...scans, "tapehouse_damaged_copies_total"])
    expect([line, count(line) > 0]).toEqual([line, true]);
});
