// SQL over HTTP: real statements in real processes, compared with the rows of the endpoints.
import { readFile } from "node:fs/promises";
import { tableFromIPC } from "apache-arrow";
import { beforeAll, describe, expect, test } from "vitest";
import { ENTITIES } from "../../src/catalog/index.js";
import { FUNCTIONS } from "../../src/sql/calls.js";
import { createToken } from "../../src/store/tokens.js";
import { demoLake } from "../support/demo.js";
import { serve, type Envelope, type TestServer, TOKEN } from "../support/server.js";

let data: string;
let server: TestServer;

beforeAll(async () => {
  data = await demoLake({ days: 500 });
  server = await serve(data, { sqlProcesses: "2" });
});

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly hint?: string;
  readonly line?: number;
  readonly column?: number;
}

const ask = (
  body: object,
  { token = TOKEN, headers = {}, signal = AbortSignal.timeout(100_000) } = {},
): Promise<Response> =>
  fetch(`${server.url}/api/v1/sql`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal,
  });

async function answerTo(body: object): Promise<Envelope> {
  const response = await ask(body);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text) as Envelope;
}

async function problemOf(body: object, token = TOKEN): Promise<Problem & { readonly status: number }> {
  const response = await ask(body, { token });
  return { status: response.status, ...((await response.json()) as Problem) };
}

test("a statement is answered over one version, with its types", async () => {
  const { data_version } = await server.json("/api/v1/entities/daily?limit=1");
  const sql =
    "SELECT count(*) AS n, 1.5::DECIMAL(4, 1) AS d, DATE '2024-01-05' AS day, true AS yes, [1, 2] AS l, 0 / 0 AS nan, " +
    "'x' AS t, sum(1) AS s FROM daily";
  expect(await answerTo({ sql })).toEqual({
    ...{ entity: "sql", data_version, count: 1, truncated: false, next_cursor: null },
    columns: [
      { name: "n", dtype: "int64" },
      { name: "d", dtype: "float64" },
      { name: "day", dtype: "string" },
      { name: "yes", dtype: "int64" },
      { name: "l", dtype: "string" },
      { name: "nan", dtype: "float64" },
      { name: "t", dtype: "string" },
      { name: "s", dtype: "int64" },
    ],
    rows: [[5150, 1.5, "20240105", 1, "[1,2]", null, "x", 5150]],
  });
});

describe("tables and the functions of the field", () => {
  test.each([
    ["known(income, '20240501')", "income?as_of=20240501"],
    ["known(income, DATE '2024-05-01')", "income?as_of=20240501"],
    ["known(income, DATE '2024-05-02' - 1)", "income?as_of=20240501"],
    ["known(income, DATE '2024-06-01' - INTERVAL 1 MONTH)", "income?as_of=20240501"],
    ["known(income, as_of := '2024' || lpad((4 + 1)::VARCHAR, 2, '0') || '01')", "income?as_of=20240501"],
    ["known('stock_list', '20240501')", "stock_list?as_of=20240501"],
    ["latest(income)", "income?latest=true"],
    ["latest(income, '20240501')", "income?latest=true&as_of=20240501"],
    ["adjusted(daily, 'backward')", "daily?adjust=backward"],
    ["adjusted(daily, 'forward')", "daily?adjust=forward"],
    ["adjusted(daily, 'forward', volume := true)", "daily?adjust=forward&adjust_volume=true"],
    [
      "adjusted(daily, 'forward', first_day := '20240601', last_day := '20240628')",
      "daily?adjust=forward&start_date=20240601&end_date=20240628",
    ],
    ["adjusted(weekly, 'forward')", "weekly?adjust=forward"],
    ["adjusted(weekly, 'backward')", "weekly?adjust=backward"],
    ["bars(daily, 'week')", "weekly?"],
    ["daily", "daily?"],
    ["trade_cal", "trade_cal?"],
  ])("%s has the rows of %s", async (table, path) => {
    const { rows } = await server.json(`/api/v1/entities/${path}`);
    expect(rows.length).toBeGreaterThan(0);
    const own = await answerTo({ sql: `SELECT * FROM ${table}` });
    expect(sorted(own.rows)).toEqual(sorted(rows));
  });

  test("panel(…) has the rows of the panel", async () => {
    const fields = "daily:close,daily_basic:pe,income:total_revenue";
    const { rows } = await server.json(`/api/v1/panel?entities=${fields}&start_date=20240601&end_date=20240930`);
    expect(rows.length).toBeGreaterThan(0);
    const own = await answerTo({
      sql: `FROM panel('${fields}', '20240601', last_day := $end)`,
      params: { end: "20240930" },
    });
    expect(sorted(own.rows)).toEqual(sorted(rows));
  });

  test("trading_days and shift_days follow the calendar", async () => {
    const { rows } = await answerTo({
      sql: "SELECT trade_date, shift_days(trade_date, 1) AS next, shift_days(trade_date, -1) AS last FROM trading_days('20240601', '20240630') ORDER BY 1",
    });
    expect(rows.length).toBeGreaterThan(15);
    for (const [day, next, last] of rows.slice(0, 3)) {
      const shifted = async (n: number): Promise<unknown> =>
        (
          (await server.get(`/api/v1/calendar/shift?date=${day}&n=${n}`).then((one) => one.json())) as {
            result: string;
          }
        ).result;
      expect([await shifted(1), await shifted(-1)]).toEqual([next, last]);
    }
    const closed = await answerTo({ sql: "SELECT shift_days(DATE '2024-06-01', 1) AS d" });
    expect(closed.rows).toEqual([[null]]);
  });

  test("universe(day) has the stocks that were listed, as the list of that day says", async () => {
    const { rows } = await server.json(
      "/api/v1/entities/stock_list?as_of=20240605&fields=ts_code,list_date,delist_date",
    );
    const listed = rows.filter(
      ([, from, to]) => String(from) <= "20240605" && (to === null || String(to) > "20240605"),
    );
    const own = await answerTo({ sql: "SELECT ts_code FROM universe('20240605') ORDER BY 1" });
    expect(own.rows.map(([code]) => code)).toEqual(listed.map(([code]) => code).sort());
  });
});

