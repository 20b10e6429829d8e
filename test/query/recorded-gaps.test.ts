import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { formatDays, toDays } from "../../src/dates.js";
import type { Excuse, Gap } from "../../src/lake/gaps.js";
import { toCalendar } from "../../src/query/calendar.js";
import { daySet } from "../../src/query/day-sets.js";
import { divideByExcuses, isFilled } from "../../src/query/recorded-gaps.js";

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

const gapOf = (ts_code: string | null, gap_start: string, gap_end: string, kind = "missing"): Gap => {
  return { entity: "daily", ts_code, gap_start, gap_end, kind };
};
const excuseOf = (ts_code: string | null, gap_start: string, gap_end: string, reason = "known"): Excuse => {
  const record = { id: 1, recorded: "2024-02-01T00:00:00.000Z", resolved: null };
  return { ...gapOf(ts_code, gap_start, gap_end, "excused"), ...record, reason };
};

describe("an excuse", () => {
  /** January 2024: 1 is a Monday. */
  const dates = Array.from({ length: 31 }, (_, i) => formatDays(toDays("20240101") + i));
  const calendar = toCalendar(
    dates,
    dates.map((_, i) => (i % 7 < 5 ? 1 : 0)),
  );
  const daily = entityNamed("daily")!;
  const divided = (gaps: readonly Gap[], ...excuses: readonly Excuse[]) =>
    divideByExcuses(daily, gaps, excuses, calendar);

  test("takes away the gaps of its days, and keeps them with its reason", () => {
    const gap = gapOf("600519.SH", "20240108", "20240110");
    expect(divided([gap], excuseOf("600519.SH", "20240101", "20240131", "vendor lost it"))).toEqual({
      left: [],
      excused: [{ ...gap, reason: "vendor lost it" }],
    });
    expect(divided([gap], excuseOf("600519.SH", "20240111", "20240131"))).toEqual({ left: [gap], excused: [] });
  });

  test("of some of the days of a gap leaves the others, without closed days at their ends", () => {
    const gap = gapOf(null, "20240103", "20240117", "missing_day");
    const { left, excused } = divided([gap], excuseOf(null, "20240105", "20240113"));
    expect(left).toEqual([
      { ...gap, gap_end: "20240104" },
      { ...gap, gap_start: "20240115" },
    ]);
    expect(excused).toEqual([{ ...gap, gap_start: "20240105", gap_end: "20240112", reason: "known" }]);
    // The closed days of a recorded gap belong to it.
    const recorded = gapOf(null, "20240106", "20240107", "timeout");
    expect(divided([recorded], excuseOf(null, "20240106", "20240106")).left).toEqual([
      { ...recorded, gap_start: "20240107" },
    ]);
  });

  test("without a code concerns every gap, one with a code only that of its own", () => {
    const gaps = [gapOf(null, "20240103", "20240103", "missing_day"), gapOf("600519.SH", "20240103", "20240103")];
    expect(divided(gaps, excuseOf(null, "20240103", "20240103")).left).toEqual([]);
    expect(divided(gaps, excuseOf("600519.SH", "20240103", "20240103")).left).toEqual([gaps[0]]);
    expect(divided(gaps, excuseOf("000001.SZ", "20240103", "20240103")).left).toEqual(gaps);
  });

  test("and other excuses divide the open days of all gaps, each day once", () => {
    const range = fc.tuple(fc.nat(30), fc.nat(12)).map(([from, length]) => {
      return [dates[from]!, dates[Math.min(30, from + length)]!] as const;
    });
    const opensOf = (gaps: readonly Gap[]): string[] =>
      gaps.flatMap((gap) => calendar.open.filter((date) => gap.gap_start <= date && date <= gap.gap_end));
    fc.assert(
      fc.property(range, fc.array(range, { maxLength: 4 }), ([from, to], excuses) => {
        const gap = gapOf(null, from, to, "missing_day");
        const given = excuses.map(([first, last]) => excuseOf(null, first, last));
        const { left, excused } = divided([gap], ...given);
        const isExcused = (date: string) => excuses.some(([first, last]) => first <= date && date <= last);
        const whole = opensOf([gap]);
        expect(opensOf(left)).toEqual(whole.filter((date) => !isExcused(date)));
        expect(opensOf(excused).sort()).toEqual(whole.filter(isExcused));
      }),
      { numRuns: 300 },
    );
  });
});
