import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { ENVELOPE_KEYS, serve, type TestServer } from "../support/server.js";

let server: TestServer;

/** 3 stocks × 400 days of daily; index members; a dividend without a date. */
beforeAll(async () => {
  const root = await temporaryFolder();
  await publishRows(
    root,
    {
      daily: `SELECT printf('%06d.SZ', s) AS ts_code, DATE '2023-01-01' + d::INT AS trade_date, s + d / 100.0 AS close,
                     CASE WHEN d % 7 = 0 THEN NULL ELSE d END AS vol
              FROM range(1, 4) a(s), range(400) b(d)`,
      index_member: `SELECT * FROM (VALUES ('801010.SI', '000001.SZ', DATE '2020-01-01', DATE '2022-01-01', 'N'),
                       ('801010.SI', '000002.SZ', DATE '2021-01-01', NULL, 'Y')) t(index_code, con_code, in_date, out_date, is_new)`,
      dividend: `SELECT '000001.SZ' AS ts_code, NULL::DATE AS ex_date, 1.5 AS cash_div
                 UNION ALL SELECT '000001.SZ', DATE '2023-05-05', 1.5`,
      stock_list: `SELECT '000001.SZ' AS ts_code, '平安银行' AS name, DATE '2023-01-01' + d::INT AS snapshot_date FROM range(10) t(d)`,
    },
    { codeCopy: true },
  );
  server = await serve(root);
});

