import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { columnNamed, entityNamed } from "../../src/catalog/index.js";
import { toCalendar } from "../../src/query/calendar.js";
import { computeGaps, isFilled, parseGapRequest, selectGaps, type HeldDays } from "../../src/query/gaps.js";
import { daySet, type DaySet, type Span } from "../../src/query/gaps-days.js";
import { heldDaysRead, listingsRead, suspendedDaysRead } from "../../src/query/gaps-read.js";
import { rowsOf, scanOf } from "../../src/query/scan.js";
import { fileList, type DataFile } from "../../src/lake/manifest.js";
import { gapsByHand, smallMarket, sorted, type SmallMarket } from "../support/market.js";

const daily = entityNamed("daily")!;

function heldBy(span: Span, rows: readonly (readonly [string, string])[]): HeldDays {
  const dates = new Map<string, string[]>();
  for (const [code, date] of rows) dates.set(code, [...(dates.get(code) ?? []), date]);
  return new Map([...dates].map(([code, days]): [string, DaySet] => [code, daySet(span, days)]));
}

function computed(market: SmallMarket) {
  const dates = market.rows.map(([, date]) => date).sort();
  const span = { first: dates[0]!, last: dates.at(-1)! };
  const open = market.calendar.filter(([, isOpen]) => isOpen).map(([date]) => date);
  const full = market.suspensions.filter(([, , timing, type]) => timing === null && type === "S");
  return computeGaps(daily, span, open, heldBy(span, market.rows), {
    codes: market.stocks.map(([code]) => code),
    listed: market.stocks.map(([, listed]) => listed),
    delisted: market.stocks.map(([, , delisted]) => delisted),
    suspended: heldBy(
      span,
      full.map(([code, date]) => [code, date] as const),
    ),
  });
}

describe("computed gaps", () => {
  test("equal those found by checking every stock and day", () => {
    let found = 0;
    fc.assert(
      fc.property(smallMarket, (market) => {
        fc.pre(market.rows.length > 0);
        const gaps = computed(market);
        found += gaps.length;
        expect(sorted(gaps)).toEqual(sorted(gapsByHand("daily", market)));
      }),
      { numRuns: 500 },
    );
    expect(found).toBeGreaterThan(1000);
  });
});

describe("selected gaps", () => {
  test("overlap the interval, are whole, and come in one order whatever order they were found in", () => {
    fc.assert(
      fc.property(
        smallMarket,
        fc.constantFrom("20231225", "20240105"),
        fc.constantFrom("20240108", null),
        (m, start, end) => {
          const gaps = gapsByHand("daily", m);
          const request = { start, end, code: null, dataVersion: null };
          const chosen = selectGaps(daily, gaps, request);
          expect(selectGaps(daily, gaps.toReversed(), request)).toEqual(chosen);
          const overlapping = gaps.filter((g) => g.gap_end >= start && (end === null || g.gap_start <= end));
          expect(sorted(chosen)).toEqual(sorted(overlapping));
          const keys = chosen.map((g) => [g.gap_start, g.ts_code ?? "", g.gap_end, g.kind].join("|"));
          expect(keys).toEqual(keys.toSorted());
        },
      ),
      { numRuns: 100 },
    );
  });

  test("of a code are its own and those of no code, with or without suffix where rows may lack it", () => {
    const gap = { entity: "anns_d", gap_start: "20240102", gap_end: "20240102", kind: "timeout" };
    const gaps = [null, "600519", "600519.SH", "000001.SZ"].map((ts_code) => ({ ...gap, ts_code }));
    const codes = (name: string, query: string) =>
      selectGaps(entityNamed(name)!, gaps, parseGapRequest(entityNamed(name)!, new URLSearchParams(query))).map(
        (g) => g.ts_code,
      );
    expect(codes("daily", "ts_code=600519.SH")).toEqual([null, "600519.SH"]);
    expect(codes("anns_d", "ts_code=600519.SH")).toEqual([null, "600519", "600519.SH"]);
    expect(codes("anns_d", "ts_code=600519")).toEqual([null, "600519", "600519.SH"]);
  });
});

