import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { fileList, type DataFile } from "../../src/lake/manifest.js";
import { chooseFiles } from "../../src/query/files.js";
import { planRead } from "../../src/query/plan.js";
import { parseRequest } from "../../src/query/request.js";

const open = { start: null, end: null };

function file(first: string, last: string, rows = 1_000_000, codes = ["000001.SZ", "920001.BJ"]): DataFile {
  const [firstCode, lastCode] = codes as [string, string];
  return { path: `daily/${first}-${last}`, sha256: "", bytes: 1, rows, first, last, firstCode, lastCode };
}

const years = [2021, 2022, 2023].map((year) => file(`${year}0104`, `${year}1231`));
const copies = [
  file("20210104", "20231231", 250_000, ["000001.SZ", "000999.SZ"]),
  file("20210104", "20231231", 250_000, ["001000.SZ", "920001.BJ"]),
];
const ranges = years.map((f) => [f.first!, f.last!] as const);

describe("choosing files", () => {
  test("a wide pull reads the date files in order", () => {
    expect(chooseFiles(fileList("daily", years, copies, ranges), open, null).map((p) => p.files[0]!.path)).toEqual(
      years.map((f) => f.path),
    );
  });

  test("only files that overlap the window are opened", () => {
    const groups = chooseFiles(fileList("daily", years), { start: "20220101", end: "20221231" }, null);
    expect(groups).toEqual([{ clustering: "byDate", files: [years[1]], onlyDates: null, rowRange: null }]);
  });

  test("one code over all years reads the only file of the code copy that contains it", () => {
    const groups = chooseFiles(fileList("daily", years, copies, ranges), open, ["600519.SH"]);
    expect(groups).toEqual([
      { clustering: "byCode", files: [copies[1]], onlyDates: ["20210104", "20231231"], rowRange: null },
    ]);
  });

  test("dates that were written again come from the date file, the rest from the code copy, in date order", () => {
    const stale = ranges.filter(([first]) => !first.startsWith("2022"));
    const groups = chooseFiles(fileList("daily", years, copies, stale), open, ["600519.SH"]);
    expect(groups).toEqual([
      { clustering: "byCode", files: [copies[1]], onlyDates: ["20210104", "20211231"], rowRange: null },
      { clustering: "byDate", files: [years[1]], onlyDates: null, rowRange: null },
      { clustering: "byCode", files: [copies[1]], onlyDates: ["20230104", "20231231"], rowRange: null },
    ]);
  });

  test("one day of some codes reads the date file, which has fewer rows to decode", () => {
    const day = { start: "20220601", end: "20220601" };
    const many = Array.from({ length: 300 }, (_, i) => `${600000 + i}.SH`);
    expect(chooseFiles(fileList("daily", years, copies, ranges), day, many)[0]!.clustering).toBe("byDate");
  });

  test("rows without a main date are read only without a filter on dates", () => {
    const undated: DataFile = { ...file("x", "x"), first: null, last: null };
    const list = fileList("dividend", [...years, undated]);
    expect(chooseFiles(list, open, null).at(-1)!.files).toEqual([undated]);
    expect(chooseFiles(list, { start: "20210101", end: null }, null).at(-1)!.files).toEqual([years[2]]);
  });
});

test.each([
  ["", "heavy"],
  ["start_date=20220101&end_date=20221231", "heavy"],
  ["start_date=20220101&end_date=20221231&order=desc", "heavy"],
  ["trade_date=20220601", "light"],
  ["start_date=20220601&end_date=20220630", "light"],
  ["ts_code=600519.SH", "light"],
  ["ts_code=600519.SH,000001.SZ&order=desc", "light"],
  ["limit=5000", "light"],
  ["limit=500000", "heavy"],
  ["ts_code=null&limit=10", "heavy"],
] as const)("a read of ?%s is %s", (query, cost) => {
  const daily = entityNamed("daily")!;
  const request = parseRequest(daily, new URLSearchParams(query), { defaultLimit: null, maxLimit: null });
  expect(planRead(request, fileList("daily", years, copies, ranges), null).cost).toBe(cost);
});

describe("how many rows a scan gives", () => {
  const boundsOf = (query: string, entity = "daily", files: readonly DataFile[] = years) => {
    const request = parseRequest(entityNamed(entity)!, new URLSearchParams(query), {
      defaultLimit: null,
      maxLimit: null,
    });
    return planRead(request, fileList(entity, files, copies, ranges), null).scans.map(({ bounds }) => bounds);
  };

  test("is known where every row of its files is read, which a limit, a filter or a day are not", () => {
    const exact = (query: string): boolean => boundsOf(query).every(({ exact }) => exact);
    expect(["", "start_date=20210104", "fields=close"].map(exact)).toEqual([true, true, true]);
    expect(["start_date=20210105", "ts_code=000001.SZ&limit=5", "ts_code=600519.SH"].map(exact)).toEqual([
      false,
      false,
      false,
    ]);
  });

  test("is at most one for each code and day, where an entity has no more", () => {
    expect(boundsOf("ts_code=600519.SH")).toEqual([{ atMost: 1092, exact: false }]);
    expect(boundsOf("ts_code=600519.SH,000001.SZ&start_date=20220601&end_date=20220602")).toEqual([
      { atMost: 4, exact: false },
    ]);
    expect(boundsOf("ts_code=600519.SH", "stk_auction")).toEqual([{ atMost: 250_000, exact: false }]);
  });

  test("is at most what its files tell of their fullest day, for each day", () => {
    const told = years.map((year) => ({ ...year, mostOnADay: 5_400 }));
    const most = (query: string, files: readonly DataFile[]): readonly number[] =>
      boundsOf(query, "daily", files).map(({ atMost }) => atMost);
    expect(most("trade_date=20220601", told)).toEqual([5_400]);
    expect(most("start_date=20220601&end_date=20220602", told)).toEqual([10_800]);
    expect(most("trade_date=20220601&ts_code=600519.SH", told)).toEqual([1]);
    expect(most("trade_date=20220601", years)).toEqual([1_000_000]);
  });
});
