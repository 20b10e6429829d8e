import fc from "fast-check";
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

describe("any list", () => {
  const dayOf = (n: number): string => `202401${String(n).padStart(2, "0")}`;
  /** Files of one to three days with gaps between them; of each whether the code copy covers it. */
  const lists = fc
    .tuple(
      fc.array(fc.record({ gap: fc.nat(2), days: fc.integer({ min: 1, max: 3 }), covered: fc.boolean() }), {
        maxLength: 8,
      }),
      fc.boolean(),
    )
    .map(([given, hasUndated]) => {
      let day = 1;
      const dated = given.map(({ gap, days, covered }) => {
        const one = file(dayOf(day + gap), dayOf(day + gap + days - 1));
        day += gap + days;
        return { one, covered };
      });
      const undated: DataFile = { ...file("x", "x"), first: null, last: null };
      const byDate = [...dated.map(({ one }) => one), ...(hasUndated ? [undated] : [])];
      const covered = dated.flatMap((each) => (each.covered ? [[each.one.first!, each.one.last!] as const] : []));
      return fileList("daily", byDate, copies, covered);
    });
  const bound = fc.option(fc.integer({ min: 1, max: 40 }).map(dayOf));
  const codes = fc.option(fc.subarray(["000001.SZ", "000999.SZ", "600519.SH"], { minLength: 1 }));

  test("is read where its dates are asked for, each date once and in order, from a copy that covers it", () => {
    fc.assert(
      fc.property(lists, bound, bound, codes, (list, start, end, asked) => {
        const overlaps = ({ first, last }: DataFile): boolean =>
          first === null || last === null
            ? start === null && end === null
            : (start === null || start <= last) && (end === null || first <= end);
        const groups = chooseFiles(list, { start, end }, asked);
        const chosen = groups.flatMap(({ clustering, files, onlyDates }): readonly DataFile[] => {
          if (clustering === "byDate") return files;
          const [from, to] = onlyDates!;
          expect(files.map(({ path }) => path)).toEqual(
            copies
              .filter(({ firstCode, lastCode }) => asked!.some((c) => firstCode! <= c && c <= lastCode!))
              .map(({ path }) => path),
          );
          const within = list.byDate.filter(({ first, last }) => first !== null && from <= first && last! <= to);
          const isCovered = within.every(({ first }) => list.codeRanges.some(([one]) => one === first));
          expect(isCovered).toBe(true);
          return within;
        });
        expect(chosen).toEqual(list.byDate.filter(overlaps));
      }),
      { numRuns: 300 },
    );
  });

  test("gives a page as many rows as it needs, and no scan after them", () => {
    const daily = entityNamed("daily")!;
    const request = (query: string) =>
      parseRequest(daily, new URLSearchParams(query), { defaultLimit: null, maxLimit: null });
    const list = fileList(
      "daily",
      Array.from({ length: 30 }, (_, i) => file(dayOf(i + 1), dayOf(i + 1), 1_000)),
    );
    for (const order of ["asc", "desc"]) {
      const { scans } = planRead(request(`limit=5000&order=${order}`), list, null);
      expect(scans.reduce((sum, { bounds }) => sum + bounds.atMost, 0)).toBeGreaterThan(5_000);
      expect(scans.slice(0, -1).reduce((sum, { bounds }) => sum + bounds.atMost, 0)).toBeLessThanOrEqual(5_000);
      // How many rows meet a condition is not known.
      expect(
        planRead(request(`limit=5&ts_code=600519.SH&order=${order}`), list, null).scans.flatMap(({ files }) => files),
      ).toHaveLength(30);
    }
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
