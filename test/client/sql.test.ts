// SQL with the client, against a real server, and through a proxy that simulates network faults.
import { tableFromIPC } from "apache-arrow";
import { afterEach, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { createClient, IncompleteAnswerError, type Client, type SqlRow } from "../../src/client/index.js";
import { createToken } from "../../src/store/tokens.js";
import { describeInBrowser, openPage, serveClient } from "../support/browser.js";
import { demoLake } from "../support/demo.js";
import {
  cutsChunks,
  drops,
  type Fault,
  type FaultyProxy,
  head,
  openFaultyProxy,
  passes,
  refuses,
} from "../support/faulty-proxy.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

const DAILY = "FROM daily ORDER BY trade_date, ts_code";
const MEAN = "SELECT trade_date, avg(close) AS close FROM daily WHERE trade_date >= $from GROUP BY 1 ORDER BY 1";
const params = { from: "2025-12-01" };

let data: string;
let server: TestServer;
let proxy: FaultyProxy;
let client: Client;
let careful: Client;

beforeAll(async () => {
  data = await demoLake({ days: 120 });
  server = await serve(data, { sqlRows: "20000" });
  proxy = await openFaultyProxy(server);
  client = createClient({ url: server.url, token: TOKEN });
  careful = createClient({ url: proxy.url, token: TOKEN, retries: 3, backoff: 1 });
});

afterEach(() => {
  proxy.reset();
});

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const gathered: T[] = [];
  for await (const item of items) gathered.push(item);
  return gathered;
}

describe("a statement", () => {
  test("has the rows of its entity, at once, one by one and as bytes", async () => {
    const rows = await client.daily().all();
    const answer = client.sql(DAILY);
    expect(answer.dataVersion).toBeNull();
    expect(await answer.all()).toEqual(rows);
    expect([answer.dataVersion, answer.truncated]).toEqual([(await client.versions())[0], false]);
    expect(await gather(client.sql(DAILY))).toEqual(rows);
    const table = tableFromIPC(Buffer.concat(await gather(client.sql(DAILY).bytes("arrow"))));
    expect([table.numRows, String(table.getChild("trade_date")!.type)]).toEqual([rows.length, "Date32<DAY>"]);
    const csv = Buffer.concat(await gather(client.sql("SELECT $x AS x", { params: { x: 1 } }).bytes("csv")));
    expect(csv.toString()).toBe("x\n1\n");
    expectTypeOf(await client.sql(DAILY, { limit: 1 }).all()).toEqualTypeOf<SqlRow[]>();
    expectTypeOf(await client.sql<{ n: number }>("SELECT 1 AS n").all()).toEqualTypeOf<{ n: number }[]>();
  });

  test("takes texts, numbers, booleans, null and lists as parameters, and refuses what JSON would change", async () => {
    const values = { a: 1.5, b: "it's $a", c: true, d: null, e: ["000001.SZ", "x"], f: [1, 2] };
    const statement = "SELECT $a AS a, $b AS b, $c AS c, $d AS d, list_contains($e, 'x') AS e, list_sum($f) AS f";
    const [row] = await client.sql(statement, { params: values }).all();
    expect(row).toEqual({ a: 1.5, b: "it's $a", c: 1, d: null, e: 1, f: 3 });
    for (const wrong of [NaN, Infinity, undefined, [1, "a"], [1, NaN], [null], {}, new Date(0), 1n]) {
      const given = { params: { x: wrong as never } };
      expect(() => client.sql("SELECT $x AS x", given)).toThrow(/params: x is not a value/);
    }
  });

  test("with a limit says if there are more rows", async () => {
    const answer = client.sql(DAILY, { limit: 3 });
    expect([(await answer.all()).length, answer.truncated]).toEqual([3, true]);
    const whole = client.sql(MEAN, { params, limit: 1_000 });
    expect([(await gather(whole)).length > 10, whole.truncated]).toEqual([true, false]);
  });

  test("reads one version if the client is pinned, or if it is named", async () => {
    const pinned = await client.pin();
    expect(await pinned.sql(MEAN, { params }).all()).toEqual(await client.sql(MEAN, { params }).all());
    const data_version = "2020-01-01T00:00:00.000+08:00";
    await expect(client.at(data_version).sql(DAILY).all()).rejects.toMatchObject({ code: "unknown_version" });
    await expect(gather(client.sql(DAILY, { data_version }))).rejects.toMatchObject({ code: "unknown_version" });
    expect(() => pinned.sql(DAILY, { data_version })).toThrow("pinned");
  });

  test("with a mistake is an error with the place of the mistake", async () => {
    const problem = { status: 400, code: "invalid_sql", line: 2, column: 6, hint: "did you mean daily?" };
    await expect(client.sql("SELECT close\nFROM dialy").all()).rejects.toMatchObject(problem);
    await expect(gather(client.sql("SELECT close\nFROM dialy"))).rejects.toMatchObject(problem);
    await expect(gather(client.sql("SELECT close\nFROM dialy").bytes("csv"))).rejects.toMatchObject(problem);
  });

  test("is refused where the token may not run SQL", async () => {
    const token = await createToken(data, "plain", { entities: ["daily"], expires: null }, new Date());
    const plain = createClient({ url: server.url, token });
    await expect(plain.sql(DAILY).all()).rejects.toMatchObject({ status: 403, code: "forbidden" });
    expect([(await plain.meta()).sql, (await client.meta()).sql]).toEqual(["forbidden", "available"]);
  });

  test("whose result the server limits is an error unless a limit is set", async () => {
    const limited = await serve(data, { defaultLimit: "100" });
    const reader = createClient({ url: limited.url, token: TOKEN });
    for (const read of [reader.sql(DAILY).all(), gather(reader.sql(DAILY)), gather(reader.sql(DAILY).bytes("arrow"))]) {
      await expect(read).rejects.toThrow("set a limit");
    }
    expect(await reader.sql(DAILY, { limit: 50 }).all()).toHaveLength(50);
    expect(await reader.sql("SELECT count(*) AS n FROM daily").all()).toHaveLength(1);
  });
});

