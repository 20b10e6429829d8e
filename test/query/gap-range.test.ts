import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { formatDays, toDays } from "../../src/dates.js";
import { fileList, type DataFile, type FileList } from "../../src/lake/manifest.js";
import { toCalendar, type Calendar } from "../../src/query/calendar.js";
import { coveredSpan, newestDay, withEdges } from "../../src/query/gap-range.js";

/** January 2024; weekdays are open. */
const DATES = Array.from({ length: 31 }, (_, i) => formatDays(toDays("20240101") + i));
const calendar = toCalendar(
  DATES,
  DATES.map((date) =>
    new Date(`${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`).getUTCDay() % 6 === 0 ? 0 : 1,
  ),
);
const daily = entityNamed("daily")!;
const own = { first: "20240108", last: "20240117" };

describe("the days that gaps cover", () => {
  const covered = (
    asked: { start?: string; end?: string; today?: string },
    newest: string | null = null,
    { list = own, of = calendar }: { list?: Pick<FileList, "first" | "last">; of?: Calendar } = {},
  ) => {
    const { start = null, end = null, today = "20240301" } = asked;
    return coveredSpan(list, newest, { start, end, today }, of);
  };

  test("are those from the first row to the last", () => {
    expect(covered({})).toEqual(own);
  });

  test("go on to the newest day that another entity has, if that day is over", () => {
    expect(covered({}, "20240119")).toEqual({ ...own, last: "20240119" });
    expect(covered({ today: "20240119" }, "20240119")).toEqual({ ...own, last: "20240118" });
    expect(covered({ today: "20240117" }, "20240119")).toEqual(own);
  });

  test("go as far as is asked, but to no day that is not over", () => {
    expect(covered({ start: "20240103", end: "20240126" })).toEqual({ first: "20240103", last: "20240126" });
    expect(covered({ end: "20240126", today: "20240123" })).toEqual({ ...own, last: "20240122" });
    expect(covered({ start: "20240110", end: "20240112" })).toEqual(own);
  });

  test("end where the calendar ends", () => {
    expect(covered({ start: "20230101", end: "20240229" })).toEqual({ first: "20240101", last: "20240131" });
    expect(covered({}, null, { of: toCalendar([], []) })).toBeNull();
  });

  test("of an entity without rows are those that are asked for", () => {
    const none = { list: { first: null, last: null } };
    expect(covered({}, "20240119", none)).toBeNull();
    expect(covered({ end: "20240112" }, "20240119", none)).toBeNull();
    expect(covered({ start: "20240110", end: "20240112" }, null, none)).toEqual({
      first: "20240110",
      last: "20240112",
    });
    expect(covered({ start: "20240110" }, "20240119", none)).toEqual({ first: "20240110", last: "20240119" });
  });

  test("follow entities of trading days, not snapshots of the stock list or reports", () => {
    const file = (last: string): DataFile => {
      return { path: "a.parquet", sha256: "", bytes: 1, rows: 1, first: last, last, firstCode: "a", lastCode: "b" };
    };
    const days = new Map([
      ["stock_list", "20240131"],
      ["income", "20240130"],
      ["index_daily", "20240118"],
      ["stk_limit", "20240119"],
      ["stk_auction", "20240301"],
    ]);
    const files = (name: string) => fileList(name, days.has(name) ? [file(days.get(name)!)] : []);
    expect(newestDay(files, "20240119")).toBe("20240119");
    expect(newestDay((name) => fileList(name, []), "20240119")).toBeNull();
  });
});

describe("gaps before the first and after the last row", () => {
  const missing = (gap_start: string, gap_end: string) => {
    return { entity: "daily", ts_code: null, gap_start, gap_end, kind: "missing_day" };
  };

  test("are the open days there", () => {
    expect(withEdges(daily, [], { first: "20240104", last: "20240122" }, own, calendar)).toEqual([
      missing("20240104", "20240105"),
      missing("20240118", "20240122"),
    ]);
    expect(withEdges(daily, [], { first: "20240106", last: "20240117" }, own, calendar)).toEqual([]);
  });

  test("are one gap with a gap next to them", () => {
    // Rows on a Sunday and on a Saturday, which are closed.
    const held = { first: "20240107", last: "20240120" };
    const within = [missing("20240108", "20240108"), missing("20240118", "20240119")];
    expect(withEdges(daily, within, { first: "20240105", last: "20240123" }, held, calendar)).toEqual([
      missing("20240105", "20240108"),
      missing("20240118", "20240123"),
    ]);
  });

  test("leave the gaps of stocks alone", () => {
    const stock = { ...missing("20240117", "20240117"), ts_code: "600519.SH", kind: "missing" };
    expect(withEdges(daily, [stock], { first: "20240108", last: "20240118" }, own, calendar)).toEqual([
      stock,
      missing("20240118", "20240118"),
    ]);
  });

  test("are all open days where no row is within the calendar", () => {
    expect(withEdges(daily, [], { first: "20240106", last: "20240114" }, null, calendar)).toEqual([
      missing("20240108", "20240112"),
    ]);
  });
});
