import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { tableFromIPC } from "apache-arrow";
import { beforeAll, describe, expect, test } from "vitest";
import { FORMAT_NAMES, type Format } from "../../src/catalog/formats.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";

type Row = readonly (string | number | null)[];

let server: TestServer;
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  const awkward = `CASE d % 6 WHEN 0 THEN NULL WHEN 1 THEN 'a,b' WHEN 2 THEN 'say "no"' WHEN 3 THEN '茅台\n🚀' WHEN 4 THEN '' ELSE 'x' END`;
  await publishRows(folder, {
    anns_d: `SELECT DATE '2020-01-01' + d::INT AS ann_date, printf('%06d.SZ', d % 50) AS ts_code, printf('t%d', d) AS title,
                    'u' AS url, ${awkward} AS name, ${awkward} AS rec_time FROM range(3000) t(d)`,
    daily: `SELECT printf('%06d.SZ', s) AS ts_code, DATE '2023-01-01' + d::INT AS trade_date, s / 3.0 + d AS close,
                   CASE WHEN d % 5 = 0 THEN NULL ELSE d * 0.1 END AS vol, -1e-7 * d AS change
            FROM range(1, 40) a(s), range(100) b(d)`,
    trade_cal:
      "SELECT 'SSE' AS exchange, DATE '2023-01-01' + d::INT AS cal_date, d % 2 AS is_open FROM range(500) t(d)",
  });
  server = await serve(folder);
});

/** Reads a body of any format back into rows, with what its format says of missing values. */
const READERS: Record<Format, (body: Buffer, columns: readonly string[]) => Promise<readonly Row[]>> = {
  json: async (body) => (JSON.parse(body.toString()) as { rows: Row[] }).rows,
  ndjson: async (body, columns) =>
    body
      .toString()
      .split("\n")
      .filter(Boolean)
      .map((line) => columns.map((name) => (JSON.parse(line) as Record<string, string | number | null>)[name] ?? null)),
  csv: async (body) => {
    const file = join(folder, "answer.csv");
    await writeFile(file, body);
    return readWithDuckDB(
      `read_csv('${file}', all_varchar = true, header = true, delim = ',', quote = '\"', escape = '\"', allow_quoted_nulls = false)`,
    );
  },
  arrow: async (body, columns) => {
    const table = tableFromIPC(body);
    return Array.from({ length: table.numRows }, (_, i) =>
      columns.map((name) => plain(table.getChild(name)!.get(i) as string | number | bigint | null)),
    );
  },
  parquet: async (body) => {
    const file = join(folder, "answer.parquet");
    await writeFile(file, body);
    return readWithDuckDB(`read_parquet('${file}')`);
  },
};

const plain = (value: string | number | bigint | null): string | number | null =>
  typeof value === "bigint" ? Number(value) : value === 0 ? 0 : value;

async function readWithDuckDB(scan: string): Promise<readonly Row[]> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(`SELECT * FROM ${scan}`)).getRows();
  connection.disconnectSync();
  instance.closeSync();
  return rows.map((row) => row.map((value) => plain(value as string | number | bigint | null)));
}

async function read(path: string, format: Format): Promise<readonly Row[]> {
  const response = await server.get(`${path}${path.includes("?") ? "&" : "?"}format=${format}`);
  expect(response.status).toBe(200);
  const columns = (await server.json(`${path}${path.includes("?") ? "&" : "?"}limit=1`)).columns;
  const rows = await READERS[format](
    Buffer.from(await response.arrayBuffer()),
    columns.map(({ name }) => name),
  );
  if (format !== "csv") return rows;
  return rows.map((row) => row.map((v, i) => (v !== null && columns[i]!.dtype !== "string" ? Number(v) : v)));
}

