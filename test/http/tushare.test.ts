// POST /tushare: with plain requests, and with the package tushare itself.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { API_NAMES, apiNamed } from "../../src/catalog/tushare.js";
import { createToken } from "../../src/store/tokens.js";
import { demoLake } from "../support/demo.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

interface Answer {
  readonly code: number;
  readonly msg: string;
  readonly data: {
    readonly fields: readonly string[];
    readonly items: readonly (readonly (string | number | null)[])[];
    readonly has_more: boolean;
  };
}

let root: string;
let server: TestServer;

beforeAll(async () => {
  root = await demoLake({ days: 120 });
  server = await serve(root);
}, 120_000);

const post = (body: unknown, path = "/tushare", to = server): Promise<Response> =>
  fetch(to.url + path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });

async function ask(api_name: string, params: object = {}, fields = "", token = TOKEN): Promise<Answer> {
  const response = await post({ api_name, token, params, fields });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
  return (await response.json()) as Answer;
}

const rowsOf = async (query: string) => (await server.json(`/api/v1/entities/${query}`)).rows;

/** The board by the first digits of a code, the longest first. */
const BOARDS: readonly (readonly [RegExp, string])[] = [
  [/^689.*SH$/, "CDR"],
  [/^68.*SH$/, "科创板"],
  [/^6.*SH$/, "主板"],
  [/^3.*SZ$/, "创业板"],
  [/^0.*SZ$/, "主板"],
  [/BJ$/, "北交所"],
];

