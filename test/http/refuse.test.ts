import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import express from "express";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { affordableConnections } from "../../src/http/limits.js";
import { limitStall, requestSignal, sendBody } from "../../src/http/respond.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";
import { isLong } from "../support/size.js";

let root: string;
let server: TestServer;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, {
    adj_factor: `SELECT printf('%06d.SZ', i % 5000) AS ts_code, DATE '2023-01-01' + (i // 5000)::INT AS trade_date, 1.5 AS adj_factor
                 FROM range(1000000) t(i)`,
  });
  server = await serve(root);
});

/** Sends raw bytes; resolves to everything that comes back. */
function sendRaw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    let answer = "";
    socket.on("data", (data) => (answer += data.toString()));
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
    socket.write(bytes);
  });
}

describe("bytes that never become a request are answered with a problem:", () => {
  test.each([
    ["an unknown method", "FOO / HTTP/1.1\r\nHost: a\r\n\r\n", 405, "method_not_allowed"],
    ["no HTTP at all", "hello\r\n\r\n", 405, "method_not_allowed"],
    ["a URL with a blank", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400, "malformed_request"],
    ["raw Chinese in a URL", "GET /?province=北京 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "malformed_request"],
    [
      "a header without end",
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(300_000)}\r\n\r\n`,
      431,
      "request_too_large",
    ],
    ["an expectation", "GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", 417, "expectation_failed"],
    ["a tunnel", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 405, "method_not_allowed"],
    ["HTTP/1.2", "GET /health HTTP/1.2\r\nHost: a\r\n\r\n", 505, "unsupported_http_version"],
    ["HTTP/2.0", "GET /health HTTP/2.0\r\nHost: a\r\n\r\n", 505, "unsupported_http_version"],
    ["HTTP/0.9", "GET /health HTTP/0.9\r\nHost: a\r\n\r\n", 505, "unsupported_http_version"],
    ["HTTP/0.9 without a version", "GET /health\r\n\r\n", 505, "unsupported_http_version"],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "unsupported_http_version"],
    [
      "a length and pieces",
      "POST /tushare HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
      "malformed_request",
    ],
    [
      "two lengths",
      "POST /tushare HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
      400,
      "malformed_request",
    ],
  ])("%s", async (_what, bytes, status, code) => {
    const answer = await sendRaw(bytes);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain("application/problem+json");
    expect(answer).toContain(`"code":"${code}"`);
  });
});

test("a request without a host is answered with a problem", async () => {
  const answer = await sendRaw("GET /health HTTP/1.1\r\nConnection: close\r\n\r\n");
  expect(answer).toContain("HTTP/1.1 400 ");
  expect(answer).toContain('"code":"malformed_request"');
  expect(await sendRaw("GET /health HTTP/1.0\r\n\r\n")).toContain("200 OK");
});

describe("is refused with a problem before any route looks at it:", () => {
  test.each([
    ["two hosts", "GET /health HTTP/1.1\r\nHost: a\r\nhost: b", 400, "malformed_request"],
    ["the same host twice over HTTP/1.0", "GET /health HTTP/1.0\r\nHost: a\r\nHost: a", 400, "malformed_request"],
    ["a long path", `GET /${"../".repeat(50_000)} HTTP/1.1\r\nHost: a`, 404, "unknown_route"],
    ["a long header", `GET / HTTP/1.1\r\nHost: a\r\nAccept: ${"a".repeat(16_385)}`, 431, "request_too_large"],
    [
      "a header that is long with its repetitions",
      `GET / HTTP/1.1\r\nHost: a${"\r\nAccept: ".concat("a".repeat(1_000)).repeat(20)}`,
      431,
      "request_too_large",
    ],
  ])("%s", async (_what, request, status, code) => {
    const answer = await sendRaw(`${request}\r\nConnection: close\r\n\r\n`);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain(`"code":"${code}"`);
  });
});

describe("a body that does not match its headers", () => {
  const chunked = (path: string, body: string): string =>
    `${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
  /** Status lines of all answers that came. */
  const statuses = (answer: string): string[] => [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => code!);

  test.each([
    ["a size that is no number", chunked("POST /tushare", "zz\r\n{}\r\n0\r\n\r\n")],
    ["a chunk that is longer than its size", chunked("POST /tushare", "1\r\n{}\r\n0\r\n\r\n")],
    ["an extension of a megabyte", chunked("POST /tushare", `2;${"x".repeat(1_000_000)}\r\n{}\r\n0\r\n\r\n`)],
    ["a trailer without a colon", chunked("POST /tushare", "2\r\n{}\r\n0\r\nx\r\n\r\n")],
  ])("with %s is answered once, with a problem", async (_what, bytes) => {
    const answer = await sendRaw(bytes);
    expect(statuses(answer)).toEqual(["400"]);
    expect(answer).toContain('"code":"malformed_request"');
    expect(answer).toContain("Connection: close");
  });

  test("and ends too early is answered with a problem", async () => {
    const socket = connect({ port: Number(new URL(server.url).port), host: "127.0.0.1", allowHalfOpen: true });
    socket.end('POST /tushare HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"api_name"');
    let answer = "";
    for await (const data of socket) answer += String(data);
    expect(statuses(answer)).toEqual(["400"]);
    expect(answer).toContain('"code":"malformed_request"');
  });

  test("does not cause a second response", async () => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.write(chunked("GET /health", "2\r\n{}\r\n"));
    const [first] = (await once(socket, "data")) as [Buffer];
    let rest = "";
    socket.on("data", (data) => (rest += data.toString()));
    socket.write("zz\r\n");
    await once(socket, "close");
    expect(statuses(first.toString() + rest)).toEqual(["200"]);
  });

  test("with a method that no server knows names all methods that work here", async () => {
    const answer = await sendRaw("QUERY1 /api/v1/entities/adj_factor/query HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 405 [^]*\r\nAllow: GET, HEAD, POST\r\n/);
  });

  test("leaves earlier responses complete", async () => {
    const good = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";
    const answer = await sendRaw(`${good}${good}what is this\r\n\r\n`);
    expect(statuses(answer)).toEqual(["200", "200", "405"]);
    expect(answer).toContain('"code":"method_not_allowed"');
  });

  test("that is longer than its length is answered, and then what is left of it", async () => {
    const answer = await sendRaw("POST /tushare HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}{}{}\r\n\r\n");
    expect(statuses(answer)).toEqual(["200", "405"]);
  });
});

describe("a client that is slow to ask", () => {
  /** Sends the pieces, one every 200 milliseconds for as long as it may; resolves to all that comes back. */
  function drip(to: TestServer, pieces: Iterable<string>): Promise<string> {
    const socket = connect(Number(new URL(to.url).port), "127.0.0.1");
    const rest = pieces[Symbol.iterator]();
    const dripping = setInterval(() => {
      const { done, value } = rest.next();
      if (!done && socket.writable) socket.write(value);
    }, 200);
    let answer = "";
    return new Promise((resolve) => {
      socket.on("data", (data) => (answer += data.toString()));
      socket
        .on("error", () => undefined)
        .on("close", () => {
          clearInterval(dripping);
          resolve(answer);
        });
    });
  }

  function* endless(begin: string, piece: string): Generator<string> {
    yield begin;
    for (;;) yield piece;
  }

  test.concurrent.each([
    ["sends nothing", []],
    ["sends one header after another", endless("GET / HTTP/1.1\r\nHost: a\r\n", "X: y\r\n")],
    ["sends its URL letter by letter", endless("GET /", "a")],
  ])("and %s gets a problem and is cut", { timeout: 40_000 }, async (_what, pieces) => {
    const answer = await drip(server, pieces);
    expect(answer).toContain("HTTP/1.1 408 ");
    expect(answer).toContain('"code":"request_timeout"');
  });

  test.runIf(isLong).concurrent("and sends a body without end is cut", { timeout: 60_000 }, async () => {
    const begin = "GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n";
    expect(await drip(server, endless(begin, "x"))).toContain("200 OK");
  });
});

describe("connections", () => {
  test("over the limit get a problem; those within it are served", async () => {
    const small = await serve(root, { connections: "3" });
    const port = Number(new URL(small.url).port);
    const within = [1, 2, 3].map(() => connect(port, "127.0.0.1"));
    await Promise.all(within.map((socket) => once(socket, "connect")));
    const ask = (): Promise<Response> => fetch(`${small.url}/health`, { headers: { Connection: "close" } });
    await vi.waitFor(async () => {
      const refused = await ask();
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await refused.json()).toMatchObject({ code: "overloaded" });
    });
    within[0]!.write("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
    const [answer] = (await once(within[0]!, "data")) as [Buffer];
    expect(answer.toString()).toContain("200 OK");
    for (const socket of within) socket.destroy();
    await vi.waitFor(async () => expect((await ask()).status).toBe(200));
  });

  test.each([
    [10_000, 128, Infinity, 10_000],
    [10_000, 128, 1_048_576, 10_000],
    [10_000, 128, 1024, 176],
    [10_000, 128, 256, 25],
    [20, 128, 256, 20],
    [10, 8, 16, 1],
  ])("%i with %i streams are %i where a process may open %d files", (wanted, streams, openFiles, connections) => {
    expect(affordableConnections(wanted, streams, openFiles)).toBe(connections);
  });
});

test("a list of 2,000 codes can be asked for", async () => {
  const codes = Array.from({ length: 2000 }, (_, i) => `${String(i).padStart(6, "0")}.SZ`);
  const query = new URLSearchParams({ ts_code: codes.join(","), trade_date: "20230105", fields: "ts_code" });
  expect((await server.json(`/api/v1/entities/adj_factor?${query.toString()}`)).count).toBe(2000);
});

test("clients that read nothing do not block others", async () => {
  const busy = await serve(root, {}, { concurrency: 2 });
  const request = `GET /api/v1/entities/adj_factor HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`;
  const stalled = Array.from({ length: 6 }, () => connect(Number(new URL(busy.url).port), "127.0.0.1"));
  const ended = stalled.map((socket) => new Promise<void>((resolve) => socket.once("close", resolve)));
  await Promise.all(
    stalled.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.once("readable", resolve);
          socket.on("error", () => undefined);
          socket.write(request);
        }),
    ),
  );
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => busy.json("/api/v1/entities/adj_factor?trade_date=20230105&ts_code=000007.SZ")),
  );
  expect(answers.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1]);
  for (const socket of stalled) socket.resume();
  await Promise.all(ended);
});

