// Encoded rows of whole files are cached: responses must not differ.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { get } from "node:http";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";
import { isLong } from "../support/size.js";

/** More than is the least worth keeping, and more than one piece of kept bytes. */
const ROWS = 240_000;
const WIDE = "/api/v1/entities/adj_factor";
let root: string;
let server: TestServer;
let without: TestServer;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, {
    adj_factor: `SELECT printf('%06d.SZ', i % 5000) AS ts_code, DATE '2023-01-01' + (i // 5000)::INT AS trade_date,
                 i / 8 AS adj_factor FROM range(${ROWS}) t(i)`,
  });
  server = await serve(root);
  without = await serve(root, { cache: "none" });
});

/** The body as it came, not unpacked. A client that is given something to wait for reads nothing until then. */
function bytesOf(
  { url }: TestServer,
  path: string,
  encoding = "identity",
  wait: Promise<unknown> | null = null,
): Promise<Buffer> {
  const headers = { Authorization: `Bearer ${TOKEN}`, "Accept-Encoding": encoding };
  return new Promise((resolve, reject) => {
    get(url + path, { headers }, (response) => {
      const pieces: Buffer[] = [];
      if (wait) void wait.then(() => response.resume());
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () => (response.complete ? resolve(Buffer.concat(pieces)) : reject(new Error("cut"))));
      response.on("error", reject);
      if (wait) response.pause();
    }).on("error", reject);
  });
}

/** Leaves as soon as the answer begins. */
function leave({ url }: TestServer, path: string): Promise<void> {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  return new Promise((resolve) => {
    get(url + path, { headers }, (response) => response.on("error", () => undefined).destroy()).on("close", resolve);
  });
}

describe("a response that is requested again", () => {
  test.each(["json", "ndjson", "csv", "arrow", "parquet"])(
    "has the same bytes as %s, from cache or not",
    async (format) => {
      const queries = ["", "&fields=adj_factor,ts_code", "&start_date=20230101&end_date=20230201"];
      for (const query of isLong ? queries : [queries[format.length % queries.length]!]) {
        const path = `${WIDE}?format=${format}${query}`;
        const expected = await bytesOf(without, path);
        for (let i = 0; i < 3; i++) expect((await bytesOf(server, path)).equals(expected)).toBe(true);
        const packed = await bytesOf(server, path, "gzip");
        const again = await bytesOf(server, path, "gzip");
        const plain = format === "parquet" ? packed : gunzipSync(packed);
        expect([plain.equals(expected), again.equals(packed)]).toEqual([true, true]);
      }
    },
  );

  test("is read from the cache the third time, or the second time if it is compressed", async () => {
    const hits = (): number => server.context.segments.figures().hits;
    const before = hits();
    const found: number[] = [];
    for (const encoding of ["identity", "gzip"]) {
      for (let i = 0; i < 3; i++) {
        await bytesOf(server, `${WIDE}?format=ndjson&fields=adj_factor`, encoding);
        found.push(hits() - before);
      }
    }
    expect(found).toEqual([0, 0, 1, 1, 2, 3]);
  });

  test("is read from the cache, except for files that the dates cut", async () => {
    const path = `${WIDE}?format=csv&fields=trade_date`;
    for (let i = 0; i < 2; i++) await bytesOf(server, path);
    const { hits } = server.context.segments.figures();
    await bytesOf(server, path);
    expect(server.context.segments.figures().hits).toBe(hits + 1);
    await bytesOf(server, `${path}&start_date=20230102`);
    expect(server.context.segments.figures().hits).toBe(hits + 1);
    await bytesOf(server, `${path}&ts_code=000001.SZ`);
    expect(server.context.segments.figures().hits).toBe(hits + 1);
  });

  test("has the same bytes for each of several clients at once, be they fast, slow or gone", async () => {
    const path = `${WIDE}?format=json`;
    const expected = await bytesOf(without, path);
    await bytesOf(server, path);
    const other = `${WIDE}?format=csv`;
    const otherExpected = await bytesOf(server, other);
    const fast = [0, 1, 2].flatMap(() => [bytesOf(server, path), bytesOf(server, other), leave(server, path)]);
    const slow = [0, 1].map(() => bytesOf(server, path, "identity", Promise.all(fast)));
    for (const bytes of await Promise.all([...slow, ...fast])) {
      if (bytes) expect(bytes.equals(bytes.length === expected.length ? expected : otherExpected)).toBe(true);
    }
  });

  test("is cut if a cached segment is damaged, and correct again afterwards", async () => {
    const path = `${WIDE}?format=csv`;
    const expected = await bytesOf(server, path);
    const folder = join(server.context.config.temp, "segments");
    for (const name of await readdir(folder)) {
      const bytes = await readFile(join(folder, name));
      bytes[bytes.length - 5_000]! ^= 1;
      await writeFile(join(folder, name), bytes);
    }
    await expect(bytesOf(server, path)).rejects.toThrow();
    expect((await bytesOf(server, path)).equals(expected)).toBe(true);
  });

  test("is refused if its data file is damaged, from cache or not", async () => {
    const damaged = await temporaryFolder();
    await publishRows(damaged, {
      adj_factor: `SELECT printf('%06d.SZ', i % 5000) AS ts_code, DATE '2024-01-01' + (i // 5000)::INT AS trade_date,
                   1.5 AS adj_factor FROM range(60000) t(i)`,
    });
    const own = await serve(damaged);
    for (let i = 0; i < 3; i++) await bytesOf(own, WIDE);
    expect(own.context.segments.figures().hits).toBe(1);
    const { lake } = own.context;
    const file = join(lake.layout.lake, lake.current().files("adj_factor").byDate[0]!.path);
    const bytes = await readFile(file);
    bytes[5000]! ^= 1;
    await writeFile(file, bytes);
    expect((await own.get(WIDE)).status).toBe(500);
  });
});