test("no argument of a function is called like a column, which DuckDB would take for the argument", () => {
  const columns = new Set(ENTITIES.flatMap((entity) => entity.columns.map(({ name }) => name)));
  const named = Object.values(FUNCTIONS).flatMap((one): readonly string[] => one.arguments);
  expect(named.filter((name) => columns.has(name))).toEqual([]);
});

const sorted = (rows: Envelope["rows"]): readonly string[] => rows.map((row) => JSON.stringify(row)).sort();

test("every format has the same rows, in the order of the statement", async () => {
  const sql = "SELECT ts_code, trade_date, close FROM daily WHERE trade_date >= $from ORDER BY close DESC, 1, 2";
  const params = { from: "20240601" };
  const { rows } = await answerTo({ sql, params });
  const csv = await (await ask({ sql, params, format: "csv" })).text();
  expect(csv.trim().split("\n").slice(1)).toEqual(rows.map((row) => row.join(",")));
  const arrow = tableFromIPC(new Uint8Array(await (await ask({ sql, params, format: "arrow" })).arrayBuffer()));
  expect([...arrow.getChild("close")!]).toEqual(rows.map(([, , close]) => close));
  const parquet = await ask({ sql, params, format: "parquet" });
  expect(Buffer.from(await parquet.arrayBuffer()).toString("latin1")).toMatch(/^PAR1.*PAR1$/s);
});

test("limit says in every format whether rows are left out", async () => {
  const sql = "SELECT * FROM range(100) r(i) ORDER BY i";
  expect(await answerTo({ sql, limit: 3 })).toMatchObject({ count: 3, truncated: true });
  expect(await answerTo({ sql, limit: 100 })).toMatchObject({ count: 100, truncated: false });
  const csv = await ask({ sql, limit: 3, format: "csv" });
  expect([csv.headers.get("X-Truncated"), await csv.text()]).toEqual(["true", "i\n0\n1\n2\n"]);
  expect((await ask({ sql, limit: 100, format: "csv" })).headers.get("X-Truncated")).toBe("false");
  expect((await ask({ sql, format: "csv" })).headers.get("X-Truncated")).toBe("false");
});

