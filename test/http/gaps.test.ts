import { readdir, truncate } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { chinaTime, daysAfter, formatDays, parseDate, toDays } from "../../src/dates.js";
import type { Gap } from "../../src/lake/gaps.js";
import { addGap, excuseGaps, resolveGap } from "../../src/store/gaps.js";
import { createToken } from "../../src/store/tokens.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { gapsByHand, smallMarket, sorted, type SmallMarket } from "../support/market.js";
import { describeReal, realFile } from "../support/realdata.js";
import { serve, type TestServer } from "../support/server.js";

/** January 2024: weekdays are open, but for New Year's Day. */
const CALENDAR = `SELECT 'SSE' AS exchange, d::DATE AS cal_date, (isodow(d) <= 5 AND d <> DATE '2024-01-01')::INT AS is_open
  FROM range(DATE '2024-01-01', DATE '2024-02-01', INTERVAL 1 DAY) t(d)`;

/** The last two snapshots: only the latest counts, which has the third stock delisted and no longer lists the fifth. */
const STOCKS = `SELECT * FROM (VALUES
    ('000001.SZ', DATE '1991-04-03', NULL, DATE '2024-01-30'), ('000005.SZ', DATE '1990-12-10', NULL, DATE '2024-01-30'),
    ('000001.SZ', DATE '1991-04-03', NULL, DATE '2024-01-31'), ('000002.SZ', DATE '2024-01-10', NULL, DATE '2024-01-31'),
    ('000003.SZ', DATE '1991-01-14', DATE '2024-01-18', DATE '2024-01-31'), ('000004.SZ', NULL, NULL, DATE '2024-01-31')
  ) t(ts_code, list_date, delist_date, snapshot_date)`;

const values = (rows: readonly string[], columns: string): string =>
  `SELECT * FROM (VALUES ${rows.join(", ")}) t(${columns})`;

const SUSPENSIONS = values(
  [
    `('000001.SZ', DATE '2024-01-16', NULL, 'S')`,
    `('000001.SZ', DATE '2024-01-17', '09:30-10:00', 'S')`,
    `('000001.SZ', DATE '2024-01-22', NULL, 'R')`,
  ],
  "ts_code, trade_date, suspend_timing, suspend_type",
);

/** Every open day from 3 to 26 January of `codes`, without the rows of `lost` ("code day of January"). */
const rowsOf = (codes: readonly string[], lost: readonly string[] = []): string =>
  `SELECT ts_code, cal_date AS trade_date FROM (${CALENDAR}), (${values(
    codes.map((code) => `('${code}')`),
    "ts_code",
  )}) WHERE is_open = 1 AND cal_date BETWEEN DATE '2024-01-03' AND DATE '2024-01-26'
    AND ts_code || ' ' || day(cal_date) NOT IN ('', ${lost.map((row) => `'${row}'`).join(", ")})`;

const gap = (entity: string, ts_code: string | null, gap_start: string, gap_end: string, kind: string): Gap => {
  return { entity, ts_code, gap_start, gap_end, kind };
};

let root: string;
let server: TestServer;

async function gapsOf(path: string, from: TestServer = server): Promise<readonly Gap[]> {
  return ((await from.json(`/api/v1/entities/${path}`)) as unknown as { gaps: readonly Gap[] }).gaps;
}

const daily = entityNamed("daily")!;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, {
    trade_cal: CALENDAR,
    stock_list: STOCKS,
    suspend_d: SUSPENSIONS,
    daily: rowsOf(
      ["000001.SZ", "000002.SZ", "000003.SZ", "159001.SZ"],
      // 11 and 12 January are a Thursday and a Friday, 15 is the Monday after.
      ["11", "12", "15"]
        .flatMap((day) => [`000001.SZ ${day}`, `159001.SZ ${day}`])
        .concat(
          ["16", "17", "22"].map((day) => `000001.SZ ${day}`),
          ["3", "4"].map((day) => `000002.SZ ${day}`),
          ["18", "19"].map((day) => `000003.SZ ${day}`),
          ["000001.SZ", "000002.SZ", "000003.SZ", "159001.SZ"].flatMap((code) => [`${code} 24`, `${code} 25`]),
        ),
    ),
    index_daily: rowsOf(["000300.SH"], ["000300.SH 5", "000300.SH 8", "000300.SH 23"]),
    weekly: rowsOf(["000001.SZ"], ["000001.SZ 11"]),
  });
  server = await serve(root);
});

