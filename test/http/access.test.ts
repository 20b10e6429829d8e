// Which requests are authorized, and for what.
import { beforeAll, describe, expect, test, vi } from "vitest";
import { ENTITIES, ENTITY_NAMES, entityNamed } from "../../src/catalog/index.js";
import { openApi } from "../../src/http/openapi/index.js";
import { createToken, revokeToken } from "../../src/store/tokens.js";
import { demoLake } from "../support/demo.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { exampleQuery, readDescription } from "../support/openapi.js";
import { UNPRINTABLE } from "../support/printable.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";
import { isLong } from "../support/size.js";

const { operations, paths: allPaths } = readDescription(openApi());
const guarded = operations.filter(({ security }) => security.length > 0);

let demo: TestServer;
let root: string;
let server: TestServer;

beforeAll(async () => {
  demo = await serve(await demoLake({ days: 40 }));
  root = await temporaryFolder();
  await publishRows(root, {
    daily: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-01' + d::INT AS trade_date FROM range(10) t(d)",
    weekly: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' AS trade_date",
    trade_cal: "SELECT 'SSE' AS exchange, DATE '2024-01-01' + d::INT AS cal_date, 1 AS is_open FROM range(10) t(d)",
  });
  server = await serve(root);
});

/** Of combinations that would be thousands, the quick run asks for every so many. */
const inTurn = <T>(all: readonly T[], every: number, turn: number): readonly T[] =>
  all.filter((_, i) => isLong || (i + turn) % every === 0);

let made = 0;

async function tokenFor(of: TestServer, entities: string[] | null): Promise<Record<string, string>> {
  const { root: data } = of.context.lake.layout;
  const secret = await createToken(data, `test-${process.pid}-${++made}`, { entities, expires: null }, new Date());
  return { Authorization: `Bearer ${secret}` };
}

describe("without a valid token", () => {
  test("only health and the description answer", () => {
    const open = operations.filter(({ security }) => security.length === 0);
    expect(open.map(({ path }) => path)).toEqual(["/health", "/openapi.json"]);
    expect(guarded.length).toBeGreaterThan(2 * ENTITIES.length);
  });

  test.each<[string, Record<string, string>, string]>([
    ["nothing", {}, ""],
    ["an empty header", { Authorization: "" }, ""],
    ["another scheme", { Authorization: `Basic ${Buffer.from(`user:${TOKEN}`).toString("base64")}` }, ""],
    ["the token alone", { Authorization: TOKEN }, ""],
    ["two tokens", { Authorization: `Bearer ${TOKEN} ${TOKEN}` }, ""],
    ["the token in the URL", {}, `access_token=${TOKEN}`],
    ["the token in a cookie", { Cookie: `token=${TOKEN}` }, ""],
  ])("every other route is closed to %s", async (what, headers, query) => {
    for (const { path, parameters } of what === "nothing" ? guarded : inTurn(guarded, 7, what.length)) {
      const url = `${demo.url}${path}${exampleQuery(parameters) || "?"}&${query}`;
      for (const method of ["GET", "HEAD"]) {
        const { status, headers: told } = await fetch(url, { method, headers });
        expect([path, method, status, told.get("www-authenticate")]).toEqual([
          path,
          method,
          401,
          'Bearer realm="tapehouse"',
        ]);
      }
    }
  });

  test("queries in a body are closed too, before the body is read", async () => {
    const paths = allPaths.filter((path) => path.endsWith("/query"));
    expect(paths).toHaveLength(2 * ENTITIES.length + 1);
    for (const path of paths) {
      const { status } = await fetch(demo.url + path, { method: "POST", body: "x".repeat(300_000) });
      expect([path, status]).toEqual([path, 401]);
    }
  });

  test("a part of the right one, or more than it, is wrong", async () => {
    for (const wrong of [TOKEN.slice(0, -1), `${TOKEN}x`, TOKEN.toUpperCase(), `${TOKEN}%00`]) {
      expect((await server.get("/api/v1/meta", { Authorization: `Bearer ${wrong}` })).status).toBe(401);
    }
  });
});