describe("a question", () => {
  test("is answered with fields and items, the newest day first", async () => {
    const { code, msg, data } = await ask("daily", { ts_code: "600519.SH" });
    expect([code, msg, data.has_more]).toEqual([0, "", false]);
    expect(data.fields.slice(0, 3)).toEqual(["ts_code", "trade_date", "open"]);
    const rows = await rowsOf("daily?ts_code=600519.SH");
    expect(rows.length).toBeGreaterThan(60);
    expect(data.items).toEqual(rows.toReversed());
  });

  test.each(API_NAMES)("about %s has the rows of its entity", async (name) => {
    const api = apiNamed(name)!;
    const { code, data } = await ask(name, name === "stock_basic" ? { list_status: "L,D" } : {});
    expect(code).toBe(0);
    const all = await rowsOf(api.source);
    if (api.entity.builtFrom) expect(data.items.length).toBeGreaterThan(0);
    else expect(data.items).toHaveLength(all.length);
    if (name === api.source) expect(data.items).toEqual(api.order === "desc" ? all.toReversed() : all);
    expect(await ask(`${name}_vip`, { limit: 1 })).toMatchObject({ code: 0 });
  });

  test("may name its API in the path, with and without an extra slash", async () => {
    const body = { api_name: "trade_cal", token: TOKEN, params: { limit: 1 }, fields: "" };
    const expected = await (await post(body)).text();
    for (const path of ["/tushare/", "/tushare/trade_cal", "/tushare/trade_cal/", "/tushare//trade_cal"]) {
      expect(await (await post(body, path)).text()).toBe(expected);
    }
    expect(await (await post({ ...body, api_name: undefined }, "/tushare/trade_cal")).text()).toBe(expected);
    expect(await (await post(body, "/tushare/daily")).json()).toMatchObject({ code: 400 });
  });

  test("ignores null and empty text, and what the client adds", async () => {
    const params = { ts_code: "", trade_date: null, start_date: "20250101", limit: null, ts_type_name: "http://x" };
    expect((await ask("weekly", params)).data.items).toEqual((await rowsOf("weekly?start_date=20250101")).toReversed());
    const bare = await post({ api_name: "index_basic", token: TOKEN });
    expect(((await bare.json()) as Answer).data.items).toEqual(await rowsOf("index_basic"));
  });

  test("about stock_basic knows the columns that follow from the list", async () => {
    const fields = "ts_code,symbol,exchange,list_status,delist_date";
    const all = (await ask("stock_basic", { list_status: "L,D" }, fields)).data.items;
    expect(all.some(([, , , status]) => status === "D")).toBe(true);
    for (const [code, symbol, exchange, status, delisted] of all) {
      expect(symbol).toBe(String(code).split(".")[0]);
      expect(exchange).toBe({ SH: "SSE", SZ: "SZSE", BJ: "BSE" }[String(code).split(".")[1]!]);
      if (status === "D") expect(delisted).not.toBeNull();
    }
    const listed = await ask("stock_basic", { exchange: "SSE" }, fields);
    expect(listed.data.items).toEqual(all.filter(([, , exchange, status]) => exchange === "SSE" && status === "L"));
    const usual = await ask("stock_basic");
    expect(usual.data.fields).toEqual(["ts_code", "symbol", "name", "area", "industry", "market", "list_date"]);
    const provinces = new Map((await rowsOf("stock_company")).map((row) => [row[0], row[5]] as const));
    for (const [code, , , area, industry, market] of usual.data.items) {
      expect([code, area]).toEqual([code, provinces.get(code) ?? null]);
      expect(industry).not.toBeNull();
      expect(market).toBe(BOARDS.find(([codes]) => codes.test(String(code)))?.[1]);
    }
    expect((await ask("stock_basic", { market: "创业板" })).data.items.length).toBeGreaterThan(0);
    expect((await ask("stock_company", { exchange: "SZSE" })).data.items).toEqual(
      (await rowsOf("stock_company")).filter(([code]) => String(code).endsWith(".SZ")),
    );
    const [member] = await rowsOf("index_member?limit=1&fields=con_code");
    const members = await ask("index_member", { ts_code: member![0] }, "con_code");
    expect(new Set(members.data.items.flat())).toEqual(new Set(member));
  });

  test("about stock_basic with as_of has the status of that day", async () => {
    const root = await temporaryFolder();
    const day = (date: string | null) => (date === null ? "NULL::DATE" : `DATE '${date}'`);
    const stocks = [null, "2024-06-20", "2024-07-10"].map(
      (gone, i) =>
        `SELECT '00000${i + 1}.SZ' AS ts_code, ${day(gone)} AS delist_date, DATE '2024-06-28' AS snapshot_date`,
    );
    await publishRows(root, { stock_list: stocks.join(" UNION ALL ") });
    const own = await serve(root);
    const states = async (params: object) => {
      const question = { api_name: "stock_basic", token: TOKEN, params, fields: "ts_code,list_status,delist_date" };
      const { data } = (await (await post(question, "/tushare", own)).json()) as Answer;
      return data.items.map(([code, ...rest]) => [String(code).slice(5, 6), ...rest].join(" ").trim());
    };
    expect(await states({ list_status: "L,D" })).toEqual(["1 L", "2 D 20240620", "3 L 20240710"]);
    expect(await states({ list_status: "L,D", as_of: "20240705" })).toEqual(["1 L", "2 D 20240620", "3 L"]);
    expect(await states({ list_status: "L,D", as_of: "20240715" })).toEqual(["1 L", "2 D 20240620", "3 D 20240710"]);
    expect(await states({ as_of: "20240715" })).toEqual(["1 L"]);
    expect(await states({ list_status: "D", as_of: "20240709" })).toEqual(["2 D 20240620"]);
  });

  test("about stock_basic knows province and industry as of the snapshot, where other entities have them", async () => {
    const root = await temporaryFolder();
    const values = (names: string, ...rows: readonly string[]): string =>
      `SELECT * FROM (VALUES ${rows.map((row) => `(${row})`).join(", ")}) t(${names})`;
    const codes = ["000001.SZ", "000002.SZ", "600000.SH", "600519.SH"];
    const lists = ["2024-01-02", "2024-06-03"].flatMap((day) =>
      codes.map((code) => `'${code}', '${code}', DATE '2000-01-01', DATE '${day}'`),
    );
    const stockList = values("ts_code, name, list_date, snapshot_date", ...lists);
    await publishRows(root, { stock_list: stockList });
    const own = await serve(root);
    const industries = async (params: object, fields = "ts_code,area,industry") => {
      const response = await post({ api_name: "stock_basic", token: TOKEN, params, fields }, "/tushare", own);
      const { msg, data } = (await response.json()) as Answer;
      expect(msg).toBe("");
      return data.items;
    };
    expect(await industries({})).toEqual(codes.map((code) => [code, null, null]));
    await publishRows(root, {
      stock_company: values("ts_code, province", "'000001.SZ', '广东'", "'600519.SH', '贵州'"),
      index_classify: values(
        "index_code, industry_name, level, src",
        ...["'A.SI', '银行', 'L1', 'SW2014'", "'A.SI', '银行业', 'L1', 'SW2021'", "'B.SI', '房地产', 'L1', 'SW2021'"],
        ...["'C.SI', '食品饮料', 'L1', 'SW2021'", "'D.SI', '白酒Ⅱ', 'L2', 'SW2021'"],
      ),
      index_member: values(
        "index_code, con_code, in_date, out_date",
        ...[
          "'A.SI', '000001.SZ', DATE '2014-01-01', NULL",
          "'A.SI', '000002.SZ', DATE '2010-01-01', DATE '2024-03-01'",
        ],
        ...["'B.SI', '000002.SZ', DATE '2024-03-01', NULL", "'C.SI', '600519.SH', DATE '2024-12-01', NULL"],
        ...["'D.SI', '600519.SH', DATE '2014-01-01', NULL"],
      ),
    });
    await expect.poll(async () => (await industries({ ts_code: "000001.SZ" }))[0]![1]).toBe("广东");
    const rows = [
      ["000001.SZ", "广东", "银行业"],
      ["000002.SZ", null, "房地产"],
      ["600000.SH", null, null],
      ["600519.SH", "贵州", null],
    ];
    expect(await industries({})).toEqual(rows);
    expect(await industries({ order: "desc" })).toEqual(rows.toReversed());
    expect(await industries({ limit: 2, offset: 1 })).toEqual(rows.slice(1, 3));
    expect(await industries({ industry: "房地产" }, "ts_code")).toEqual([["000002.SZ"]]);
    expect(await industries({ area: "null" }, "ts_code,industry")).toEqual(
      [rows[1], rows[2]].map((row) => [row![0], row![2]]),
    );
    expect(await industries({ as_of: "20240201" }, "ts_code,industry")).toEqual([
      ...[
        ["000001.SZ", "银行业"],
        ["000002.SZ", "银行业"],
      ],
      ...[
        ["600000.SH", null],
        ["600519.SH", null],
      ],
    ]);
  });

  test("about indicators bounds the reporting period, whatever else it asks for", async () => {
    const range = { start_date: "20250101", end_date: "20250630" };
    const all = await rowsOf("fina_indicator?order=desc&fields=ts_code,ann_date,end_date,roe");
    const inside = all.filter(([, , period]) => period! >= range.start_date && period! <= range.end_date);
    expect([inside.length > 0, inside.length < all.length]).toEqual([true, true]);
    const found = async (params: object) =>
      (await ask("fina_indicator", { ...range, ...params }, "ts_code,ann_date,end_date,roe")).data.items;
    expect(await found({})).toEqual(inside);
    expect(await found({ limit: 3, offset: 2 })).toEqual(inside.slice(2, 5));
    expect(await found({ ann_date: inside[0]![1] })).toEqual(inside.filter(([, date]) => date === inside[0]![1]));
    for (const latest of ["true", "false"]) {
      const known = await rowsOf(
        `fina_indicator?order=desc&as_of=20251231&latest=${latest}&fields=ts_code,ann_date,end_date,roe`,
      );
      expect(await found({ as_of: "20251231", latest })).toEqual(
        known.filter(([, , period]) => period! >= range.start_date && period! <= range.end_date),
      );
    }
  });

  test("about statements gets consolidated ones, unless it asks for another type", async () => {
    const root = await temporaryFolder();
    const rows = ["'1'", "'2'", "NULL"].map(
      (type, i) =>
        `SELECT '60000${i}.SH' AS ts_code, DATE '2024-04-20' AS ann_date, DATE '2024-03-31' AS end_date, ${type} AS report_type`,
    );
    await publishRows(root, { income: rows.join(" UNION ALL ") });
    const own = await serve(root);
    const types = async (params: object) => {
      const response = await post({ api_name: "income", token: TOKEN, params, fields: "report_type" }, "/tushare", own);
      return ((await response.json()) as Answer).data.items.flat();
    };
    expect(await types({})).toEqual([null, "1"]);
    expect(await types({ report_type: "2" })).toEqual(["2"]);
    expect((await own.json("/api/v1/entities/income")).count).toBe(3);
  });

  test("may ask for adjusted prices and an older version, like any other", async () => {
    const { data } = await ask("daily", { ts_code: "600519.SH", adjust: "forward", order: "asc" }, "close");
    expect(data.items).toEqual(await rowsOf("daily?ts_code=600519.SH&adjust=forward&fields=close"));
    const version = server.context.lake.current().version.data_version;
    expect((await ask("daily", { data_version: version, limit: 3 })).data.items).toHaveLength(3);
  });

  test("has pages by limit and offset that are complete, and says whether more rows follow", async () => {
    for (const [name, params] of [
      ["daily", { start_date: "20250801" }],
      ["namechange", {}],
      ["income", {}],
    ] as const) {
      const whole = (await ask(name, params)).data.items;
      const limit = Math.ceil(whole.length / 3);
      const pages = await Promise.all(
        [0, 1, 2, 3].map(async (n) => (await ask(name, { ...params, limit, offset: n * limit })).data),
      );
      expect(pages.flatMap(({ items }) => items)).toEqual(whole);
      const more = pages.map((_, n) => (n + 1) * limit < whole.length);
      expect(pages.map(({ has_more }) => has_more)).toEqual(more);
      const rest = await ask(name, { ...params, offset: 7 });
      expect([rest.data.items, rest.data.has_more]).toEqual([whole.slice(7), false]);
      expect((await ask(name, { ...params, limit: whole.length })).data.has_more).toBe(false);
    }
  });

  test("is never truncated silently by the operator's limit", async () => {
    const limited = await serve(root, { defaultLimit: "10", maxLimit: "20" });
    const answer = await post({ api_name: "daily", token: TOKEN, params: {} }, "/tushare", limited);
    const { data } = (await answer.json()) as Answer;
    expect([data.items.length, data.has_more]).toEqual([10, true]);
    const refused = await post({ api_name: "daily", token: TOKEN, params: { limit: 21 } }, "/tushare", limited);
    expect(await refused.json()).toMatchObject({ code: 400, msg: expect.stringContaining("limit") as string });
  });
});