describe("computed gaps", () => {
  test("answer under exactly two keys, each gap under exactly five", async () => {
    const answer = await server.json("/api/v1/entities/daily/gaps");
    expect(Object.keys(answer)).toEqual(["entity", "gaps"]);
    expect(answer.entity).toBe("daily");
    const { gaps } = answer as unknown as { gaps: readonly Gap[] };
    expect(Object.keys(gaps[0]!)).toEqual(["entity", "ts_code", "gap_start", "gap_end", "kind"]);
  });

  test("are listed stocks without a row and open days without any rows, in one order", async () => {
    expect(await gapsOf("daily/gaps")).toEqual([
      // The weekend between Friday and Monday does not split it; the whole-day suspension on the 16th ends it.
      gap("daily", "000001.SZ", "20240111", "20240115", "missing"),
      // A suspension of half an hour leaves a row to be expected.
      gap("daily", "000001.SZ", "20240117", "20240117", "missing"),
      // A resumption is no suspension.
      gap("daily", "000001.SZ", "20240122", "20240122", "missing"),
      gap("daily", null, "20240124", "20240125", "missing_day"),
    ]);
  });

  test("of an entity that is not one row a stock are the open days without any row", async () => {
    expect(await gapsOf("index_daily/gaps")).toEqual([
      gap("index_daily", null, "20240105", "20240108", "missing_day"),
      gap("index_daily", null, "20240123", "20240123", "missing_day"),
    ]);
    expect(await gapsOf("stock_list/gaps")).toEqual([]);
  });

  test("are none for an entity without a rule, or without data", async () => {
    expect(await gapsOf("weekly/gaps")).toEqual([]);
    expect(await gapsOf("adj_factor/gaps")).toEqual([]);
    expect(await gapsOf("stock_company/gaps")).toEqual([]);
  });

  test("that overlap the requested interval are returned uncut", async () => {
    const between = (start: string, end: string) =>
      gapsOf(`daily/gaps?start_date=${start}&end_date=${end}`).then((gaps) => gaps.map((g) => g.gap_start));
    expect(await between("20240113", "20240114")).toEqual(["20240111"]);
    expect(await between("20240115", "20240117")).toEqual(["20240111", "20240117"]);
    expect(await between("20240116", "20240116")).toEqual([]);
    expect((await gapsOf("daily/gaps?start_date=2024-01-22")).map((g) => g.gap_start)).toEqual([
      "20240122",
      "20240124",
    ]);
    expect((await gapsOf("daily/gaps?end_date=20240111")).map((g) => g.gap_start)).toEqual(["20240111"]);
  });

  test("of one stock are its own and those of the whole market", async () => {
    const of = async (code: string) =>
      (await gapsOf(`daily/gaps?ts_code=${code}`)).map((g) => [g.ts_code, g.gap_start]);
    expect(await of("000002.SZ")).toEqual([[null, "20240124"]]);
    expect(await of("000001.SZ")).toHaveLength(4);
  });

  test.each([
    ["ts_code=000001.SZ,000002.SZ", "ts_code: it has 2 values, and takes one here"],
    ["start_date=20240113,20240114,20240115", "start_date: it has 3 values, and takes one here"],
    ["ts_code=000001.SZ,2", /^ts_code: "000001\.SZ,2" /],
  ])("are not returned for %s: the problem says that one value is expected", async (query, detail) => {
    const answer = await server.get(`/api/v1/entities/daily/gaps?${query}`);
    const expected = typeof detail === "string" ? detail : (expect.stringMatching(detail) as string);
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: "invalid_parameter", detail: expected }]);
  });

  test("go on after the last row of an entity as long as others have rows, and say which days they cover", async () => {
    const own = await temporaryFolder();
    const until = (day: string) => `SELECT * FROM (${rowsOf(["000001.SZ"])}) WHERE trade_date <= DATE '2024-01-${day}'`;
    const first = await publishRows(own, { trade_cal: CALENDAR, daily: until("19"), daily_basic: until("19") });
    const other = await serve(own);
    const covered = async (query: string): Promise<string | null> =>
      (await other.get(`/api/v1/entities/daily_basic/gaps?${query}`)).headers.get("X-Covered");
    expect(await gapsOf("daily_basic/gaps", other)).toEqual([]);
    expect(await covered("")).toBe("20240103/20240119");
    await follow(other, (await publishRows(own, { daily: until("26") }))!.data_version);
    const stopped = gap("daily_basic", null, "20240122", "20240126", "missing_day");
    expect(await gapsOf("daily_basic/gaps", other)).toEqual([stopped]);
    expect(await gapsOf("daily_basic/gaps?end_date=20240119", other)).toEqual([]);
    expect(await covered("")).toBe("20240103/20240126");
    expect(await covered("start_date=20240110")).toBe("20240103/20240126");
    const old = `data_version=${encodeURIComponent(first!.data_version)}`;
    expect([await gapsOf(`daily_basic/gaps?${old}`, other), await covered(old)]).toEqual([[], "20240103/20240119"]);
  });

  test("go as far as is asked for, within the calendar", async () => {
    expect(await gapsOf("index_daily/gaps?start_date=20231201&end_date=20240104")).toEqual([
      gap("index_daily", null, "20240102", "20240102", "missing_day"),
    ]);
    const late = "index_daily/gaps?start_date=20240125&end_date=20240301";
    expect(await gapsOf(late)).toEqual([gap("index_daily", null, "20240129", "20240131", "missing_day")]);
    const { headers } = await server.get(`/api/v1/entities/${late}`);
    expect(headers.get("X-Covered")).toBe("20240103/20240131");
  });

  test("of an entity without rows are the days from the one that is asked for", async () => {
    expect(await gapsOf("adj_factor/gaps?start_date=20240115&end_date=20240117")).toEqual([
      gap("adj_factor", null, "20240115", "20240126", "missing_day"),
    ]);
    expect((await server.get("/api/v1/entities/adj_factor/gaps")).headers.get("X-Covered")).toBe("none");
  });

  test("are none for days that are not over", async () => {
    const own = await temporaryFolder();
    const days = (from: number, to: number) =>
      `SELECT * FROM range(${from}, ${to}) n(n), (SELECT current_date AS today)`;
    await publishRows(own, {
      trade_cal: `SELECT 'SSE' AS exchange, today + n::INTEGER AS cal_date, 1 AS is_open FROM (${days(-9, 10)})`,
      daily: `SELECT '000001.SZ' AS ts_code, today + n::INTEGER AS trade_date FROM (${days(-8, -3)})`,
      stk_limit: `SELECT '000001.SZ' AS ts_code, today + n::INTEGER AS trade_date FROM (${days(-8, 3)})`,
    });
    const other = await serve(own);
    const today = parseDate(chinaTime(new Date()).slice(0, 10))!;
    const [found] = await gapsOf("daily/gaps?end_date=20991231", other);
    expect(found!.gap_end < today && found!.gap_end >= formatDays(toDays(today) - 2)).toBe(true);
    expect(await gapsOf("daily/gaps", other)).toEqual([found]);
  });

  test("end with the days that are over, whatever rows of later days there are", async () => {
    const future = await temporaryFolder();
    const days = (from: number, to: number) =>
      `SELECT * FROM range(${from}, ${to}) n(n), (SELECT current_date AS today)`;
    const stock = "SELECT '000001.SZ' AS ts_code, today + n::INTEGER AS trade_date";
    await publishRows(future, {
      trade_cal: `SELECT 'SSE' AS exchange, today + n::INTEGER AS cal_date, 1 AS is_open FROM (${days(-9, 40)})`,
      index_daily: `${stock} FROM (${days(-8, -4)} UNION ALL ${days(30, 31)})`,
      stk_auction: `${stock} FROM (${days(30, 31)})`,
      stk_limit: `${stock} FROM (${days(-8, -4)})`,
    });
    const server = await serve(future);
    const today = parseDate(chinaTime(new Date()).slice(0, 10))!;
    for (const entity of ["index_daily", "stk_auction", "stk_limit"]) {
      const response = await server.get(`/api/v1/entities/${entity}/gaps?start_date=${daysAfter(today, -9)}`);
      const { gaps } = (await response.json()) as { gaps: readonly Gap[] };
      expect(gaps.filter(({ gap_end }) => gap_end >= today)).toEqual([]);
      expect(response.headers.get("X-Covered")!.split("/")[1]! < today).toBe(true);
    }
  });

  test("need a calendar, and those of stocks a stock list", async () => {
    const bare = await temporaryFolder();
    const rows = rowsOf(["000001.SZ", "000003.SZ"], ["000001.SZ 11", "000001.SZ 24", "000003.SZ 24"]);
    await publishRows(bare, { daily: rows });
    const other = await serve(bare);
    expect(await gapsOf("daily/gaps", other)).toEqual([]);
    const withCalendar = await publishRows(bare, { trade_cal: CALENDAR });
    await follow(other, withCalendar!.data_version);
    expect(await gapsOf("daily/gaps", other)).toEqual([gap("daily", null, "20240124", "20240124", "missing_day")]);
    const withStocks = await publishRows(bare, { stock_list: STOCKS });
    await follow(other, withStocks!.data_version);
    const found = await gapsOf("daily/gaps?end_date=20240111", other);
    expect(found).toContainEqual(gap("daily", "000001.SZ", "20240111", "20240111", "missing"));
    const old = encodeURIComponent(withCalendar!.data_version);
    expect(await gapsOf(`daily/gaps?data_version=${old}`, other)).toHaveLength(1);
  });

  test("go away when the data arrives", async () => {
    const own = await temporaryFolder();
    const lost = rowsOf(["000001.SZ", "000003.SZ"], ["000001.SZ 11"]);
    await publishRows(own, { trade_cal: CALENDAR, stock_list: STOCKS, daily: lost });
    const other = await serve(own);
    const before = gap("daily", "000001.SZ", "20240111", "20240111", "missing");
    expect(await gapsOf("daily/gaps?ts_code=000001.SZ", other)).toEqual([before]);
    const version = await publishRows(own, { daily: rowsOf(["000001.SZ"]) });
    await follow(other, version!.data_version);
    expect(await gapsOf("daily/gaps?ts_code=000001.SZ", other)).toEqual([]);
  });

  test("are an error if a file is damaged", async () => {
    const own = await temporaryFolder();
    await publishRows(own, { trade_cal: CALENDAR, daily: rowsOf(["000001.SZ"]) });
    const other = await serve(own);
    const file = join(other.context.lake.layout.lake, other.context.lake.current().files("daily").byDate[0]!.path);
    await truncate(file, 100);
    const response = await other.get("/api/v1/entities/daily/gaps");
    expect([response.status, await response.json()]).toMatchObject([500, { code: "data_damaged" }]);
  });

  test("are computed only within the calendar, however far from it a row is", async () => {
    const own = await temporaryFolder();
    const stray = `${rowsOf(["000001.SZ"], ["000001.SZ 24"])} UNION ALL SELECT '000001.SZ', DATE '0001-01-01'
                   UNION ALL SELECT '000001.SZ', DATE '9998-12-31'`;
    await publishRows(own, { trade_cal: CALENDAR, daily: stray });
    expect(await gapsOf("daily/gaps", await serve(own))).toEqual([
      gap("daily", null, "20240102", "20240102", "missing_day"),
      gap("daily", null, "20240124", "20240124", "missing_day"),
      gap("daily", null, "20240129", "20240131", "missing_day"),
    ]);
  });

  test("equal those found by checking every stock and day, whatever the market", async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(smallMarket, async (market) => {
        fc.pre(market.rows.length > 0);
        const own = await temporaryFolder();
        await publishRows(own, tablesOf(market), { codeCopy: true });
        const other = await serve(own);
        const byHand = gapsByHand("daily", market);
        found += byHand.length;
        expect(sorted(await gapsOf("daily/gaps", other))).toEqual(sorted(byHand));
        await other.close();
      }),
      { numRuns: 12 },
    );
    expect(found).toBeGreaterThan(0);
  });
});

