// The rules of the API's contract, a sentence each, against a real server on the demo market.
import { beforeAll, describe, expect, test } from "vitest";
import { ENTITIES, ENTITY_NAMES } from "../../src/catalog/index.js";
import { DTYPES, STORES } from "../../src/catalog/types.js";
import { demoLake } from "../support/demo.js";
import { ENVELOPE_KEYS, serve, TOKEN, type Envelope, type TestServer } from "../support/server.js";

let server: TestServer;
const answers = new Map<string, Envelope>();

beforeAll(async () => {
  server = await serve(await demoLake({ days: 300 }));
  for (const name of ENTITY_NAMES) answers.set(name, await server.json(`/api/v1/entities/${name}?limit=2000`));
});

const record = async (path: string): Promise<Record<string, unknown>> =>
  (await (await server.get(path)).json()) as Record<string, unknown>;
const valuesOf = ({ columns, rows }: Envelope, name: string): readonly unknown[] => {
  const at = columns.findIndex((column) => column.name === name);
  return rows.map((row) => row[at]);
};

describe.each(ENTITIES.map((entity) => [entity.name, entity] as const))("the envelope of %s", (name, entity) => {
  test("has the seven keys in order and names the entity", () => {
    const answer = answers.get(name)!;
    expect(Object.keys(answer)).toEqual(ENVELOPE_KEYS);
    expect(answer.entity).toBe(name);
  });

  test("has one object a column, with name and dtype, in the entity's order", () => {
    const expected = entity.columns.map((column) => ({ name: column.name, dtype: DTYPES[column.type] }));
    expect(answers.get(name)!.columns).toEqual(expected);
  });

  test("has rows as long as its columns, whose values are of the dtype or null, and counts them", () => {
    const { columns, rows, count } = answers.get(name)!;
    const types = { string: "string", float64: "number", int64: "number" } as Record<string, string>;
    const wrong = rows.filter(
      (row) => row.length !== columns.length || row.some((v, i) => v !== null && typeof v !== types[columns[i]!.dtype]),
    );
    expect([wrong, count, rows.length > 0]).toEqual([[], rows.length, true]);
  });

  test("writes dates as YYYYMMDD, and next_cursor is null exactly where it is not truncated", () => {
    const answer = answers.get(name)!;
    for (const column of entity.columns.filter(({ type }) => type === "date")) {
      const odd = valuesOf(answer, column.name).filter((value) => value !== null && !/^\d{8}$/.test(value as string));
      expect([column.name, odd]).toEqual([column.name, []]);
    }
    expect(answer.next_cursor === null).toBe(!answer.truncated);
  });
});

describe("parameters", () => {
  test("limit caps the number of rows", async () => {
    const { count, truncated } = await server.json("/api/v1/entities/daily?limit=7");
    expect([count, truncated]).toEqual([7, true]);
  });

  test("index_basic.market filters, and a market that does not exist gives an empty result", async () => {
    expect(new Set(valuesOf(await server.json("/api/v1/entities/index_basic?market=CSI"), "market"))).toEqual(
      new Set(["CSI"]),
    );
    const { rows, count } = await server.json("/api/v1/entities/index_basic?market=NYSE");
    expect([rows, count]).toEqual([[], 0]);
  });

  test("index_classify.level filters by L1, L2 and L3", async () => {
    for (const level of ["L1", "L2", "L3"]) {
      const answer = await server.json(`/api/v1/entities/index_classify?level=${level}`);
      expect(new Set(valuesOf(answer, "level"))).toEqual(new Set([level]));
    }
  });

  test.each([
    ["index_member", "in_date"],
    ["research_report", "trade_date"],
    ["anns_d", "ann_date"],
  ])("as_of leaves in %s only rows whose announcement date is on or before it", async (entity, column) => {
    const all = valuesOf(answers.get(entity)!, column).map(String).sort();
    const asOf = all[all.length >> 1]!;
    const known = valuesOf(await server.json(`/api/v1/entities/${entity}?as_of=${asOf}`), column).map(String);
    expect([known.length > 0, known.filter((date) => date > asOf)]).toEqual([true, []]);
  });

  test("trade_cal holds SSE alone: the default, and empty for any other exchange", async () => {
    expect(new Set(valuesOf(answers.get("trade_cal")!, "exchange"))).toEqual(new Set(["SSE"]));
    expect((await server.json("/api/v1/entities/trade_cal?exchange=SZSE")).count).toBe(0);
    expect(new Set(valuesOf(await server.json("/api/v1/entities/trade_cal?is_open=1"), "is_open"))).toEqual(
      new Set([1]),
    );
  });

  test("stock_list without a time parameter is the latest snapshot, delisted stocks included", async () => {
    const latest = answers.get("stock_list")!;
    const { entities } = (await record("/api/v1/meta")) as { entities: Record<string, { data_end: string }> };
    expect(new Set(valuesOf(latest, "snapshot_date"))).toEqual(new Set([entities["stock_list"]!.data_end]));
  });
});

