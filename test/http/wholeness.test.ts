// No fault after the first byte may leave a body that looks complete.
import { execFile } from "node:child_process";
import { readFile, rm, truncate, writeFile } from "node:fs/promises";
import { Agent, request, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { versionFile } from "../../src/lake/layout.js";
import { repair } from "../../src/repair/repair.js";
import { copyOf, temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

const ROWS = 1_500_000;
const WIDE = "/api/v1/entities/adj_factor";
/** A lake of which each test damages a copy. */
let sound: string;
let root: string;
let server: TestServer;

/** Two files of a million rows and half a million: two statements, so the second can fail after the first was sent. */
beforeAll(async () => {
  sound = await temporaryFolder();
  await publishRows(sound, {
    adj_factor: factors(ROWS),
    weekly: "SELECT '000001.SZ' AS ts_code, DATE '2023-01-06' AS trade_date",
  });
});

beforeEach(async () => {
  root = await copyOf(sound);
  server = await serve(root);
});

const fileOf = (entity: string, index: number): string =>
  join(server.context.lake.layout.lake, server.context.lake.current().files(entity).byDate[index]!.path);

async function flipByte(path: string, at: number): Promise<void> {
  const bytes = await readFile(path);
  bytes[at]! ^= 0x10;
  await writeFile(path, bytes);
}

describe("a damaged file", () => {
  test("met after the first byte cuts the answer for fetch", async () => {
    await flipByte(fileOf("adj_factor", 1), 5000);
    const response = await server.get(WIDE);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  test("met after the first byte cuts the response for fetch also if the connection is to be closed", async () => {
    await flipByte(fileOf("adj_factor", 1), 5000);
    for (const encoding of ["identity", "gzip"]) {
      const response = await server.get(WIDE, { Connection: "close", "Accept-Encoding": encoding });
      expect([response.status, response.headers.get("connection")]).toEqual([200, "keep-alive"]);
      await expect(response.text()).rejects.toThrow();
    }
  });

  test("met after the first byte cuts the answer for curl, also when it is compressed", async () => {
    await flipByte(fileOf("adj_factor", 1), 5000);
    for (const flags of [[], ["--compressed"]]) {
      const args = ["-sS", "-o", "/dev/null", ...flags, "-H", `Authorization: Bearer ${TOKEN}`, server.url + WIDE];
      await expect(promisify(execFile)("curl", args)).rejects.toMatchObject({ code: 18 });
    }
  });

  test.each([
    ["with a flipped bit", (path: string) => flipByte(path, 5000)],
    ["cut short", (path: string) => truncate(path, 10_000)],
    ["of no bytes", (path: string) => truncate(path, 0)],
  ])("%s is never read: a problem without a path, and health says degraded", async (_what, damage) => {
    await damage(fileOf("adj_factor", 0));
    const headers = { Authorization: `Bearer ${TOKEN}` };
    expect((await fetch(server.url + WIDE, { method: "HEAD", headers })).status).toBe(500);
    const response = await server.get(`${WIDE}?limit=10`);
    const text = await response.text();
    expect([response.status, (JSON.parse(text) as { code: string }).code]).toEqual([500, "data_damaged"]);
    expect(text).not.toContain(root);
    const health = (await (await fetch(`${server.url}/health`)).json()) as { status: string; databases: object };
    expect(health.status).toBe("degraded");
    expect(health.databases).toMatchObject({ market: false, reference: true });
    expect((await server.json("/api/v1/entities/weekly")).count).toBe(1);
  });
});

describe("a server whose lake is damaged and repaired", () => {
  const health = async (): Promise<unknown> => {
    const { status, databases } = (await (await fetch(`${server.url}/health`)).json()) as {
      status: string;
      databases: Readonly<Record<string, boolean>>;
    };
    return [status, Object.keys(databases).filter((store) => !databases[store])];
  };

  test("is healthy again when a file is put back, and when the served version no longer needs it", async () => {
    const path = fileOf("adj_factor", 0);
    const whole = await readFile(path);
    await flipByte(path, 5000);
    expect((await server.get(`${WIDE}?limit=10`)).status).toBe(500);
    expect([await health(), await health()]).toEqual(Array(2).fill(["degraded", ["market"]]));
    await writeFile(path, whole);
    expect(await health()).toEqual(["ok", []]);
    expect((await server.json(`${WIDE}?limit=10`)).count).toBe(10);

    await truncate(path, 100);
    expect((await server.get(`${WIDE}?limit=10`)).status).toBe(500);
    await repair(root, { memory: "1GB", deep: false, giveUp: true });
    await server.context.lake.refresh();
    expect(await health()).toEqual(["ok", []]);
    expect((await server.json(`${WIDE}?limit=10`)).count).toBe(10);
  });

  test("keeps its version while the pointer is damaged, and follows the repaired one", async () => {
    const looking = server.context.lake.refresh();
    expect(server.context.lake.faults().state).toBeNull();
    await looking;
    const { pointer } = server.context.lake.layout;
    await writeFile(pointer, "garbage");
    await expect(server.context.lake.refresh()).rejects.toThrow("the pointer to the current version is damaged");
    expect(await health()).toEqual(["degraded", ["state"]]);
    expect((await server.json("/api/v1/entities/weekly")).count).toBe(1);
    await rm(pointer);
    await expect(server.context.lake.refresh()).rejects.toThrow("the pointer to the current version is gone");
    expect((await server.json("/api/v1/entities/weekly")).count).toBe(1);
    await repair(root, { memory: "1GB", deep: false, giveUp: false });
    await server.context.lake.refresh();
    expect(await health()).toEqual(["ok", []]);
  });
});

test("an older version whose record is damaged is a problem of its own, and of no other", async () => {
  const before = server.context.lake.current().version;
  await publishRows(root, { weekly: "SELECT '000001.SZ' AS ts_code, DATE '2023-01-13' AS trade_date" });
  await server.context.lake.refresh();
  await truncate(join(server.context.lake.layout.versions, versionFile(before.sequence)), 20);
  const response = await server.get(`/api/v1/entities/weekly?data_version=${encodeURIComponent(before.data_version)}`);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([500, "data_damaged"]);
  expect((await server.json("/api/v1/entities/weekly")).count).toBe(2);
});

describe("a running answer", () => {
  test("is exact for 20 clients at once, with health checks between", async () => {
    const one = "?start_date=20230101&end_date=20230103&fields=ts_code,adj_factor";
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        expect((await fetch(`${server.url}/health`)).status).toBe(200);
        return server.json(WIDE + one);
      }),
    );
    expect(answers.map(({ count, rows }) => [count, rows.length])).toEqual(Array(20).fill([15_000, 15_000]));
  });

  test("stays whole and of one version while a new version is published", async () => {
    const before = server.context.lake.current().version.data_version;
    const reading = server.json(WIDE);
    await publishRows(root, {
      adj_factor: "SELECT '000001.SZ' AS ts_code, DATE '2030-01-01' AS trade_date, 2 AS adj_factor",
    });
    const { count, data_version } = await reading;
    expect([count, data_version]).toEqual([ROWS, before]);
    await server.context.lake.refresh();
    expect((await server.json("/api/v1/entities/adj_factor?start_date=20300101")).count).toBe(1);
    expect((await server.json(`${WIDE}?limit=1&order=desc&data_version=${before}`)).rows[0]![1]).not.toBe("20300101");
  });

  test("of a client that leaves stops, and the next client is served", async () => {
    for (let i = 0; i < 30; i++) {
      const leaving = new AbortController();
      const response = await fetch(server.url + WIDE, {
        headers: { Authorization: `Bearer ${TOKEN}` },
        signal: leaving.signal,
      });
      expect(response.status).toBe(200);
      leaving.abort();
    }
    expect((await server.json(`${WIDE}?ts_code=000007.SZ`)).count).toBe(300);
    expect(server.logged).toEqual([]);
  });

  test.each([1, 30, 60])("that takes longer than the deadline of %i ms ends with 504, or is cut", async (deadline) => {
    const hurried = await serve(root, {}, { deadline });
    const response = await hurried.get(WIDE);
    const outcome =
      response.status === 200
        ? response.text().then(
            () => "whole",
            () => "cut",
          )
        : response.json();
    expect(["cut", expect.objectContaining({ status: 504, code: "deadline_exceeded" })]).toContainEqual(await outcome);
  });
});

test("a query that needs more space than is available gets a problem, and the next one succeeds", async () => {
  const small = await serve(root, { memory: "24MB", spill: "1MB", concurrency: "1" });
  const response = await small.get(`${WIDE}?order=desc`);
  const problem = (await response.json()) as object;
  expect(problem).toMatchObject({ status: 503, code: "out_of_room" });
  expect(response.headers.get("retry-after")).toBe("5");
  expect(JSON.stringify(problem)).not.toContain(root);
  expect((await small.json(`${WIDE}?limit=10&order=desc`)).count).toBe(10);
});

test("an answer in pieces to a client that asked to close the connection is whole, and the connection is closed", async () => {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write(
    `GET ${WIDE}?format=csv HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
  );
  const answer = (await buffer(socket)).toString("latin1");
  expect(answer.slice(-7)).toBe("\r\n0\r\n\r\n");
  expect(answer.split("\n").filter((line) => line.endsWith(",1.5")).length).toBeGreaterThan(ROWS * 0.99);
});

describe("a client of HTTP/1.0, for which an answer ends with its connection", () => {
  async function ask(path: string, more = ""): Promise<{ readonly head: string; readonly body: string }> {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.write(`GET ${path} HTTP/1.0\r\nAuthorization: Bearer ${TOKEN}\r\n${more}\r\n`);
    const [head = "", body = ""] = (await buffer(socket)).toString("latin1").split("\r\n\r\n");
    return { head, body };
  }
  const lengthIn = (head: string): number => Number(/^content-length: (\d+)\r?$/im.exec(head)?.[1]);

  test("gets rows whose length is known, packed or not, and documents of any size", async () => {
    for (const path of [`${WIDE}?limit=1000&format=csv`, `${WIDE}?trade_date=19900101`, "/openapi.json"]) {
      for (const more of ["", "Accept-Encoding: gzip\r\n"]) {
        const { head, body } = await ask(path, more);
        expect(head).toContain("HTTP/1.1 200 ");
        expect(body.length).toBe(lengthIn(head));
      }
    }
    expect((await ask("/openapi.json")).body.length).toBeGreaterThan(64 * 1024);
  });

  test("gets a hint to use HTTP/1.1 if they would come in pieces, in every format, and reads nothing else", async () => {
    for (const format of ["json", "ndjson", "csv", "arrow", "parquet"]) {
      const { head, body } = await ask(`${WIDE}?format=${format}`, "Accept-Encoding: gzip\r\n");
      expect(head).toMatch(/^HTTP\/1.1 426 [^]*^Upgrade: HTTP\/1.1\r$[^]*^Connection: upgrade, close\r?$/m);
      expect(body.length).toBe(lengthIn(head));
      expect(JSON.parse(body)).toMatchObject({
        code: "upgrade_required",
        hint: expect.stringContaining("nginx") as string,
      });
    }
    await expect.poll(() => server.context.reader.load().streams.active).toBe(0);
  });

  test("gets it in the message of a Tushare response", async () => {
    const question = JSON.stringify({ api_name: "adj_factor", token: TOKEN });
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.write(`POST /tushare HTTP/1.0\r\nContent-Length: ${question.length}\r\n\r\n${question}`);
    const answer = (await buffer(socket)).toString();
    expect(answer).toContain("HTTP/1.1 200 ");
    expect(answer).toContain('"code":426,"msg":"over HTTP/1.0 a client cannot tell');
  });
});

test("a chunked response that begins while the server stops and is cut looks complete to no client", async () => {
  const ending = await serve(root);
  const agent = new Agent({ keepAlive: true });
  const ask = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${TOKEN}` };
      request(ending.url + path, { agent, headers }, resolve)
        .on("error", reject)
        .end();
    });
  await buffer(await ask("/health"));
  const closing = ending.close({ within: 400, keepIdle: true });
  const answer = await ask(WIDE);
  expect([answer.statusCode, answer.headers.connection]).toEqual([200, "keep-alive"]);
  answer.pause();
  await closing;
  await expect(buffer(answer)).rejects.toThrow();
  agent.destroy();
});