describe("a token with a list of entities", () => {
  test.each(ENTITY_NAMES)("of %s alone reads it and nothing else, by whichever route", async (own) => {
    const headers = await tokenFor(demo, [own]);
    for (const name of [own, ...inTurn(ENTITY_NAMES, 5, ENTITY_NAMES.indexOf(own))]) {
      const expected = name === own ? 200 : 403;
      for (const path of [
        `/api/v1/entities/${name}?limit=1`,
        `/api/v1/entities/${name}/gaps`,
        `/api/v1/entities/${name}/checks`,
        `/api/v1/entities/${name}/versions`,
        `/api/v1/entities/${name}/statistics?fields=${entityNamed(name)!.code}`,
      ]) {
        const answer = await demo.get(path, headers);
        expect([path, answer.status]).toEqual([path, expected]);
        const text = await answer.text();
        if (expected === 403) expect(JSON.parse(text)).toMatchObject({ code: "forbidden", allowed: [own] });
      }
      const posted = await fetch(`${demo.url}/api/v1/entities/${name}/query`, {
        method: "POST",
        headers: { ...headers, "Content-Type": "application/json" },
        body: '{"limit": 1}',
      });
      expect([name, posted.status]).toEqual([name, expected]);
      await posted.text();
    }
    const meta = (await (await demo.get("/api/v1/meta", headers)).json()) as { entities: object };
    expect(Object.keys(meta.entities)).toEqual([own]);
    for (const path of ["/api/v1/calendar", "/api/v1/calendar/shift?date=20240102&n=1"]) {
      expect((await demo.get(path, headers)).status === 403).toBe(own !== "trade_cal");
    }
    expect((await demo.get("/metrics", headers)).status).toBe(403);
  });

  test("gives no access to another one by format, method, validator, cursor, version or spelling", async () => {
    const headers = await tokenFor(server, ["weekly"]);
    const full = await server.get("/api/v1/entities/daily?limit=1");
    const { next_cursor, data_version } = (await full.json()) as { next_cursor: string; data_version: string };
    const version = encodeURIComponent(data_version);
    const daily = "/api/v1/entities/daily";
    const tries: [string, RequestInit?][] = [
      ...["json", "ndjson", "csv", "arrow", "parquet"].map((format): [string] => [`${daily}?format=${format}`]),
      [daily, { method: "HEAD" }],
      [daily, { headers: { ...headers, "If-None-Match": full.headers.get("etag")! } }],
      [daily, { headers: { ...headers, "If-None-Match": "*" } }],
      [`${daily}?limit=1&cursor=${next_cursor}`],
      [`${daily}?data_version=${version}`],
      [`/api/v1/entities/weekly?limit=1&cursor=${next_cursor}`],
      ["/api/v1/entities/weekly?entity=daily"],
      ["/api/v1/entities/weekly/../daily"],
      ["/api/v1/entities/weekly%2f..%2fdaily"],
      ["/api/v1/entities/%64aily"],
      ["/api/v1/entities/DAILY"],
      ["/api/v1/entities/daily/"],
      ["/api/v1/entities/daily%00"],
      ["/api/v1//entities/daily"],
      ["/API/v1/entities/daily"],
      ["/api/v1/entities/daily;weekly"],
      [`${daily}/gaps/`],
    ];
    for (const [path, init] of tries) {
      const { status } = await fetch(server.url + path, { headers, ...init });
      expect([path, [400, 403, 404].includes(status) ? "refused" : status]).toEqual([path, "refused"]);
    }
  });
});

describe("a token of daily alone", () => {
  const days = "FROM range(5) t(d)";
  const day = "DATE '2024-01-01' + d::INT";
  /** What gaps of daily are computed from. */
  const basis = {
    daily: `SELECT '000001.SZ' AS ts_code, ${day} AS trade_date ${days} WHERE d <> 2`,
    trade_cal: `SELECT 'SSE' AS exchange, ${day} AS cal_date, 1 AS is_open ${days}`,
    stock_list: `SELECT ts_code, name, DATE '2020-01-01' AS list_date, DATE '2024-01-05' AS snapshot_date
                 FROM (VALUES ('000001.SZ', 'one'), ('000002.SZ', 'two')) t(ts_code, name)`,
    suspend_d: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-03' AS trade_date, 'S' AS suspend_type",
  };

  test("learns from gaps only on which days a listed stock has no row", async () => {
    const own = await temporaryFolder();
    await publishRows(own, basis);
    const narrow = await serve(own);
    const answer = await narrow.get("/api/v1/entities/daily/gaps", await tokenFor(narrow, ["daily"]));
    const gap = { entity: "daily", ts_code: "000002.SZ", kind: "missing" };
    expect(await answer.json()).toEqual({
      entity: "daily",
      gaps: [
        { ...gap, gap_start: "20240101", gap_end: "20240102" },
        { entity: "daily", ts_code: null, gap_start: "20240103", gap_end: "20240103", kind: "missing_day" },
        { ...gap, gap_start: "20240104", gap_end: "20240105" },
      ],
    });
    for (const source of ["trade_cal", "stock_list", "suspend_d"]) {
      const headers = await tokenFor(narrow, ["daily"]);
      expect((await narrow.get(`/api/v1/entities/${source}`, headers)).status).toBe(403);
    }
  });

  test("sees only a new data_version when data of other entities changes", async () => {
    const own = await temporaryFolder();
    await publishRows(own, basis);
    const narrow = await serve(own);
    const headers = await tokenFor(narrow, ["daily"]);
    const daily = "/api/v1/entities/daily";
    const paths = [
      ...["", "?limit=1", "?order=desc", "?adjust=forward", "?as_of=20240102", "/gaps", "/statistics", "/versions"].map(
        (rest) => daily + rest,
      ),
      ...[
        "/api/v1/meta",
        "/api/v1/calendar",
        "/api/v1/calendar/shift?date=20240102&n=1",
        "/metrics",
        "/web/catalog.json",
      ],
      ...ENTITY_NAMES.filter((name) => name !== "daily").map((name) => `/api/v1/entities/${name}?limit=1`),
    ];
    const look = async (): Promise<readonly unknown[]> => {
      const version = narrow.context.lake.current().version.data_version;
      const seen = [];
      for (const path of paths) {
        const answer = await narrow.get(path, headers);
        const text = (await answer.text()).replaceAll(version, "VERSION").replace(/"next_cursor":"[^"]*"/, "CURSOR");
        // Those of meta and of pages are made of the data_version.
        const etag = /meta$|limit=/.test(path) ? null : answer.headers.get("etag");
        seen.push([path, answer.status, etag, text]);
      }
      return seen;
    };
    const before = await look();
    const changed = await publishRows(own, {
      weekly: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' AS trade_date",
      adj_factor: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' AS trade_date, 2.5 AS adj_factor",
      stock_company: "SELECT '000002.SZ' AS ts_code, 'a chairman' AS chairman",
    });
    await vi.waitFor(() => expect(narrow.context.lake.current().version.data_version).toBe(changed!.data_version));
    expect(await look()).toEqual(before);
  });
});

