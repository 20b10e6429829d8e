import { once } from "node:events";
import { truncate } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createToken } from "../../src/store/tokens.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

let root: string;
let server: TestServer;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, {
    daily: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-01' + d::INT AS trade_date, 1.5 AS close FROM range(10) t(d)",
    adj_factor: factors(),
    weekly: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' AS trade_date",
  });
  server = await serve(root, { logLevel: "info" });
});

type Line = Readonly<Record<string, unknown>>;

/** The line of the request whose answer this is. */
async function lineOf(response: Response): Promise<Line> {
  const id = response.headers.get("x-request-id");
  return vi.waitFor(() => {
    const line = server.logged
      .map((text) => JSON.parse(text) as Line)
      .find((one) => one["id"] === id && one["msg"] === "request");
    if (!line) throw new Error(`no line of ${id}`);
    return line;
  });
}

describe("a request leaves one line:", () => {
  test("with the client, the request, its result, and how long each stage took", async () => {
    const response = await server.get("/api/v1/entities/daily?limit=3");
    const body = await response.text();
    const line = await lineOf(response);
    expect(line).toMatchObject({
      level: "info",
      pid: process.pid,
      address: "127.0.0.1",
      method: "GET",
      route: "/entities/:entity",
      entity: "daily",
      token: "TAPEHOUSE_TOKEN",
      status: 200,
      rows: 3,
      cut: false,
    });
    expect(line).not.toHaveProperty("problem");
    expect(line["time"]).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(line["bytes"]).toBeGreaterThan(body.length);
    const stages = line["stages"] as Record<string, number>;
    expect(Object.keys(stages)).toEqual(["auth", "plan", "first", "send"]);
    const sum = Object.values(stages).reduce((a, b) => a + b, 0);
    expect(line["ms"]).toBeCloseTo(sum, 1);
  });

  test.each([
    ["/api/v1/entities/weekly/gaps", { route: "/entities/:entity/gaps", entity: "weekly", status: 200 }],
    ["/api/v1/meta", { route: "/meta", entity: null, status: 200, rows: 0 }],
    ["/health", { route: "/health", status: 200 }],
    ["/api/v1/entities/daily?limit=0", { entity: "daily", status: 400, problem: "invalid_parameter" }],
    ["/api/v1/entities/dayly", { entity: null, status: 404, problem: "unknown_entity" }],
    ["/nowhere", { route: null, status: 404, problem: "unknown_route" }],
  ])("%s", async (path, expected) => {
    expect(await lineOf(await server.get(path))).toMatchObject(expected);
  });

  test("without the name of a token if it was wrong", async () => {
    const line = await lineOf(await server.get("/api/v1/meta", { Authorization: "Bearer wrong" }));
    expect(line).toMatchObject({ status: 401, problem: "unauthorized", route: null });
    expect(line).not.toHaveProperty("token");
  });

  test("that counts the bytes of each answer on a shared connection", async () => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    const request = `GET /health HTTP/1.1\r\nHost: a\r\n\r\n`;
    let answer = "";
    socket.on("data", (data) => (answer += data.toString()));
    socket.write(request);
    await vi.waitFor(() => expect(answer).toContain("}}"));
    const first = answer.length;
    socket.end(request);
    await once(socket, "close");
    const ids = [...answer.matchAll(/X-Request-Id: (\S+)/gi)].map((match) => match[1]);
    const lines = server.logged
      .map((text) => JSON.parse(text) as Line)
      .filter((line) => ids.includes(line["id"] as string));
    expect(lines.map((line) => line["bytes"])).toEqual([first, answer.length - first]);
  });

  test("also when the client leaves, marked as cut", async () => {
    const leaving = new AbortController();
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const response = await fetch(`${server.url}/api/v1/entities/adj_factor`, { headers, signal: leaving.signal });
    leaving.abort();
    const line = await lineOf(response);
    expect(line).toMatchObject({ status: 200, entity: "adj_factor", cut: true });
    expect(line["rows"]).toBeLessThan(1_500_000);
  });

  test("and an internal error leaves another one, with its stack and the same id", async () => {
    const own = await temporaryFolder();
    await publishRows(own, { weekly: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' AS trade_date" });
    const damaged = await serve(own, { logLevel: "info" });
    const { lake } = damaged.context;
    await truncate(join(lake.layout.lake, lake.current().files("weekly").byDate[0]!.path), 100);
    const response = await damaged.get("/api/v1/entities/weekly");
    const text = await response.text();
    expect(response.status).toBe(500);
    const faults = damaged.logged.map((one) => JSON.parse(one) as Line).filter((line) => line["level"] === "error");
    expect(faults).toMatchObject([{ id: response.headers.get("x-request-id"), msg: "damaged file" }]);
    const { stack } = faults[0]!["err"] as { stack: string };
    expect(stack).toContain("DamagedFileError");
    expect(text).not.toContain("Error");
    expect(text).not.toContain(own);
  });
});

describe("the log", () => {
  test("contains no client text: no token, no query, no path, no header", async () => {
    const stored = await createToken(root, "carol", { entities: null, expires: null }, new Date());
    const marks = { query: "hush-query", path: "hush-path", header: "hush-header", wrong: "hush-wrong" };
    const paths = [
      `/api/v1/entities/daily?ts_code=${marks.query}`,
      `/api/v1/entities/daily?token=${marks.query}`,
      `/api/v1/entities/daily?cursor=${marks.query}&limit=1`,
      `/api/v1/entities/daily?data_version=${marks.query}`,
      `/api/v1/entities/${marks.path}`,
      `/api/v1/entities/daily/gaps?ts_code=${marks.query}`,
      `/${marks.path}`,
      `/${marks.path}%ff`,
    ];
    const before = server.logged.length;
    const bodies: string[] = [];
    for (const path of paths) {
      for (const token of [TOKEN, stored, marks.wrong]) {
        const headers = {
          Authorization: `Bearer ${token}`,
          "X-Request-Id": marks.header,
          "User-Agent": marks.header,
          Accept: `application/json;x=${marks.header}`,
        };
        bodies.push(await (await fetch(server.url + path, { headers })).text());
      }
    }
    await vi.waitFor(() => expect(server.logged.length - before).toBe(paths.length * 3));
    const log = server.logged.join("\n");
    for (const secret of [TOKEN, stored, ...Object.values(marks)]) expect(log).not.toContain(secret);
    for (const secret of [TOKEN, stored, marks.wrong]) expect(bodies.join("\n")).not.toContain(secret);
    expect(log).toContain('"token":"carol"');
  });

  test.each([
    ["silent", 0],
    ["error", 0],
    ["info", 1],
  ])("of level %s has %i lines of a request", async (logLevel, lines) => {
    const own = await serve(root, { logLevel });
    const response = await own.get("/api/v1/meta");
    await response.text();
    await own.close();
    const requests = own.logged.filter((line) => line.includes(response.headers.get("x-request-id")!));
    expect(requests).toHaveLength(lines);
  });
});
