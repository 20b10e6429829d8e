// SQL on a cluster, over HTTP: the same rows as from DuckDB, or the reason why not.
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import type { ServerConfig } from "../../src/config.js";
import { createToken } from "../../src/store/tokens.js";
import { layoutOf } from "../../src/lake/layout.js";
import { temporaryFolder } from "../support/folders.js";
import { mirrorAt, newAddress, newMirror, pull } from "../support/mirrors.js";
import { until } from "../support/processes.js";
import { questions } from "../support/questions.js";
import { hasSail, startSail, stop } from "../support/sail.js";
import { serve, type TestServer, TOKEN } from "../support/server.js";
import { isLong, size } from "../support/size.js";
import { publishSqlMarket } from "../support/sql-market.js";
import { filesBelow } from "../support/upkeep.js";
import { hasVersitygw } from "../support/versitygw.js";

const QUESTIONS = size("QUESTIONS", 20, 200);

let data: string;
beforeAll(async () => {
  data = await temporaryFolder();
  await publishSqlMarket(data);
});

const ask = (
  server: TestServer,
  body: object,
  token = TOKEN,
  signal = AbortSignal.timeout(100_000),
): Promise<Response> =>
  fetch(`${server.url}/api/v1/sql`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly hint?: string;
}

async function problemOf(server: TestServer, body: object, token = TOKEN) {
  const response = await ask(server, body, token);
  const { code, detail, hint } = (await response.json()) as Problem;
  return { status: response.status, retryAfter: response.headers.get("Retry-After"), code, detail, hint };
}

/** Rows of NDJSON in both answers, with the engine that gave them. */
async function answer(server: TestServer, body: object) {
  const response = await ask(server, { format: "ndjson", ...body });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return { engine: response.headers.get("X-Engine"), text };
}

const withCluster = (cluster: string, options: Record<string, string> = {}, exact: Partial<ServerConfig> = {}) =>
  serve(data, { sqlProcesses: "1", cluster, clusterFrom: "1MB", ...options }, exact);

/** An address where nothing listens. */
async function nowhere(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `sc://127.0.0.1:${port}`;
}

/** The data files that a mirror has. */
const fetchedFiles = async (root: string): Promise<readonly string[]> =>
  (await filesBelow(layoutOf(root).lake)).filter((path) => path.endsWith(".parquet"));

/** Lines of NDJSON are equal, except for the last digits of sums of floating-point numbers. */
function expectSame(found: string, expected: string, sql: string): void {
  if (found === expected) return;
  const [own, other] = [found, expected].map((text) => text.split("\n"));
  expect(own!.length, sql).toBe(other!.length);
  for (const [i, line] of own!.entries()) if (line !== other![i]) expectClose(line, other![i]!, sql);
}

function expectClose(found: string, expected: string, sql: string): void {
  const [own, other] = [found, expected].map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(Object.keys(own!), sql).toEqual(Object.keys(other!));
  for (const [name, value] of Object.entries(own!)) {
    const wanted = other![name];
    if (typeof value !== "number" || typeof wanted !== "number") expect(value, sql).toEqual(wanted);
    else
      expect(Math.abs(value - wanted), sql).toBeLessThanOrEqual(1e-9 * Math.max(Math.abs(value), Math.abs(wanted), 1));
  }
}

/** What the API shows in a way of its own. */
const SHOWN: readonly (readonly [string, object?])[] = [
  ["SELECT count(*), sum(is_open), avg(is_open), is_open = 1 FROM trade_cal GROUP BY 4 ORDER BY 4"],
  [
    "SELECT max(trade_date), min(trade_date) + 1, max(ts_code), -max(close) FROM daily WHERE trade_date >= $from",
    { from: "20231220" },
  ],
  [
    "SELECT max(trade_date) FROM daily WHERE trade_date < $to AND ts_code = $code AND close > $low",
    { to: "2023-12-25", code: "000001.SZ", low: 1 },
  ],
  [
    "SELECT close * 1e300 * 1e300 AS infinite, vol, CASE WHEN vol > 900 THEN chairman END AS c FROM daily LEFT JOIN stock_company USING (ts_code) ORDER BY ts_code, trade_date",
  ],
  ["SELECT ts_code, trade_date, vol IS NULL, 'it''s \\ \"' AS q FROM daily WHERE close < 0 ORDER BY 1, 2"],
  [
    "SELECT sum(9007199254740991 * 1000 - is_open) OVER (ORDER BY cal_date ROWS 0 PRECEDING) AS s FROM trade_cal ORDER BY cal_date",
  ],
];

describe.runIf(hasSail)("a server with a cluster", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await withCluster((await startSail()).address);
  });

  test("gives the rows of DuckDB, with their names and types", { timeout: 900_000 }, async () => {
    const asked = [...SHOWN, ...questions(size("SEED", 11), QUESTIONS).map((sql) => [sql, {}] as const)];
    for (const [sql, params = {}] of asked) {
      const here = await answer(server, { sql, params, engine: "local" });
      const there = await answer(server, { sql, params, engine: "cluster" });
      expect([here.engine, there.engine]).toEqual(["local", "cluster"]);
      expectSame(there.text, here.text, sql);
    }
  });
});