describe("a question that cannot be answered gets a code and a message, with status 200", () => {
  test.each([
    ["daily", { start_dae: "20240101" }, "", 400, /start_dae.*did you mean start_date.*accepted: .*offset/],
    ["daily", { cursor: "x" }, "", 400, /cursor/],
    ["daily", { format: "csv" }, "", 400, /format/],
    ["daily", { close: 3 }, "", 400, /number column/],
    ["daily", { trade_date: "20240230" }, "", 400, /not a calendar day/],
    ["daily", { ts_code: ["600519.SH"] }, "", 400, /ts_code: it is neither text nor a number/],
    ["daily", { limit: 0 }, "", 400, /limit/],
    ["daily", { offset: -1 }, "", 400, /offset/],
    ["daily", { adjust: "qfq" }, "", 400, /accepted: forward, backward/],
    ["daily", {}, "ts_code,vwap", 400, /daily has no column "vwap"/],
    ["stock_basic", {}, "ts_code,aera", 400, /stock_basic has no column "aera"/],
    ["daly", {}, "", 404, /there is no API "daly"; did you mean daily/],
    ["", {}, "", 400, /api_name/],
    ["daily", { data_version: "2001-01-01T00:00:00.000+08:00" }, "", 404, /never been/],
  ])("%s %j %s", async (name, params, fields, code, text) => {
    const answer = await ask(name, params, fields);
    expect(answer).toEqual({ code, msg: expect.stringMatching(text) as string, data: null });
  });

  test.each([
    ["", 40101, /pass it to the client/],
    ["{}", 40101, /pass it to the client/],
    ["{", 400, /^the body is not JSON in UTF-8; send e\.g\. \{"api_name"/],
    ["null", 400, /^the body is null, not an object; send e\.g\. \{"api_name"/],
    ["[]", 400, /^the body is a list, not an object; send/],
    ["3", 400, /^the body is a number, not an object; send/],
    ['"x"', 400, /^the body is a string, not an object; send/],
    ["true", 400, /^the body is a boolean, not an object; send/],
    ['{"api_name": "daily", "token": "test-token", "x": 1}', 400, /no parameter "x"/],
  ])("the body %j", async (body, code, text) => {
    const response = await post(body);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ code, msg: expect.stringMatching(text) as string, data: null });
  });

  test("a body that is too long, or packed", async () => {
    const long = await post({ api_name: "daily", token: TOKEN, params: { ts_code: "600519.SH,".repeat(40_000) } });
    expect([long.status, await long.json()]).toMatchObject([200, { code: 413 }]);
    const packed = await fetch(`${server.url}/tushare`, {
      method: "POST",
      body: "x",
      headers: { "Content-Encoding": "gzip" },
    });
    expect(await packed.json()).toMatchObject({ code: 400 });
  });

  test("a token that is missing, wrong, revoked or for other entities", async () => {
    expect(await (await post({ api_name: "daily" })).json()).toMatchObject({ code: 40101 });
    expect((await ask("daily", {}, "", "wrong")).code).toBe(40101);
    const bearer = { Authorization: `Bearer ${TOKEN}` };
    const inHeader = await fetch(`${server.url}/tushare`, { method: "POST", body: "{}", headers: bearer });
    expect(await inHeader.json()).toMatchObject({ code: 40101 });
    const some = await createToken(root, "some", { entities: ["daily", "stock_list"], expires: null }, new Date());
    expect((await ask("adj_factor", {}, "", some)).code).toBe(2002);
    expect((await ask("trade_cal", { no: 1 }, "", some)).code).toBe(2002);
    expect(await ask("daily", { adjust: "forward" }, "", some)).toMatchObject({
      code: 2002,
      msg: "this token may not read adj_factor; adjust needs adj_factor in addition to daily; accepted: daily, stock_list",
    });
    expect((await ask("daily", { limit: 1 }, "", some)).code).toBe(0);
    expect((await ask("stock_basic", {}, "ts_code,name", some)).code).toBe(0);
    expect((await ask("stock_basic", { industry: "银行" }, "ts_code", some)).msg).toBe(
      "this token may not read index_member; industry needs index_member and index_classify; leave industry out; " +
        "accepted: daily, stock_list",
    );
  });

  test("more wrong tokens or requests than the operator allows, counted together with all others", async () => {
    const strict = await serve(root, { rateLimit: "3", wrongTokens: "2" });
    const wrong = async () => ((await (await post({ token: "no" }, "/tushare", strict)).json()) as Answer).code;
    expect([await wrong(), await wrong()]).toEqual([40101, 40101]);
    expect((await strict.get("/api/v1/meta", { Authorization: "Bearer no" })).status).toBe(429);
    expect(await wrong()).toBe(40203);
    const right = () => post({ api_name: "index_basic", token: TOKEN }, "/tushare", strict);
    expect(((await (await right()).json()) as Answer).code).toBe(0);
    expect((await strict.get("/api/v1/meta")).status).toBe(200);
    expect((await right()).headers.get("RateLimit")).toContain("r=0");
    const refused = await right();
    expect([refused.headers.get("Retry-After"), ((await refused.json()) as Answer).code]).toEqual(["20", 40203]);
  });
});