describe("recorded gaps", () => {
  let own: string;
  let other: TestServer;
  const now = new Date();

  beforeAll(async () => {
    own = await temporaryFolder();
    const lost = ["000001.SZ 11", "000001.SZ 12"];
    await publishRows(own, { trade_cal: CALENDAR, daily: rowsOf(["000001.SZ", "000002.SZ"], lost) });
    other = await serve(own);
  });

  test("are served with the next request, and no longer once they are resolved", async () => {
    const entity = entityNamed("stock_company")!;
    expect(await gapsOf("stock_company/gaps", other)).toEqual([]);
    const added = await addGap(own, entity, { start: "2024-01-02", end: "20240105", code: null, kind: "timeout" }, now);
    expect(await gapsOf("stock_company/gaps", other)).toEqual([
      gap("stock_company", null, "20240102", "20240105", "timeout"),
    ]);
    await resolveGap(own, added.id, now);
    expect(await gapsOf("stock_company/gaps", other)).toEqual([]);
  });

  test("are closed once every open day has rows, of their code if they have one", async () => {
    const add = (start: string, end: string, code: string | null) =>
      addGap(own, daily, { start, end, code, kind: "timeout" }, now);
    await add("20240105", "20240108", null); // every open day has rows
    await add("20240110", "20240112", null); // of the other stock, so it is closed too
    await add("20240110", "20240112", "000001.SZ"); // two days without a row
    await add("20240110", "20240112", "000002.SZ"); // all there
    await add("20240129", "20240131", null); // after the last day that is held
    const left = [
      gap("daily", "000001.SZ", "20240110", "20240112", "timeout"),
      gap("daily", null, "20240129", "20240131", "timeout"),
    ];
    expect(await gapsOf("daily/gaps", other)).toEqual(left);
    const part = await publishRows(own, { daily: `SELECT '000001.SZ' AS ts_code, DATE '2024-01-11' AS trade_date` });
    await follow(other, part!.data_version);
    expect(await gapsOf("daily/gaps", other)).toEqual(left);
    const rest = await publishRows(own, { daily: `SELECT '000001.SZ' AS ts_code, DATE '2024-01-12' AS trade_date` });
    await follow(other, rest!.data_version);
    expect(await gapsOf("daily/gaps", other)).toEqual(left.slice(1));
    const old = encodeURIComponent(part!.data_version);
    expect(await gapsOf(`daily/gaps?data_version=${old}`, other)).toEqual(left);
  });

  test("cannot be recorded twice, with reversed days, or with an invalid kind or code", async () => {
    const add = (change: object) =>
      addGap(own, daily, { start: "20240103", end: "20240104", code: null, kind: "timeout", ...change }, now);
    await add({});
    await expect(add({})).rejects.toThrow(/already recorded/);
    await expect(add({ start: "20240105" })).rejects.toThrow(/starts on 20240105 but ends on 20240104/);
    await expect(add({ end: "20240230" })).rejects.toThrow(/--end: "20240230"/);
    await expect(add({ kind: "Time Out" })).rejects.toThrow(/snake_case/);
    await expect(add({ code: "600519,000001" })).rejects.toThrow(/no code/);
    await expect(resolveGap(own, 4711, now)).rejects.toThrow(/no gap number 4711/);
  });

  test("that are excused are no longer served, but on request with the reason, until the excuse is taken back", async () => {
    const path = "daily/gaps?start_date=20240110&end_date=20240112";
    const mine = await temporaryFolder();
    await publishRows(mine, {
      trade_cal: CALENDAR,
      stock_list: STOCKS,
      daily: rowsOf(["000001.SZ"], ["000001.SZ 11"]),
    });
    // Another stock on that day, so that not the whole day is missing.
    await publishRows(mine, { daily: `SELECT '159001.SZ' AS ts_code, DATE '2024-01-11' AS trade_date` });
    const third = await serve(mine);
    const missing = gap("daily", "000001.SZ", "20240111", "20240111", "missing");
    expect(await gapsOf(`${path}&ts_code=000001.SZ`, third)).toEqual([missing]);
    const days = { start: "20240111", end: "20240111", code: "000001.SZ" };
    const excuse = await excuseGaps(mine, daily, { ...days, reason: "the vendor has no bar" }, now);
    expect(await excuseGaps(mine, daily, { ...days, reason: " the vendor has no bar " }, now)).toEqual(excuse);
    const answer = await third.get(`/api/v1/entities/${path}&ts_code=000001.SZ`);
    expect(await answer.json()).toEqual({ entity: "daily", gaps: [] });
    expect(answer.headers.get("X-Excused-Gaps")).toBe("1");
    expect(await gapsOf(`${path}&ts_code=000001.SZ&excused=true`, third)).toEqual([
      { ...missing, reason: "the vendor has no bar" },
    ]);
    expect(await gapsOf("adj_factor/gaps?excused=true", third)).toEqual([]);
    await resolveGap(mine, excuse.id, now);
    expect(await gapsOf(`${path}&ts_code=000001.SZ`, third)).toEqual([missing]);
    expect(await gapsOf(`${path}&excused=true`, third)).toEqual([]);
  });

  test("recorded by an operator can be excused too, and one excuse of all codes excuses every gap of its days", async () => {
    const mine = await temporaryFolder();
    await publishRows(mine, { trade_cal: CALENDAR, stock_list: STOCKS, daily: rowsOf(["000001.SZ", "159001.SZ"]) });
    await publishRows(mine, { index_daily: rowsOf(["000300.SH"], ["000300.SH 11"]) });
    const third = await serve(mine);
    await addGap(
      mine,
      entityNamed("index_daily")!,
      { start: "20240129", end: "20240131", code: null, kind: "cut" },
      now,
    );
    expect(await gapsOf("index_daily/gaps", third)).toHaveLength(2);
    const all = { start: "20240101", end: "20240131", code: null, reason: "not used" };
    await excuseGaps(mine, entityNamed("index_daily")!, all, now);
    expect(await gapsOf("index_daily/gaps", third)).toEqual([]);
    expect(await gapsOf("index_daily/gaps?excused=true", third)).toHaveLength(2);
    expect(await gapsOf("daily/gaps?ts_code=000002.SZ", third)).toHaveLength(1);
  });

  test("are excused once, for a reason in words", async () => {
    const excuse = (change: object) =>
      excuseGaps(own, daily, { start: "20240103", end: "20240104", code: null, reason: "known", ...change }, now);
    await excuse({});
    await expect(excuse({ reason: "another" })).rejects.toThrow(
      /already excused, as number \d+: known; .* gaps resolve/,
    );
    for (const reason of ["", "  ", "two\nlines", "x".repeat(201)]) {
      await expect(excuse({ reason })).rejects.toThrow(/--reason: write 1 to 200 printable characters/);
    }
    await expect(excuse({ end: "20240230" })).rejects.toThrow(/--end: "20240230"/);
    await expect(excuse({ code: "600519" })).rejects.toThrow(/no suffix/);
  });

  test("recorded by several at once are all kept, each under a number of its own", async () => {
    const weekly = entityNamed("weekly")!;
    const kinds = Array.from({ length: 8 }, (_, i) => `kind_${i}`);
    const gaps = await Promise.all(
      kinds.map((kind) => addGap(own, weekly, { start: "20240102", end: "20240102", code: null, kind }, now)),
    );
    expect(new Set(gaps.map((g) => g.id)).size).toBe(8);
    expect((await gapsOf("weekly/gaps", other)).map((g) => g.kind)).toEqual(kinds);
    expect((await readdir(join(own, "state"))).filter((name) => name.startsWith("gaps"))).toEqual(["gaps.json"]);
  });
});