test("a client that reads nothing for too long is cut", async () => {
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield Promise.resolve(new Uint8Array(1 << 20));
  }
  const app = express();
  const outcome = new Promise<unknown>((resolve) => {
    app.get("/", limitStall(20), (_req, res) => {
      sendBody(res, endless(), requestSignal(res, 600_000)).then(resolve, resolve);
    });
  });
  const plain = app.listen(0, "127.0.0.1");
  await once(plain, "listening");
  const socket = connect((plain.address() as AddressInfo).port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(await outcome).toBeInstanceOf(Error);
  socket.destroy();
  plain.close();
});

describe("a body that is too long is refused", () => {
  const LENGTH = 1_000_000;
  const head = (path: string, ...lines: readonly string[]): string =>
    [`POST ${path} HTTP/1.1`, "Host: a", `Authorization: Bearer ${TOKEN}`, "Content-Type: application/json", ...lines]
      .map((line) => `${line}\r\n`)
      .join("") + "\r\n";

  /** Sends `first`, then `next` as soon as the response to it is there; resolves to both responses. */
  function converse(first: string, next: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
      let answer = "";
      let asked = false;
      socket.on("data", (data) => {
        answer += data.toString();
        if (!asked && answer.includes("longer than")) {
          asked = true;
          socket.write(next);
        }
      });
      socket.on("close", () => resolve(answer));
      socket.on("error", reject);
      socket.write(first);
    });
  }

  const last = "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

  test.each([
    ["/api/v1/entities/adj_factor/query", /^HTTP\/1\.1 413 /],
    ["/api/v1/panel/query", /^HTTP\/1\.1 413 /],
    ["/tushare", /^HTTP\/1\.1 200 [^]*"code":413,/],
  ])("at %s before it arrives, and the connection carries the next request", async (path, refusal) => {
    const answer = await converse(head(path, `Content-Length: ${LENGTH}`), "x".repeat(LENGTH) + last);
    expect(answer).toMatch(refusal);
    expect(answer).toMatch(/HTTP\/1\.1 200 OK[^]*"databases"/);
  });

  test.each(["/api/v1/entities/adj_factor/query", "/tushare"])(
    "at %s without its end, if its length was not announced",
    async (path) => {
      const piece = `${(300_000).toString(16)}\r\n${"x".repeat(300_000)}\r\n`;
      const answer = await converse(head(path, "Transfer-Encoding: chunked") + piece, `${piece}0\r\n\r\n${last}`);
      expect(answer).toMatch(/the body is longer than 262144 bytes/);
      expect(answer).toMatch(/HTTP\/1\.1 200 OK[^]*"databases"/);
    },
  );

  test("unsent, if the client waits for permission to send it", async () => {
    const path = "/api/v1/entities/adj_factor/query";
    const long = await sendRaw(head(path, `Content-Length: ${LENGTH}`, "Expect: 100-continue"));
    expect(long).toMatch(/^HTTP\/1\.1 413 [^]*\r\nConnection: close\r\n/);
    const body = '{"limit": 1}';
    const short = await sendRaw(
      head(path, `Content-Length: ${body.length}`, "Expect: 100-continue", "Connection: close") + body,
    );
    expect(short).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*"count":1/);
  });
});