describe("a result that was cut off", () => {
  test.each([0, 0.4, 0.99])("after %d of it is requested again as a whole", async (part) => {
    proxy.faults.push(cutsChunks(part), drops, refuses(503));
    expect(await careful.sql(DAILY).all()).toEqual(await client.sql(DAILY).all());
    expect(proxy.asked).toHaveLength(4);
  });

  test("after the first rows were returned is an error, since the next run may order them differently", async () => {
    proxy.faults.push(refuses(503), cutsChunks(0.9));
    const rows: unknown[] = [];
    const read = async (): Promise<void> => {
      for await (const row of careful.sql(DAILY)) rows.push(row);
    };
    await expect(read()).rejects.toThrow(IncompleteAnswerError);
    expect([rows.length > 0, proxy.asked.length]).toEqual([true, 2]);
  });

  test("again and again is an error", async () => {
    proxy.faults.push(...Array<Fault>(10).fill(cutsChunks(0.9)));
    await expect(careful.sql(DAILY).all()).rejects.toThrow(IncompleteAnswerError);
    expect(proxy.asked).toHaveLength(4);
  });

  test("in the end of its Arrow is an error although it is complete for HTTP", async () => {
    proxy.faults.push((response, answer, body) => passes(response, answer, body.subarray(0, -8)));
    await expect(gather(careful.sql(DAILY).bytes("arrow"))).rejects.toThrow(IncompleteAnswerError);
  });
});

test("the result of another statement is requested again", async () => {
  proxy.faults.push((response, answer, body) => head(response, answer, { "x-answer-to": "00000000" }).end(body));
  expect(await careful.sql(MEAN, { params }).all()).toEqual(await client.sql(MEAN, { params }).all());
  expect(proxy.asked).toHaveLength(2);
});

test("a statement that needs too much is not run again", async () => {
  const much = careful.sql("FROM range(50_000) AS numbers(i)", { limit: 30_000 });
  await expect(gather(much.bytes("arrow"))).rejects.toMatchObject({ status: 503, code: "out_of_room" });
  expect(proxy.asked).toHaveLength(1);
});

describeInBrowser("in a browser", () => {
  test("a statement of another origin runs when the client is loaded from dist", async () => {
    const origin = await serveClient();
    const open = await serve(data, { corsOrigin: origin });
    const { page } = await openPage(origin);
    await page.goto(origin);
    // As text, because the test's compiler would rewrite the import.
    const found = await page.evaluate(`import("${origin}/client/index.js").then(async ({ createClient }) => {
      const answer = createClient({ url: "${open.url}", token: "${TOKEN}" }).sql(${JSON.stringify(DAILY)}, { limit: 3 });
      return [await answer.all(), answer.truncated, answer.dataVersion];
    })`);
    expect(found).toEqual([await client.sql(DAILY, { limit: 3 }).all(), true, (await client.versions())[0]]);
  });
});
