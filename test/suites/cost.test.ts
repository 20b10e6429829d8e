// What a request may cost: each place that a client fills, filled to the limit. None takes much more processor time than a
// request of that size which is refused at its first parameter.
import { connect } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { demoLake } from "../support/demo.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

/** Bytes that one place of a request is filled with: nearly all that URL and headers, or a body, may have. */
const SIZE = 250_000;

/** A request costs at most as much as so many plain ones. What this suite was written for cost 20 to 2,000. */
const FACTOR = 12;

/** The cheapest of several counts: others share the machine. */
const TRIES = 3;

let server: TestServer;

beforeAll(async () => {
  server = await serve(await demoLake({ days: 30 }));
});

const fill = (piece: string, size = SIZE): string => piece.repeat(Math.floor(size / piece.length));
/** The longest header that is read; longer ones are refused in `http/refuse`. */
const fillHeader = (piece: string): string => fill(piece, 16_000);

const numbered = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

interface Asked {
  readonly path?: string;
  readonly headers?: string;
  readonly body?: string;
  /** Without the token. */
  readonly stranger?: boolean;
}

/** Sends a request; resolves to status and length of the answer, and to the code of a problem. */
function ask({ path = "/health", headers = "", body, stranger = false }: Asked): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    const pieces: Buffer[] = [];
    socket.on("data", (data) => pieces.push(data));
    socket.on("error", () => undefined).on("close", () => resolve(Buffer.concat(pieces).toString("latin1")));
    const lines = [
      `${body === undefined ? "GET" : "POST"} ${path} HTTP/1.1`,
      ...(/^Host:/m.test(headers) ? [] : ["Host: a"]),
      ...(/^Connection:/m.test(headers) ? [] : ["Connection: close"]),
      ...(stranger || /^Authorization:/m.test(headers) ? [] : [`Authorization: Bearer ${TOKEN}`]),
      ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
      ...(headers === "" ? [] : [headers]),
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
  });
}

/** Milliseconds of processor time, client included, of the cheapest try; and the answer. */
async function costOf(asked: Asked): Promise<{ readonly cost: number; readonly answer: string }> {
  let cost = Infinity;
  let answer = "";
  for (let i = 0; i < TRIES; i++) {
    const before = process.cpuUsage();
    answer = await ask(asked);
    const { user, system } = process.cpuUsage(before);
    cost = Math.min(cost, (user + system) / 1000);
  }
  return { cost, answer };
}

const ENTITIES = "/api/v1/entities";
const PLAIN: Asked = { path: `${ENTITIES}/daily?limit=${fill("9")}` };

const inQuery = (path: string, text: string): Asked => ({ path: `${path}?${text}` });
const question = (parts: object): Asked => ({
  path: "/tushare",
  body: JSON.stringify({ api_name: "daily", token: TOKEN, params: {}, fields: "", ...parts }),
});
const inBody = (body: unknown, entity = "daily"): Asked => ({
  path: `${ENTITIES}/${entity}/query`,
  headers: "Content-Type: application/json",
  body: typeof body === "string" ? body : JSON.stringify(body),
});
const manyKeys = Object.fromEntries(numbered(17_000, (i) => [`k${i}`, 1] as const));