test("adjusted rows are read from the cache, until one of their factors changes", { timeout: 120_000 }, async () => {
  const root = await temporaryFolder();
  const key = (days: string) =>
    `printf('%06d.SZ', i % 5000) AS ts_code, DATE '2023-01-01' + (i // 5000)::INT AS trade_date FROM range(${days}) t(i)`;
  const prices = "10 + i % 97 AS open, 12.5 AS high, 9.25 AS low, 11 + i / 1024 AS close, i AS vol";
  await publishRows(root, {
    daily: `SELECT ${prices}, ${key("60_000")}`,
    adj_factor: `SELECT 1 + (i // 5000) / 8 AS adj_factor, ${key("55_000")}`,
  });
  const [server, without] = [await serve(root), await serve(root, { cache: "none" })];
  const path = (query: string) => `/api/v1/entities/daily?format=csv&${query}`;
  const queries = [
    "adjust=backward",
    "adjust=forward",
    "adjust=backward&adjust_volume=true",
    "adjust=forward&fields=close",
  ];
  const bodies: string[] = [];
  for (const query of queries) {
    const expected = await bytesOf(without, path(query));
    for (let i = 0; i < 3; i++) expect((await bytesOf(server, path(query))).equals(expected)).toBe(true);
    bodies.push(expected.toString());
  }
  expect(new Set(bodies).size).toBe(queries.length);
  // Rows without date and code are adjusted by columns that are not shown, and not cached.
  expect(server.context.segments.figures().hits).toBe(queries.length - 1);
  // The last day of one stock: its anchor, and no other row of a file that stays.
  await publishRows(root, {
    adj_factor: "SELECT '000007.SZ' AS ts_code, DATE '2023-01-12' AS trade_date, 99 AS adj_factor",
  });
  const changed = await bytesOf(await serve(root, { cache: "none" }), path("adjust=forward"));
  expect(changed.toString()).not.toBe(bodies[1]);
  await expect.poll(async () => (await bytesOf(server, path("adjust=forward"))).equals(changed)).toBe(true);
});