test("another method is refused, and an unknown path below is not found", async () => {
  for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]) {
    const response = await fetch(`${server.url}/tushare/daily`, { method });
    expect([method, response.status, response.headers.get("Allow")]).toEqual([method, 405, "POST"]);
  }
  const got = (await (await fetch(`${server.url}/tushare`)).json()) as { hint: string };
  expect(got.hint).toMatch(/^POST e\.g\. \{"api_name".* GET .* \/api\/v1\/entities\/<entity>$/);
  expect((await fetch(`${server.url}/tushare/daily/x`)).status).toBe(404);
  const posted = await post({}, "/api/v1/meta");
  expect([posted.status, posted.headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
});

test("the log and the metrics know the request, and nothing that the client wrote", async () => {
  const logging = await serve(root, { logLevel: "info" });
  const secret = { api_name: "daily", token: TOKEN, params: { ts_code: "600519.SH", limit: 2 } };
  await (await post(secret, "/tushare/daily", logging)).text();
  await (await post({ ...secret, token: "geheim" }, "/tushare/daily", logging)).text();
  await expect.poll(() => logging.logged.length).toBe(2);
  const [line, wrong] = logging.logged.map((text) => JSON.parse(text) as Record<string, unknown>);
  expect(line).toMatchObject({ method: "POST", route: "/tushare/:api", entity: "daily", rows: 2, status: 200 });
  expect(line).toMatchObject({ token: "TAPEHOUSE_TOKEN", cut: false });
  expect(wrong).toMatchObject({ problem: "unauthorized", status: 200, entity: null });
  expect(logging.logged.join()).not.toMatch(/test-token|geheim|600519/);
  const metrics = await (await logging.get("/metrics")).text();
  expect(metrics).toMatch(/tapehouse_rows_total\{entity="daily"\} 2/);
});

const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const python = pathOf(".venv/bin/python");
const absent = !existsSync(python) || spawnSync(python, ["-c", "import tushare"]).status !== 0;

interface Frame {
  readonly columns: readonly string[];
  readonly data: readonly (readonly (string | number | null)[])[];
  readonly error?: string;
}

/** What the package gives for each call, all by one process. */
async function byPackage(
  { url }: TestServer,
  ...calls: readonly (readonly [name: string, args: object])[]
): Promise<readonly Frame[]> {
  const args = [pathOf("test/python/tushare_client.py"), `${url}/tushare`, TOKEN];
  const child = spawn(python, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(calls.map(([name, given]) => ({ name, arguments: given }))));
  let output = "";
  for await (const text of child.stdout.setEncoding("utf8")) output += text as string;
  return JSON.parse(output) as Frame[];
}

describe(absent ? "the package tushare (skipped: .ci/run installs it into .venv)" : "the package tushare", () => {
  const CODE = "600519.SH";

  test.skipIf(absent)("returns the rows, and reports errors", { timeout: 120_000 }, async () => {
    const range = { start_date: "20250801", end_date: "20251031" };
    const [daily, query, basic, open, few, wrong, none] = await byPackage(
      server,
      ["daily", { ts_code: CODE, ...range }],
      ["query", { api_name: "daily_basic", fields: "trade_date,pe", ts_code: CODE, ...range }],
      ["stock_basic", { exchange: "", list_status: "L", fields: "ts_code,symbol,name,area,industry,list_date" }],
      ["trade_cal", { exchange: "", is_open: "1", ...range }],
      ["daily", { trade_date: "20250901", limit: 3, offset: 2 }],
      ["daily", { start_dae: "20250801" }],
      ["no_such_api", {}],
    );
    const dates = "start_date=20250801&end_date=20251031&order=desc";
    expect(daily!.data).toEqual(await rowsOf(`daily?ts_code=${CODE}&${dates}`));
    expect(query).toMatchObject({
      columns: ["trade_date", "pe"],
      data: await rowsOf(`daily_basic?ts_code=${CODE}&${dates}&fields=trade_date,pe`),
    });
    expect(basic!.columns).toEqual(["ts_code", "symbol", "name", "area", "industry", "list_date"]);
    expect(basic!.data.length).toBeGreaterThan(5);
    expect(open!.data).toEqual(await rowsOf(`trade_cal?is_open=1&${dates}`));
    expect(few!.data).toEqual((await rowsOf("daily?trade_date=20250901&order=desc")).slice(2, 5));
    expect(wrong!.error).toContain("did you mean start_date");
    expect(none!.error).toContain('there is no API "no_such_api"');
  });

  test.skipIf(absent)("makes weekly and monthly bars of an index", { timeout: 120_000 }, async () => {
    const frames = await byPackage(
      server,
      ...["W", "M"].map(
        (freq) => ["pro_bar", { asset: "I", freq, ts_code: "000300.SH", start_date: "20250701" }] as const,
      ),
    );
    const days = await rowsOf("index_daily?ts_code=000300.SH&fields=trade_date,close&order=desc");
    for (const { columns, data } of frames) {
      expect(data.length).toBeGreaterThan(2);
      for (const row of data) {
        const bar = Object.fromEntries(columns.map((column, i) => [column, row[i]]));
        expect(bar["close"]).toBe(days.find(([date]) => date! <= bar["trade_date"]!)![1]);
      }
    }
  });

  test.skipIf(absent)("makes the bars that adjust makes, but for its rounding", { timeout: 120_000 }, async () => {
    const split = await temporaryFolder();
    const key = `'${CODE}' AS ts_code, DATE '2025-01-01' + d::INT AS trade_date`;
    const prices =
      "100 + d AS open, 103 + d AS high, 98 + d AS low, 101.37 + d AS close, 100.11 + d AS pre_close, 1.26 AS change";
    const factor = "CASE WHEN d < 30 THEN 1.375 WHEN d < 70 THEN 1.8125 ELSE 2.71828 END AS adj_factor";
    await publishRows(split, {
      daily: `SELECT ${key}, ${prices} FROM range(100) t(d)`,
      weekly: `SELECT ${key}, ${prices} FROM range(4, 100, 7) t(d)`,
      adj_factor: `SELECT ${key}, ${factor} FROM range(100) t(d)`,
    });
    const own = await serve(split);
    const range = { start_date: "20250115", end_date: "20250320" };
    const dates = "start_date=20250115&end_date=20250320";
    const kinds = [
      [{ adj: "qfq", ...range }, `adjust=forward&${dates}`],
      [{ adj: "hfq", ...range }, `adjust=backward&${dates}`],
      [{ adj: "qfq" }, "adjust=forward"],
    ] as const;
    const fields = ["trade_date", "open", "high", "low", "close", "pre_close", "change"];
    for (const [freq, entity] of [
      ["D", "daily"],
      ["W", "weekly"],
    ] as const) {
      const bars = await byPackage(
        own,
        ...kinds.map(([given]): [string, object] => ["pro_bar", { ts_code: CODE, freq, ...given }]),
      );
      for (const [i, { columns, data }] of bars.entries()) {
        const query = `${entity}?order=desc&fields=${fields.join(",")}`;
        const { rows } = await own.json(`/api/v1/entities/${query}&${kinds[i]![1]}`);
        const traded = (await own.json(`/api/v1/entities/${query}`)).rows;
        const found = data.map((row) => fields.map((name) => row[columns.indexOf(name)]!));
        expect(found.length).toBeGreaterThan(8);
        expect(found.map(([date]) => date)).toEqual(rows.map(([date]) => date));
        // The package takes one factor for a whole week. Here a week with two of them and without its days is null.
        const both = found.flatMap((row, n) => (rows[n]!.includes(null) ? [] : [[row, rows[n]!] as const]));
        expect(both.length).toBeGreaterThan(freq === "D" ? 30 : 2);
        // It also rounds each price to cents, and takes the change from rounded prices.
        const differences = both.flatMap(([row, own]) => row.slice(1).map((v, c) => Number(v) - Number(own[c + 1])));
        expect(Math.max(...differences.map(Math.abs))).toBeLessThan(0.0101);
        expect(Math.abs(Number(found.at(-1)![4]) - Number(traded.at(-1)![4]))).toBeGreaterThan(1);
      }
    }
  });
});
