// Plans of panels: which days each scan joins, and which files it reads.
import { describe, expect, test } from "vitest";
import { toDays } from "../../src/dates.js";
import { fileList, type DataFile, type FileList } from "../../src/lake/manifest.js";
import type { Position } from "../../src/query/cursor.js";
import { parsePanelRequest } from "../../src/query/panel.js";
import { planPanel } from "../../src/query/panel-plan.js";
import type { Plan } from "../../src/query/plan.js";
import type { Panel } from "../../src/query/scan.js";

const file = (first: string, last: string, rows: number, mostOnADay: number): DataFile => ({
  ...{ path: `${first}.parquet`, sha256: first, bytes: 1, rows, first, last, mostOnADay },
  ...{ firstCode: "000001.SZ", lastCode: "920001.BJ" },
});

/** Five years of 5,000 stocks, and reports that were announced in three of them. */
const lists: Readonly<Record<string, FileList>> = {
  daily: fileList(
    "daily",
    [2020, 2021, 2022, 2023, 2024].map((y) => file(`${y}0102`, `${y}1230`, 1_215_000, 5_000)),
  ),
  income: fileList("income", [file("20210104", "20231229", 60_000, 3_000)]),
  fina_indicator: fileList(
    "fina_indicator",
    [2021, 2023].map((y) => file(`${y}0104`, `${y}1229`, 20_000, 3_000)),
  ),
};

function plan(query: string, after: Position | null = null): Plan {
  const limits = { defaultLimit: null, maxLimit: null };
  const request = parsePanelRequest(new URLSearchParams(query), limits);
  return planPanel(request, (name) => lists[name] ?? fileList(name, []), after);
}

const joinings = ({ scans }: Plan): readonly Panel[] => scans.map(({ derived }) => derived as Panel);

/** First and last day of each scan: those that its rows are tested for, else those of its files. */
const daysOf = (made: Plan): readonly (readonly [string, string])[] =>
  joinings(made).map(({ members: [{ parts }] }) => {
    const { files, tests } = parts[0]!;
    const [test] = tests;
    const [first, last] = test?.is === "between" ? [test.first, test.last] : [null, null];
    return [first ?? files[0]!.first!, last ?? files.at(-1)!.last!];
  });

describe("the plan of a panel", () => {
  test("joins a whole market span by span, each short enough for little memory", () => {
    const { scans, cost } = plan("entities=daily:close,income:total_revenue");
    expect(cost).toBe("heavy");
    expect(scans.length).toBeGreaterThan(20);
    const days = daysOf({ ...plan("entities=daily:close"), scans });
    for (const [first, last] of days) expect(toDays(last) - toDays(first)).toBeLessThan(70);
    expect(days[0]![0]).toBe("20200102");
    expect(days.at(-1)![1]).toBe("20241230");
    for (const [i, [first]] of days.slice(1).entries()) expect(first > days[i]![1]).toBe(true);
  });

  test("joins a few stocks at once, and is light like a page", () => {
    const { scans, cost } = plan("entities=daily:close,income:total_revenue&codes=600519.SH,000001.SZ");
    expect([scans.length, cost]).toEqual([1, "light"]);
    expect(plan("entities=daily:close,income:total_revenue&limit=100").cost).toBe("light");
  });

  test("begins a page with few days, from its position or backwards from the end", () => {
    const [first, second] = daysOf(plan("entities=daily:close&limit=100"));
    expect([first, second]).toEqual([
      ["20200102", "20200102"],
      ["20200103", "20200104"],
    ]);
    const after = { date: "20220104", code: "000001.SZ", row: 0 };
    expect(daysOf(plan("entities=daily:close&limit=100", after))[0]).toEqual(["20220104", "20220104"]);
    expect(daysOf(plan("entities=daily:close&limit=100&order=desc"))[0]).toEqual(["20241230", "20241230"]);
  });

  test("knows the reports that were announced by the end of each span, and no later ones", () => {
    const query = "entities=daily:close,income:total_revenue,fina_indicator:roe&codes=600519.SH";
    const [{ members }] = joinings(plan(`${query}&start_date=20220301&end_date=20220331`)) as [Panel];
    const [, income, indicator] = members;
    expect(income!.newest).toMatchObject({ known: ["f_ann_date", "ann_date"], period: "end_date", from: "20220301" });
    expect(income!.parts[0]!.tests).toMatchObject([
      { is: "in", values: ["600519.SH"] },
      { is: "between", columns: ["f_ann_date", "ann_date"], last: "20220331" },
      { is: "between", columns: ["end_date"], last: "20220331" },
      { is: "in", values: ["1"] },
    ]);
    expect(indicator!.parts.flatMap(({ files }) => files)).toEqual([lists["fina_indicator"]!.byDate[0]]);
  });

  test("has no scans where the first entity has no rows", () => {
    expect(plan("entities=stk_limit:up_limit,daily:close").scans).toEqual([]);
    expect(plan("entities=daily:close&start_date=20250101").scans).toEqual([]);
  });
});
