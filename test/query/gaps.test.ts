import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { columnNamed, entityNamed } from "../../src/catalog/index.js";
import { firstExpected } from "../../src/catalog/gap-rules.js";
import { formatDays, toDays } from "../../src/dates.js";
import { toCalendar } from "../../src/query/calendar.js";
import { daySet, hull, type Span } from "../../src/query/day-sets.js";
import { parseGapRequest, selectGaps } from "../../src/query/gap-request.js";
import { commonSpan, computeGaps, type HeldDays } from "../../src/query/gaps.js";
import {
  heldDaysRead,
  listingsRead,
  namesRead,
  resumedDaysRead,
  suspendedDaysRead,
} from "../../src/query/gaps-read.js";
import { rowsOf, scanOf } from "../../src/query/scan.js";
import { fileList, type DataFile } from "../../src/lake/manifest.js";
import { gapsByHand, smallMarket, sorted, type SmallMarket } from "../support/market.js";

const daily = entityNamed("daily")!;

function heldBy(span: Span, rows: readonly (readonly [string, string])[]): HeldDays {
  const dates = new Map<string, string[]>();
  for (const [code, date] of rows) dates.set(code, [...(dates.get(code) ?? []), date]);
  return new Map([...dates].map(([code, days]) => [code, daySet(span, days)]));
}

