import { expect, it } from "vitest";
import { toDays } from "../../src/dates.js";
import { calendarUntil, LAST_YEAR } from "../../src/demo/calendar.js";
import { describeReal, readSource, realFile } from "../support/realdata.js";

const open = new Map(calendarUntil(LAST_YEAR).map((day) => [day.date, day.open]));

it("starts on the first day of the exchange and has every calendar day once", () => {
  const dates = [...open.keys()];
  expect(dates[0]).toBe("19901219");
  expect(dates.at(-1)).toBe(`${LAST_YEAR}1231`);
  expect(dates).toHaveLength(toDays(`${LAST_YEAR}1231`) - toDays("19901219") + 1);
});

it("is closed on weekends and on the public holidays", () => {
  expect(open.get("20250104")).toBe(false);
  expect(open.get("20250105")).toBe(false);
  for (const holiday of [
    "20250101",
    "20250129",
    "20250204",
    "20250404",
    "20250501",
    "20250602",
    "20251001",
    "20251008",
  ]) {
    expect([holiday, open.get(holiday)]).toEqual([holiday, false]);
  }
  for (const workday of ["20250127", "20250205", "20250430", "20250506", "20250930", "20251009"]) {
    expect([workday, open.get(workday)]).toEqual([workday, true]);
  }
});

it("has Monday or Friday off next to a holiday of one day", () => {
  expect(open.get("20260102")).toBe(false);
  expect(open.get("20181231")).toBe(false);
  expect(open.get("20260105")).toBe(true);
});

describeReal("beside the exchange's own calendar", () => {
  it("differs in fewer than 1 weekday of 100 since 2008", async () => {
    const real = await readSource(realFile("trade_cal/dazzleckc__trade_cal.parquet"));
    const days = real.map((row) => ({
      date: String(row["cal_date"]).replaceAll("-", ""),
      open: Number(row["is_open"]) === 1,
    }));
    const recent = days.filter((day) => day.date >= "20080101");
    const wrong = recent.filter((day) => open.get(day.date) !== day.open);
    expect(recent.length).toBeGreaterThan(6_000);
    expect(wrong.length).toBeLessThan((recent.length * 5) / 7 / 100);
  });
});
