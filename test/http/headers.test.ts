import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

let root: string;
let server: TestServer;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, { weekly: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' AS trade_date" });
  server = await serve(root);
});

const WEEKLY = "/api/v1/entities/weekly";

describe("every answer", () => {
  test.each([
    ["rows", WEEKLY, {}],
    ["a public one", "/health", {}],
    ["one that has not changed", WEEKLY, { "If-None-Match": "*" }],
    ["a problem", "/nowhere", {}],
    ["one without a token", WEEKLY, { Authorization: "" }],
    ["a path that is not encoded", "/%ff", {}],
  ])("tells browsers not to render it: %s", async (_what, path, headers) => {
    const answer = await server.get(path, headers);
    const told = Object.fromEntries(answer.headers);
    expect(told).toMatchObject({
      "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "x-permitted-cross-domain-policies": "none",
    });
    for (const name of ["x-powered-by", "server", "set-cookie", "strict-transport-security"]) {
      expect(told).not.toHaveProperty(name);
    }
    expect(Object.keys(told).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("rows name the file in which they are saved", () => {
  const named = async (path: string, headers: Record<string, string> = {}): Promise<string | null> =>
    (await server.get(path, headers)).headers.get("content-disposition");
  const version = async (): Promise<string> =>
    (await server.json(WEEKLY)).data_version.replace("+08:00", "").replaceAll(":", "");

  test.each([
    ["json", "inline", "json"],
    ["ndjson", "attachment", "ndjson"],
    ["csv", "attachment", "csv"],
    ["arrow", "attachment", "arrows"],
    ["parquet", "attachment", "parquet"],
  ])("%s", async (format, disposition, extension) => {
    const name = `weekly_${await version()}.${extension}`;
    expect(await named(`${WEEKLY}?format=${format}`)).toBe(`${disposition}; filename="${name}"`);
  });

  test("by entity, code, range and version", async () => {
    const end = `_${await version()}.csv"`;
    const csv = { Accept: "text/csv" };
    expect(await named(`${WEEKLY}?start_date=20240101&end_date=2024-01-31`, csv)).toContain(
      `"weekly_20240101-20240131${end}`,
    );
    expect(await named(`${WEEKLY}?start_date=20240101`, csv)).toContain(`"weekly_20240101-${end}`);
    expect(await named(`${WEEKLY}?ts_code=000001.SZ&end_date=20240131`, csv)).toContain(
      `"weekly_000001.SZ_-20240131${end}`,
    );
    expect(await named("/api/v1/panel?entities=weekly:close", csv)).toMatch(/"panel_[0-9a-f]{8}_/);
  });

  test.each([
    ["weekly?adjust=backward", "weekly_backward"],
    ["weekly?adjust=forward&adjust_volume=true&order=desc", "weekly_forward-volume_desc"],
    ["income?as_of=20240131", "income_as-of-20240131"],
    ["income?as_of=20240131,20240229&latest=true", "income_as-of-2-days-20240131-20240229_latest"],
  ])("by what changes the rows: %s", async (query, name) => {
    expect(await named(`/api/v1/entities/${query}`, { Accept: "text/csv" })).toContain(
      `"${name}_${await version()}.csv"`,
    );
  });

  test("by some digits for other filters, columns and pages, which differ if those do", async () => {
    const queries = [
      "ts_code=000001.SZ,000002.SZ",
      "ts_code=000001.SZ,000003.SZ",
      "fields=close",
      "limit=1",
      "limit=2",
    ];
    const names = await Promise.all(queries.map((query) => named(`${WEEKLY}?${query}&format=csv`)));
    for (const name of names) expect(name).toMatch(/"weekly_[0-9a-f]{8}_/);
    expect(new Set(names).size).toBe(queries.length);
  });

  test("without a character that the header or a file system might not take", async () => {
    const path = `/api/v1/entities/anns_d?ts_code=${encodeURIComponent('"\\r\\n../;é股')}&format=csv`;
    const answer = await server.get(path);
    expect([200, 400]).toContain(answer.status);
    expect(answer.headers.get("content-disposition") ?? "").not.toMatch(/[^\x20-\x7e]|\/|"[^"]*"[^"]*"/);
  });

  test("but a problem has no name", async () => {
    expect(await named(`${WEEKLY}?start_date=x&format=csv`)).toBeNull();
  });
});

describe("a byte order mark", () => {
  const bytesOf = async (path: string, headers: Record<string, string> = {}): Promise<string> =>
    Buffer.from(await (await server.get(path, headers)).arrayBuffer()).toString("latin1");

  test("begins CSV if it is asked for, and nothing else changes", async () => {
    const plain = await bytesOf(`${WEEKLY}?format=csv`);
    expect(await bytesOf(`${WEEKLY}?format=csv&bom=false`)).toBe(plain);
    expect(await bytesOf(`${WEEKLY}?format=csv&bom=true`)).toBe(`\xef\xbb\xbf${plain}`);
    expect(await bytesOf(`${WEEKLY}?bom=true`, { Accept: "text/csv" })).toBe(`\xef\xbb\xbf${plain}`);
  });

  test("makes another response to a client that holds one without it", async () => {
    const { headers } = await server.get(`${WEEKLY}?format=csv`);
    const held = { "If-None-Match": headers.get("etag")! };
    expect((await server.get(`${WEEKLY}?format=csv`, held)).status).toBe(304);
    expect((await server.get(`${WEEKLY}?format=csv&bom=true`, held)).status).toBe(200);
  });

  test.each(["json", "ndjson", "arrow", "parquet"])("is refused for %s", async (format) => {
    const answer = await server.get(`${WEEKLY}?format=${format}&bom=true`);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      {
        code: "contradictory_parameters",
        parameter: "bom",
        detail: `bom is for CSV only, and this response is ${format}`,
        hint: "add format=csv, or leave bom out",
      },
    ]);
  });
});

describe("web pages of other origins", () => {
  const ask = (of: TestServer, origin: string, init: RequestInit = {}): Promise<Response> =>
    fetch(of.url + WEEKLY, { ...init, headers: { Authorization: `Bearer ${TOKEN}`, Origin: origin, ...init.headers } });
  const preflight = {
    method: "OPTIONS",
    headers: { "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization" },
  };

  test("may not send requests by default", async () => {
    const answer = await ask(server, "https://app.example");
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, null]);
    expect((await ask(server, "https://app.example", preflight)).status).toBe(405);
  });

  test("may send requests if they are listed, others may not", async () => {
    const open = await serve(root, { corsOrigin: "https://app.example,http://localhost:3000" });
    for (const origin of ["https://app.example", "http://localhost:3000"]) {
      const answer = await ask(open, origin);
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
      expect(answer.headers.get("access-control-expose-headers")).toContain("X-Next-Cursor");
      expect(answer.headers.get("vary")).toBe("Origin, Accept, Accept-Encoding, Authorization");
      const before = await ask(open, origin, preflight);
      expect([before.status, before.headers.get("access-control-allow-methods")]).toEqual([204, "GET, HEAD, POST"]);
      expect(before.headers.get("access-control-allow-headers")).toContain("Authorization");
    }
    for (const origin of ["https://app.example.evil", "https://evil.example", "null", "https://app.example:444"]) {
      const answer = await ask(open, origin);
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      expect(answer.headers.get("vary")).toContain("Origin");
      expect((await ask(open, origin, preflight)).status).toBe(405);
    }
  });

  test("also see why they were refused", async () => {
    const open = await serve(root, { corsOrigin: "https://app.example" });
    const answer = await ask(open, "https://app.example", { headers: { Authorization: "" } });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([401, "https://app.example"]);
  });

  test("may all send requests if that is configured; cookies are never accepted", async () => {
    const open = await serve(root, { corsOrigin: "*" });
    const { headers } = await ask(open, "https://anyone.example");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-allow-credentials")).toBeNull();
  });
});
