import { EventEmitter, once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import express from "express";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { limitStall } from "../../src/http/respond.js";
import { createToken } from "../../src/store/tokens.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";
import { size } from "../support/size.js";

let root: string;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, {
    weekly: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' AS trade_date",
    adj_factor: factors(),
  });
});

const other = async (name: string) => ({
  Authorization: `Bearer ${await createToken(root, name, { entities: null, expires: null }, new Date())}`,
});

const WEEKLY = "/api/v1/entities/weekly";

/** A client that asks for much, so many times on one connection, and reads nothing of it. */
function stall({ url }: TestServer, times = 1): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1").pause();
  socket.on("error", () => undefined);
  const request = `GET /api/v1/entities/adj_factor HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
  socket.write(request.repeat(times));
  return socket;
}

const streamsOf = ({ context }: TestServer): number => context.reader.load().streams.active;

describe("the rate of a token", () => {
  test("is sent in headers, and above it the response is 429", async () => {
    const server = await serve(root, { rateLimit: "3" });
    const answers: Response[] = [];
    for (let i = 0; i < 4; i++) answers.push(await server.get(i === 3 ? "/api/v1/meta" : WEEKLY));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    const header = (name: string): (string | null)[] => answers.map(({ headers }) => headers.get(name));
    expect(header("ratelimit-policy")).toEqual(Array(4).fill('"minute";q=3;w=60'));
    expect(header("ratelimit").map((text) => text!.replace(/t=\d+/, "t="))).toEqual(
      [2, 1, 0, 0].map((left) => `"minute";r=${left};t=`),
    );
    const retryAfter = Number(answers[3]!.headers.get("retry-after"));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(20);
    expect(await answers[3]!.json()).toMatchObject({ code: "too_many_requests", status: 429 });
  });

  test("is not that of another token, and public routes have none", async () => {
    const server = await serve(root, { rateLimit: "1" });
    const statuses = [await server.get(WEEKLY), await server.get(WEEKLY), await server.get(WEEKLY, await other("bob"))];
    expect(statuses.map(({ status }) => status)).toEqual([200, 429, 200]);
    for (const path of ["/health", "/openapi.json"]) expect((await server.get(path)).status).toBe(200);
    expect((await server.get("/metrics")).status).toBe(429);
  });

  test("is not sent if there is none", async () => {
    const { headers } = await (await serve(root)).get(WEEKLY);
    expect([headers.get("ratelimit"), headers.get("ratelimit-policy")]).toEqual([null, null]);
  });
});

const HUNDREDS = size("HUNDREDS", 2, 10);

describe("responses in progress of one token", () => {
  test("leave slots for another one", async () => {
    const server = await serve(root, { tokenStreams: "4", streams: "3" });
    const stalled = [1, 2, 3, 4, 5].map(() => stall(server));
    await vi.waitFor(() => expect(server.context.reader.load().streams).toEqual({ active: 1, waiting: 1 }));
    expect((await server.get(WEEKLY, await other("dora"))).status).toBe(200);
    for (const socket of stalled) socket.destroy();
    expect((await server.json(WEEKLY)).count).toBe(1);
  });

  test("wait while there are too many, and if the queue is full the response is 429", async () => {
    const server = await serve(root, { tokenStreams: "1", queue: "1" });
    const stalled = stall(server);
    await vi.waitFor(() => expect(streamsOf(server)).toBe(1));
    const [first, second] = [server.get(WEEKLY), server.get(WEEKLY)];
    const refused = await Promise.race([first, second]);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toMatchObject({ code: "too_many_requests" });
    expect((await server.get("/api/v1/meta")).status).toBe(200);
    stalled.destroy();
    const statuses = (await Promise.all([first, second])).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 429]);
  });

  test("wide ones queue while small ones run: those of the same token, and of any other", async () => {
    const server = await serve(root, { tokenStreams: "8", streams: "6", queue: "100" });
    const bob = await other("bob-reads");
    const stalled = Array.from({ length: 24 }, () => stall(server));
    await vi.waitFor(() => expect(server.context.reader.load().streams).toEqual({ active: 3, waiting: 1 }));
    const small = "/api/v1/entities/adj_factor?trade_date=20230105&limit=5";
    for (let i = 0; i < 20; i++) {
      const answers = await Promise.all([server.get(small), server.get(WEEKLY), server.get(small, bob)]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    }
    expect(server.context.reader.load().streams).toEqual({ active: 3, waiting: 1 });
    for (const socket of stalled) socket.destroy();
    expect((await server.json("/api/v1/entities/adj_factor?fields=adj_factor&end_date=20230110")).count).toBe(50_000);
  });

  test("release their slots: hundreds of small ones run one by one", async () => {
    const server = await serve(root, { tokenStreams: "1", queue: "100" });
    for (let i = 0; i < HUNDREDS; i++) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => server.get(`${WEEKLY}?limit=1`)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    }
  });

  test("release their slots if clients leave while waiting", async () => {
    const server = await serve(root, { tokenStreams: "1" });
    const stalled = stall(server);
    await vi.waitFor(() => expect(streamsOf(server)).toBe(1));
    const leaving = new AbortController();
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const waiting = Array.from({ length: 20 }, () => fetch(server.url + WEEKLY, { headers, signal: leaving.signal }));
    const left = Promise.allSettled(waiting);
    leaving.abort();
    await left;
    stalled.destroy();
    expect((await server.json(WEEKLY)).count).toBe(1);
    expect(server.logged).toEqual([]);
  });

  test.each([
    ["under way", "8", 3],
    ["that wait for a place", "1", 1],
  ])("and from one that leaves with answers before their turn, %s", async (_, tokenStreams, inside) => {
    const server = await serve(root, { tokenStreams });
    const stalled = stall(server, 3);
    await vi.waitFor(() => expect(streamsOf(server)).toBe(inside));
    stalled.destroy();
    await vi.waitFor(() => expect(streamsOf(server)).toBe(0));
    expect((await server.json(WEEKLY)).count).toBe(1);
    const page = async (): Promise<string> => (await server.get("/metrics")).text();
    await vi.waitFor(async () => expect(await page()).toMatch(/^tapehouse_requests_running(\{.*\})? 1$/m));
    expect(server.logged).toEqual([]);
  });
});

test("a client that does not read the end of its response is cut, one that reads it slowly is not", async () => {
  const app = express();
  app.get("/", limitStall(700), ({ socket }, res) => {
    res.once("close", () => outcome.emit("end", socket.destroyed ? "cut" : "whole"));
    res.end(Buffer.alloc(32 << 20));
  });
  const outcome = new EventEmitter();
  const listening = app.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const ask = (): Socket => {
    const socket = connect((listening.address() as AddressInfo).port, "127.0.0.1").pause();
    socket.on("error", () => undefined).write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    return socket;
  };
  const idle = ask();
  expect(await once(outcome, "end")).toEqual(["cut"]);
  idle.destroy();
  const slow = ask();
  const reading = setInterval(() => slow.read(), 2);
  expect(await once(outcome, "end")).toEqual(["whole"]);
  clearInterval(reading);
  slow.destroy();
  listening.close();
});

describe("wrong tokens", () => {
  test("are slowed after a while; a missing token is only reported, and the valid one always passes", async () => {
    const server = await serve(root);
    const wrong = async (i: number): Promise<number> =>
      (await server.get(WEEKLY, { Authorization: `Bearer wrong-${i}` })).status;
    const statuses: number[] = [];
    for (let i = 0; i < 40; i++) statuses.push(await wrong(i));
    expect(statuses.slice(0, 30)).toEqual(Array(30).fill(401));
    expect(statuses.at(-1)).toBe(429);
    const refused = await server.get(WEEKLY, { Authorization: "Bearer wrong" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: "too_many_requests" });
    expect((await server.get(WEEKLY, { Authorization: "" })).status).toBe(401);
    expect((await server.get(WEEKLY)).status).toBe(200);
  });

  test("do not make the server look at the disk again and again", async () => {
    const server = await serve(root);
    const find = vi.spyOn(server.context.tokens, "find");
    for (let i = 0; i < 40; i++) await server.get(WEEKLY, { Authorization: `Bearer wrong-${i}` });
    expect(find.mock.calls.filter(([, , mayLookAgain]) => mayLookAgain)).toHaveLength(30);
  });
});
