import { describe, expect, test } from "vitest";
import { ENTITIES, entityNamed } from "../../src/catalog/index.js";
import { fileList, type DataFile } from "../../src/lake/manifest.js";
import { lastBarsRead, lastFactorsRead, planFactors } from "../../src/query/adjust.js";
import { firstDayOf, lastDayOf } from "../../src/dates.js";
import { planRows } from "../../src/query/rows.js";
import { parseRequest, type EntityRequest } from "../../src/query/request.js";

const parse = (query: string): EntityRequest =>
  parseRequest(entityNamed("daily")!, new URLSearchParams(query), { defaultLimit: null, maxLimit: null });

function file(name: string, first: string, last: string, codes = ["000001.SZ", "920001.BJ"]): DataFile {
  const [firstCode, lastCode] = codes as [string, string];
  return { path: name, sha256: "", bytes: 1, rows: 1_000_000, first, last, firstCode, lastCode };
}

const years = ["2021", "2022", "2023"].map((year) => file(year, `${year}0104`, `${year}1231`));
const copies = [
  file("copy of SZ", "20210104", "20231231", ["000001.SZ", "399999.SZ"]),
  file("copy of SH", "20210104", "20231231", ["600000.SH", "920001.BJ"]),
];
const covered = fileList("adj_factor", years, copies, [
  ["20210104", "20211231"],
  ["20220104", "20221231"],
]);
const lastBars = { codes: ["600519.SH"], dates: ["20220630"] };
const filesOf = (scans: readonly { readonly files: readonly DataFile[] }[]) =>
  scans.map(({ files }) => files.map(({ path }) => path));

describe("the factors of a request", () => {
  test("come from files of the requested days, in the order of the rows", () => {
    const wide = planFactors(parse("adjust=backward&start_date=20220601"), covered, null, []);
    expect(wide.columns.map(({ name }) => name).slice(0, 3)).toEqual(["trade_date", "ts_code", "adj_factor"]);
    expect(filesOf(wide.scans)).toEqual([["2022"], ["2023"]]);
    const down = planFactors(parse("adjust=backward&start_date=20220601&order=desc"), covered, null, []);
    expect(filesOf(down.scans)[0]).toEqual(["2023"]);
  });

  test("of one stock come from the copy by code, and from date files that it does not cover", () => {
    const request = parse("adjust=forward&ts_code=600519.SH");
    expect(filesOf(planFactors(request, covered, null, []).scans)).toEqual([["copy of SH"], ["2023"]]);
    expect(filesOf(lastFactorsRead(request, covered, lastBars).scans)).toEqual([["2023"], ["copy of SH"]]);
  });

  test("continue after the previous page", () => {
    const after = { date: "20230105", code: "600519.SH", row: 7 };
    expect(filesOf(planFactors(parse("adjust=backward&limit=10"), covered, after, []).scans)).toEqual([["2023"]]);
    const down = planFactors(parse("adjust=backward&order=desc"), covered, { ...after, date: "20210105" }, []);
    expect(new Set(filesOf(down.scans).flat())).toEqual(new Set(["2021"]));
  });

  test("of the last day are on or before end_date, from the first requested day on", () => {
    const { scans } = lastFactorsRead(parse("adjust=forward&start_date=20220601&end_date=20220630"), covered, lastBars);
    expect(filesOf(scans)).toEqual([["2022"]]);
    expect(scans[0]!.tests).toEqual([
      { is: "positive", column: "adj_factor" },
      { is: "between", columns: ["trade_date"], first: "20220601", last: "20220630" },
    ]);
    expect(filesOf(lastFactorsRead(parse("adjust=forward&trade_date=20220601"), covered, lastBars).scans)).toEqual([
      ["2022"],
    ]);
    expect(scans[0]!.select).toMatchObject({ what: "latest", value: "adj_factor", upTo: lastBars });
    expect(lastBarsRead(parse("adjust=forward&start_date=20220601"), covered).scans).toMatchObject([
      {
        select: { what: "latest", date: "trade_date", value: null, upTo: null },
        tests: [{ is: "between", columns: ["trade_date"], first: "20220601", last: null }],
      },
    ]);
  });
});

describe("bars of weeks", () => {
  const weekly = (query: string): EntityRequest =>
    parseRequest(entityNamed("weekly")!, new URLSearchParams(query), { defaultLimit: null, maxLimit: null });
  const lists = (name: string) => fileList(name, years);
  const plan = (query: string) => planRows(weekly(query), lists("weekly"), lists, null);

  test("are rebuilt year by year from days and factors of their weeks, and of one week before", () => {
    const { scans } = plan("adjust=backward&start_date=20220601");
    expect(scans.map(({ derived }) => derived)).toMatchObject([
      {
        how: "rebuilt",
        period: "week",
        bars: [{ tests: [{ first: "20220601", last: null }] }],
        days: [{ files: [years[1]], tests: [{ first: "20220530", last: null }] }],
        factors: [{ tests: [{ first: "20220523", last: null }] }],
      },
      {
        bars: [{ files: [years[2]] }],
        days: [{ files: [years[1], years[2]], tests: [{ first: "20221226", last: null }] }],
        factors: [{ files: [years[1], years[2]] }],
      },
    ]);
    const [first, ...others] = plan("adjust=backward&ts_code=600519.SH&order=desc").scans;
    expect([first!.order, others]).toEqual([{ columns: ["trade_date", "ts_code"], descending: true }, []]);
  });

  test("are read as they are if no price is asked for", () => {
    const [scan] = plan("adjust=backward&fields=vol").scans;
    expect(scan!.derived).toBeNull();
    expect(plan("adjust=backward&fields=pct_chg").scans[0]!.derived).not.toBeNull();
  });

  test.each([
    ["20240101", "week", "20240101", "20240107"],
    ["20240107", "week", "20240101", "20240107"],
    ["20231231", "week", "20231225", "20231231"],
    ["20240229", "month", "20240201", "20240229"],
    ["20231205", "month", "20231201", "20231231"],
  ] as const)("the %s is in the %s from %s to %s", (date, period, first, last) => {
    expect([firstDayOf(date, period), lastDayOf(date, period)]).toEqual([first, last]);
  });
});

test("factors and the quotes that they adjust lie in the same order, one factor a row, and prices are numbers", () => {
  const adjusted = ENTITIES.filter(({ adjustment }) => adjustment);
  expect(adjusted.map(({ name }) => name)).toEqual(["daily", "weekly", "monthly"]);
  for (const { adjustment, ...quotes } of adjusted) {
    const factors = entityNamed(adjustment!.factors)!;
    for (const key of ["mainDate", "code", "identity", "identityIs", "order"] as const) {
      expect(factors[key]).toEqual(quotes[key]);
    }
    const keys = factors.columns.filter(({ name }) => factors.identity.includes(name));
    expect(keys.map(({ nullable }) => nullable)).toEqual([false, false]);
    expect(factors.columns.find(({ name }) => name === adjustment!.factor)?.type).toBe("float64");
    if (adjustment!.days) {
      const days = entityNamed(adjustment!.days.entity)!;
      expect(days.columns.map(({ name }) => name).sort()).toEqual(quotes.columns.map(({ name }) => name).sort());
      expect(days.order).toEqual(quotes.order);
    }
    const prices = quotes.columns.filter(({ name }) => adjustment!.prices.includes(name));
    expect(prices.map(({ type }) => type)).toEqual(adjustment!.prices.map(() => "float64"));
  }
});
