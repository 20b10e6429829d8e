import { beforeAll, describe, expect, test } from "vitest";
import { createToken } from "../../src/store/tokens.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { describeReal, realFile } from "../support/realdata.js";
import { serve, type TestServer } from "../support/server.js";

let root: string;
let server: TestServer;

interface CalendarAnswer {
  readonly exchange: string;
  readonly days: readonly { readonly exchange: string; readonly cal_date: string; readonly is_open: number }[];
  readonly data_version: string;
}

const calendar = async (query: string): Promise<CalendarAnswer> =>
  (await server.json(`/api/v1/calendar?${query}`)) as unknown as CalendarAnswer;

const shift = async (query: string): Promise<unknown> => server.json(`/api/v1/calendar/shift?${query}`);

const problemOf = async (path: string): Promise<Record<string, unknown>> =>
  (await (await server.get(path)).json()) as Record<string, unknown>;

/** January and February 2024: weekdays are open, but for New Year's Day and a week from 9 to 17 February. */
const CALENDAR = `SELECT 'SSE' AS exchange, d::DATE AS cal_date,
    (isodow(d) <= 5 AND d <> DATE '2024-01-01' AND d NOT BETWEEN DATE '2024-02-09' AND DATE '2024-02-17')::INT AS is_open
  FROM range(DATE '2024-01-01', DATE '2024-03-01', INTERVAL 1 DAY) t(d)`;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, { trade_cal: CALENDAR });
  server = await serve(root);
});

describe("the calendar", () => {
  test("gives every day in order, under exactly three keys", async () => {
    const answer = await calendar("");
    expect(Object.keys(answer)).toEqual(["exchange", "days", "data_version"]);
    expect(answer.exchange).toBe("SSE");
    expect(answer.days).toHaveLength(60);
    expect(answer.days[0]).toEqual({ exchange: "SSE", cal_date: "20240101", is_open: 0 });
    expect(Object.keys(answer.days[0]!)).toEqual(["exchange", "cal_date", "is_open"]);
    expect(answer.days.map((day) => day.cal_date)).toEqual(answer.days.map((day) => day.cal_date).sort());
    expect(answer.data_version).toBe(server.context.lake.current().version.data_version);
  });

  test("is bounded by start_date and end_date, both included", async () => {
    const dates = async (query: string) => (await calendar(query)).days.map((day) => day.cal_date);
    expect(await dates("start_date=2024-02-28")).toEqual(["20240228", "20240229"]);
    expect(await dates("end_date=20240102")).toEqual(["20240101", "20240102"]);
    expect(await dates("start_date=20240106&end_date=20240106")).toEqual(["20240106"]);
    expect(await dates("start_date=20300101")).toEqual([]);
    expect(await dates("end_date=20000101")).toEqual([]);
  });

  test("gives open days for is_open=1, closed ones for is_open=0", async () => {
    const range = "start_date=20240105&end_date=20240108";
    expect((await calendar(`${range}&is_open=1`)).days.map((day) => day.cal_date)).toEqual(["20240105", "20240108"]);
    expect((await calendar(`${range}&is_open=0`)).days.map((day) => day.cal_date)).toEqual(["20240106", "20240107"]);
  });

  test.each(["SZSE", "BSE", "CFFEX"])("of %s is empty: only SSE has a calendar", async (exchange) => {
    const answer = await calendar(`exchange=${exchange}`);
    expect([answer.exchange, answer.days]).toEqual([exchange, []]);
  });

  test("says in a header which days it covers, so that a result that ends too early is not silent", async () => {
    const covered = async (query: string): Promise<string | null> =>
      (await server.get(`/api/v1/calendar?${query}`)).headers.get("X-Covered");
    expect(await covered("")).toBe("20240101/20240229");
    expect(await covered("start_date=20240110&end_date=20240111")).toBe("20240110/20240111");
    expect(await covered("start_date=20240215&end_date=20241231&is_open=1")).toBe("20240215/20240229");
    expect(await covered("start_date=20231201&end_date=20240105")).toBe("20240101/20240105");
    for (const query of ["start_date=20300101", "end_date=20000101", "exchange=SZSE"]) {
      expect([query, await covered(query)]).toEqual([query, "none"]);
    }
  });

  test("of an older data_version can be asked for", async () => {
    const own = await temporaryFolder();
    const first = await publishRows(own, { trade_cal: `SELECT * FROM (${CALENDAR}) WHERE cal_date < '2024-02-01'` });
    await publishRows(own, { trade_cal: CALENDAR });
    const other = await serve(own);
    const version = encodeURIComponent(first!.data_version);
    const old = (await other.json(`/api/v1/calendar?data_version=${version}`)) as unknown as CalendarAnswer;
    const now = (await other.json("/api/v1/calendar")) as unknown as CalendarAnswer;
    expect([old.data_version, old.days.length, now.days.length]).toEqual([first!.data_version, 31, 60]);
    const late = await other.get(`/api/v1/calendar/shift?date=20240131&n=1&data_version=${version}`);
    expect(late.status).toBe(422);
    expect(await other.json("/api/v1/calendar/shift?date=20240131&n=1")).toMatchObject({ result: "20240201" });
  });

  test("of a lake without one is empty", async () => {
    const empty = await serve(await temporaryFolder());
    const answer = (await empty.json("/api/v1/calendar")) as unknown as CalendarAnswer;
    expect(answer.days).toEqual([]);
    const response = await empty.get("/api/v1/calendar/shift?date=20240102&n=1");
    const problem = (await response.json()) as Record<string, unknown>;
    expect([response.status, problem["code"]]).toEqual([422, "outside_calendar"]);
  });

  test("is available to tokens that cover trade_cal, and to no other", async () => {
    const tokenFor = async (name: string, entities: string[]) => ({
      Authorization: `Bearer ${await createToken(root, name, { entities, expires: null }, new Date())}`,
    });
    const path = "/api/v1/calendar/shift?date=20240102&n=1";
    expect((await server.get(path, await tokenFor("calendar", ["trade_cal"]))).status).toBe(200);
    const narrow = await tokenFor("narrow", ["daily"]);
    for (const asked of [path, "/api/v1/calendar"]) expect((await server.get(asked, narrow)).status).toBe(403);
    expect((await server.get(path, { Authorization: "Bearer wrong" })).status).toBe(401);
    expect((await server.get("/api/v1/calendar", { Authorization: "" })).status).toBe(401);
  });

  test("follows a new version within a second", async () => {
    const own = await temporaryFolder();
    await publishRows(own, { trade_cal: `SELECT * FROM (${CALENDAR}) WHERE cal_date < '2024-02-01'` });
    const other = await serve(own);
    expect((await other.get("/api/v1/calendar/shift?date=20240131&n=1")).status).toBe(422);
    await publishRows(own, { trade_cal: CALENDAR });
    await expect
      .poll(async () => (await other.get("/api/v1/calendar/shift?date=20240131&n=1")).status, { timeout: 10_000 })
      .toBe(200);
  });
});

