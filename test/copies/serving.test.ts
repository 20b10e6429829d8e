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

/** Other entities of panels, without copies by code: some rows are missing, others belong to no row of `daily`. */
const BASICS = (first: string, days: number): string => `SELECT printf('%06d.SZ', c + 3) AS ts_code,
    DATE '${first}' + d::INT AS trade_date, CASE WHEN (c + d) % 5 > 0 THEN c / 8 + d END AS pe, c * d AS turnover_rate
  FROM range(${CODES}) s(c), range(${days}) t(d) WHERE (c * 13 + d * 7) % 9 <> 0`;
const LIMITS = `SELECT printf('%06d.SZ', c) AS ts_code, DATE '2024-03-20' + 3 * d::INT AS trade_date, c + d AS up_limit
  FROM range(0, ${CODES}, 2) s(c), range(50) t(d)`;

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
  await publishRows(root, { daily_basic: BASICS("2024-01-10", 110), stk_limit: LIMITS });
  await publishRows(root, { daily_basic: BASICS("2024-06-20", 25) });
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

const FIRST = { daily: ["close", "open", "ts_code"], daily_basic: ["pe", "trade_date"], adj_factor: ["adj_factor"] };
const JOINED = [
  ...["daily:vol", "daily:amount", "daily_basic:pe", "daily_basic:turnover_rate", "daily_basic:ts_code"],
  ...["daily_basic:trade_date", "adj_factor:adj_factor", "adj_factor:ts_code", "stk_limit:up_limit"],
];

const panel = fc
  .constantFrom(...(Object.keys(FIRST) as (keyof typeof FIRST)[]), "daily" as const)
  .chain((entity) =>
    fc.record(
      {
        first: fc.constantFrom(...FIRST[entity].map((column) => `${entity}:${column}`)),
        others: fc.shuffledSubarray([...JOINED], { minLength: 1 }),
        codes: fc.uniqueArray(code, { minLength: 1, maxLength: 12 }).map((codes) => codes.join(",")),
        dates: fc.tuple(day, day).map((days) => days.toSorted()),
        order: fc.constantFrom("asc", "asc", "desc"),
        layout: fc.constantFrom("wide", "wide", "long"),
        limit: fc.integer({ min: 1, max: 900 }).map(String),
        format: fc.constantFrom("json", "ndjson", "csv", "arrow", "parquet"),
      },
      { requiredKeys: ["first", "others", "format"] },
    ),
  )
  .map(({ first, others, dates, ...more }) => {
    const range = dates === undefined ? {} : { start_date: dates[0]!, end_date: dates[1]! };
    const entities = [first, ...others.filter((field) => field !== first)].join(",");
    return `/api/v1/panel?${new URLSearchParams({ entities, ...more, ...range }).toString()}`;
  });

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

/** Both servers give the same bytes. */
async function expectSame(path: string): Promise<void> {
  const [one, other] = await Promise.all([withCopies.get(path), without.get(path)]);
  const [body, wanted] = await Promise.all([one.arrayBuffer(), other.arrayBuffer()]);
  expect([path, one.status, one.headers.get("ETag")]).toEqual([path, other.status, other.headers.get("ETag")]);
  expect(Buffer.from(body).equals(Buffer.from(wanted)), path).toBe(true);
}

async function figures(): Promise<Readonly<Record<"copies" | "parquet" | "both" | "damaged", number>>> {
  const metrics = await (await withCopies.get("/metrics")).text();
  const count = (line: string): number => Number(metrics.split(`\n${line} `)[1]!.split("\n")[0]);
  const scans = (source: string): number => count(`tapehouse_scans_total{source="${source}"}`);
  return {
    ...{ copies: scans("copies"), parquet: scans("parquet"), both: scans("both") },
    damaged: count("tapehouse_damaged_copies_total"),
  };
}

test("a panel of entities by day is joined from copies, page by page too", async () => {
  const entities = "daily:close,daily:vol,daily_basic:pe,daily_basic:ts_code,adj_factor:adj_factor,stk_limit:up_limit";
  const before = await figures();
  await expectSame(`/api/v1/panel?entities=${entities}`);
  await expectSame(`/api/v1/panel?entities=${entities}&format=arrow&start_date=20240105&end_date=20240808`);
  let pages = 0;
  for (let cursor: string | null = ""; cursor !== null; pages++) {
    const path: string = `/api/v1/panel?entities=${entities}&limit=331${cursor && `&cursor=${cursor}`}`;
    await expectSame(path);
    ({ next_cursor: cursor } = (await withCopies.json(path)) as { next_cursor: string | null });
  }
  expect(pages).toBeGreaterThan(5);
  const { copies, ...others } = await figures();
  expect(copies).toBeGreaterThan(before.copies + pages);
  expect(others).toEqual({ parquet: before.parquet, both: before.both, damaged: before.damaged });
});

test("every response has the same bytes with any copies as without", async () => {
  const cases = fc.record({
    treatments: fc.array(treatment, { minLength: 10, maxLength: 10 }),
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    questions: fc.array(question, { minLength: 3, maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ treatments, at, questions }) => {
      for (const [i, path] of paths.entries()) await treat(path, treatments[i % 10]!, at);
      for (const path of questions) await expectSame(path);
    }),
    { numRuns: size("SERVING", 30, 300), endOnFailure: true },
  );
  // The questions did find whole, partial, missing and damaged copies.
  for (const [name, count] of Object.entries(await figures())) expect([name, count > 0]).toEqual([name, true]);
});

/** Most copies are whole: a panel needs those of all its files. */
const panelTreatment = fc.oneof(
  { weight: 14, arbitrary: fc.constant("whole") },
  { weight: 1, arbitrary: fc.constantFrom("removed", "damaged", "cut", "empty") },
);

test("every panel has the same bytes with any copies as without", async () => {
  const before = await figures();
  const cases = fc.record({
    treatments: fc.array(panelTreatment, { minLength: paths.length, maxLength: paths.length }),
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    questions: fc.array(panel, { minLength: 4, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ treatments, at, questions }) => {
      for (const [i, path] of paths.entries()) await treat(path, treatments[i]!, at);
      for (const path of questions) await expectSame(path);
    }),
    { numRuns: size("SERVED_PANELS", 30, 300), endOnFailure: true },
  );
  // Whole copies, then damaged ones, then none.
  for (const how of ["whole", "removed"]) {
    for (const path of paths) await treat(path, how, 0);
    for (let i = 0; i < 2; i++) await expectSame("/api/v1/panel?entities=daily:close,adj_factor:adj_factor");
  }
  const after = await figures();
  for (const name of ["copies", "parquet", "damaged"] as const)
    expect([name, after[name] > before[name]]).toEqual([name, true]);
});
