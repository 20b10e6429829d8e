// compression=zstd: Arrow whose buffers are compressed, where Node can do that: 22.15 and later.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tableFromIPC, type Table } from "apache-arrow";
import { beforeAll, describe, expect, test } from "vitest";
import { FORMATS } from "../../src/catalog/formats.js";
import { ENTITIES } from "../../src/catalog/index.js";
import { hasZstd } from "../../src/zstd.js";
import { demoLake } from "../support/demo.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { noPython, python } from "../support/python.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";
import { orSkipped } from "../support/zstd.js";

const DAILY = "/api/v1/entities/daily";
const FACTORS = "/api/v1/entities/adj_factor";
/** More than a segment needs to be cached, in several record batches. */
const ROWS = 120_000;

let server: TestServer;
/** Many rows of one entity, with the same values in two versions but for the first days. */
let wide: TestServer;
let first: string;

beforeAll(async () => {
  server = await serve(await demoLake({ days: 120 }));
  const root = await temporaryFolder();
  first = (await publishRows(root, { adj_factor: factors(ROWS) }))!.data_version;
  await publishRows(root, { adj_factor: factors(20_000).replace("1.5 AS", "i / 8 AS") });
  wide = await serve(root, { cache: "100MB" });
});

async function bytesOf(path: string, from = server): Promise<Buffer> {
  const response = await from.get(path);
  expect([path, response.status]).toEqual([path, 200]);
  return Buffer.from(await response.arrayBuffer());
}

const urlOf = (path: string, more: string): string => `${path}${path.includes("?") ? "&" : "?"}${more}`;

const valuesOf = (table: Table): unknown =>
  table.schema.fields.map(({ name, type }, i) => [name, String(type), [...table.getChildAt(i)!]]);

/** Returns the number of rows. */
async function expectSameRows(path: string, from = server): Promise<number> {
  const [plain, none, packed] = [
    await bytesOf(urlOf(path, "format=arrow"), from),
    await bytesOf(urlOf(path, "format=arrow&compression=none"), from),
    await bytesOf(urlOf(path, "format=arrow&compression=zstd"), from),
  ];
  expect(none.equals(plain)).toBe(true);
  const [before, after] = [tableFromIPC(plain), tableFromIPC(packed)];
  if (before.numRows > 0) expect(packed.equals(plain)).toBe(false);
  expect(after.batches.map(({ numRows }) => numRows)).toEqual(before.batches.map(({ numRows }) => numRows));
  expect(valuesOf(after)).toEqual(valuesOf(before));
  return after.numRows;
}