describe("a request for gaps", () => {
  const problemOf = async (path: string, headers: Record<string, string> = {}): Promise<Record<string, unknown>> =>
    (await (await server.get(`/api/v1/entities/${path}`, headers)).json()) as Record<string, unknown>;

  test.each([
    ["daily/gaps?start_dae=20240101", 400, "unknown_parameter", "start_dae"],
    ["daily/gaps?limit=10", 400, "unknown_parameter", "limit"],
    ["daily/gaps?start_date=20240230", 400, "invalid_parameter", "start_date"],
    ["daily/gaps?start_date=20240102&end_date=20240101", 400, "contradictory_parameters", "start_date"],
    ["daily/gaps?ts_code=000001.SZ,000002.SZ", 400, "invalid_parameter", "ts_code"],
    ["daily/gaps?ts_code=000001.SZ&ts_code=000002.SZ", 400, "duplicate_parameter", "ts_code"],
    ["daily/gaps?ts_code=", 400, "invalid_parameter", "ts_code"],
    ["daily/gaps?excused=yes", 400, "invalid_parameter", "excused"],
    ["daily/gaps?ts_code=600519", 400, "invalid_parameter", "ts_code"],
    ["dayly/gaps", 404, "unknown_entity", undefined],
    ["daily/gap", 404, "unknown_route", undefined],
  ])("such as %s is refused with %i %s", async (path, status, code, parameter) => {
    const problem = await problemOf(path);
    expect([problem["status"], problem["code"], problem["parameter"]]).toEqual([status, code, parameter]);
  });

  test("needs a token that covers the entity", async () => {
    const secret = await createToken(root, "narrow", { entities: ["adj_factor"], expires: null }, new Date());
    const headers = { Authorization: `Bearer ${secret}` };
    expect(await problemOf("daily/gaps", headers)).toMatchObject({ status: 403, code: "forbidden" });
    expect((await server.get("/api/v1/entities/adj_factor/gaps", headers)).status).toBe(200);
  });
});