describe("a recorded gap", () => {
  const calendar = toCalendar(["20240105", "20240106", "20240107", "20240108"], [1, 0, 0, 1]);
  const span = { first: "20240101", last: "20240131" };
  const filled = (start: string, end: string, held: readonly string[], known = calendar): boolean => {
    const gap = { entity: "daily", ts_code: null, gap_start: start, gap_end: end, kind: "timeout" };
    return isFilled(gap, known, span, daySet(span, held));
  };

  test("is filled by rows on each of its open days", () => {
    expect(filled("20240105", "20240108", ["20240105", "20240108"])).toBe(true);
    expect(filled("20240105", "20240108", ["20240105"])).toBe(false);
    expect(filled("20240105", "20240107", ["20240105"])).toBe(true);
  });

  test("of closed days alone is filled by rows on each of them", () => {
    expect(filled("20240106", "20240107", [])).toBe(false);
    expect(filled("20240106", "20240107", ["20240106"])).toBe(false);
    expect(filled("20240106", "20240107", ["20240106", "20240107"])).toBe(true);
  });

  test("on days that the calendar does not know needs rows on each of them", () => {
    expect(filled("20240108", "20240110", ["20240108", "20240109"])).toBe(false);
    expect(filled("20240108", "20240110", ["20240108", "20240109", "20240110"])).toBe(true);
    const none = toCalendar([], []);
    expect(filled("20240106", "20240107", ["20240106"], none)).toBe(false);
    expect(filled("20240106", "20240107", ["20240106", "20240107"], none)).toBe(true);
  });
});

describe("what is read", () => {
  const file = (first: string, last: string): DataFile => {
    return { path: `${first}.parquet`, sha256: "", bytes: 1, rows: 1, first, last, firstCode: "a", lastCode: "b" };
  };
  const list = fileList("daily", [file("20220104", "20221230"), file("20230103", "20231229")]);
  const span = { first: "20230103", last: "20230110" };

  const select = { what: "days", date: "trade_date", first: "20230103", bits: 8 } as const;
  const between = { is: "between", columns: ["trade_date"], first: "20230103", last: "20230110" } as const;
  const code = { column: columnNamed(daily, "ts_code")! };

  test("to find the days of each code are bits, from the files of the span", () => {
    expect(heldDaysRead(daily, list, span, "each").scans).toEqual([
      scanOf([list.byDate[1]!], { ...select, code }, { tests: [between] }),
    ]);
  });

  test("to find the days of some codes are their rows alone; of all together, each day once", () => {
    const codes = ["600519.SH", "000001.SZ"];
    const some = heldDaysRead(daily, list, span, codes).scans[0]!;
    expect(some.tests).toEqual([between, { is: "in", value: code, values: codes }]);
    expect(heldDaysRead(daily, list, span, "all").scans[0]!.select).toEqual({ ...select, code: null });
    const bare = { column: columnNamed(entityNamed("anns_d")!, "ts_code")!, bare: true };
    const anns = heldDaysRead(entityNamed("anns_d")!, list, span, ["600519"]).scans[0]!;
    expect(anns.tests).toContainEqual({ is: "in", value: bare, values: ["600519"] });
  });

  test("of suspensions are those of whole days", () => {
    const suspend = entityNamed("suspend_d")!;
    const is = (name: string, value: string | null) => ({
      is: "in",
      value: { column: columnNamed(suspend, name) },
      values: [value],
    });
    expect(suspendedDaysRead(list, span).scans[0]!.tests).toEqual([
      between,
      is("suspend_type", "S"),
      is("suspend_timing", null),
    ]);
  });

  test("is nothing where there are no files", () => {
    const none = fileList("daily", []);
    const reads = [heldDaysRead(daily, none, span, "each"), suspendedDaysRead(none, span), listingsRead(none)];
    expect(reads.flatMap((read) => read.scans)).toEqual([]);
  });

  test("of the stock list is its latest day", () => {
    const latest = { is: "between", columns: ["snapshot_date"], first: "20231229", last: "20231229" } as const;
    const { columns, scans } = listingsRead(list);
    expect(scans).toEqual([scanOf([list.byDate[1]!], rowsOf(columns), { tests: [latest] })]);
  });
});