function computed(market: SmallMarket) {
  const spanOf = (dates: readonly string[]): Span | null => {
    const sorted = dates.toSorted();
    return commonSpan({ first: sorted[0] ?? null, last: sorted.at(-1) ?? null }, calendar);
  };
  const calendar = toCalendar(
    market.calendar.map(([date]) => date),
    market.calendar.map(([, isOpen]) => (isOpen ? 1 : 0)),
  );
  const within = spanOf(market.rows.map(([, date]) => date));
  if (within === null) return [];
  const span = hull(within, spanOf(market.suspensions.map(([, date]) => date)));
  const days = (wanted: (timing: string | null, type: string) => boolean): HeldDays =>
    heldBy(
      span,
      market.suspensions.filter(([, , timing, type]) => wanted(timing, type)).map(([code, date]) => [code, date]),
    );
  return computeGaps(daily, { span, within, calendar }, heldBy(span, market.rows), {
    codes: market.stocks.map(([code]) => code),
    listed: market.stocks.map(([, listed]) => listed),
    delisted: market.stocks.map(([, , delisted]) => delisted),
    suspended: days((timing, type) => timing === null && type === "S"),
    resumed: days((_, type) => type === "R"),
    delisting: null,
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

describe("no row is expected of a stock", () => {
  const dates = Array.from({ length: 400 }, (_, i) => formatDays(toDays("20230101") + i));
  const isOpen = (date: string): boolean => toDays(date) % 7 !== 2 && toDays(date) % 7 !== 3; // Saturday, Sunday
  const calendar = toCalendar(
    dates,
    dates.map((date) => (isOpen(date) ? 1 : 0)),
  );
  const within = { first: "20230403", last: "20230428" };
  const span = { first: "20230320", last: "20230510" };
  const days = calendar.open.filter((date) => within.first <= date && date <= within.last);

  interface Case {
    readonly code?: string;
    readonly entity?: string;
    readonly listed?: string;
    readonly delisted?: string;
    readonly lost: readonly string[];
    readonly suspended?: readonly string[];
    readonly resumed?: readonly string[];
    readonly delisting?: string;
  }

  /** The days on which the stock is missing. Others have rows on all open days. */
  const missing = ({ code = "600001.SH", entity = "daily", ...one }: Case): readonly string[] => {
    const { listed = "19990101", delisted = null, lost, suspended = [], resumed = [], delisting } = one;
    const traded = days.filter(
      (date) => !lost.includes(date) && date >= listed && (delisted === null || date < delisted),
    );
    const market = {
      codes: [code],
      listed: [listed],
      delisted: [delisted],
      suspended: heldBy(
        span,
        suspended.map((date) => [code, date]),
      ),
      resumed: heldBy(
        span,
        resumed.map((date) => [code, date]),
      ),
      delisting: entity === "stk_limit" ? new Map(delisting === undefined ? [] : [[code, delisting]]) : null,
    };
    const held = heldBy(span, [
      ...days.map((date) => ["159001.SZ", date] as const),
      ...traded.map((date) => [code, date] as const),
    ]);
    const gaps = computeGaps(entityNamed(entity)!, { span, within, calendar }, held, market);
    return gaps.flatMap(({ gap_start, gap_end }) => days.filter((date) => gap_start <= date && date <= gap_end));
  };

  test("between the first day of a halt and the day on which it resumed", () => {
    const lost = ["20230411", "20230412", "20230413"];
    const halt = { lost, suspended: ["20230411"] };
    expect(missing({ ...halt, resumed: ["20230414"] })).toEqual([]);
    // Nothing says that the halt went on.
    expect(missing(halt)).toEqual(["20230412", "20230413"]);
    // A row in between, or another suspension, shows that it did not.
    expect(missing({ lost, suspended: ["20230407"], resumed: ["20230414"] })).toEqual(lost);
    expect(missing({ lost: ["20230412"], suspended: ["20230411", "20230413"], resumed: ["20230414"] })).toEqual([
      "20230412",
    ]);
  });

  test("during a halt that began before the first day or ended after the last one", () => {
    expect(missing({ lost: ["20230403", "20230404"], suspended: ["20230324"], resumed: ["20230405"] })).toEqual([]);
    expect(missing({ lost: ["20230427", "20230428"], suspended: ["20230427"], resumed: ["20230509"] })).toEqual([]);
  });

  test("from its last suspension to its delisting, and on the five trading days before that", () => {
    const lost = days.filter((date) => date >= "20230412");
    expect(missing({ lost, delisted: "20230427", suspended: ["20230412"] })).toEqual([]);
    expect(missing({ lost, delisted: "20230419" })).toEqual([]);
    // Seven trading days without a row: two are too many.
    expect(missing({ lost, delisted: "20230421" })).toEqual(["20230412", "20230413"]);
    // It traded on the last day, so the day before is missing.
    expect(missing({ lost: ["20230413"], delisted: "20230417" })).toEqual(["20230413"]);
  });

  test("of Beijing before the exchange opened", () => {
    expect(firstExpected("830799.BJ", "20200727")).toBe("20211115");
    expect(firstExpected("920002.BJ", "20240201")).toBe("20240201");
    expect(firstExpected("600519.SH", "20010827")).toBe("20010827");
  });

  test.each([
    ["600002.SH", "20230410", 5],
    ["001002.SZ", "20230407", 1],
    ["301002.SZ", "20230407", 5],
    ["688002.SH", "20230407", 5],
    ["689009.SH", "20230407", 5],
    ["920002.BJ", "20230407", 1],
  ])("in stk_limit while %s, listed on %s, has no limit: %i days", (code, listed, free) => {
    const since = days.filter((date) => date >= listed);
    expect(missing({ entity: "stk_limit", code, listed, lost: since.slice(0, free) })).toEqual([]);
    expect(missing({ entity: "stk_limit", code, listed, lost: since.slice(0, free + 1) })).toEqual([since[free]]);
    expect(missing({ entity: "daily", code, listed, lost: since.slice(0, 1) })).toEqual([since[0]]);
  });

  test("in stk_limit on the first day of its delisting period", () => {
    const lost = ["20230411", "20230412"];
    expect(missing({ entity: "stk_limit", lost, delisting: "20230411" })).toEqual(["20230412"]);
    expect(missing({ entity: "daily", lost, delisting: "20230411" })).toEqual(lost);
  });

  test("on no other day: a stock that was listed before the calendar begins has its limits", () => {
    expect(missing({ entity: "stk_limit", listed: "20221230", lost: ["20230403"] })).toEqual(["20230403"]);
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
    expect(resumedDaysRead(list, span).scans[0]!.tests).toEqual([between, is("suspend_type", "R")]);
  });

  test("is nothing where there are no files", () => {
    const none = fileList("daily", []);
    const reads = [
      heldDaysRead(daily, none, span, "each"),
      suspendedDaysRead(none, span),
      listingsRead(none),
      namesRead(none),
    ];
    expect(reads.flatMap((read) => read.scans)).toEqual([]);
  });

  test("of the stock list is its latest day", () => {
    const latest = { is: "between", columns: ["snapshot_date"], first: "20231229", last: "20231229" } as const;
    const { columns, scans } = listingsRead(list);
    expect(scans).toEqual([scanOf([list.byDate[1]!], rowsOf(columns), { tests: [latest] })]);
  });
});