test("a statement in the URL gives the same as in a body; its ETag belongs to statement, parameters and version", async () => {
  const query = new URLSearchParams({ q: "SELECT count(*) AS n FROM daily WHERE close > $x", params: '{"x": 10}' });
  const first = await server.get(`/api/v1/sql?${query.toString()}`);
  const body = (await first.json()) as Envelope;
  expect(body).toEqual(await answerTo({ sql: "SELECT count(*) AS n FROM daily WHERE close > $x", params: { x: 10 } }));
  const tag = first.headers.get("ETag")!;
  const again = await server.get(`/api/v1/sql?${query.toString()}`, { "If-None-Match": tag });
  expect(again.status).toBe(304);
  query.set("params", '{"x": 11}');
  expect((await server.get(`/api/v1/sql?${query.toString()}`, { "If-None-Match": tag })).status).toBe(200);
});

describe("a mistake is explained", () => {
  test.each([
    [{ sql: "SELECT clsoe FROM daily" }, "invalid_sql", /^line 1, column 8: .*clsoe/, /close/],
    [{ sql: "SELECT 1\nFROM dialy" }, "invalid_sql", /^line 2, column 6: there is no table "dialy"/, /daily/],
    [
      { sql: "SELECT count(*) AS n FROM daily WHERE trade_date = '20240105'" },
      "invalid_sql",
      /invalid date field format/,
      /DATE '2024-01-05'/,
    ],
    [{ sql: "SELECT 1 +" }, "invalid_sql", /syntax error/, undefined],
    [{ sql: "SELECT mdian(close) FROM daily" }, "sql_not_allowed", /^line 1, column 8: .*mdian/, /median/],
    [{ sql: "SELECT now()" }, "sql_not_allowed", /now/, /same rows/],
    [{ sql: "FROM known(daily, '20240101')" }, "as_of_not_supported", /^line 1, column 6: known: /, /data_version/],
    [{ sql: "FROM known(incom, '20240101')" }, "invalid_sql", /there is no entity "incom"/, /income/],
    [{ sql: "FROM known(income)" }, "invalid_sql", /as_of is missing/, /known\(income/],
    [{ sql: "FROM known(income, 'yesterday')" }, "invalid_parameter", /known: .*yesterday/, undefined],
    [
      { sql: "FROM daily d, known(income, d.trade_date)" },
      "invalid_sql",
      /^line 1, column \d+: an argument depends on more/,
      /parameter/,
    ],
    [{ sql: "FROM known(income, (SELECT 1))" }, "invalid_sql", /an argument depends on more/, /parameter/],
    [
      { sql: "FROM known(income, 'x'::DATE - 1)" },
      "invalid_sql",
      /^line 1, .*as_of cannot be computed: .*"x"/,
      undefined,
    ],
    [{ sql: "FROM known(income, NULL::DATE - 1)" }, "invalid_sql", /as_of is NULL/, undefined],
    [{ sql: "SELECT clsoe FROM known(income, '20240501')" }, "invalid_sql", /^line 1, column 8: .*clsoe/, undefined],
    [
      { sql: "SELECT '测试测试' AS t,\n  '全部' AS u, clsoe FROM daily" },
      "invalid_sql",
      /^line 2, column 14: .*clsoe/,
      undefined,
    ],
    [
      { sql: "FROM universe('19900101')" },
      "invalid_sql",
      /^line 1, column 6: the first list of stocks is of 20/,
      /list_date/,
    ],
    [{ sql: "SELECT '\ud800' AS t" }, "invalid_parameter", /sql: .*surrogate/, undefined],
    [{ sql: "SELECT $t AS t", params: { t: "\udc00" } }, "invalid_parameter", /params: .*surrogate/, undefined],
    [{ sql: "SELECT $x AS y" }, "invalid_sql", /there is no value for \$x/, /params/],
    [{ sql: "SELECT 1 AS y", params: { x: 1 } }, "invalid_sql", /the statement has no \$x/, /params/],
    [{ sql: "SELECT 1 AS a, 2 AS a" }, "invalid_sql", /two columns .* called a/, /AS/],
    [{ sql: "SELECT 1 AS a", limit: 0 }, "invalid_parameter", /limit/, undefined],
    [{ sql: "SELECT 1 AS a", engine: "cluster" }, "invalid_parameter", /no cluster/, undefined],
    [{ sql: "SELECT 1 AS a", fromat: "csv" }, "unknown_parameter", /fromat/, /format/],
    [{ sql: 1 }, "invalid_parameter", /sql/, undefined],
  ] as const)("%j → %s", async (body, code, detail, hint) => {
    const problem = await problemOf(body);
    expect([problem.status, problem.code]).toEqual([400, code]);
    expect(problem.detail).toMatch(detail);
    if (hint !== undefined) expect(problem.hint).toMatch(hint);
    const [, line, column] = /^line (\d+), column (\d+): /.exec(problem.detail) ?? [];
    expect([problem.line, problem.column].map((place) => place?.toString())).toEqual([line, column]);
  });
});

test("the hint about PIVOT is a statement that works", async () => {
  const { code, hint } = await problemOf({ sql: "SELECT * FROM (PIVOT daily ON ts_code USING sum(vol))" });
  expect(code).toBe("sql_not_allowed");
  const { rows, columns } = await answerTo({ sql: hint!.slice(hint!.indexOf("FROM")) });
  expect(columns).toHaveLength(3);
  expect(rows.length).toBeGreaterThan(0);
});

test("a whole number that JSON cannot hold is refused, with the way to send it", async () => {
  const id = "9007199254740993";
  const post = (params: string): Promise<Response> =>
    server.get(`/api/v1/sql?${new URLSearchParams({ q: "SELECT $id::BIGINT AS id", params }).toString()}`);
  const refused = await post(`{"id": ${id}}`);
  const { code, detail, hint } = (await refused.json()) as Problem;
  expect([refused.status, code]).toEqual([400, "invalid_parameter"]);
  expect([detail, hint]).toEqual([expect.stringContaining(id), expect.stringContaining(`"${id}"`)]);
  expect(await (await post(`{"id": "${id}"}`)).text()).toContain(`[[${id}]]`);
});

test("a token needs the right to SQL, and that to every entity of the statement", async () => {
  const options = { expires: null };
  const plain = await createToken(data, "plain", { entities: ["daily"], ...options }, new Date());
  const analyst = await createToken(data, "analyst", { entities: ["daily", "sql"], ...options }, new Date());
  expect(await problemOf({ sql: "SELECT count(*) AS n FROM daily" }, plain)).toMatchObject({
    status: 403,
    code: "forbidden",
  });
  expect((await ask({ sql: "SELECT count(*) AS n FROM daily" }, { token: analyst })).status).toBe(200);
  for (const sql of [
    "FROM income",
    "FROM adjusted(daily, 'backward')",
    "SELECT shift_days(trade_date, 1) AS d FROM daily",
  ]) {
    expect(await problemOf({ sql }, analyst), sql).toMatchObject({ status: 403, code: "forbidden" });
  }
});

const ENDLESS = "SELECT sum(a.i * b.i % 7) AS s FROM range(10_000_000) a(i), range(10_000_000) b(i)";

test("a statement that its client leaves ends, and its process takes the next one", async () => {
  const before = performance.now();
  await expect(ask({ sql: ENDLESS }, { signal: AbortSignal.timeout(1_500) })).rejects.toThrow(/timeout|abort/i);
  await Promise.all([1, 2].map(() => answerTo({ sql: "SELECT count(*) AS n FROM daily" })));
  expect(performance.now() - before).toBeLessThan(100_000);
});

test("a statement that takes too long is 504; one with too many rows is an error or visibly cut", async () => {
  const post = (to: TestServer, sql: string): Promise<Response> =>
    fetch(`${to.url}/api/v1/sql`, {
      method: "POST",
      headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" },
      body: JSON.stringify({ sql }),
    });
  const late = await post(await serve(data, { sqlProcesses: "1" }, { sqlDeadline: 2_000 }), ENDLESS);
  expect([late.status, ((await late.json()) as Problem).code]).toEqual([504, "deadline_exceeded"]);
  const much = await post(await serve(data, { sqlProcesses: "1", sqlRows: "1000" }), "SELECT * FROM range(5000) r(i)");
  const code = await much.json().then(
    (body) => (body as Problem).code,
    () => "cut",
  );
  expect(["out_of_room", "cut"]).toContain(code);
});

test("values of parameters are taken for what they are", async () => {
  const { rows } = await answerTo({
    sql: "SELECT $a + 1 AS a, $b AS b, $c * 2 AS c, count(*) AS n FROM daily WHERE ts_code IN $codes AND trade_date >= $from::DATE - INTERVAL 1 DAY AND list_contains($d, 2.5)",
    params: { a: 1, b: "text", c: 1e20, d: [1, 2.5], codes: ["000001.SZ", "no"], from: "2024-06-01" },
  });
  expect(rows).toEqual([[2, "text", 2e20, expect.any(Number)]]);
});

test("the weights of an index as of a day, as the documentation reads them, are all of the last day that has any", async () => {
  const [index, day] = ["000300.SH", "20240610"];
  const documented = /-- The weights of an index[^\n]*\n([^;]*);/.exec(await readFile("docs/sql.md", "utf8"))![1]!;
  const fields = "index_code,trade_date,con_code,weight";
  const { rows } = await server.json(`/api/v1/entities/index_weight?fields=${fields}&end_date=${day}`);
  const ofIndex = rows.filter(([code]) => code === index);
  const last = ofIndex.at(-1)![1];
  expect(String(last) < day).toBe(true);
  const own = await answerTo({ sql: documented, params: { index, day } });
  expect(sorted(own.rows)).toEqual(sorted(ofIndex.filter(([, of]) => of === last).map((row) => row.slice(2))));
});

test("an empty list is one of any type", async () => {
  const { rows } = await answerTo({
    sql: "SELECT count(*) FILTER (ts_code IN $none) AS a, count(*) FILTER (close IN $none) AS b, count(*) FILTER (trade_date NOT IN $none) > 0 AS c, len($none) AS d FROM daily",
    params: { none: [] },
  });
  expect(rows).toEqual([[0, 0, 1, 0]]);
});

test("numbers within lists, structs and maps are missing if they are not finite", async () => {
  const { rows } = await answerTo({
    sql:
      "SELECT ['nan'::DOUBLE, 1.5, NULL, '-inf'] AS a, {'x': 'inf'::FLOAT, 'y': ['nan'::DOUBLE], 'z': 'NaN'} AS b, " +
      "MAP {'k': [{'v': 'nan'::DOUBLE}]} AS c, row(1, 'inf'::DOUBLE).struct_extract_at(2) AS d, " +
      "['nan'::DOUBLE, 2]::DOUBLE[2] AS e, NULL::STRUCT(x DOUBLE) AS f, NULL::DOUBLE[] AS g, [[1.0::DOUBLE], NULL] AS h",
  });
  expect(rows[0]!.map((value) => (typeof value === "string" ? (JSON.parse(value) as unknown) : value))).toEqual([
    [null, 1.5, null, null],
    { x: null, y: [null], z: "NaN" },
    { k: [{ v: null }] },
    null,
    [null, 2],
    null,
    null,
    [[1], null],
  ]);
});

test("mistakes of those who write statements leave nothing in the server's log", async () => {
  const before = server.logged.length;
  for (const sql of [
    "SELECT clsoe FROM daily",
    "SELECT ts_code::INTEGER AS a FROM daily",
    "SELECT (SELECT close FROM daily) AS a",
    "SELECT 1e18::BIGINT * close::BIGINT AS a FROM daily",
    "SELECT 'a' AT TIME ZONE 'UTC' AS a",
    "SELECT 'x'::JSON AS a",
    "SELECT regexp_matches('a', '(') AS a",
    "SELECT DATE '12024-01-01' AS a",
  ]) {
    expect(await problemOf({ sql }), sql).toMatchObject({ status: 400 });
  }
  expect(server.logged.slice(before)).toEqual([]);
});

test("a process that takes much more memory than it may ends, and the next statement is answered", async () => {
  const other = await serve(data, { sqlProcesses: "1", sqlMemory: "200MB" });
  const get = (sql: string): Promise<Response> => other.get(`/api/v1/sql?q=${encodeURIComponent(sql)}`);
  const large = await get("SELECT length(repeat('x', 3_000_000_000)) AS n");
  expect([large.status, ((await large.json()) as Problem).code]).toEqual([503, "out_of_room"]);
  expect((await get("SELECT 1 AS a")).status).toBe(200);
});

test("parameters of a body are not in the URL too", async () => {
  const response = await fetch(`${server.url}/api/v1/sql?limit=1`, {
    method: "POST",
    headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" },
    body: '{"sql": "SELECT 1 AS a"}',
  });
  expect([response.status, ((await response.json()) as Problem).code]).toEqual([400, "unknown_parameter"]);
});

test("without processes for SQL, the way to have them is named", async () => {
  const other = await serve(data, { sqlProcesses: "0" });
  const response = await other.get(`/api/v1/sql?q=${encodeURIComponent("SELECT 1 AS a")}`);
  expect([response.status, ((await response.json()) as Problem).hint]).toEqual([
    404,
    expect.stringContaining("--sql-processes"),
  ]);
});