const MEAN = "SELECT ts_code, avg(close) AS mean FROM daily GROUP BY ts_code ORDER BY ts_code";

describe.runIf(hasSail)("where a statement runs", () => {
  let server: TestServer;
  /** One that asks the cluster for everything that reads a file. */
  let eager: TestServer;
  beforeAll(async () => {
    const { address } = await startSail();
    server = await withCluster(address);
    eager = await withCluster(address, {}, { clusterFrom: 1 });
  });

  test("is said by the size of its data, unless the request does", async () => {
    expect((await answer(eager, { sql: MEAN })).engine).toBe("cluster");
    expect((await answer(eager, { sql: "SELECT 1 AS a" })).engine).toBe("local");
    expect((await answer(eager, { sql: MEAN, engine: "local" })).engine).toBe("local");
    expect((await answer(server, { sql: MEAN })).engine).toBe("local");
    expect((await answer(server, { sql: MEAN, engine: "cluster" })).engine).toBe("cluster");
  });

  test.each([
    ["SELECT round(close, 2) AS r FROM daily", /^line 1, column 8: round with 2 arguments cannot run on the cluster/],
    ["SELECT close FROM daily LIMIT 5", /LIMIT without ORDER BY cannot run/],
    ["FROM latest(income)", /^line 1, column 6: latest cannot run on the cluster/],
    ["SELECT shift_days(cal_date, 1) AS d FROM trade_cal", /shift_days cannot run on the cluster/],
    ["SELECT i FROM range(10) r(i)", /the table function range cannot run/],
    ["SELECT close FROM daily WHERE ts_code IN $codes", /cannot run on the cluster/],
  ])("is here if the cluster might answer otherwise: %s", async (sql, reason) => {
    const params = sql.includes("$") ? { codes: ["000001.SZ"] } : {};
    const problem = await problemOf(server, { sql, params, engine: "cluster" });
    expect(problem).toMatchObject({
      status: 400,
      code: "sql_not_allowed",
      hint: expect.stringContaining("engine=local"),
    });
    expect(problem.detail).toMatch(reason);
    expect((await answer(eager, { sql, params })).engine).toBe("local");
  });

  test("is here if it fails on the cluster alone", async () => {
    const sql = "SELECT vol / (vol - vol) AS x FROM daily WHERE vol > 0";
    expect(await problemOf(server, { sql, engine: "cluster" })).toMatchObject({
      ...{ status: 400, code: "invalid_sql" },
      detail: "the cluster reports: Division by zero; divide by nullif(x, 0) to get a null instead",
    });
    const { engine, text } = await answer(eager, { sql });
    expect([engine, text.split("\n")[0]]).toEqual(["local", '{"x":null}']);
  });

  test("does not change what is wrong with it, and who may read it", async () => {
    for (const sql of ["SELECT clsoe FROM daily", "SELECT 1 +", "SELECT 1 AS a, 2 AS a FROM daily"]) {
      const [here, there] = await Promise.all(["local", "cluster"].map((engine) => problemOf(server, { sql, engine })));
      expect(there!.code, sql).toBe(here!.code);
    }
    const analyst = await createToken(data, "analyst", { entities: ["daily", "sql"], expires: null }, new Date());
    const forbidden = { sql: "SELECT count(*) AS n FROM trade_cal", engine: "cluster" };
    expect(await problemOf(server, forbidden, analyst)).toMatchObject({ status: 403, code: "forbidden" });
    expect((await ask(server, { sql: MEAN, engine: "cluster" }, analyst)).status).toBe(200);
  });

  test.each(["json", "csv", "arrow", "parquet"])("changes no byte of %s, and no limit", async (format) => {
    const sql = "SELECT ts_code, trade_date, close, vol FROM daily ORDER BY close DESC, ts_code, trade_date";
    for (const limit of [7, 1_000_000]) {
      const [here, there] = await Promise.all(
        ["local", "cluster"].map(async (engine) => {
          const response = await ask(server, { sql, engine, format, limit });
          return [response.headers.get("X-Truncated"), Buffer.from(await response.arrayBuffer()).toString("base64")];
        }),
      );
      expect(there).toEqual(here);
    }
  });

  test("is said by the files of one version: an older one has its own rows", async () => {
    const old = (await answer(server, { sql: "SELECT count(*) AS n FROM daily", engine: "cluster", format: "json" }))
      .text;
    const { data_version } = JSON.parse(old) as { data_version: string };
    await publishSqlMarket(data, 40);
    const now = await until("the new version is served", async () => {
      const { text } = await answer(server, {
        sql: "SELECT count(*) AS n FROM daily",
        engine: "cluster",
        format: "json",
      });
      return text === old ? undefined : text;
    });
    expect(JSON.parse(now)).not.toMatchObject({ data_version });
    const again = { sql: "SELECT count(*) AS n FROM daily", engine: "cluster", format: "json", data_version };
    expect((await answer(server, again)).text).toBe(old);
  });
});