test("client text in problems cannot control a terminal", async () => {
  const evil = encodeURIComponent("\u001b[31m\u202e\u009b2J\n\u2028");
  const paths = [
    `entities/${evil}`,
    `entities/daily?${evil}=1`,
    `entities/daily?${evil}%ff=1`,
    ...["fields", "limit", "order", "start_date", "ts_code", "data_version", "cursor", "format", "as_of"].map(
      (name) => `entities/daily?${name}=${evil}`,
    ),
    `calendar?exchange=${evil}&is_open=${evil}`,
    `calendar/shift?n=${evil}`,
  ];
  for (const path of paths) {
    const answer = await server.get(`/api/v1/${path}`);
    const text = await answer.text();
    expect([path, answer.status >= 400 && answer.status < 500]).toEqual([path, true]);
    expect(text).not.toMatch(UNPRINTABLE);
    expect((JSON.parse(text) as { detail: string }).detail).not.toMatch(UNPRINTABLE);
  }
  const asked = { api_name: decodeURIComponent(evil), token: TOKEN };
  const told = await fetch(`${server.url}/tushare`, { method: "POST", body: JSON.stringify(asked) });
  expect(await told.text()).not.toMatch(UNPRINTABLE);
});

test("the description is the same whatever the lake holds", async () => {
  const of = async ({ url }: TestServer) => (await fetch(`${url}/openapi.json`)).json();
  expect(await of(server)).toEqual(await of(await serve(await temporaryFolder())));
});

describe("a token", () => {
  test("is refused within a second after it was revoked, and works again only with a new secret", async () => {
    const secret = await createToken(root, "leaver", { entities: null, expires: null }, new Date());
    const headers = { Authorization: `Bearer ${secret}` };
    expect((await server.get("/api/v1/meta", headers)).status).toBe(200);
    await revokeToken(root, "leaver");
    const status = async (): Promise<number> => (await server.get("/api/v1/meta", headers)).status;
    await vi.waitFor(async () => expect(await status()).toBe(401), { timeout: 1000, interval: 20 });
    await createToken(root, "leaver", { entities: null, expires: null }, new Date());
    expect(await status()).toBe(401);
  });

  test("is refused once it has expired", async () => {
    const past = new Date(Date.now() - 2 * 3_600_000);
    const secret = await createToken(root, "guest", { entities: null, expires: "1h" }, past);
    expect((await server.get("/api/v1/meta", { Authorization: `Bearer ${secret}` })).status).toBe(401);
  });
});

describe("text that would be SQL", () => {
  const ATTACKS = [
    "' OR 1=1 --",
    '" OR 1=1 --',
    "'); COPY (SELECT 1) TO 'x'; --",
    "$1",
    "?",
    "\\' OR '1'='1",
    "%27 OR 1=1",
  ];

  test.each(ATTACKS)("is a value like any other, or refused: %s", async (attack) => {
    const before = await server.json("/api/v1/entities/daily");
    const columns = ENTITIES.flatMap((entity) => entity.columns.map((column) => [entity.name, column.name] as const));
    for (const [name, column] of inTurn(columns, ATTACKS.length, ATTACKS.indexOf(attack))) {
      const query = new URLSearchParams({ [column]: attack });
      const answer = await server.get(`/api/v1/entities/${name}?${query.toString()}`);
      if (answer.status !== 400) expect(await answer.json()).toMatchObject({ count: 0, rows: [] });
      else await answer.arrayBuffer();
    }
    for (const parameter of [
      "fields",
      "order",
      "limit",
      "cursor",
      "as_of",
      "data_version",
      "format",
      "start_date",
      attack,
    ]) {
      const query = new URLSearchParams({ [parameter]: attack });
      expect((await server.get(`/api/v1/entities/daily?${query.toString()}`)).status).toBe(400);
    }
    expect((await server.json("/api/v1/entities/daily")).rows).toEqual(before.rows);
    expect(server.logged).toEqual([]);
  });
});
