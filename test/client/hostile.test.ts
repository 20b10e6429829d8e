// Whatever a server sends, a failure is an error of the client, in bounded memory and time.
import { createServer, type AddressInfo, type Socket } from "node:net";
import { crc32, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import {
  ConnectionFailedError,
  createClient,
  IncompleteAnswerError,
  ProblemError,
  TapehouseError,
  type Client,
  type ClientOptions,
} from "../../src/client/index.js";

type Act = (socket: Socket) => void;
const opened: { close(): void }[] = [];

afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

/** A server of plain sockets. Each act is done for one request, in order; the last one is repeated. */
async function hostile(...acts: (string | Buffer | Act)[]): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (bytes: Buffer) => {
      asked.push(bytes.toString("latin1"));
      const act = acts.length > 1 ? acts.shift()! : acts[0]!;
      if (typeof act === "function") act(socket);
      else socket.end(act);
    });
  });
  opened.push({
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** A client of a server that does these things. */
async function client(acts: (string | Buffer | Act)[], options: Partial<ClientOptions> = {}): Promise<Client> {
  const { url } = await hostile(...acts);
  return createClient({ url, token: "the-token", retries: 0, ...options });
}

interface Head {
  readonly status?: string;
  readonly type?: string | null;
  /** Null: the body ends with the connection. */
  readonly length?: number | null;
  readonly more?: readonly string[];
}

function answer(body: string | Buffer = "", { status = "200 OK", type, length, more = [] }: Head = {}): Buffer {
  const lines = [`HTTP/1.1 ${status}`, "Connection: close", ...more];
  if (type !== null) lines.push(`Content-Type: ${type ?? "application/json"}`);
  if (length !== null) lines.push(`Content-Length: ${length ?? Buffer.byteLength(body)}`);
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), Buffer.from(body)]);
}

const NDJSON = "application/x-ndjson";
const rowsOf = (body: string | Buffer, head: Head = {}): Buffer => answer(body, { type: NDJSON, ...head });
const VERSIONS = '{"versions":["v1"]}';
const GZIP = { more: ["Content-Encoding: gzip"] };
const BOMB = gzipSync(Buffer.alloc(300 << 20));

/** Sends the head, then the piece until the client leaves. */
const endless =
  (head: Buffer | string, piece: string): Act =>
  (socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.write(head);
    socket.on("drain", more);
    more();
  };

const dripping =
  (head: Buffer | string, piece: string): Act =>
  (socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(piece), 50);
    socket.on("close", () => clearInterval(timer));
  };

/** The error of a request, which must not take more than this many bytes of memory. */
async function failureOf(ask: () => Promise<unknown>, most = 250 << 20): Promise<TapehouseError> {
  const before = process.memoryUsage().rss;
  let peak = before;
  const watching = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
  const error = await ask().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  clearInterval(watching);
  expect(error).toBeInstanceOf(TapehouseError);
  const { message } = error as TapehouseError;
  expect(message).not.toMatch(/\p{C}|the-token/u);
  expect(message.length).toBeLessThan(10_000);
  expect(peak - before).toBeLessThan(most);
  return error as TapehouseError;
}

const rows = (from: Client): Promise<unknown> => from.daily().all();

test("the correct responses of these tests are read", async () => {
  expect(await (await client([answer(VERSIONS)])).versions()).toEqual(["v1"]);
  expect(await rows(await client([rowsOf('{"a":1}\n{"a":2}\n')]))).toEqual([{ a: 1 }, { a: 2 }]);
  expect(await rows(await client([rowsOf(gzipSync('{"a":1}\n'), GZIP)]))).toEqual([{ a: 1 }]);
});