describe.runIf(hasZstd)(orSkipped("compression=zstd"), () => {
  test.each(ENTITIES)("has the rows of $name", async ({ name }) => {
    expect(await expectSameRows(`/api/v1/entities/${name}?limit=500`)).toBeGreaterThan(0);
  });

  test("has the rows without a limit too, with dates, of chosen columns, adjusted, as of days, and none", async () => {
    expect(await expectSameRows(DAILY)).toBeGreaterThan(1_000);
    expect(await expectSameRows(`${DAILY}?dates=date`)).toBeGreaterThan(1_000);
    expect(await expectSameRows(`${DAILY}?fields=close&order=desc&adjust=forward`)).toBeGreaterThan(1_000);
    expect(await expectSameRows("/api/v1/entities/stock_list?as_of=20250930,20251231")).toBeGreaterThan(0);
    expect(await expectSameRows("/api/v1/entities/index_daily?ts_code=000300.SH")).toBeGreaterThan(0);
    expect(await expectSameRows(`${DAILY}?start_date=20991231`)).toBe(0);
  });

  test("has the rows of panels and changes", async () => {
    const panel = "/api/v1/panel?start_date=20251201&entities=daily:close,income:total_revenue,income:end_date";
    expect(await expectSameRows(panel)).toBeGreaterThan(0);
    expect(await expectSameRows(`${panel.split(",income")[0]!}&layout=long`)).toBeGreaterThan(0);
    const changes = `${FACTORS}/changes?from=${encodeURIComponent(first)}`;
    expect(await expectSameRows(changes, wide)).toBeGreaterThan(16_384);
  });

  test("works in a body, and with the Accept header", async () => {
    const wanted = await bytesOf(`${DAILY}?format=arrow&compression=zstd&limit=50`);
    const accept = { Accept: FORMATS.arrow.mediaType };
    const accepted = await server.get(`${DAILY}?compression=zstd&limit=50`, accept);
    expect(Buffer.from(await accepted.arrayBuffer()).equals(wanted)).toBe(true);
    const posted = await fetch(`${server.url}${DAILY}/query`, {
      method: "POST",
      headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json", ...accept },
      body: JSON.stringify({ compression: "zstd", limit: 50 }),
    });
    expect(Buffer.from(await posted.arrayBuffer()).equals(wanted)).toBe(true);
  });

  test("is not compressed a second time", async () => {
    for (const encodings of ["gzip", "zstd", "gzip, deflate, br, zstd"]) {
      const response = await server.get(`${DAILY}?format=arrow&compression=zstd`, { "Accept-Encoding": encodings });
      expect([encodings, response.headers.get("content-encoding")]).toEqual([encodings, null]);
      expect(response.headers.get("content-type")).toBe(FORMATS.arrow.mediaType);
      await response.arrayBuffer();
    }
  });

  test("has an ETag of its own, and the cursors of every format", async () => {
    const plain = (await server.get(`${DAILY}?format=arrow&limit=5`)).headers;
    const packed = (await server.get(`${DAILY}?format=arrow&limit=5&compression=zstd`)).headers;
    const none = (await server.get(`${DAILY}?format=arrow&limit=5&compression=none`)).headers;
    expect(none.get("etag")).toBe(plain.get("etag"));
    expect(packed.get("etag")).not.toBe(plain.get("etag"));
    const held = { "If-None-Match": packed.get("etag")! };
    expect((await server.get(`${DAILY}?format=arrow&limit=5&compression=zstd`, held)).status).toBe(304);
    expect((await server.get(`${DAILY}?format=arrow&limit=5`, held)).status).toBe(200);
    expect(packed.get("x-next-cursor")).toBe(plain.get("x-next-cursor"));
    const next = `${DAILY}?limit=5&cursor=${plain.get("x-next-cursor")!}`;
    expect(await expectSameRows(next)).toBe(5);
  });

  test("is served from cached rows only as it was cached", async () => {
    const { hits } = wide.context.segments.figures();
    const wanted = new Map<string, Buffer>();
    for (const query of ["", "&compression=zstd", "&dates=date&compression=zstd"]) {
      wanted.set(query, await bytesOf(`${FACTORS}?format=arrow${query}`, wide));
    }
    expect(new Set([...wanted.values()].map((bytes) => bytes.length)).size).toBe(3);
    for (const [query, bytes] of wanted) {
      expect((await bytesOf(`${FACTORS}?format=arrow${query}`, wide)).equals(bytes)).toBe(true);
    }
    expect(wide.context.segments.figures().hits).toBe(hits + 3);
    expect(wanted.get("&compression=zstd")!.length).toBeLessThan(wanted.get("")!.length / 4);
    expect(await expectSameRows(FACTORS, wide)).toBe(ROWS);
  });

  test("holds only its own bytes while others are sent", async () => {
    const cold = await serve(await demoLake({ days: 120 }), { cache: "0" });
    const path = `${DAILY}?format=arrow&compression=zstd`;
    const wanted = await bytesOf(path, cold);
    const queries = Array.from({ length: 12 }, (_, i) => (i % 3 === 0 ? `${DAILY}?format=arrow` : path));
    const answers = await Promise.all(queries.map((query) => bytesOf(query, cold)));
    const same = answers.filter((_, i) => queries[i] === path).map((bytes) => bytes.equals(wanted));
    expect(same).toEqual(Array.from({ length: 8 }, () => true));
  });

  test.skipIf(noPython !== null)(
    `is read by pyarrow and polars${noPython === null ? "" : ` (${noPython})`}`,
    async () => {
      const folder = await temporaryFolder();
      const paths = [
        ...[`${DAILY}?`, `${DAILY}?dates=date&`, `${DAILY}?start_date=20991231&`, "/api/v1/entities/stock_list?"],
        ...["/api/v1/entities/income?", "/api/v1/entities/anns_d?", "/api/v1/panel?entities=daily:close&"],
      ];
      for (const [i, path] of paths.entries()) {
        await writeFile(join(folder, `${i}.plain`), await bytesOf(`${path}format=arrow`));
        await writeFile(join(folder, `${i}.zstd`), await bytesOf(`${path}format=arrow&compression=zstd`));
      }
      expect(await python(["-c", READ, folder, String(paths.length)], {})).toMatch(/^rows: \[\d+, \d+, 0, .*\]\s*$/);
    },
  );
});

