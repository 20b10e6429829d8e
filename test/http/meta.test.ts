import { beforeAll, describe, expect, test } from "vitest";
import { ENTITY_NAMES } from "../../src/catalog/index.js";
import { createToken } from "../../src/store/tokens.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";

interface Meta {
  readonly data_version: string;
  readonly entities: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly point_in_time: Readonly<Record<string, unknown>>;
  readonly sql: string;
}

let root: string;
let server: TestServer;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, {
    daily: "SELECT '000001.SZ' AS ts_code, DATE '2023-01-01' + d::INT AS trade_date FROM range(10) t(d)",
    index_basic: "SELECT '000001.SH' AS ts_code",
  });
  server = await serve(root);
});

const meta = async (): Promise<Meta> => (await (await server.get("/api/v1/meta")).json()) as Meta;

describe("the catalog endpoint", () => {
  test("describes every entity, with dates and rows for those that have data", async () => {
    const { entities } = await meta();
    expect(Object.keys(entities)).toEqual(ENTITY_NAMES);
    expect(entities["daily"]).toEqual({
      entity: "daily",
      available: true,
      data_start: "20230101",
      data_end: "20230110",
      rows: 10,
    });
    expect(entities["adj_factor"]).toEqual({ entity: "adj_factor", available: false });
    const { data_start, data_end } = entities["index_basic"]!;
    expect([data_start, data_end]).toEqual(Array(2).fill(expect.stringMatching(/^\d{8}$/)));
  });

  test("says when rows and values of an entity are known", async () => {
    const { point_in_time } = await meta();
    const none = { rule: null, known_from: [], period_end: null, hides: [], revisions: null, panel: "day" };
    expect(point_in_time["daily"]).toEqual(none);
    expect(point_in_time["income"]).toEqual({
      rule: "announced",
      known_from: ["f_ann_date", "ann_date"],
      period_end: "end_date",
      hides: [],
      revisions: {
        of: ["ts_code", "end_date", "report_type", "comp_type"],
        date: ["f_ann_date", "ann_date"],
        flag: "update_flag",
      },
      panel: "newest",
    });
    expect(point_in_time["stock_list"]).toMatchObject({
      rule: "snapshot",
      hides: [{ column: "delist_date", known_from: "delist_date", before: null }],
    });
  });

  test("names the same data_version as an entity, the calendar and health", async () => {
    const { data_version } = await meta();
    const health = (await (await fetch(`${server.url}/health`)).json()) as Meta;
    const calendar = (await (await server.get("/api/v1/calendar")).json()) as Meta;
    const daily = await server.json("/api/v1/entities/daily?limit=1");
    expect([health.data_version, calendar.data_version, daily.data_version]).toEqual(Array(3).fill(data_version));
  });

  test("shows only entities that the token covers, and other entities are forbidden", async () => {
    const token = await createToken(root, "narrow", { entities: ["daily"], expires: null }, new Date());
    const headers = { Authorization: `Bearer ${token}` };
    const { entities } = (await (await server.get("/api/v1/meta", headers)).json()) as Meta;
    expect(Object.keys(entities)).toEqual(["daily"]);
    expect((await server.get("/api/v1/entities/daily", headers)).status).toBe(200);
    const refused = await server.get("/api/v1/entities/weekly", headers);
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([403, "forbidden"]);
  });

  test("says whether the token may run SQL, and whether the server does", async () => {
    const token = await createToken(root, "plain", { entities: ["daily"], expires: null }, new Date());
    const narrow = await server.get("/api/v1/meta", { Authorization: `Bearer ${token}` });
    expect([(await meta()).sql, ((await narrow.json()) as Meta).sql]).toEqual(["available", "forbidden"]);
    const without = await serve(root, { sqlProcesses: "0" });
    expect(((await (await without.get("/api/v1/meta")).json()) as Meta).sql).toBe("off");
  });

  test("takes no parameter", async () => {
    expect((await server.get("/api/v1/meta?entity=daily")).status).toBe(400);
  });
});