describe.each(FORMAT_NAMES)("as %s", (format) => {
  test.each([
    "/api/v1/entities/anns_d",
    "/api/v1/entities/daily",
    "/api/v1/entities/daily?order=desc&fields=vol,trade_date,close",
    "/api/v1/entities/trade_cal?is_open=1",
    "/api/v1/entities/weekly",
  ])("%s has the rows, order and nulls of JSON", async (path) => {
    const expected = (await server.json(path)).rows;
    expect(await read(path, format)).toEqual(expected);
  });

  test("the page's end reaches the client", async () => {
    const rows: Row[] = [];
    let cursor: string | null = null;
    do {
      const next: string = cursor === null ? "" : `&cursor=${cursor}`;
      const path = `/api/v1/entities/daily?ts_code=000007.SZ,000009.SZ&limit=70${next}`;
      const response = await server.get(`${path}&format=${format}`);
      const body = Buffer.from(await response.arrayBuffer());
      rows.push(...(await READERS[format](body, [])));
      const page = await server.json(path);
      cursor = format === "json" ? page.next_cursor : response.headers.get("x-next-cursor");
      expect(cursor).toBe(page.next_cursor);
      if (format !== "json") expect(response.headers.get("x-truncated")).toBe(String(cursor !== null));
    } while (cursor !== null);
    expect(rows).toHaveLength(200);
  });
});

describe("a client", () => {
  test("chooses a format with Accept, and gets 406 with the available formats", async () => {
    const csv = await server.get("/api/v1/entities/daily?limit=1", { Accept: "text/csv" });
    expect(csv.headers.get("content-type")).toContain("text/csv");
    const none = await server.get("/api/v1/entities/daily", { Accept: "image/png" });
    expect([none.status, ((await none.json()) as { code: string }).code]).toEqual([406, "not_acceptable"]);
  });

  test("that accepts gzip gets the same bytes compressed", async () => {
    const encoding = "gzip";
    const { get } = await import("node:http");
    const path = "/api/v1/entities/daily";
    const raw = await new Promise<{ encoding: string | undefined; body: Buffer }>((resolve, reject) => {
      const headers = { Authorization: "Bearer test-token", "Accept-Encoding": encoding };
      get(server.url + path, { headers }, (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("end", () =>
          resolve({ encoding: response.headers["content-encoding"], body: Buffer.concat(pieces) }),
        );
      }).on("error", reject);
    });
    expect(raw.encoding).toBe(encoding);
    const plainBody = await (await server.get(path, { "Accept-Encoding": "identity" })).text();
    expect(gunzipSync(raw.body).toString()).toBe(plainBody);
  });

  test("with a current response gets 304, also after a publish that did not change the entity", async () => {
    const [rows, page] = ["/api/v1/entities/daily?start_date=20230105", "/api/v1/entities/daily?limit=5"];
    const tagOf = async (path: string): Promise<string> => (await server.get(path)).headers.get("etag")!;
    const first = await server.get(rows);
    const etag = first.headers.get("etag")!;
    expect(etag).toMatch(/^W\//);
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    expect(first.headers.get("vary")).toContain("Accept-Encoding");
    const ofPage = await tagOf(page);
    expect((await server.get(page, { "If-None-Match": ofPage })).status).toBe(304);
    await publishRows(folder, { monthly: "SELECT '000001.SZ' AS ts_code, DATE '2023-01-31' AS trade_date" });
    await server.context.lake.refresh();
    const again = await server.get(rows, { "If-None-Match": etag });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    // The cursor of a page belongs to a version, which may be removed.
    expect((await server.get(page, { "If-None-Match": ofPage })).status).toBe(200);
    const other = await server.get("/api/v1/entities/daily?limit=6", { "If-None-Match": await tagOf(page) });
    expect(other.status).toBe(200);
  });

  test("can send HEAD, and sees how long each stage took", async () => {
    const head = await fetch(`${server.url}/api/v1/entities/daily`, {
      method: "HEAD",
      headers: { Authorization: "Bearer test-token" },
    });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(head.headers.get("x-data-version")).toMatch(/\+08:00$/);
    const full = await server.get("/api/v1/entities/daily?limit=1");
    expect(full.headers.get("server-timing")).toMatch(/auth;dur=[\d.]+, plan;dur=[\d.]+, first;dur=[\d.]+/);
  });
});
