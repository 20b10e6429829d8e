// The client against a real server, and through a proxy that simulates network faults.
import { tableFromIPC } from "apache-arrow";
import { afterEach, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { ENTITIES } from "../../src/catalog/index.js";
import {
  createClient,
  IncompleteAnswerError,
  ProblemError,
  TapehouseError,
  type Client,
  type DailyRow,
} from "../../src/client/index.js";
import { hasZstd } from "../../src/zstd.js";
import { describeInBrowser, openPage, serveClient } from "../support/browser.js";
import { demoLake } from "../support/demo.js";
import {
  cutsChunks,
  cutsLength,
  drops,
  type Fault,
  type FaultyProxy,
  head,
  openFaultyProxy,
  passes,
  refuses,
} from "../support/faulty-proxy.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";
import "../support/zstd.js";

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const gathered: T[] = [];
  for await (const item of items) gathered.push(item);
  return gathered;
}

let server: TestServer;
let proxy: FaultyProxy;
let client: Client;
let careful: Client;
let careless: Client;

beforeAll(async () => {
  server = await serve(await demoLake({ days: 120 }));
  proxy = await openFaultyProxy(server);
  const { url } = proxy;
  client = createClient({ url: server.url, token: TOKEN });
  careful = createClient({ url, token: TOKEN, retries: 3, backoff: 1 });
  careless = createClient({ url, token: TOKEN, retries: 0 });
});

afterEach(() => {
  proxy.reset();
});

const BAR = { start_date: 20251201, end_date: "2025-12-31" };

describe("rows", () => {
  test("are those of the JSON answer, as objects", async () => {
    const { columns, rows } = await server.json("/api/v1/entities/daily?start_date=20251201&end_date=20251231");
    const expected = rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]])));
    const answer = client.daily(BAR);
    expect(await answer.all()).toEqual(expected);
    expect(answer.dataVersion).toBe((await client.versions())[0]);
    const some: DailyRow[] = [];
    for await (const row of client.daily(BAR)) if (some.push(row) === 3) break;
    expect(some).toEqual(expected.slice(0, 3));
  });

  test("have the requested columns, also in their types", async () => {
    const rows = await client.daily({ ...BAR, fields: ["close", "ts_code"], limit: 2 }).all();
    expect(rows.map((row) => Object.keys(row))).toEqual(Array(2).fill(["close", "ts_code"]));
    expectTypeOf(rows).toEqualTypeOf<Pick<DailyRow, "close" | "ts_code">[]>();
    // @ts-expect-error no such column
    client.daily({ fields: ["closee"] });
    // @ts-expect-error no announcement dates here
    client.daily({ as_of: 20240101 });
  });

  test.each(ENTITIES.map(({ name }) => name))("of %s come by its method", async (name) => {
    const methods = client as unknown as Record<string, Client["daily"]>;
    expect(await methods[name]!({ limit: 2 }).all()).toHaveLength(2);
  });

  test("of a panel have columns of several entities", async () => {
    const bars = await client.daily(BAR).all();
    const rows = await client.panel(["daily:close", "daily_basic:pe"], BAR).all();
    expect(rows.map((row) => [row.trade_date, row["daily.close"]])).toEqual(
      bars.map((bar) => [bar.trade_date, bar.close]),
    );
    const long = await client.panel("daily:close,daily_basic:pe", { ...BAR, layout: "long" }).all();
    expect(long.map(({ field }) => field)).toEqual(rows.flatMap(() => ["daily.close", "daily_basic.pe"]));
  });

  test("as of several days say of which", async () => {
    const params = { as_of: [20250630, 20251231], ts_code: "600519.SH", fields: ["roe"] } as const;
    const rows = await client.fina_indicator(params).all();
    expect([...new Set(rows.map((row) => row.as_of))]).toEqual(["20250630", "20251231"]);
  });

  test("come in pages that are exact, and as bytes of other formats", async () => {
    const whole = await client.daily(BAR).all();
    const pages = await gather(client.daily(BAR).pages(50));
    expect(pages.flat()).toEqual(whole);
    expect(pages.length).toBe(Math.ceil(whole.length / 50));
    const bytes = Buffer.concat(await gather(client.daily(BAR).bytes("arrow")));
    expect(tableFromIPC(bytes).numRows).toBe(whole.length);
  });

  test("contain dates in Arrow and Parquet, or text on request", async () => {
    const typeOf = async (options?: { dates: "text" | "date" }) => {
      const bytes = Buffer.concat(await gather(client.daily({ ...BAR, limit: 3 }).bytes("arrow", options)));
      return String(tableFromIPC(bytes).schema.fields[1]!.type);
    };
    expect([await typeOf(), await typeOf({ dates: "text" })]).toEqual(["Date32<DAY>", "Utf8"]);
    const [csv] = await gather(client.daily({ ...BAR, limit: 1, fields: ["trade_date"] }).bytes("csv"));
    expect(Buffer.from(csv!).toString()).toBe("trade_date\n20251201\n");
    await expect(gather(client.daily(BAR).bytes("csv", { dates: "date" }))).rejects.toMatchObject({
      parameter: "dates",
    });
    const panel = Buffer.concat(await gather(client.panel("daily:close", { ...BAR, limit: 3 }).bytes("parquet")));
    expect(panel.subarray(0, 4).toString()).toBe("PAR1");
  });

  test("come as compressed Arrow on request, where the server has zstd", async () => {
    const plain = Buffer.concat(await gather(client.daily(BAR).bytes("arrow", { compression: "none" })));
    const asked = gather(client.daily(BAR).bytes("arrow", { compression: "zstd" }));
    if (!hasZstd) {
      await expect(asked).rejects.toMatchObject({ parameter: "compression", allowed: ["none"] });
      return;
    }
    const packed = Buffer.concat(await asked);
    expect(packed.length).toBeLessThan(plain.length);
    const [wanted, got] = [tableFromIPC(plain), tableFromIPC(packed)];
    expect(got.schema.fields.map(({ name }) => [...got.getChild(name)!])).toEqual(
      wanted.schema.fields.map(({ name }) => [...wanted.getChild(name)!]),
    );
  });

  test("are complete if the server has a limit of its own; for bytes that is an error", async () => {
    const limited = await serve(await demoLake({ days: 40 }), { defaultLimit: "100" });
    const reader = createClient({ url: limited.url, token: TOKEN });
    expect((await reader.daily().all()).length).toBeGreaterThan(300);
    await expect(gather(reader.daily().bytes("csv"))).rejects.toThrow(TapehouseError);
  });
});