const REQUESTS: Readonly<Record<string, Readonly<Record<string, Asked>>>> = {
  "a path": {
    "of one name": { path: `${ENTITIES}/${fill("d")}` },
    "of one name, with gaps": { path: `${ENTITIES}/${fill("d")}/gaps` },
    "of a stranger that leads up": { path: `/web/${fill("../")}`, stranger: true },
    "of a stranger with many parts": { path: `/web/${fill("a/")}`, stranger: true },
    "of a stranger with slashes": { path: `/${fill("/")}`, stranger: true },
    "of a stranger, percent-encoded": { path: `/${fill("%2e%2e/")}`, stranger: true },
    "of an api": { path: `/tushare/${fill("a")}`, body: "{}", stranger: true },
  },
  "a parameter": {
    ...Object.fromEntries(
      ["ts_code", "trade_date", "start_date", "fields", "order", "format", "data_version", "cursor", "adjust"].map(
        (name) => [name, inQuery(`${ENTITIES}/daily`, `${name}=${fill("a")}`)],
      ),
    ),
    "that is unknown": inQuery(`${ENTITIES}/fina_indicator`, fill("a")),
    "of gaps that is unknown": inQuery(`${ENTITIES}/daily/gaps`, fill("a")),
    "of the calendar that is unknown": inQuery("/api/v1/calendar", fill("a")),
    "of the catalog that is unknown": inQuery("/api/v1/meta", fill("a")),
    "of health that is unknown": { ...inQuery("/health", fill("a")), stranger: true },
    "exchange of the calendar": inQuery("/api/v1/calendar", `exchange=${fill("a")}`),
    "n of a shift": inQuery("/api/v1/calendar/shift", `date=20240102&n=${fill("1")}`),
    "n of a shift, in blanks": inQuery("/api/v1/calendar/shift", `date=20240102&n=${fill("+")}`),
    "ts_code of gaps": inQuery(`${ENTITIES}/daily/gaps`, `ts_code=${fill("0")}`),
    repeated: inQuery("/api/v1/calendar/shift", fill("n=1&")),
    "absent between separators": inQuery(`${ENTITIES}/daily`, `limit=0&${fill("&")}`),
    "that is no UTF-8": inQuery(`${ENTITIES}/daily`, fill("%4")),
    "with a list of unknown columns": inQuery(`${ENTITIES}/daily`, `fields=${fill("a,")}`),
    "with a list of nothing": inQuery(`${ENTITIES}/stock_list`, `name=${fill(",")}`),
    "with a list in quotes": inQuery(`${ENTITIES}/stock_list`, `limit=0&name=${fill("%22a,%22,")}`),
    "with quotes alone": inQuery(`${ENTITIES}/stock_list`, `limit=0&name=${fill("%22")}`),
    "with a quote that stays open": inQuery(`${ENTITIES}/stock_list`, `limit=0&name=%22${fill("a,%22%22b")}`),
    "with many codes": inQuery(`${ENTITIES}/daily`, `adjust=x&ts_code=${numbered(40_000, codeAt).join()}`),
  },
  "a cursor": {
    "of nested lists": inQuery(`${ENTITIES}/daily`, `cursor=${encoded(`[1,${nested(60_000)}]`).slice(0, SIZE)}`),
    "of many numbers": inQuery(`${ENTITIES}/daily`, `cursor=${encoded(numbered(40_000, String))}`.slice(0, SIZE)),
  },
  "a header": {
    ...Object.fromEntries(
      ["a/b,", "*/*,", "a/b;q=0.5,", '"', ";a=b"].map((piece) => [
        `Accept: ${piece}`,
        { path: `${ENTITIES}/daily?limit=1`, headers: `Accept: a/b,${fillHeader(piece)}` },
      ]),
    ),
    "Accept, in pieces that are joined": {
      path: `${ENTITIES}/daily?limit=1`,
      headers: fillHeader(`Accept: ${fill("a/b,", 2_000)}\r\n`).trimEnd(),
    },
    "Accept-Encoding of a stranger": {
      path: "/openapi.json",
      headers: `Accept-Encoding: ${fillHeader("a,")}`,
      stranger: true,
    },
    "If-None-Match": { path: `${ENTITIES}/daily?limit=1`, headers: `If-None-Match: ${fillHeader("a,")}` },
    "If-None-Match of a stranger": { path: "/", headers: `If-None-Match: ${fillHeader("a,")}`, stranger: true },
    "If-Match of a stranger": { path: "/", headers: `If-Match: ${fillHeader("a,")}`, stranger: true },
    "Range of a stranger": { path: "/", headers: `Range: bytes=${fillHeader("0-0,")}`, stranger: true },
    "Cache-Control of a stranger": { headers: `Cache-Control: ${fillHeader(", ")}`, stranger: true },
    Authorization: { path: "/api/v1/meta", headers: `Authorization: Bearer ${fillHeader("a")}` },
    "Authorization of blanks": { path: "/api/v1/meta", headers: `Authorization: Bearer${fillHeader(" ")}a` },
    Connection: { headers: `Connection: close, ${fillHeader("a,")}` },
    ...Object.fromEntries(
      ["Host", "Origin", "Expect", "Cookie", "X-Request-Id", "If-Modified-Since", "TE"].map((name) => [
        name,
        { headers: `${name}: ${fillHeader("a")}` },
      ]),
    ),
    "many times": { headers: fill("a: b\r\n").trimEnd() },
  },
  "a question of Tushare": {
    api_name: question({ api_name: fill("a") }),
    fields: question({ fields: fill("a") }),
    "a token": question({ token: fill("a") }),
    "a key": question({ [fill("a")]: 1 }),
    "a parameter": question({ params: { [fill("a")]: 1 } }),
    "a parameter that is an object": question({ params: { [fill("a")]: {} } }),
    "many parameters": question({ api_name: "fina_indicator", params: manyKeys }),
    "many keys": question(manyKeys),
    "nested lists": { path: "/tushare", body: nested(SIZE / 2) },
    "lists that stay open": { path: "/tushare", body: fill("[") },
    "nested objects": { path: "/tushare", body: `${fill('{"a":')}1` },
    "a number": { path: "/tushare", body: `{"api_name":1e${fill("9")}}` },
    escapes: { path: "/tushare", body: `{"api_name":"${fill("\\u0041")}","token":"${TOKEN}"}` },
    "a content type": { path: "/tushare", body: "{}", headers: `Content-Type: application/json${fill(";a=b")}` },
  },
  "a query in a body": {
    "a name": inBody({ [fill("a")]: 1 }),
    "a name in escapes": inBody(`{"${fill("\\u0041")}": 1}`),
    "a name twice": inBody(`{"limit": 0, ${fill('"a": 1, ')}"limit": 0}`),
    "many names": inBody(manyKeys),
    "a value": inBody({ ts_code: fill("a") }),
    "a value in escapes": inBody(`{"ts_code": "${fill("\\u0041")}"}`),
    "a list of unknown columns": inBody({ fields: numbered(60_000, () => "a") }),
    "a list of text with commas": inBody({ limit: 0, fields: numbered(40_000, () => ",,") }, "stock_list"),
    "a list of texts of quotes": inBody(`{"limit": 0, "name": [${fill('"\\"", ')}"a"]}`, "stock_list"),
    "many codes": inBody({ adjust: "x", ts_code: numbered(25_000, codeAt) }),
    "a number": inBody(`{"limit": ${fill("9")}}`),
    "nested lists": inBody(`{"ts_code": ${nested(SIZE / 2 - 20)}}`),
    "nested objects": inBody(`${fill('{"a":')}1`),
    "lists that stay open": inBody(fill("[")),
    "a content type": { ...inBody({}), headers: `Content-Type: application/json${fillHeader(" ")};` },
  },
};