describe.runIf(hasSail && hasVersitygw)("a cluster that reads a lake in a bucket", () => {
  test("needs no file in the mirror, and gives the rows of a mirror that has them", async () => {
    const mirror = await newMirror(await newAddress("bucket"));
    await publishSqlMarket(mirror);
    const replica = await newMirror((await mirrorAt(mirror)).objects.address);
    await pull(replica);
    const { address } = await startSail();
    const server = await serve(replica, { sqlProcesses: "1", cluster: address, copies: "none" });
    const sql = "SELECT ts_code, count(*) AS n, max(close) AS high FROM daily GROUP BY ts_code ORDER BY ts_code";
    const there = await answer(server, { sql, engine: "cluster" });
    expect(await fetchedFiles(replica)).toEqual([]);
    expect(there.engine).toBe("cluster");
    expect(there.text.split("\n")).toHaveLength(41);
    expect((await answer(server, { sql, engine: "local" })).text).toBe(there.text);
    expect(await fetchedFiles(replica)).not.toEqual([]);
  });
});

describe("a cluster that is away", () => {
  test("is 503 with Retry-After, without its address, or the statement runs here", async () => {
    const address = await nowhere();
    const server = await withCluster(address, {}, { clusterFrom: 1 });
    const problem = await problemOf(server, { sql: MEAN, engine: "cluster" });
    expect(problem).toMatchObject({ status: 503, code: "cluster_unavailable", retryAfter: "5" });
    expect(JSON.stringify(problem)).not.toMatch(/127\.0\.0\.1/);
    expect((await answer(server, { sql: MEAN })).engine).toBe("local");
    expect(server.logged.join("\n")).toMatch(/the cluster cannot answer/);
    const strict = await withCluster(address, { clusterFallback: "none" }, { clusterFrom: 1 });
    expect(await problemOf(strict, { sql: MEAN })).toMatchObject({ status: 503, code: "cluster_unavailable" });
    expect((await answer(strict, { sql: MEAN, engine: "local" })).engine).toBe("local");
  });

  test("is not asked again by every statement", async () => {
    const silent = createServer((socket) => void socket.destroy()).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const server = await withCluster(`sc://127.0.0.1:${port}`, {}, { clusterFrom: 1 });
    for (let i = 0; i < 5; i++) expect((await answer(server, { sql: MEAN })).engine).toBe("local");
    expect(server.logged.filter((line) => line.includes("the cluster cannot answer"))).toHaveLength(1);
    silent.close();
  });
});

/** Millions of rows, which a cluster sends while it makes them. */
const MUCH =
  "SELECT d.ts_code, d.trade_date, d.close, a.cal_date, b.cal_date AS other FROM daily d CROSS JOIN trade_cal a CROSS JOIN trade_cal b";
const LONG = `SELECT sum(x.close * x.n) AS s FROM (SELECT close, year(a.cal_date) AS n FROM daily CROSS JOIN trade_cal a CROSS JOIN trade_cal b CROSS JOIN trade_cal c) x`;
const ENDLESS = `SELECT sum(x.close * y.close) AS s FROM (${MUCH}) x CROSS JOIN (${MUCH}) y`;

describe.runIf(hasSail)("a cluster that dies", () => {
  test("in the middle of a response cuts it", async () => {
    const sail = await startSail();
    const server = await withCluster(sail.address);
    const response = await ask(server, { sql: MUCH, engine: "cluster", format: "ndjson" });
    expect(response.status).toBe(200);
    const reader = response.body!.getReader();
    expect((await reader.read()).done).toBe(false);
    await stop(sail.server);
    const rest = async (): Promise<void> => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toThrow();
    expect((await answer(server, { sql: MEAN })).engine).toBe("local");
  });

  test("with its workers before the first row costs nothing but time", async () => {
    const { address, workers } = await startSail("workers");
    const server = await withCluster(address, {}, { sqlDeadline: 120_000 });
    const asked = answer(server, { sql: LONG, engine: "cluster" });
    await until("both workers are there", () => workers.length === 2 || undefined);
    for (const worker of [...workers]) worker.kill("SIGKILL");
    const there = await asked;
    expectSame(there.text, (await answer(server, { sql: LONG, engine: "local" })).text, LONG);
  });
});

describe.runIf(hasSail && isLong)("a cluster of two workers", () => {
  test("ends its work when the client leaves, and at the deadline", { timeout: 600_000 }, async () => {
    const { address, workers } = await startSail("workers");
    const server = await withCluster(address, {}, { sqlDeadline: 120_000 });
    const left = new AbortController();
    const endless = ask(server, { sql: ENDLESS, engine: "cluster" }, TOKEN, left.signal);
    await until("both workers are there", () => workers.length === 2 || undefined);
    left.abort(new Error("the client left"));
    await expect(endless).rejects.toThrow("the client left");
    await until("the workers have ended", () => workers.length === 0 || undefined);

    const hasty = await withCluster(address, {}, { sqlDeadline: 15_000 });
    expect(await problemOf(hasty, { sql: ENDLESS, engine: "cluster" })).toMatchObject({
      ...{ status: 504, code: "deadline_exceeded" },
    });
    await until("the workers have ended", () => workers.length === 0 || undefined);
  });
});
