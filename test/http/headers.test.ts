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