describe("an entity endpoint", () => {
  test("answers with the envelope's keys in order, and every row in date and code order", async () => {
    const text = await (await server.get("/api/v1/entities/daily")).text();
    const body = JSON.parse(text) as Record<string, unknown>;
    expect(Object.keys(body)).toEqual(ENVELOPE_KEYS);
    const rows = body["rows"] as [string, string][];
    expect(body["count"]).toBe(1200);
    expect(rows).toHaveLength(1200);
    expect(rows).toEqual(rows.toSorted((a, b) => a[1].localeCompare(b[1]) || a[0].localeCompare(b[0])));
    expect(rows[0]!.slice(0, 2)).toEqual(["000001.SZ", "20230101"]);
  });

  test("gives the columns asked for, in the order asked", async () => {
    const { columns, rows } = await server.json(
      "/api/v1/entities/daily?fields=close,ts_code&start_date=20230102&limit=1",
    );
    expect(columns).toEqual([
      { name: "close", dtype: "float64" },
      { name: "ts_code", dtype: "string" },
    ]);
    expect(rows).toEqual([[1.01, "000001.SZ"]]);
  });

  test("filters by code, list, date range and null", async () => {
    expect((await server.json("/api/v1/entities/daily?ts_code=000002.SZ")).count).toBe(400);
    expect((await server.json("/api/v1/entities/daily?ts_code=000002.SZ,000003.SZ&ts_code=000001.SZ")).count).toBe(
      1200,
    );
    const range = "/api/v1/entities/daily?start_date=2023-01-05&end_date=20230106&ts_code=000003.SZ";
    expect((await server.json(range)).rows.map((row) => row[1])).toEqual(["20230105", "20230106"]);
    expect((await server.json("/api/v1/entities/index_member?out_date=null")).rows.map((row) => row[1])).toEqual([
      "000002.SZ",
    ]);
  });

  test.each(["", "&order=desc", "&ts_code=000001.SZ,000003.SZ", "&ts_code=000002.SZ&order=desc", "&fields=close"])(
    "pages add up to the one big read (%s)",
    async (query) => {
      const whole = await server.json(`/api/v1/entities/daily?start_date=20230101${query}`);
      const rows = [];
      let cursor: string | null = null;
      do {
        const next: string = cursor === null ? "" : `&cursor=${cursor}`;
        const page = await server.json(`/api/v1/entities/daily?start_date=20230101${query}&limit=170${next}`);
        expect(page.truncated).toBe(page.next_cursor !== null);
        rows.push(...page.rows);
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(rows).toEqual(whole.rows);
    },
  );

  test("descending is ascending backwards, rows without a date first", async () => {
    const up = await server.json("/api/v1/entities/dividend");
    const down = await server.json("/api/v1/entities/dividend?order=desc");
    expect(up.rows).toHaveLength(2);
    expect(down.rows).toEqual(up.rows.toReversed());
  });

  test("as_of hides values that were not known yet", async () => {
    const { rows } = await server.json("/api/v1/entities/index_member?as_of=20210601&fields=con_code,out_date");
    expect(rows).toEqual([
      ["000001.SZ", null],
      ["000002.SZ", null],
    ]);
    expect((await server.json("/api/v1/entities/index_member?as_of=20200601")).count).toBe(1);
    const flags = await server.json("/api/v1/entities/index_member?as_of=20210601&fields=is_new");
    expect(flags.rows).toEqual([["Y"], ["Y"]]);
    expect((await server.json("/api/v1/entities/index_member?as_of=20210601&is_new=N")).count).toBe(0);
    expect((await server.json("/api/v1/entities/index_member?as_of=20220101&is_new=N&out_date=20220101")).count).toBe(
      1,
    );
  });

  test("stock_list gives the latest snapshot, or the latest on or before as_of", async () => {
    const snapshots = async (query: string) =>
      (await server.json(`/api/v1/entities/stock_list?fields=snapshot_date${query}`)).rows.flat();
    expect(await snapshots("")).toEqual(["20230110"]);
    expect(await snapshots("&as_of=20230104")).toEqual(["20230104"]);
    expect(await snapshots("&as_of=20220104")).toEqual([]);
    expect(await snapshots("&snapshot_date=20230103,20230105")).toEqual(["20230103", "20230105"]);
    expect(await snapshots("&end_date=20230102")).toEqual(["20230101", "20230102"]);
  });

  test("an entity without data is empty, with its columns", async () => {
    const { rows, count, columns } = await server.json("/api/v1/entities/weekly");
    expect([rows, count, columns.length]).toEqual([[], 0, 11]);
  });
});

describe("a malformed request", () => {
  test.each([
    ["/api/v1/entities/daily?start_dae=20240101", 400, "unknown_parameter", /start_dae/],
    ["/api/v1/entities/daily?start_date=20240230", 400, "invalid_parameter", /not a calendar day/],
    ["/api/v1/entities/daily?start_date=2024/01/05", 400, "invalid_parameter", /not a date in a known format/],
    ["/api/v1/entities/daily?end_date=2024-1-5T09:30", 400, "invalid_parameter", /not a date in a known format/],
    ["/api/v1/entities/daily?start_date=05.01.2024", 400, "invalid_parameter", /not a date in a known format/],
    ["/api/v1/entities/daily?start_date=20240101.0", 400, "invalid_parameter", /not a date in a known format/],
    ["/api/v1/entities/daily?start_date=", 400, "invalid_parameter", /empty/],
    ["/api/v1/entities/daily?start_date=20240102&end_date=20240101", 400, "contradictory_parameters", /after/],
    ["/api/v1/entities/daily?limit=0", 400, "invalid_parameter", /limit/],
    ["/api/v1/entities/daily?limit=1&limit=2", 400, "duplicate_parameter", /limit/],
    ["/api/v1/entities/daily?as_of=20240101", 400, "as_of_not_supported", /announcement/],
    ["/api/v1/entities/daily?fields=clse", 400, "invalid_parameter", /clse/],
    ["/api/v1/entities/daily?fields=close,close", 400, "invalid_parameter", /twice/],
    ["/api/v1/entities/daily?close=1", 400, "unknown_parameter", /number column/],
    ["/api/v1/entities/daily?cursor=abc&limit=1", 400, "invalid_cursor", /cursor/],
    ["/api/v1/entities/dayly", 404, "unknown_entity", /dayly/],
    ["/api/v1/nothing", 404, "unknown_route", /nothing/],
  ])("%s is refused with %i %s", async (path, status, code, detail) => {
    const response = await server.get(path);
    const problem = (await response.json()) as Record<string, unknown>;
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toContain("application/problem+json");
    expect(problem["code"]).toBe(code);
    expect(problem["detail"]).toMatch(detail);
  });

  test("needs a valid token", async () => {
    for (const headers of [{ Authorization: "" }, { Authorization: "Bearer wrong" }]) {
      const response = await server.get("/api/v1/meta", headers);
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="tapehouse"']);
    }
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });

  test("only GET and HEAD are supported", async () => {
    const response = await fetch(`${server.url}/api/v1/meta`, { method: "POST" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});