function codeAt(i: number): string {
  return `${i.toString(36).toUpperCase().padStart(3, "0")}.A`;
}

describe.each(Object.entries(REQUESTS))("%s of the greatest length that is read:", (_place, requests) => {
  test.each(Object.entries(requests))("%s costs little, and its answer is short", async (_name, asked) => {
    const plain = await costOf(PLAIN);
    const { cost, answer } = await costOf(asked);
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(answer) ?? [];
    if (process.env["TAPEHOUSE_SHOW"] !== undefined)
      console.log(`${cost.toFixed(1)} ms, ${status}: ${_place} ${_name}`);
    expect(Number(status)).toBeLessThan(500);
    if (Number(status) >= 400 || asked.path === "/tushare") expect(answer.length).toBeLessThan(2_500);
    expect(cost).toBeLessThan(plain.cost * FACTOR);
  });
});

/** A description that never changes costs at most as much as so many answers of health; written each time, 6 to 12. */
const FIXED_FACTOR = 4;

test.each(["/openapi.json", "/web/catalog.json"])(
  "%s is serialized once, not for each anonymous request",
  async (path) => {
    const asked = { path, headers: "Accept-Encoding: gzip", stranger: true };
    await ask(asked);
    const { cost: plain } = await costOf({ stranger: true });
    expect((await costOf(asked)).cost).toBeLessThan(plain * FIXED_FACTOR);
  },
);
