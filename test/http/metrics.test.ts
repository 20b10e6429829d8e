import { readFileSync } from "node:fs";
import { appendFile, mkdir, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { renderMetrics } from "../../src/http/metrics.js";
import { seal } from "../../src/lake/records.js";
import { refusalOf } from "../../src/inbox/judge.js";
import { createToken } from "../../src/store/tokens.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

let root: string;
let server: TestServer;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, {
    daily: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-01' + d::INT AS trade_date FROM range(10) t(d)",
    adj_factor: factors(),
  });
  server = await serve(root);
});

const page = async (of = server): Promise<string> => (await of.get("/metrics")).text();

/** The value of the series whose line begins so. */
function value(text: string, series: string): number {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  if (line === undefined) throw new Error(`no series ${series}`);
  return Number(line.slice(series.length));
}

const ROWS = 'route="/entities/:entity",entity="daily"';

describe("the metrics", () => {
  test("count requests, rows and bytes, and time them by entity and stage", async () => {
    const own = await serve(root);
    for (const limit of [2, 3]) await own.json(`/api/v1/entities/daily?limit=${limit}`);
    await own.get("/api/v1/entities/daily?limit=0");
    const text = await vi.waitFor(async () => {
      const found = await page(own);
      expect(value(found, `tapehouse_requests_total{${ROWS},status="400"}`)).toBe(1);
      return found;
    });
    expect(value(text, `tapehouse_requests_total{${ROWS},status="200"}`)).toBe(2);
    expect(value(text, 'tapehouse_rows_total{entity="daily"}')).toBe(5);
    expect(value(text, `tapehouse_bytes_total{${ROWS}}`)).toBeGreaterThan(1000);
    expect(value(text, `tapehouse_request_seconds_count{${ROWS}}`)).toBe(3);
    expect(value(text, `tapehouse_request_seconds_bucket{le="+Inf",${ROWS}}`)).toBe(3);
    for (const stage of ["auth", "send"]) {
      expect(value(text, `tapehouse_stage_seconds_count{entity="daily",stage="${stage}"}`)).toBe(3);
    }
    for (const stage of ["plan", "first"]) {
      expect(value(text, `tapehouse_stage_seconds_count{entity="daily",stage="${stage}"}`)).toBe(2);
    }
  });

  test("show running, waiting and cut requests", async () => {
    const busy = await serve(root, { streams: "1" });
    const request = `GET /api/v1/entities/adj_factor HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
    const stalled = [1, 2].map(() => connect(Number(new URL(busy.url).port), "127.0.0.1").pause());
    for (const socket of stalled) socket.write(request);
    await vi.waitFor(async () => {
      const text = await page(busy);
      expect(value(text, "tapehouse_streams_open")).toBe(1);
      expect(value(text, "tapehouse_streams_waiting")).toBe(1);
      expect(value(text, "tapehouse_requests_running")).toBe(3);
    });
    for (const socket of stalled) socket.destroy();
    await vi.waitFor(async () => {
      const text = await page(busy);
      expect(value(text, 'tapehouse_requests_cut_total{route="/entities/:entity",entity="adj_factor"}')).toBe(2);
      expect(value(text, "tapehouse_streams_open")).toBe(0);
      expect(value(text, "tapehouse_requests_running")).toBe(1);
    });
  });

  test("show versions, their age, and refused drops", async () => {
    const { ledger, inbox } = server.context.lake.layout;
    expect(value(await page(), "tapehouse_drops_refused")).toBe(0);
    const path = "daily/bad.csv";
    await mkdir(join(inbox, dirname(path)), { recursive: true });
    await writeFile(join(inbox, path), "x");
    const { size, mtimeMs: mtime } = await stat(join(inbox, path));
    const entry = refusalOf({ path, kind: "file", size, mtime, isReplaced: false }, "daily", null, "it is bad");
    await appendFile(ledger, `${seal({ ...entry, time: new Date().toISOString() })}\n`);
    const text = await page();
    expect(value(text, "tapehouse_drops_refused")).toBe(1);
    await writeFile(join(inbox, path), "mended");
    expect(value(await page(), "tapehouse_drops_refused")).toBe(0);
    expect(value(text, "tapehouse_versions")).toBe(1);
    const age = (Date.now() - Date.parse(server.context.lake.current().version.data_version)) / 1000;
    expect(value(text, "tapehouse_version_age_seconds")).toBeGreaterThan(0);
    expect(value(text, "tapehouse_version_age_seconds")).toBeLessThanOrEqual(age);
  });

  test("show the process: memory, open files, delay of the event loop", async () => {
    const text = await page();
    expect(value(text, "process_resident_memory_bytes")).toBeGreaterThan(1e6);
    expect(value(text, "process_open_fds")).toBeGreaterThan(3);
    expect(value(text, "nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
  });

  test("of several processes are added up, ages are not", async () => {
    const one = await server.context.metrics.collect();
    const text = await renderMetrics([one, one]);
    const single = await renderMetrics([one]);
    const memory = "process_resident_memory_bytes";
    expect(value(text, memory)).toBe(2 * value(single, memory));
    expect(value(text, "tapehouse_version_age_seconds")).toBe(value(single, "tapehouse_version_age_seconds"));
    const gathered = await serve(root, {}, {}, { gatherMetrics: async () => [one, one] });
    expect(value(await page(gathered), memory)).toBe(value(text, memory));
  });

  test("count what never became a request", async () => {
    const before = await page();
    expect(before).not.toContain('tapehouse_refused_total{code="method_not_allowed"}');
    await fetch(server.url, { method: "PROPFIND" }).then((response) => response.text());
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.on("error", () => undefined).resume();
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write("hello\r\n\r\n");
    await closed;
    expect(value(await page(), 'tapehouse_refused_total{code="method_not_allowed"}')).toBe(1);
  });
});

describe("every metric of our own", () => {
  const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

  test("stands in the reference, and every metric there is served", async () => {
    const served = [...(await page()).matchAll(/^# TYPE (tapehouse_\w+)/gm)].map((match) => match[1]);
    const documented = [...read("docs/reference.md").matchAll(/^\| `(tapehouse_\w+)`/gm)].map((match) => match[1]);
    expect(documented.sort()).toEqual(served.sort());
  });

  test("is shown by the dashboard, which asks for nothing that is not served", async () => {
    const text = await page();
    const { panels } = JSON.parse(read("docs/grafana-dashboard.json")) as {
      panels: { targets?: { expr: string }[] }[];
    };
    const names = panels
      .flatMap(({ targets = [] }) =>
        targets.flatMap(({ expr }) => expr.match(/\b(?:tapehouse|process|nodejs)_\w+/g) ?? []),
      )
      .map((name) => name.replace(/_bucket$/, ""));
    expect(names.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
    const served = [...text.matchAll(/^# TYPE (tapehouse_\w+)/gm)].map((match) => match[1]!);
    expect(served.filter((name) => !names.includes(name))).toEqual(["tapehouse_cache_entries"]);
  });
});

describe("/metrics", () => {
  const withToken = async (name: string, entities: string[] | null) => ({
    Authorization: `Bearer ${await createToken(root, name, { entities, expires: null }, new Date())}`,
  });

  test("needs a token that covers it", async () => {
    expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
    expect((await server.get("/metrics", await withToken("narrow", ["daily"]))).status).toBe(403);
    const scraper = await withToken("scraper", ["metrics"]);
    const response = await server.get("/metrics", scraper);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
    ]);
    expect((await server.get("/api/v1/entities/daily", scraper)).status).toBe(403);
    expect((await server.get("/api/v1/meta", scraper)).status).toBe(200);
  });

  test("names no token and no client", async () => {
    const text = await page();
    expect(text).not.toMatch(/scraper|narrow|TAPEHOUSE_TOKEN|127\.0\.0\.1/);
  });
});
