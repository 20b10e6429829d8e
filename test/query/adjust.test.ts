import { describe, expect, test } from "vitest";
import { ENTITIES, entityNamed } from "../../src/catalog/index.js";
import { fileList, type DataFile } from "../../src/lake/manifest.js";
import { lastFactorsRead, planFactors } from "../../src/query/adjust.js";
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
const filesOf = (scans: readonly { readonly files: readonly DataFile[] }[]) =>
  scans.map(({ files }) => files.map(({ path }) => path));

describe("the factors of a request", () => {
  test("come from files of the requested days, in the order of the rows", () => {
    const wide = planFactors(parse("adjust=backward&start_date=20220601"), covered, null);
    expect(wide.columns.map(({ name }) => name).slice(0, 3)).toEqual(["trade_date", "ts_code", "adj_factor"]);
    expect(filesOf(wide.scans)).toEqual([["2022"], ["2023"]]);
    const down = planFactors(parse("adjust=backward&start_date=20220601&order=desc"), covered, null);
    expect(filesOf(down.scans)[0]).toEqual(["2023"]);
  });

  test("of one stock come from the copy by code, and from date files that it does not cover", () => {
    const request = parse("adjust=forward&ts_code=600519.SH");
    expect(filesOf(planFactors(request, covered, null).scans)).toEqual([["copy of SH"], ["2023"]]);
    expect(filesOf(lastFactorsRead(request, covered).scans)).toEqual([["2023"], ["copy of SH"]]);
  });

  test("continue after the previous page", () => {
    const after = { date: "20230105", code: "600519.SH", row: 7 };
    expect(filesOf(planFactors(parse("adjust=backward&limit=10"), covered, after).scans)).toEqual([["2023"]]);
    const down = planFactors(parse("adjust=backward&order=desc"), covered, { ...after, date: "20210105" });
    expect(new Set(filesOf(down.scans).flat())).toEqual(new Set(["2021"]));
  });

  test("of the last day are on or before end_date, from the first requested day on", () => {
    const { scans } = lastFactorsRead(parse("adjust=forward&start_date=20220601&end_date=20220630"), covered);
    expect(filesOf(scans)).toEqual([["2022"]]);
    expect(scans[0]!.tests).toEqual([
      { is: "positive", column: "adj_factor" },
      { is: "between", columns: ["trade_date"], first: "20220601", last: "20220630" },
    ]);
    expect(filesOf(lastFactorsRead(parse("adjust=forward&trade_date=20220601"), covered).scans)).toEqual([
      ["2022", "2023"],
    ]);
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
    const prices = quotes.columns.filter(({ name }) => adjustment!.prices.includes(name));
    expect(prices.map(({ type }) => type)).toEqual(adjustment!.prices.map(() => "float64"));
  }
});
