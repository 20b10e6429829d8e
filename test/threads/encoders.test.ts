// Threads that encode wide responses: the same bytes as without them, also when a copy is damaged or a thread ends.
import { readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { makeCopies } from "../../src/copier/copier.js";
import { copyPath } from "../../src/copies/names.js";
import { openThreads } from "../../src/threads/pool.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { until } from "../support/processes.js";
import { serve, type TestServer } from "../support/server.js";
import { size } from "../support/size.js";

const never = new AbortController().signal;

/** 3,000 codes a day; some values are missing, and text needs escapes. */
const rowsFrom = (first: string, days: number): string => `SELECT printf('%06d.SZ', c) AS ts_code,
    DATE '${first}' + d::INT AS trade_date, CASE WHEN (c * d) % 7 = 0 THEN NULL ELSE c + d / 8 END AS open,
    c * 100 + d + 0.25 AS close, CASE WHEN c % 5 = 0 THEN NULL ELSE d END AS vol
  FROM range(3000) s(c), range(${days}) t(d) WHERE (c * 31 + d * 17) % 11 <> 0`;

let root: string;
let encoding: TestServer;
let plain: TestServer;

const remakeCopies = (): Promise<unknown> =>
  makeCopies(root, { folder: join(root, "copies"), size: "auto", log: () => undefined, signal: never });

beforeAll(async () => {
  root = await temporaryFolder();
  for (const [first, days] of [
    ["2024-01-01", 40],
    ["2024-03-01", 3],
    ["2024-04-01", 25],
  ] as const) {
    await publishRows(root, { daily: rowsFrom(first, days) });
  }
  await remakeCopies();
  encoding = await serve(root, { cache: "0", encoders: "2" });
  plain = await serve(root, { cache: "0", copies: "0" });
});

const PATH = "/api/v1/entities/daily";

async function bytesOf(server: TestServer, query: string): Promise<Buffer> {
  const response = await server.get(`${PATH}?${query}`);
  expect([query, response.status]).toEqual([query, 200]);
  return Buffer.from(await response.arrayBuffer());
}

async function expectSame(query: string): Promise<void> {
  const [one, other] = await Promise.all([bytesOf(encoding, query), bytesOf(plain, query)]);
  expect([query, one.equals(other)]).toEqual([query, true]);
}

const day = fc
  .integer({ min: -2, max: 120 })
  .map((days) => new Date(Date.UTC(2024, 0, 1) + days * 86_400_000).toISOString().slice(0, 10).replaceAll("-", ""));

test("wide responses have the same bytes with threads as without", async () => {
  const query = fc
    .record(
      {
        format: fc.constantFrom("json", "ndjson", "csv"),
        fields: fc
          .shuffledSubarray(["ts_code", "trade_date", "open", "close", "vol"], { minLength: 1 })
          .map((names) => names.join(",")),
        start_date: day,
        end_date: fc.constantFrom("20240120", "20240302", "20240430"),
      },
      { requiredKeys: ["format"] },
    )
    .filter(({ start_date: start, end_date: end }) => start === undefined || end === undefined || start <= end)
    .map((given) => new URLSearchParams(given).toString());
  await fc.assert(fc.asyncProperty(query, expectSame), { numRuns: size("ENCODED", 20, 300), endOnFailure: true });
});

test("a response goes on without threads when a copy turns out to be damaged, and the copy is removed", async () => {
  const [file] = encoding.context.lake.current().files("daily").byDate;
  const path = copyPath(join(root, "copies"), file!.path);
  const whole = await readFile(path);
  // In the middle of the rows, so that parts before it were sent.
  const damaged = Buffer.from(whole);
  damaged[Math.floor(whole.length / 2)]! ^= 0xff;
  await writeFile(path, damaged);
  for (const format of ["json", "csv", "ndjson"]) await expectSame(`format=${format}`);
  await expect(stat(path)).rejects.toThrow("ENOENT");
  await remakeCopies();
  await expectSame("format=json");
  await truncate(path, 100_000);
  await expectSame("format=json");
  await remakeCopies();
});

test("a thread that cannot start or ends is reported and replaced, and nobody waits for it", async () => {
  const folder = await temporaryFolder();
  const entry = join(folder, "thread.mjs");
  await writeFile(
    entry,
    `import { parentPort } from "node:worker_threads"; parentPort.once("message", () => { throw new Error("broken"); }); parentPort.postMessage("ready");`,
  );
  const reasons: string[] = [];
  const form = { format: "json", dates: null } as const;
  const threads = openThreads(1, (reason) => reasons.push(reason), new URL(`file://${entry}`));
  await threads.ready();
  await expect(threads.encoderOf(form, [])!([], false)).rejects.toThrow("the thread ended");
  expect(reasons).toEqual(["broken"]);
  expect(threads.encoderOf(form, [])).toBeNull();
  await until("another thread runs", () => threads.encoderOf(form, []) !== null || undefined);
  await threads.close();

  const missing = openThreads(1, (reason) => reasons.push(reason), new URL(`file://${folder}/missing.mjs`));
  await missing.ready();
  expect(missing.encoderOf(form, [])).toBeNull();
  await missing.close();
  expect(reasons[1]).toContain("missing.mjs");
});

test("threads that the system refuses to start are reported, tried again less and less often, and nothing else fails", async () => {
  const reasons: string[] = [];
  // Node throws at once, as it does where no more threads are allowed.
  const threads = openThreads(2, (reason) => reasons.push(reason), new URL("https://127.0.0.1/thread.js"));
  await threads.ready();
  expect(threads.encoderOf({ format: "json", dates: null }, [])).toBeNull();
  expect(reasons).toEqual(Array(2).fill(expect.stringContaining("it could not start: ")));
  await until("they are tried again", () => reasons.length > 2 || undefined);
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  expect(reasons.length).toBe(4);
  await threads.close();
});
