import { describe, expect, test } from "vitest";
import { fileList, type DataFile } from "../../src/lake/manifest.js";
import type { DateBounds } from "../../src/query/files.js";
import { differingParts, type Part } from "../../src/query/changed-dates.js";

const file = (first: string | null, last = first, rows = 10, name = "old"): DataFile => ({
  ...{ path: `${name}-${first}-${last}`, sha256: `${name} ${first} ${last}`, bytes: 1, rows, first, last },
  ...{ firstCode: "000001.SZ", lastCode: "600519.SH" },
});

const EVER = { start: null, end: null };

/** Dates and files of the parts, as text. */
function partsOf(
  older: readonly DataFile[],
  newer: readonly DataFile[],
  dates: DateBounds = EVER,
  mostRows = 1000,
): string[] {
  const names = (files: Part["older"]): string => files.map(({ sha256 }) => sha256).join(" + ") || "nothing";
  return differingParts(fileList("daily", older), fileList("daily", newer), dates, mostRows).map(
    (part) => `${part.first}..${part.last}: ${names(part.older)} / ${names(part.newer)}`,
  );
}

describe("the parts in which two versions differ", () => {
  const january = file("20240101", "20240131");
  const february = file("20240201", "20240229");

  test("leave out files that both versions hold", () => {
    expect(partsOf([january, february], [january, february])).toEqual([]);
    const corrected = file("20240201", "20240229", 10, "new");
    expect(partsOf([january, february], [january, corrected])).toEqual([
      "20240201..20240229: old 20240201 20240229 / new 20240201 20240229",
    ]);
  });

  test("compare small files with the one that joined them", () => {
    const joined = file("20240101", "20240229", 20, "new");
    expect(partsOf([january, february], [joined])).toEqual([
      "20240101..20240229: old 20240101 20240131 + old 20240201 20240229 / new 20240101 20240229",
    ]);
  });

  test("are cut at the borders of files, and within files that are large", () => {
    const joined = file("20240101", "20240229", 20, "new");
    expect(partsOf([january, february], [joined], EVER, 15)).toEqual([
      "20240101..20240116: old 20240101 20240131 / new 20240101 20240229",
      "20240117..20240131: old 20240101 20240131 / new 20240101 20240229",
      "20240201..20240215: old 20240201 20240229 / new 20240101 20240229",
      "20240216..20240229: old 20240201 20240229 / new 20240101 20240229",
    ]);
  });

  test("are never smaller than a day", () => {
    expect(partsOf([], [file("20240102", "20240102", 1_000_000)])).toEqual([
      "20240102..20240102: nothing / old 20240102 20240102",
    ]);
  });

  test("stay within the bounds", () => {
    const dates = { start: "20240110", end: "20240205" };
    expect(partsOf([january], [february], dates)).toEqual([
      "20240110..20240205: old 20240101 20240131 / old 20240201 20240229",
    ]);
    expect(partsOf([january], [], { start: "20240301", end: null })).toEqual([]);
  });

  test("end with the rows without a date, unless a date is bounded", () => {
    const [before, after] = [file(null), file(null, null, 10, "new")];
    expect(partsOf([january, before], [january, after])).toEqual(["null..null: old null null / new null null"]);
    expect(partsOf([january, before], [january, after], { start: "19900101", end: null })).toEqual([]);
  });
});