describe("a shift", () => {
  test("gives the n-th trading day after or before, under exactly four keys", async () => {
    expect(await shift("date=20240102&n=1")).toEqual({ date: "20240102", n: 1, exchange: "SSE", result: "20240103" });
    expect(Object.keys((await shift("date=20240102&n=1")) as object)).toEqual(["date", "n", "exchange", "result"]);
    expect(await shift("date=20240105&n=1")).toMatchObject({ result: "20240108" });
    expect(await shift("date=2024-02-08&n=1&exchange=SSE")).toMatchObject({ date: "20240208", result: "20240219" });
    expect(await shift("date=20240219&n=-1")).toMatchObject({ n: -1, result: "20240208" });
    expect(await shift("date=20240102&n=+5")).toMatchObject({ n: 5, result: "20240109" });
  });

  test("there and back returns to the start", async () => {
    const open = (await calendar("is_open=1")).days.map((day) => day.cal_date);
    for (const n of [1, 3, 10]) {
      const { result } = (await shift(`date=${open[12]!}&n=${n}`)) as { result: string };
      expect(result).toBe(open[12 + n]);
      expect(await shift(`date=${result}&n=${-n}`)).toMatchObject({ result: open[12] });
    }
  });

  test("from a day that is not a trading day names its neighbours", async () => {
    const problem = await problemOf("/api/v1/calendar/shift?date=20240210&n=1");
    expect(problem).toMatchObject({
      status: 422,
      code: "not_a_trading_day",
      parameter: "date",
      allowed: ["20240208", "20240219"],
    });
    expect(problem["hint"]).toMatch(/20240208.*20240219/);
    expect(await problemOf("/api/v1/calendar/shift?date=20240101&n=1")).toMatchObject({ allowed: ["20240102"] });
  });

  test.each([
    ["date=20231229&n=1", "date"],
    ["date=20240301&n=-1", "date"],
    ["date=20240229&n=1", "n"],
    ["date=20240102&n=-1", "n"],
    ["date=20240102&n=9007199254740991", "n"],
  ])("beyond the calendar (%s) is refused with the calendar's range", async (query, parameter) => {
    const problem = await problemOf(`/api/v1/calendar/shift?${query}`);
    expect(problem).toMatchObject({ status: 422, code: "outside_calendar", parameter });
    expect(problem["detail"]).toMatch(/20240101 to 20240229/);
  });
});