const CUTS: [string, Fault][] = [0, 0.4, 0.99].flatMap((part) => [
  [`after ${part} of the length`, cutsLength(part)],
  [`after ${part} of the chunks`, cutsChunks(part)],
]);

describe("a response that was cut off", () => {
  test.each(CUTS)("%s is an error", async (_, fault) => {
    proxy.faults.push(fault);
    await expect(careless.daily(BAR).all()).rejects.toThrow(TapehouseError);
    proxy.faults.push(fault);
    await expect(gather(careless.daily(BAR).bytes("arrow"))).rejects.toThrow(TapehouseError);
  });

  test.each(CUTS)("%s is requested again in its version, without repeated rows", async (_, fault) => {
    proxy.faults.push(fault, drops, refuses(503));
    expect(await careful.daily(BAR).all()).toEqual(await client.daily(BAR).all());
    expect(proxy.asked).toHaveLength(4);
  });

  test("names its version when it is requested again", async () => {
    proxy.faults.push(cutsChunks(0.9));
    await careful.daily(BAR).all();
    const version = (await client.versions())[0]!;
    expect(proxy.asked.map((path) => new URL(path, server.url).searchParams.get("data_version"))).toEqual([
      null,
      version,
    ]);
  });

  test("whose Arrow has no end is an error although it is complete for HTTP", async () => {
    proxy.faults.push((response, answer, body) => passes(response, answer, body.subarray(0, -8)));
    const bytes = careless.daily(BAR).bytes("arrow");
    await expect(gather(bytes)).rejects.toThrow(IncompleteAnswerError);
  });
});

describe("thousands of codes", () => {
  const codes = [
    ...Array.from({ length: 5_000 }, (_, i) => `6${String(i).padStart(5, "0")}.SH`),
    ...["000001.SZ", "300750.SZ", "600519.SH"],
  ];
  const QUERY = "/api/v1/entities/daily/query";

  test("are one request, with the rows and the order of any other", async () => {
    const expected = (await client.daily(BAR).all()).filter((row) => codes.includes(row.ts_code));
    expect(expected.length).toBeGreaterThan(20);
    expect(await careless.daily({ ...BAR, ts_code: codes }).all()).toEqual(expected);
    expect((await gather(careless.daily({ ...BAR, ts_code: codes }).pages(7))).flat()).toEqual(expected);
    const bytes = Buffer.concat(await gather(careless.daily({ ...BAR, ts_code: codes.join() }).bytes("arrow")));
    expect(tableFromIPC(bytes).numRows).toBe(expected.length);
    expect([...new Set(proxy.asked)]).toEqual([QUERY]);
    const panel = await client.panel("daily:close", { ...BAR, codes }).all();
    expect(panel.map((row) => row["daily.close"])).toEqual(expected.map(({ close }) => close));
  });

  test("are requested again in their version if the response was cut off", async () => {
    proxy.faults.push(cutsChunks(0.6), drops, refuses(503));
    expect(await careful.daily({ ...BAR, ts_code: codes }).all()).toEqual(
      await client.daily({ ...BAR, ts_code: codes }).all(),
    );
    expect(proxy.asked).toEqual([QUERY, QUERY, QUERY, QUERY]);
  });

  test("are refused with the reason, whether the body was read or not", async () => {
    const wrong = createClient({ url: server.url, token: "wrong", retries: 0 });
    await expect(wrong.daily({ ts_code: codes }).all()).rejects.toMatchObject({ code: "unauthorized" });
    const bare = client.daily({ ts_code: [...codes, "600519"] }).all();
    await expect(bare).rejects.toMatchObject({ code: "invalid_parameter", parameter: "ts_code" });
  });

  test("are requested again if a proxy sends the response to another query", async () => {
    proxy.faults.push((response, answer, body) => head(response, answer, { "x-answer-to": "00000000" }).end(body));
    expect(await careful.daily({ ...BAR, ts_code: codes, limit: 2 }).all()).toHaveLength(2);
    expect(proxy.asked).toEqual([QUERY, QUERY]);
  });
});

