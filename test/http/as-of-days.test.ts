// `as_of` for several days: what each day alone gives, one after the other.
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { ENTITIES } from "../../src/catalog/index.js";
import { formatDays } from "../../src/dates.js";
import { createToken } from "../../src/store/tokens.js";
import { expectSameInEveryFormat } from "../support/formats.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";
import { size } from "../support/size.js";

let server: TestServer;
let secret: string;

/** Weekdays of the first half of 2024 are open; the calendar ends in the middle of a month. */
const CALENDAR = `SELECT 'SSE' AS exchange, d::DATE AS cal_date, (isodow(d) < 6)::BIGINT AS is_open
  FROM generate_series(DATE '2024-01-01', DATE '2024-06-12', INTERVAL 1 DAY) t(d)`;

/** Three reports of each of five stocks, the first of them corrected later. */
const INCOME = `SELECT printf('%06d.SZ', s) AS ts_code, d + s::INT AS ann_date, d + s::INT AS f_ann_date, p AS end_date,
  '1' AS report_type, '1' AS comp_type, f AS update_flag, s * 100 + n AS total_revenue
  FROM range(1, 6) t(s), (VALUES (DATE '2024-01-25', DATE '2023-09-30', '0', 1), (DATE '2024-02-26', DATE '2023-12-31', '0', 2),
    (DATE '2024-03-28', DATE '2023-09-30', '1', 3), (DATE '2024-04-24', DATE '2024-03-31', '0', 4)) r(d, p, f, n)`;

const MEMBERS = `SELECT '801010.SI' AS index_code, printf('%06d.SZ', s) AS con_code, DATE '2024-01-01' + (s * 7)::INT AS in_date,
  CASE WHEN s % 2 = 0 THEN DATE '2024-04-01' END AS out_date, CASE WHEN s % 2 = 0 THEN 'N' ELSE 'Y' END AS is_new
  FROM range(1, 20) t(s)`;

const STOCKS = `SELECT printf('%06d.SZ', s) AS ts_code, 'name' || month(d) AS name, d AS snapshot_date,
  CASE WHEN s = 1 THEN DATE '2024-03-15' END AS delist_date
  FROM range(1, 6) t(s), (VALUES (DATE '2024-01-10'), (DATE '2024-03-08'), (DATE '2024-05-09')) r(d)`;

beforeAll(async () => {
  const root = await temporaryFolder();
  await publishRows(root, { trade_cal: CALENDAR, income: INCOME, index_member: MEMBERS, stock_list: STOCKS });
  secret = await createToken(root, "income", { entities: ["income"], expires: null }, new Date());
  server = await serve(root);
});

const path = (entity: string, query: string): string => `/api/v1/entities/${entity}?${query}`;

/** The rows of each day, one request for each, with the day in front. */
async function oneByOne(entity: string, days: readonly string[], query = ""): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for (const day of days) {
    const { rows } = await server.json(path(entity, `as_of=${day}${query}`));
    all.push(...rows.map((row) => [day, ...row]));
  }
  return all;
}

async function pageByPage(query: string, limit: number): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for (let cursor = ""; ;) {
    const { rows, count, next_cursor, truncated } = await server.json(`${query}&limit=${limit}${cursor}`);
    expect(count).toBeLessThanOrEqual(limit);
    expect(truncated).toBe(next_cursor !== null);
    all.push(...rows);
    if (next_cursor === null) return all;
    cursor = `&cursor=${next_cursor}`;
  }
}

const problem = async (query: string): Promise<{ status: number; code: string; parameter?: string; detail: string }> =>
  (await (await server.get(query)).json()) as never;