describe("a malformed request", () => {
  test.each([
    ["calendar?is_open=2", "invalid_parameter", /is_open/],
    ["calendar?is_open=true", "invalid_parameter", /is_open/],
    ["calendar?exchange=SSEE", "invalid_parameter", /"SSEE" is not offered/],
    ["calendar?exchange=", "invalid_parameter", /empty/],
    ["calendar?exchange=SSE&exchange=SZSE", "duplicate_parameter", /exchange/],
    ["calendar?start_dae=20240101", "unknown_parameter", /start_dae/],
    ["calendar?start_date=20240230", "invalid_parameter", /not a calendar day/],
    ["calendar?start_date=20240202&end_date=20240201", "contradictory_parameters", /after/],
    ["calendar?limit=1", "unknown_parameter", /limit/],
    ["calendar/shift", "invalid_parameter", /date: it is required/],
    ["calendar/shift?date=20240102", "invalid_parameter", /n: it is required/],
    ["calendar/shift?n=1", "invalid_parameter", /date: it is required/],
    ["calendar/shift?date=20240102&n=0", "invalid_parameter", /n: 0 is not accepted/],
    ["calendar/shift?date=20240102&n=1.5", "invalid_parameter", /n:/],
    ["calendar/shift?date=20240102&n=one", "invalid_parameter", /n:/],
    ["calendar/shift?date=20240102&n=1&exchange=SZSE", "invalid_parameter", /exchange/],
    ["calendar/shift?date=20240102&n=1&start_date=20240101", "unknown_parameter", /start_date/],
  ])("%s is refused with 400 %s", async (path, code, detail) => {
    const problem = await problemOf(`/api/v1/${path}`);
    expect(problem).toMatchObject({ status: 400, code });
    expect(problem["detail"]).toMatch(detail);
  });

  test("names the accepted shifts", async () => {
    const allowed = ["a whole number other than 0, such as 1 or -5"];
    for (const n of ["0", "1.5", "one", "99999999999999999999"]) {
      expect(await problemOf(`/api/v1/calendar/shift?date=20240102&n=${n}`)).toMatchObject({ allowed });
    }
  });

  test("suggests no name that is too different", async () => {
    expect(await problemOf("/api/v1/calendar?is_open=2")).not.toHaveProperty("hint");
    expect(await problemOf("/api/v1/calendar/shift?date=20240102&n=1&x=1")).not.toHaveProperty("hint");
  });

  test("names the known exchanges for an unknown one", async () => {
    expect(await problemOf("/api/v1/calendar?exchange=SSEE")).toMatchObject({
      allowed: ["SSE", "SZSE", "BSE", "CFFEX", "SHFE", "CZCE", "DCE", "INE", "GFEX"],
      hint: "did you mean SSE?",
    });
  });

  test("suggests the nearest name", async () => {
    expect(await problemOf("/api/v1/calendar?isopen=1")).toMatchObject({ hint: "did you mean is_open?" });
    expect(await problemOf("/api/v1/calendar/shift?dat=20240102&n=1")).toMatchObject({ hint: "did you mean date?" });
  });
});

describeReal("the real calendar from 1990 to 2026", () => {
  test("agrees with the previous trading day in the file", async () => {
    const own = await temporaryFolder();
    const file = realFile("trade_cal/dazzleckc__trade_cal.parquet");
    await publishRows(own, { trade_cal: `SELECT * FROM read_parquet('${file}')` });
    const real = await serve(own);
    const { rows } = await real.json("/api/v1/entities/trade_cal?is_open=1&fields=cal_date,pretrade_date");
    const { days } = (await real.json("/api/v1/calendar?is_open=1")) as unknown as CalendarAnswer;
    expect(days.map((day) => day.cal_date)).toEqual(rows.map((row) => row[0]));
    for (const [date, before] of rows.slice(1).filter((_, i) => i % 97 === 0)) {
      const path = `/api/v1/calendar/shift?date=${String(date)}&n=-1`;
      expect(await real.json(path)).toMatchObject({ result: before });
    }
  });
});
