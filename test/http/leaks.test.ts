// What a backtest must not see: each test is a way in which later knowledge could reach an earlier day.
import { beforeAll, describe, expect, test } from "vitest";
import { ENTITIES } from "../../src/catalog/index.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";

let server: TestServer;
let root: string;

const rowsOf = async (query: string): Promise<readonly (readonly unknown[])[]> =>
  (await server.json(`/api/v1/entities/${query}`)).rows;

/** Two weeks of January 2024 with a factor of 1 in the first and of 2 in the second. */
const DAYS = `(SELECT d::DATE AS trade_date FROM range(DATE '2024-01-08', DATE '2024-01-20', INTERVAL 1 DAY) r(d) WHERE isodow(d) <= 5)`;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, {
    namechange: `SELECT * FROM (VALUES
      ('000005.SZ', '世纪星源', DATE '1999-01-01', DATE '2024-01-14', NULL),
      ('000005.SZ', 'ST星源', DATE '2024-01-15', NULL, DATE '2024-01-12')) t(ts_code, name, start_date, end_date, ann_date)`,
    daily: `SELECT '000001.SZ' AS ts_code, trade_date, 10 AS close FROM ${DAYS}`,
    adj_factor: `SELECT '000001.SZ' AS ts_code, trade_date, CASE WHEN trade_date < '2024-01-15' THEN 1 ELSE 2 END AS adj_factor
      FROM ${DAYS}`,
    weekly: `SELECT '000001.SZ' AS ts_code, d AS trade_date, 10 AS close
      FROM (VALUES (DATE '2024-01-12'), (DATE '2024-01-19')) t(d)`,
  });
  server = await serve(root);
});

describe("as of a day", () => {
  test("a name, and with it special treatment, is unknown before it is announced", async () => {
    const names = (asOf: string) => rowsOf(`namechange?fields=name,end_date&as_of=${asOf}`);
    expect(await names("20240111")).toEqual([["世纪星源", null]]);
    expect(await names("20240112")).toEqual([
      ["世纪星源", null],
      ["ST星源", null],
    ]);
    expect(await names("20240114")).toContainEqual(["世纪星源", "20240114"]);
  });

  test("no bar, valuation, factor, limit, suspension or auction is given, because each is of its own day", async () => {
    for (const { name } of ENTITIES.filter(({ store }) => store === "market" || store === "auction")) {
      const response = await server.get(`/api/v1/entities/${name}?as_of=20240110`);
      expect([name, response.status, ((await response.json()) as { code: string }).code]).toEqual([
        name,
        400,
        "as_of_not_supported",
      ]);
    }
  });
});

describe("up to a day", () => {
  test("a weekly bar is left out until the last day of its week", async () => {
    const bars = (end: string) => rowsOf(`weekly?fields=trade_date&end_date=${end}`);
    expect(await bars("20240118")).toEqual([["20240112"]]);
    expect(await bars("20240119")).toEqual([["20240112"], ["20240119"]]);
  });

  test("prices that are adjusted forward use no later factor", async () => {
    const closes = async (end: string) =>
      new Set((await rowsOf(`daily?fields=close&adjust=forward&start_date=20240108&end_date=${end}`)).flat());
    expect(await closes("20240112")).toEqual(new Set([10]));
    expect(await closes("20240116")).toEqual(new Set([5, 10]));
  });

  test("prices that are adjusted backward are the same whatever comes later", async () => {
    const closes = (end: string) => rowsOf(`daily?fields=trade_date,close&adjust=backward&end_date=${end}`);
    const early = await closes("20240112");
    expect(early).toHaveLength(5);
    expect((await closes("20240119")).slice(0, 5)).toEqual(early);
  });
});

test("a pinned version shows no correction of a bar that came later", async () => {
  const version = encodeURIComponent((await server.json("/api/v1/entities/daily?limit=1")).data_version);
  const corrected = await publishRows(root, {
    daily: `SELECT '000001.SZ' AS ts_code, DATE '2024-01-08' AS trade_date, 99 AS close`,
  });
  const close = (query: string) => rowsOf(`daily?fields=close&start_date=20240108&end_date=20240108${query}`);
  await expect.poll(() => close(""), { timeout: 10_000 }).toEqual([[99]]);
  expect(await close(`&data_version=${version}`)).toEqual([[10]]);
  expect(await close(`&data_version=${encodeURIComponent(corrected!.data_version)}`)).toEqual([[99]]);
});