describe("as_of for several days", () => {
  test("gives what each day alone gives, in every order, page by page and at once", async () => {
    const day = fc.integer({ min: 1, max: 150 }).map((n) => new Date(Date.UTC(2024, 0, n)).toISOString().slice(0, 10));
    const question = fc.record({
      entity: fc.constantFrom("income", "index_member", "stock_list"),
      days: fc.uniqueArray(day, { minLength: 2, maxLength: 3 }),
      latest: fc.boolean(),
      order: fc.constantFrom("asc", "desc"),
      code: fc.boolean(),
      limit: fc.integer({ min: 3, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(question, async ({ entity, days, latest, order, code, limit }) => {
        const name = entity === "index_member" ? "con_code" : "ts_code";
        const filter = code ? `&${name}=000002.SZ,000004.SZ` : "";
        const query = `&order=${order}${latest && entity !== "stock_list" ? "&latest=true" : ""}${filter}`;
        const sorted = days.map((one) => one.replaceAll("-", "")).sort();
        const expected = await oneByOne(entity, order === "asc" ? sorted : sorted.toReversed(), query);
        const asked = path(entity, `as_of=${days.join()}${query}`);
        const { rows, columns } = await server.json(asked);
        expect(columns[0]).toEqual({ name: "as_of", dtype: "string" });
        expect(rows).toEqual(expected);
        expect(await pageByPage(asked, limit)).toEqual(expected);
      }),
      { numRuns: size("DAYS", 6, 100) },
    );
  }, 120_000);

  test("has the column as_of before the requested ones, in every format", async () => {
    const query = path("income", "as_of=20240131,20240329&latest=true&fields=ts_code,total_revenue");
    await expectSameInEveryFormat(server, query, ["as_of", "ts_code", "total_revenue"]);
  });

  test("has the column for a list of one day too, and each day once", async () => {
    const expected = await oneByOne("income", ["20240301"]);
    expect((await server.json(path("income", "as_of=20240301,2024-03-01"))).rows).toEqual(expected);
    expect((await server.json(path("income", "as_of=20240301&as_of=20240301"))).rows).toEqual(expected);
  });

  test("has a cursor only for the same days, and says in headers where a page ends", async () => {
    const query = path("income", "as_of=20240131,20240329&format=csv");
    const page = await server.get(`${query}&limit=2`);
    expect(page.headers.get("x-truncated")).toBe("true");
    const cursor = page.headers.get("x-next-cursor")!;
    expect((await server.get(`${query}&limit=2&cursor=${cursor}`)).status).toBe(200);
    expect(await problem(path("income", `as_of=20240131,20240330&cursor=${cursor}`))).toMatchObject({
      code: "invalid_cursor",
    });
    expect(await problem(path("income", `as_of=20240131&cursor=${cursor}`))).toMatchObject({ code: "invalid_cursor" });
  });

  test("is answered with 304 while nothing has changed", async () => {
    const query = path("income", "as_of=20240131,20240329");
    const tag = (await server.get(query)).headers.get("etag")!;
    expect((await server.get(query, { "If-None-Match": tag })).status).toBe(304);
    expect((await server.get(`${query},20240330`, { "If-None-Match": tag })).status).toBe(200);
  });
});

describe("as_of_days", () => {
  const months = (start: string, end: string): string =>
    path("income", `as_of_days=month_end&as_of_start=${start}&as_of_end=${end}&latest=true`);

  test("gives the last trading days of the months that end in the range and in the calendar", async () => {
    const expected = await oneByOne(
      "income",
      ["20240131", "20240229", "20240329", "20240430", "20240531"],
      "&latest=true",
    );
    expect((await server.json(months("20240101", "20240612"))).rows).toEqual(expected);
    expect(await pageByPage(months("20240101", "20240612"), 4)).toEqual(expected);
    const march = await oneByOne("income", ["20240329"], "&latest=true");
    expect((await server.json(months("20240301", "20240429"))).rows).toEqual(march);
    expect((await server.json(months("20240301", "20240315"))).rows).toEqual([]);
  });

  test("gives the last trading days of the weeks", async () => {
    const weeks = path("income", "as_of_days=week_end&as_of_start=20240318&as_of_end=20240405&fields=ts_code");
    const { rows } = await server.json(weeks);
    expect([...new Set(rows.map(([day]) => day))]).toEqual(["20240322", "20240329", "20240405"]);
  });

  test("needs a token that covers the calendar", async () => {
    const answer = async (query: string): Promise<unknown> => {
      const headers = { Authorization: `Bearer ${secret}` };
      return await (await server.get(query, headers)).json();
    };
    expect(await answer(months("20240101", "20240301"))).toMatchObject({
      code: "forbidden",
      hint: "as_of_days needs trade_cal in addition to income",
    });
    expect(await answer(path("income", "as_of=20240131,20240229"))).toMatchObject({ truncated: false });
  });

  test.each([
    ["as_of_days=month_ends&as_of_start=20240101&as_of_end=20240301", "invalid_parameter", "as_of_days"],
    ["as_of_days=month_end&as_of_end=20240301", "contradictory_parameters", "as_of_start"],
    ["as_of_days=month_end&as_of_start=20240301", "contradictory_parameters", "as_of_end"],
    ["as_of_start=20240301", "contradictory_parameters", "as_of_days"],
    ["as_of_days=month_end&as_of_start=20240301&as_of_end=20240201", "contradictory_parameters", "as_of_start"],
    [
      "as_of_days=month_end&as_of_start=20240101&as_of_end=20240301&as_of=20240101",
      "contradictory_parameters",
      "as_of_days",
    ],
    ["as_of_days=month_end&as_of_start=20230101&as_of_end=20240301", "outside_calendar", "as_of_start"],
    ["as_of_days=month_end&as_of_start=20240101&as_of_end=20240701", "outside_calendar", "as_of_end"],
    ["as_of=20240101,", "invalid_parameter", "as_of"],
    ["as_of=20240101,20240230", "invalid_parameter", "as_of"],
    [`as_of=${Array.from({ length: 367 }, (_, i) => formatDays(i)).join()}`, "invalid_parameter", "as_of"],
  ])("%s is refused", async (query, code, parameter) => {
    expect(await problem(path("income", query))).toMatchObject({ code, parameter });
  });

  test("is refused where nothing is announced, and in the stock list beside other dates", async () => {
    expect(await problem(path("daily", "as_of=20240131,20240229"))).toMatchObject({ code: "as_of_not_supported" });
    expect(await problem(path("daily", "as_of_days=month_end"))).toMatchObject({ code: "as_of_not_supported" });
    const both = path("stock_list", "as_of=20240131,20240229&start_date=20240101");
    expect(await problem(both)).toMatchObject({ code: "contradictory_parameters" });
    const known = ENTITIES.filter(({ pointInTime }) => pointInTime !== null).map(({ name }) => name);
    for (const name of known) expect((await server.get(path(name, "as_of=20240131,20240229"))).status).toBe(200);
  });
});