describe("the other endpoints", () => {
  test("gaps have exactly entity and gaps, each gap its five keys", async () => {
    const { entity, gaps } = await record("/api/v1/entities/stock_list/gaps");
    expect(entity).toBe("stock_list");
    for (const gap of gaps as object[])
      expect(Object.keys(gap)).toEqual(["entity", "ts_code", "gap_start", "gap_end", "kind"]);
    expect(Object.keys(await record("/api/v1/entities/daily/gaps"))).toEqual(["entity", "gaps"]);
  });

  test("the calendar gives all days where is_open is left out, and no day of SZSE", async () => {
    const { days } = (await record("/api/v1/calendar")) as { days: { is_open: number }[] };
    expect(new Set(days.map((day) => day.is_open))).toEqual(new Set([0, 1]));
    expect((await record("/api/v1/calendar?exchange=SZSE"))["days"]).toEqual([]);
  });

  test("the shift goes later for positive n, earlier for negative n, and back again", async () => {
    const { days } = (await record("/api/v1/calendar?is_open=1")) as { days: { cal_date: string }[] };
    const [from, to] = [days[10]!.cal_date, days[13]!.cal_date];
    expect(await record(`/api/v1/calendar/shift?date=${from}&n=3`)).toEqual({
      date: from,
      n: 3,
      exchange: "SSE",
      result: to,
    });
    expect((await record(`/api/v1/calendar/shift?date=${to}&n=-3`))["result"]).toBe(from);
    expect((await server.get(`/api/v1/calendar/shift?date=${from}&n=0`)).status).toBe(400);
  });

  test("the catalog describes every entity", async () => {
    const { data_version, entities } = (await record("/api/v1/meta")) as { data_version: string; entities: object };
    expect(Object.keys(entities)).toEqual(ENTITY_NAMES);
    for (const one of Object.values(entities) as object[]) {
      expect(one).toEqual({
        entity: expect.any(String),
        available: true,
        data_start: expect.stringMatching(/^\d{8}$/),
        data_end: expect.stringMatching(/^\d{8}$/),
        rows: expect.any(Number),
      });
    }
    expect(Number.isNaN(Date.parse(data_version))).toBe(false);
    expect(data_version).toMatch(/[+-]\d{2}:\d{2}$/);
  });

  test("health is public, says ok and names the seven stores", async () => {
    const health = (await (await fetch(`${server.url}/health`)).json()) as Record<string, unknown>;
    expect(Object.keys(health)).toEqual(["status", "data_version", "databases"]);
    expect(health["databases"]).toEqual(Object.fromEntries(STORES.map((store) => [store, true])));
    expect(health["status"]).toBe("ok");
  });

  test.each([
    "/api/v1/entities/daily",
    "/api/v1/entities/daily/gaps",
    "/api/v1/calendar",
    "/api/v1/calendar/shift?date=20250102&n=1",
    "/api/v1/meta",
  ])("%s needs a token in the header Authorization", async (path) => {
    expect((await fetch(server.url + path)).status).toBe(401);
    const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${TOKEN}` } });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  });
});