const READ = `
import sys
import polars as pl
import pyarrow as pa

folder, count = sys.argv[1], int(sys.argv[2])
rows = []
for i in range(count):
    plain, packed = (open(f"{folder}/{i}.{kind}", "rb").read() for kind in ("plain", "zstd"))
    tables = [pa.ipc.open_stream(stream).read_all() for stream in (plain, packed)]
    tables[1].validate(full=True)
    assert tables[0].schema.equals(tables[1].schema, check_metadata=True)
    assert tables[0].equals(tables[1])
    frames = [pl.read_ipc_stream(stream) for stream in (plain, packed)]
    assert frames[0].equals(frames[1]) and frames[1].height == tables[1].num_rows
    rows.append(frames[1].height)
print("rows:", rows)
`;

describe("compression=zstd", () => {
  test.each(["json", "ndjson", "csv", "parquet"] as const)("is refused for %s", async (format) => {
    for (const response of [
      await server.get(`${DAILY}?compression=zstd&format=${format}`),
      await server.get(`${DAILY}?compression=zstd`, { Accept: FORMATS[format].mediaType }),
      await server.get("/api/v1/panel?entities=daily:close&compression=zstd", { Accept: FORMATS[format].mediaType }),
    ]) {
      expect([response.status, await response.json()]).toMatchObject([
        400,
        {
          code: "contradictory_parameters",
          parameter: "compression",
          detail: `compression is for Arrow only, and this response is ${format}`,
          hint: "add format=arrow, or leave compression out",
        },
      ]);
    }
    expect((await server.get(`${DAILY}?compression=none&limit=1&format=${format}`)).status).toBe(200);
  });

  test("has no other kinds, and does not apply to Tushare", async () => {
    const other = await server.get(`${DAILY}?compression=lz4&format=arrow`);
    expect([other.status, await other.json()]).toMatchObject([
      400,
      { code: "invalid_parameter", parameter: "compression", allowed: ["none", "zstd"] },
    ]);
    const tushare = await fetch(`${server.url}/tushare`, {
      method: "POST",
      body: JSON.stringify({ api_name: "daily", token: TOKEN, params: { compression: "zstd" } }),
    });
    expect(await tushare.json()).toMatchObject({ code: 400, msg: expect.stringContaining("no parameter") as string });
  });

  test("is described where the server has it", async () => {
    const { components } = (await (await server.get("/openapi.json")).json()) as {
      components: { parameters: Record<string, { schema: { enum: string[] } }> };
    };
    expect(components.parameters["compression"]!.schema.enum).toEqual(hasZstd ? ["none", "zstd"] : ["none"]);
  });

  test.skipIf(hasZstd)("is refused by a server whose Node has no zstd", async () => {
    for (const path of [DAILY, "/api/v1/panel?entities=daily:close"]) {
      const response = await server.get(urlOf(path, "format=arrow&compression=zstd"));
      expect([response.status, await response.json()]).toMatchObject([
        400,
        {
          code: "invalid_parameter",
          parameter: "compression",
          detail: "compression: this server has no zstd, which needs Node 22.15 or later",
          allowed: ["none"],
          hint: "leave compression out; with Accept-Encoding: gzip the server compresses the whole response",
        },
      ]);
      expect((await server.get(urlOf(path, "format=arrow&compression=none&limit=1"))).status).toBe(200);
    }
  });
});