describe("a refusal", () => {
  test("is an error with code, parameter, allowed values and hint", async () => {
    const refused = await client
      .daily({ ...({ start_dae: 1 } as object) })
      .all()
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ProblemError);
    const told = { status: 400, code: "unknown_parameter", parameter: "start_dae", hint: "did you mean start_date?" };
    expect(refused).toMatchObject({ ...told, allowed: expect.arrayContaining(["start_date"]) });
  });

  test.each([429, 503])("with status %i is retried, with another status not", async (status) => {
    proxy.faults.push(refuses(status));
    expect(await careful.versions()).toEqual(await client.versions());
    proxy.faults.push(refuses(502));
    await expect(careful.versions()).rejects.toMatchObject({ code: "http_502" });
    expect(proxy.asked).toHaveLength(3);
  });
});

describe("changes between two versions", () => {
  test("are read like rows", async () => {
    const version = (await client.versions())[0]!;
    const answer = client.changes("daily", { from: version }, { start_date: 20250101, limit: 5 });
    expect([await answer.all(), answer.dataVersion]).toEqual([[], version]);
    expect(await client.at(version).changes("daily", { from: version }).all()).toEqual([]);
  });
});

describe("statistics of the columns", () => {
  test("are those of all rows, or of some columns", async () => {
    const rows = await client.daily({ fields: ["close"] }).all();
    const found = await client.statistics("daily", { fields: ["close", "trade_date"] });
    const closes = rows.map(({ close }) => close!);
    expect([found.entity, found.data_version, found.rows]).toEqual([
      ...["daily", (await client.versions())[0]],
      rows.length,
    ]);
    expect(found.columns.map(({ name }) => name)).toEqual(["close", "trade_date"]);
    expect(found.columns[0]).toMatchObject({ distinct: new Set(closes).size, min: Math.min(...closes) });
    expect(await (await client.pin()).statistics("daily", { fields: ["close", "trade_date"] })).toEqual(found);
  });
});

describe("the rest of the API", () => {
  test("has the calendar, gaps, the catalog and health", async () => {
    const days = (await client.calendar({ start_date: 20251201, end_date: 20251231, is_open: 1 })).map(
      ({ cal_date }) => cal_date,
    );
    expect(await client.shift(days[0]!, 2)).toBe(days[2]);
    expect(await client.gaps("daily", { start_date: 20251201, end_date: 20251210 })).toEqual([]);
    expect(await client.gaps("daily", { excused: true })).toEqual([]);
    expect((await client.meta()).entities.daily!.available).toBe(true);
    expect((await client.health()).status).toBe("ok");
  });

  test("reads one version if it is pinned", async () => {
    const pinned = await client.pin();
    expect(pinned.dataVersion).toBe((await client.versions())[0]);
    expect(await pinned.daily(BAR).all()).toEqual(await client.daily(BAR).all());
    const never = client.at("2020-01-01T00:00:00.000+08:00");
    await expect(never.daily().all()).rejects.toMatchObject({ code: "unknown_version" });
    expect(() => pinned.daily({ data_version: "2020-01-01T00:00:00.000+08:00" })).toThrow("pinned");
  });
});

describeInBrowser("in a browser", () => {
  test("reads rows when it is loaded from dist", async () => {
    const origin = await serveClient();
    const open = await serve(await demoLake({ days: 40 }), { corsOrigin: origin });
    const { page } = await openPage(origin);
    await page.goto(origin);
    // As text, because the test's compiler would rewrite the import.
    const rows = await page.evaluate(`import("${origin}/client/index.js").then(({ createClient }) =>
      createClient({ url: "${open.url}", token: "${TOKEN}" }).daily({ limit: 3 }).all())`);
    expect(rows).toEqual(await createClient({ url: open.url, token: TOKEN }).daily({ limit: 3 }).all());
  });
});