describe("the body of an error", () => {
  test.each([
    ["a bomb", [answer(BOMB, { status: "500 Broken", ...GZIP })]],
    ["endless", [endless(answer("", { status: "500 Broken", length: null }), "x".repeat(65_536))]],
    ["a page of a proxy", [answer("<html>", { status: "500 Broken", type: "text/html" })]],
    ["of odd types", [answer('{"code":{},"detail":7,"allowed":3,"hint":[]}', { status: "500 Broken" })]],
    ["too deep", [answer("[".repeat(60_000), { status: "500 Broken" })]],
    ["cut", [answer('{"code":"a', { status: "500 Broken", length: 1000 })]],
  ] as const)("that is %s leaves a problem with the status", async (_, acts) => {
    const problem = await failureOf(async () => (await client([...acts])).versions(), 100 << 20);
    expect(problem).toMatchObject({ name: "ProblemError", status: 500, code: "http_500" });
    expect(problem.message).toContain("Broken");
  });

  test("has texts that are safe in a terminal and of limited length", async () => {
    const detail = `\u001b[31m${"long ".repeat(9_000)}`;
    const body = JSON.stringify({ code: "a\u0007", detail, allowed: [1, "b\n"], hint: "c" });
    const problem = await failureOf(async () => (await client([answer(body, { status: "400 No" })])).versions());
    expect(problem).toMatchObject({ code: "a", allowed: ["b"], hint: "c" });
  });
});

