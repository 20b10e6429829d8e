// POST …/query: what GET returns, for parameters in a body.
import { connect } from "node:net";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { ENTITIES } from "../../src/catalog/index.js";
import { parametersOf, type EntityParameter } from "../../src/catalog/parameters.js";
import { createToken } from "../../src/store/tokens.js";
import { demoLake } from "../support/demo.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";
import { isLong } from "../support/size.js";

let root: string;
let server: TestServer;

beforeAll(async () => {
  root = await demoLake({ days: 120 });
  server = await serve(root);
});

const DAILY = "/api/v1/entities/daily";

function post(path: string, body: unknown, headers: Record<string, string> = {}, to = server): Promise<Response> {
  return fetch(`${to.url}${path}/query`, {
    method: "POST",
    headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
}

/** What a client sees, except for what belongs to the one request. */
async function seen(response: Response): Promise<unknown> {
  const own = ["date", "server-timing", "x-answer-to", "x-request-id"];
  const headers = [...response.headers].filter(([name]) => !own.includes(name));
  return { status: response.status, headers, body: Buffer.from(await response.arrayBuffer()).toString("latin1") };
}

const CODES = ["000001.SZ", "600519.SH", "300750.SZ", "000300.SH", "600519"];
const DAYS = ["20250801", "2025-09-01", "20251103", "20251231", "20250230"];

/** A value of a parameter, most of them valid. */
function valueOf(parameter: EntityParameter): fc.Arbitrary<string> {
  const type = parameter.kind === "filter" ? parameter.column.type : undefined;
  if (type === "code") return fc.constantFrom(...CODES);
  if (type === "date") return fc.constantFrom(...DAYS, "null");
  if (type === "int64") return fc.constantFrom("0", "1", "x");
  if (type === "text") return fc.constantFrom("平安银行", "L1", "a,b", '"a,b"', "null", "😀 +%&=");
  return (
    {
      limit: fc.constantFrom("1", "7", "0"),
      order: fc.constantFrom("asc", "desc"),
      format: fc.constantFrom("json", "ndjson", "csv", "arrow", "parquet", "xml"),
      fields: fc.constantFrom("ts_code", "ts_code,close", "index_code"),
      adjust: fc.constantFrom("forward", "qfq"),
      latest: fc.constant("true"),
      adjust_volume: fc.constant("true"),
      as_of_days: fc.constant("month_end"),
      cursor: fc.constant("abc"),
      data_version: fc.constant("2001-01-01T00:00:00.000+08:00"),
    }[parameter.kind as string] ?? fc.constantFrom(...DAYS)
  );
}

describe("a query in a body", () => {
  const asked = fc.constantFrom(...ENTITIES).chain((entity) => {
    const seldom = ["cursor", "data_version"];
    const named = parametersOf(entity).filter(({ name }) => !seldom.includes(name));
    const given = fc.constantFrom(...named).chain((one) => fc.tuple(fc.constant(one.name), valueOf(one)));
    const others = fc.constantFrom<[string, string]>(["no_such", "1"], ["cursor", "abc"], ["limit", ""]);
    const pairs = fc.uniqueArray(fc.oneof({ weight: 30, arbitrary: given }, { weight: 1, arbitrary: others }), {
      maxLength: 4,
      selector: ([name]) => name,
    });
    return fc.record({ path: fc.constant(`/api/v1/entities/${entity.name}`), pairs });
  });

  test("is answered like the same query in a URL, whether it is valid or not", { timeout: 120_000 }, async () => {
    const statuses = new Set<number>();
    const isSame = fc.asyncProperty(asked, async ({ path, pairs }) => {
      const inUrl = await server.get(`${path}?${new URLSearchParams(pairs).toString()}`);
      const inBody = await post(path, Object.fromEntries(pairs));
      statuses.add(inUrl.status);
      expect(await seen(inBody)).toEqual(await seen(inUrl));
    });
    await fc.assert(isSame, { numRuns: isLong ? 600 : 120 });
    expect([...statuses]).toEqual(expect.arrayContaining([200, 400]));
  });

  test("has several values as a list, one of which may contain a comma, or as text", async () => {
    const inUrl = await seen(
      await server.get(`${DAILY}?ts_code=600519.SH,000001.SZ&limit=5&fields=ts_code&order=desc`),
    );
    const query = { ts_code: ["600519.SH", "000001.SZ"], limit: 5, fields: ["ts_code"], order: "desc" };
    expect(await seen(await post(DAILY, query))).toEqual(inUrl);
    expect(await seen(await post(DAILY, { ...query, ts_code: "600519.SH,000001.SZ" }))).toEqual(inUrl);
    const ofText = async (name: unknown) =>
      (await post("/api/v1/entities/stock_list", { name, fields: "name" })).json();
    const [{ name }] = (await (await server.get("/api/v1/entities/stock_list?format=ndjson&limit=1")).text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { name: string }) as [{ name: string }];
    expect(await ofText([name, "a,b"])).toMatchObject({ rows: [[name]] });
    expect(await ofText([`${name},b`])).toMatchObject({ rows: [] });
    expect(await ofText(`${name},b`)).toMatchObject({ rows: [[name]] });
  });

  test("may have numbers and booleans, and as many codes as a list may have", async () => {
    const inUrl = await seen(
      await server.get(`${DAILY}?trade_date=20251201,20251202&adjust=forward&adjust_volume=true&limit=3`),
    );
    const query = { trade_date: [20251201, 20251202], adjust: "forward", adjust_volume: true, limit: 3 };
    expect(await seen(await post(DAILY, query))).toEqual(inUrl);
    const codes = Array.from(
      { length: 19_999 },
      (_, i) => `${String(i + 600_000).slice(0, 3)}${String(i % 1000).padStart(3, "0")}.SH`,
    );
    const { rows } = (await (await post(DAILY, { ts_code: ["600519.SH", ...codes], limit: 1 })).json()) as {
      rows: unknown[];
    };
    expect(rows).toHaveLength(1);
  });

  test.each([
    [`${DAILY}/changes`, { from: "" }],
    ["/api/v1/panel", { entities: ["daily:close", "daily_basic:pe"], codes: ["600519.SH"], start_date: 20251201 }],
  ])("may be one of %s", async (path, asked) => {
    const from = server.context.lake.mark().data_version;
    const query: Record<string, unknown> = "from" in asked ? { from } : asked;
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const inUrl = await server.get(`${path}?${search.toString()}`);
    expect(inUrl.status).toBe(200);
    expect(await seen(await post(path, query))).toEqual(await seen(inUrl));
  });

  test("accepts a cursor and an ETag of the same query in a URL", async () => {
    const query = { ts_code: "600519.SH", limit: 4 };
    const first = await server.json(`${DAILY}?ts_code=600519.SH&limit=4`);
    const next = `${DAILY}?ts_code=600519.SH&limit=4&cursor=${first.next_cursor!}`;
    expect(await seen(await post(DAILY, { ...query, cursor: first.next_cursor }))).toEqual(
      await seen(await server.get(next)),
    );
    const whole = await server.get(`${DAILY}?ts_code=600519.SH`);
    const again = await post(DAILY, { ts_code: ["600519.SH"] }, { "If-None-Match": whole.headers.get("ETag")! });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  test("is named in the same way however its URL is encoded", async () => {
    const sums = await Promise.all(
      ["ts_code=000001.SZ%2C000002.SZ", "ts_code=000001.SZ,000002.SZ", "ts_code=000001%2eSZ%2c000002.SZ"].map(
        async (query) => (await server.get(`${DAILY}?${query}`)).headers.get("X-Answer-To"),
      ),
    );
    expect(new Set(sums).size).toBe(1);
  });

  test("is named by X-Answer-To, which covers path and body", async () => {
    const body = '{"ts_code": "600519.SH", "limit": 1}';
    const answer = await post(DAILY, body);
    const sum = crc32(body, crc32(`${DAILY}/query`));
    expect(answer.headers.get("X-Answer-To")).toBe(sum.toString(16).padStart(8, "0"));
    const refused = await post(DAILY, '{"limit": 0}');
    expect(refused.headers.get("X-Answer-To")).toBe(
      crc32('{"limit": 0}', crc32(`${DAILY}/query`))
        .toString(16)
        .padStart(8, "0"),
    );
    const unread = await post(DAILY, body, { Authorization: "" });
    expect(unread.headers.get("X-Answer-To")).toBe(crc32(`${DAILY}/query`).toString(16).padStart(8, "0"));
  });
});

describe("a body is refused", () => {
  test.each<[string, string | Uint8Array, number, object]>([
    ["without content", "", 400, { code: "malformed_request", detail: "the body is empty" }],
    ["that is no JSON", '{"limit": 1', 400, { code: "malformed_request", detail: "the body is not JSON" }],
    ["in GBK", Buffer.from([0x7b, 0xc4, 0xe3, 0x7d]), 400, { detail: "the body is not UTF-8" }],
    ["that is a list", "[]", 400, { code: "malformed_request", detail: "the body is not an object" }],
    ["that is null", "null", 400, { detail: "the body is not an object" }],
    ["with a name twice", '{"limit": 1, "li\\u006dit": 2}', 400, { code: "duplicate_parameter", parameter: "limit" }],
    [
      "with a list of one value too many",
      '{"limit": [1, 2]}',
      400,
      { code: "duplicate_parameter", parameter: "limit" },
    ],
    [
      "with an unknown name",
      '{"ts_cod": "600519.SH"}',
      400,
      { code: "unknown_parameter", hint: "did you mean ts_code?" },
    ],
    ["with __proto__", '{"__proto__": "x"}', 400, { code: "unknown_parameter", parameter: "__proto__" }],
    ["with null", '{"ts_code": null}', 400, { code: "invalid_parameter", hint: /^leave it out; / }],
    ["with null in a list", '{"ts_code": ["600519.SH", null]}', 400, { code: "invalid_parameter" }],
    ["with an empty list", '{"ts_code": []}', 400, { detail: "ts_code: the list is empty" }],
    ["with empty text", '{"ts_code": ""}', 400, { detail: "ts_code: it is empty" }],
    ["with an object", '{"ts_code": {"in": ["600519.SH"]}}', 400, { code: "invalid_parameter", parameter: "ts_code" }],
    ["with a list in a list", '{"ts_code": [["600519.SH"]]}', 400, { code: "invalid_parameter", parameter: "ts_code" }],
    ["with a decimal", '{"limit": 1.5}', 400, { code: "invalid_parameter", parameter: "limit" }],
    ["with digits that would be lost", '{"limit": 9007199254740993}', 400, { code: "invalid_parameter" }],
    ["with half of a character", '{"ts_code": "\\ud83d"}', 400, { code: "invalid_parameter", parameter: "ts_code" }],
    ["that is too long", `{"ts_code": "${"600519.SH,".repeat(27_000)}"}`, 413, { code: "content_too_large" }],
  ])("%s", async (_what, body, status, problem) => {
    const answer = await post(DAILY, body);
    const expected = Object.fromEntries(
      Object.entries(problem).map(([name, value]) => [
        name,
        value instanceof RegExp ? (expect.stringMatching(value) as unknown) : (value as unknown),
      ]),
    );
    expect([answer.status, await answer.json()]).toEqual([status, expect.objectContaining({ status, ...expected })]);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
  });

  test("of another type, packed, or in another character set", async () => {
    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json; charset=gbk",
      "application/jsonp",
    ];
    for (const type of types) {
      const answer = await post(DAILY, "{}", { "Content-Type": type });
      expect([type, answer.status, await answer.json()]).toEqual([
        type,
        415,
        expect.objectContaining({ code: "unsupported_media_type", allowed: ["Content-Type: application/json"] }),
      ]);
    }
    const untyped = await fetch(`${server.url}${DAILY}/query`, {
      method: "POST",
      headers: { Authorization: `Bearer ${TOKEN}` },
      body: Buffer.from("{}"),
    });
    expect(untyped.status).toBe(415);
    expect((await post(DAILY, "{}", { "Content-Encoding": "gzip" })).status).toBe(415);
    for (const type of ["application/json;charset=utf-8", 'application/JSON ; charset="UTF-8"']) {
      expect([type, (await post(DAILY, { limit: 1 }, { "Content-Type": type })).status]).toEqual([type, 200]);
    }
  });

  test("if a parameter is in the URL", async () => {
    const answer = await fetch(`${server.url}${DAILY}/query?limit=1`, {
      method: "POST",
      headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" },
      body: "{}",
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { code: "unknown_parameter", parameter: "limit" },
    ]);
  });

  test("if it ends too early, without an answer that looks complete", async () => {
    const { port } = new URL(server.url);
    const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
    const head = `POST ${DAILY}/query HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json`;
    socket.end(`${head}\r\nContent-Length: 100\r\n\r\n{"limit": 1}`);
    let answer = "";
    for await (const data of socket) answer += String(data);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"malformed_request"');
  });
});

describe("the path of a query", () => {
  test("takes no other method", async () => {
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]) {
      const answer = await fetch(`${server.url}${DAILY}/query`, { method });
      expect([method, answer.status, answer.headers.get("Allow")]).toEqual([method, 405, "POST"]);
    }
    const posted = await fetch(server.url + DAILY, { method: "POST", body: "{}" });
    expect([posted.status, posted.headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
    expect((await post("/api/v1/entities/nonsense", {})).status).toBe(404);
    expect((await post("/api/v1/meta", {})).status).toBe(405);
  });

  test("needs a token that covers the entity, and counts toward the limits of that token", async () => {
    expect((await post(DAILY, {}, { Authorization: "" })).status).toBe(401);
    const some = await createToken(root, "some", { entities: ["daily"], expires: null }, new Date());
    const headers = { Authorization: `Bearer ${some}` };
    expect((await post(DAILY, { limit: 1 }, headers)).status).toBe(200);
    expect((await post("/api/v1/entities/weekly", { limit: 1 }, headers)).status).toBe(403);
    expect((await post(DAILY, { adjust: "forward", limit: 1 }, headers)).status).toBe(403);
    const panel = { entities: "daily:close,daily_basic:pe", limit: 1 };
    expect((await post("/api/v1/panel", panel, headers)).status).toBe(403);
    const strict = await serve(root, { rateLimit: "2" });
    const [first, second, third] = [
      await post(DAILY, { limit: 1 }, {}, strict),
      await strict.get(`${DAILY}?limit=1`),
      await post(DAILY, { limit: 1 }, {}, strict),
    ];
    expect([first.status, second.status, third.status]).toEqual([200, 200, 429]);
  });

  test("is in the log without what the client wrote", async () => {
    const logging = await serve(root, { logLevel: "info" });
    await (await post(DAILY, { ts_code: "600519.SH", limit: 2 }, {}, logging)).text();
    await expect.poll(() => logging.logged.length).toBe(1);
    const line = JSON.parse(logging.logged[0]!) as Record<string, unknown>;
    expect(line).toMatchObject({
      method: "POST",
      route: "/entities/:entity/query",
      entity: "daily",
      rows: 2,
      cut: false,
    });
    expect(logging.logged.join()).not.toContain("600519");
  });

  test("allows the configured CORS origins", async () => {
    const open = await serve(root, { corsOrigin: "https://app.example" });
    const origin = { Origin: "https://app.example" };
    const preflight = await fetch(`${open.url}${DAILY}/query`, {
      method: "OPTIONS",
      headers: { ...origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type" },
    });
    const allowed = (name: string) => preflight.headers.get(`access-control-allow-${name}`);
    expect([preflight.status, allowed("methods"), allowed("headers")]).toEqual([
      204,
      "GET, HEAD, POST",
      "Accept, Authorization, Content-Type, If-None-Match",
    ]);
    const answer = await post(DAILY, { limit: 1 }, origin, open);
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "https://app.example"]);
  });
});