describeReal("the real day of 19 December 2025", () => {
  test("misses no stock that was suspended, and every one whose row was dropped", async () => {
    const own = await temporaryFolder();
    const csv = (path: string): string => `read_csv('${realFile(path)}', all_varchar = true)`;
    const date = (column: string): string => `strptime(${column}, '%Y%m%d')::DATE`;
    const limits = csv("stk_limit/Yourdaylight__stk_limit_latest.csv");
    const suspended = csv("suspend_d/Yourdaylight__suspend_d_latest.csv");
    const stocks = csv("stock_basic/Yourdaylight__stock_basic_latest.csv");
    const traded = `SELECT ts_code FROM ${limits} SEMI JOIN ${stocks} s USING (ts_code)
                    ANTI JOIN (SELECT ts_code FROM ${suspended} WHERE suspend_type = 'S') USING (ts_code)`;
    await publishRows(own, {
      trade_cal: `SELECT * FROM read_parquet('${realFile("trade_cal/dazzleckc__trade_cal.parquet")}')`,
      stock_list: `SELECT ts_code, ${date("list_date")} AS list_date, DATE '2025-12-19' AS snapshot_date FROM ${stocks}
                   WHERE ts_code IN (${traded}) OR ts_code IN (SELECT ts_code FROM ${suspended})`,
      suspend_d: `SELECT ts_code, ${date("trade_date")} AS trade_date, NULL AS suspend_timing, suspend_type FROM ${suspended}`,
      daily: `SELECT ts_code, DATE '2025-12-19' AS trade_date FROM (${traded}) WHERE ts_code <> '600519.SH'`,
    });
    const real = await serve(own);
    const found = await gapsOf("daily/gaps", real);
    const { rows } = await real.json("/api/v1/entities/suspend_d?suspend_type=S&fields=ts_code");
    expect(rows.length).toBeGreaterThan(5);
    expect(found).toContainEqual(gap("daily", "600519.SH", "20251219", "20251219", "missing"));
    expect(found.map((g) => g.ts_code).filter((code) => rows.flat().includes(code))).toEqual([]);
    // Of the stocks that only resumed, each has a price limit, hence a row.
    expect(found).toHaveLength(1);
  });
});