test.each(["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])(
  "a redirect of %s is not followed, and the token is not sent",
  async (status) => {
    const other = await hostile(answer());
    for (const there of [`${other.url}/elsewhere`, "file:///etc/passwd", "/loop", "//", "data:application/json,{}"]) {
      const reader = await client([answer("", { status, more: [`Location: ${there}`] })]);
      for (const ask of [() => reader.versions(), () => rows(reader)]) {
        const problem = await failureOf(ask);
        expect(problem).toBeInstanceOf(ProblemError);
        expect(problem.message).toContain(`redirects to ${there}`);
      }
    }
    expect(other.asked).toEqual([]);
  },
);

test.each([
  ["1000000", 1e9, 1],
  ["9".repeat(400), Infinity, 1],
  ["soon", null, 2],
  ["-5", expect.anything(), 2],
  ["", null, 2],
  ["1e9", null, 2],
])("an unusual Retry-After is ignored: %s", async (told, retryAfter, requests) => {
  const { url, asked } = await hostile(answer("", { status: "503 Busy", more: [`Retry-After: ${told}`] }));
  const began = performance.now();
  const problem = await failureOf(() => createClient({ url, retries: 1, backoff: 200 }).versions());
  const took = performance.now() - began;
  if (requests === 2) expect(took).toBeGreaterThanOrEqual(99);
  expect(took).toBeLessThan(30_000);
  if (told !== "-5") expect(problem.retryAfter).toEqual(retryAfter);
  expect(asked).toHaveLength(requests);
});

const NO_ANSWERS: readonly [string, string | Buffer][] = [
  ["a page of a portal", answer("<html>log in</html>", { type: "text/html" })],
  ["no type", answer(VERSIONS, { type: null })],
  ["a problem", answer('{"code":"x"}', { type: "application/problem+json" })],
  ["204", answer("", { status: "204 No Content", length: null })],
  ["206", answer(VERSIONS, { status: "206 Partial Content" })],
  ["304", answer("", { status: "304 Not Modified" })],
  ["no number as a status", answer(VERSIONS, { status: "abc" })],
  ["a NaN", answer('{"versions":NaN}')],
  ["no object", answer("[]")],
  ["another object", answer('{"days":1,"gaps":"x","result":2,"versions":{}}')],
  ["a body that is shorter than its length", answer(VERSIONS, { length: 1000 })],
  ["half an object", answer('{"versions":["v1"')],
  ["no UTF-8", answer(Buffer.from('{"versions":["\xff"]}', "latin1"))],
  ["no gzip", answer(VERSIONS, GZIP)],
  ["nothing", ""],
  ["no HTTP", "\0\x01\x02 SSH-2.0\r\n\r\n"],
  ["a chunk of no length", `${answer("", { length: null, more: ["Transfer-Encoding: chunked"] }).toString()}zz\r\n`],
  ["long headers", `HTTP/1.1 200 OK\r\nA: ${"x".repeat(100_000)}\r\n\r\n`],
  ["rows that are no JSON", rowsOf("a\n")],
  ["rows that are no objects", rowsOf("[1]\n")],
  ["rows that are no UTF-8", rowsOf(Buffer.from('{"a":"\xff"}\n', "latin1"))],
  ["half a row", rowsOf('{"a":1')],
  ["half a row, packed", rowsOf(gzipSync('{"a":1}\n{"a":'), GZIP)],
];

test.each(NO_ANSWERS)("%s is an error for rows and for the rest", async (_, sent) => {
  const reader = await client([sent]);
  const asks = [
    () => reader.versions(),
    () => reader.calendar(),
    () => reader.shift(20240105, 1),
    () => reader.gaps("daily"),
    () => reader.pin(),
    () => rows(reader),
    () => reader.daily().pages(1).next(),
    () => reader.daily().bytes("arrow").next(),
  ];
  for (const ask of asks) await failureOf(ask);
});

test("bytes after the body are not taken as the next response", async () => {
  const kept = answer(VERSIONS).toString().replace("Connection: close", "Connection: keep-alive");
  const reader = await client([(socket) => void socket.write(kept + answer('{"versions":["other"]}').toString())]);
  const seen = [await reader.versions(), await reader.versions().catch((error: unknown) => error)];
  expect(seen[0]).toEqual(["v1"]);
  if (Array.isArray(seen[1])) expect(seen[1]).toEqual(["v1"]);
  else expect(seen[1]).toBeInstanceOf(TapehouseError);
});

describe("an answer without end", () => {
  test("of JSON is an error", async () => {
    const text = "x".repeat(65_536);
    expect(
      (await failureOf(async () => (await client([endless(answer('{"a":"', { length: null }), text)])).meta())).message,
    ).toContain("longer than");
    expect((await failureOf(async () => (await client([answer(BOMB, GZIP)])).meta())).message).toContain("longer than");
  });

  test("of one row is an error", async () => {
    const acts = [endless(rowsOf('{"a":"', { length: null }), "x".repeat(65_536)), rowsOf(BOMB, GZIP)];
    for (const act of acts)
      expect((await failureOf(async () => rows(await client([act])))).message).toMatch(/longer than/);
  });

  test("of headers is an error", async () => {
    const head = "HTTP/1.1 200 OK\r\n";
    for (const act of [
      endless(head, "a: b\r\n"),
      endless("", "HTTP/1.1 100 Continue\r\n\r\n"),
      endless("", "HTTP/1.1 103 Hints\r\nA: b\r\n\r\n"),
    ]) {
      const failed = await failureOf(async () => (await client([act], { timeout: 1_000 })).versions());
      expect(failed).toBeInstanceOf(ConnectionFailedError);
    }
  });

  test("of pages is an error", async () => {
    for (const body of ["", '{"a":1}\n']) {
      const reader = await client([rowsOf(body, { more: ["X-Next-Cursor: again"] })]);
      expect((await failureOf(() => rows(reader))).message).toContain("cursor does not advance");
      const pages = async (): Promise<void> => {
        for await (const page of reader.daily().pages(1)) expect(page.length).toBeLessThan(2);
      };
      expect((await failureOf(pages)).message).toContain("cursor does not advance");
    }
  });
});

describe("a server that is slow", () => {
  test.each([
    ["the head", "HTTP/1.1 200 OK\r\nA: "],
    ["JSON", answer("", { length: null })],
    ["rows", rowsOf("", { length: 100_000 })],
    ["an error", answer("", { status: "500 Broken", length: null })],
  ])("and very slow to send %s fails in time", async (_, head) => {
    const reader = await client([dripping(head, " ")], { timeout: 300 });
    await failureOf(() => reader.versions());
    await failureOf(() => rows(reader));
  });

  test("and sends nothing fails in time, and its connection is closed", async () => {
    let closed = false;
    const silent: Act = (socket) => void socket.on("close", () => (closed = true));
    const reader = await client([silent], { timeout: 300 });
    expect(await failureOf(() => reader.versions())).toBeInstanceOf(ConnectionFailedError);
    await expect.poll(() => closed, { timeout: 20_000 }).toBe(true);
  });

  test("but brings enough is read to its end", async () => {
    const body = '{"a":1}\n'.repeat(2_000);
    const slow: Act = (socket) => {
      let at = 0;
      socket.write(rowsOf("", { length: body.length }));
      const timer = setInterval(() => {
        socket.write(body.slice(at, (at += 800)));
        if (at >= body.length) clearInterval(timer);
      }, 150);
    };
    expect(await rows(await client([slow], { timeout: 3_000 }))).toHaveLength(2_000);
  });
});

describe("rows", () => {
  test("without a requested column are an error", async () => {
    const reader = await client([rowsOf('{"close":1}\n')]);
    expect(await reader.daily({ fields: ["close"] }).all()).toEqual([{ close: 1 }]);
    const failed = await failureOf(() => reader.daily({ fields: ["close", "vol"] }).all());
    expect(failed.message).toContain("the columns vol are missing");
  });

  test("that continue in another version are an error", async () => {
    const page = (version: string, more: string[] = []): Buffer =>
      rowsOf('{"a":1}\n', { more: [`X-Data-Version: ${version}`, ...more] });
    const reader = await client([page("v1", ["X-Next-Cursor: a"]), page("v2")]);
    expect((await failureOf(() => rows(reader))).message).toContain("a version other than v1");
  });
});

test("no connection is an error of the client, whatever the reason", async () => {
  for (const url of [
    "http://no-such-host.invalid",
    "http://127.0.0.1:9",
    "https://127.0.0.1:9",
    "ftp://127.0.0.1",
    "nonsense",
  ]) {
    const failed = await failureOf(() => createClient({ url, token: "the-token", retries: 0 }).versions());
    expect(failed).toBeInstanceOf(ConnectionFailedError);
  }
});

test("a token with a line break is refused and not shown", () => {
  for (const token of ["secret\n", "se\rcret", "sécret"]) {
    expect(() => createClient({ url: "http://127.0.0.1:9", token })).toThrow(/^(?!.*cret).*the token contains/s);
  }
});

test("a reader that stops closes the connection", async () => {
  let closed = false;
  const act: Act = (socket) => {
    socket.on("close", () => (closed = true));
    endless(rowsOf("", { length: null }), '{"a":1}\n'.repeat(1_000))(socket);
  };
  let seen = 0;
  for await (const row of (await client([act])).daily()) if (row && ++seen === 3) break;
  await expect.poll(() => closed, { timeout: 20_000 }).toBe(true);
  const cut = (socket: Socket): void => void socket.write(rowsOf('{"a":1}\n', { length: 100 }), () => socket.destroy());
  expect(await failureOf(async () => rows(await client([cut])))).toBeInstanceOf(IncompleteAnswerError);
});

describe("a response that names the request it belongs to", () => {
  const path = "/api/v1/entities/daily?ts_code=000001.SZ";
  const belongsTo = (target: string): Head => ({
    more: [`X-Answer-To: ${crc32(target).toString(16).padStart(8, "0")}`],
  });
  const own = rowsOf('{"ts_code":"000001.SZ"}\n', belongsTo(path));
  const other = rowsOf('{"ts_code":"000002.SZ"}\n', belongsTo(path.replace("000001", "000002")));

  test("is read, whatever comes before the path of the API", async () => {
    const { url } = await hostile(own);
    for (const root of [url, `${url}/market/`]) {
      const rows = await createClient({ url: root, token: "t", retries: 0 }).daily({ ts_code: "000001.SZ" }).all();
      expect(rows).toEqual([{ ts_code: "000001.SZ" }]);
    }
  });

  test("is an error if it is another one, and is requested again", async () => {
    const one = await client([other]);
    await expect(one.daily({ ts_code: "000001.SZ" }).all()).rejects.toThrow(ConnectionFailedError);
    const again = await client([other, own], { retries: 1, backoff: 1 });
    expect(await again.daily({ ts_code: "000001.SZ" }).all()).toEqual([{ ts_code: "000001.SZ" }]);
  });
});