describeReal("stocks of Beijing that were listed before its exchange opened", () => {
  test("miss no row, because none is expected before", async () => {
    const own = await temporaryFolder();
    const codes = ["430047.BJ", "430510.BJ", "830832.BJ"];
    const files = codes.map((code) => `'${realFile(`daily/samuellee_per_stock/${code}.csv`)}'`).join(", ");
    const shanghai = realFile("daily/samuellee_per_stock/603297.SH.csv");
    const day = "strptime(trade_date, '%Y%m%d')::DATE AS trade_date";
    await publishRows(own, {
      trade_cal: `SELECT * FROM read_parquet('${realFile("trade_cal/dazzleckc__trade_cal.parquet")}')`,
      stock_list: `SELECT unnest([${codes.map((code) => `'${code}'`).join(", ")}]) AS ts_code, DATE '2020-11-20' AS list_date,
                   DATE '2023-03-17' AS snapshot_date`,
      daily: `SELECT ts_code, ${day} FROM read_csv([${files}, '${shanghai}'], all_varchar = true, union_by_name = true)`,
    });
    const found = await gapsOf("daily/gaps", await serve(own));
    const early = found.filter((g) => g.ts_code !== null && g.gap_start < "20211115");
    expect(early).toEqual([]);
  });
});

describeReal("the real price limits of 19 December 2025", () => {
  test("are not missed of stocks in their first five days, and missed of any other", async () => {
    const own = await temporaryFolder();
    const csv = (path: string): string => `read_csv('${realFile(path)}', all_varchar = true)`;
    const date = (column: string): string => `strptime(${column}, '%Y%m%d')::DATE`;
    await publishRows(own, {
      trade_cal: `SELECT * FROM read_parquet('${realFile("trade_cal/dazzleckc__trade_cal.parquet")}')`,
      stock_list: `SELECT ts_code, ${date("list_date")} AS list_date, DATE '2025-12-19' AS snapshot_date
                   FROM ${csv("stock_basic/Yourdaylight__stock_basic_latest.csv")}`,
      // Some sources write no row where there is no limit, others prices that no stock reaches.
      stk_limit: `SELECT ts_code, ${date("trade_date")} AS trade_date
                  FROM ${csv("stk_limit/Yourdaylight__stk_limit_latest.csv")}
                  WHERE up_limit::DOUBLE < 99999 AND ts_code <> '600519.SH'`,
    });
    const missing = gap("stk_limit", "600519.SH", "20251219", "20251219", "missing");
    expect(await gapsOf("stk_limit/gaps", await serve(own))).toEqual([missing]);
  });
});

/** Waits until a server serves a version. */
async function follow(other: TestServer, version: string): Promise<void> {
  await expect
    .poll(() => other.context.lake.current().version.data_version, { timeout: 10_000, interval: 20 })
    .toBe(version);
}

/** A market as SQL; tables without rows are left out. */
function tablesOf(market: SmallMarket): Record<string, string> {
  const text = (value: string | null): string => (value === null ? "NULL" : `'${value}'`);
  const date = (value: string | null): string => (value === null ? "NULL" : `strptime('${value}', '%Y%m%d')::DATE`);
  const tables = {
    trade_cal: values(
      market.calendar.map(([day, open]) => `('SSE', ${date(day)}, ${open ? 1 : 0})`),
      "exchange, cal_date, is_open",
    ),
    stock_list: values(
      market.stocks.map(([code, from, to]) => `('${code}', ${date(from)}, ${date(to)}, DATE '2024-02-01')`),
      "ts_code, list_date, delist_date, snapshot_date",
    ),
    suspend_d: values(
      market.suspensions.map(([code, day, timing, type]) => `('${code}', ${date(day)}, ${text(timing)}, '${type}')`),
      "ts_code, trade_date, suspend_timing, suspend_type",
    ),
    daily: values(
      market.rows.map(([code, day]) => `('${code}', ${date(day)})`),
      "ts_code, trade_date",
    ),
  };
  return Object.fromEntries(Object.entries(tables).filter(([, sql]) => !sql.includes("VALUES )")));
}
