import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shortened, tableLines, widthOf } from "../../src/cli/out.js";

describe("a table", () => {
  test("keeps each row on one line, in columns, whatever a cell contains", () => {
    const rows = [
      { name: "a\nb\u202e", n: 1 },
      { name: "c", n: 2 },
    ];
    expect(tableLines(rows, 80, [])).toEqual(["name        n", String.raw`a\nb\u202e  1`, "c           2"]);
  });

  const rows = [
    { entity: "daily", rows: 12_345_678, size: "1.5 GB", note: "pulled 贵州茅台 in one go" },
    { entity: "stk_auction", rows: 9, size: null, note: null },
  ];

  test("aligns numbers to the right, with separators", () => {
    expect(tableLines(rows, Infinity, [])).toEqual([
      "entity             rows    size  note",
      "daily        12,345,678  1.5 GB  pulled 贵州茅台 in one go",
      "stk_auction           9",
    ]);
  });

  test("shortens only the columns that may be shortened, and never a number", () => {
    expect(tableLines(rows, 50, ["note", "entity"])).toEqual([
      "entity             rows    size  note",
      "daily        12,345,678  1.5 GB  pulled 贵州茅台…",
      "stk_auction           9",
    ]);
    const narrow = tableLines(rows, 20, ["note", "entity"]);
    expect(narrow[2]).toBe("stk_auc…           9");
    expect(narrow[1]).toContain("12,345,678");
  });

  test("is no wider than the terminal if its columns can be shortened", () => {
    const cell = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => text.replaceAll(/\s/g, "_"));
    const table = fc.array(fc.record({ a: cell, b: fc.option(cell), c: fc.integer() }), { minLength: 1 });
    fc.assert(
      fc.property(table, fc.integer({ min: 40, max: 120 }), (given, width) => {
        for (const line of tableLines(given, width, ["b", "a"])) expect(widthOf(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

test("a text is cut between characters, however wide they are", () => {
  expect([shortened("贵州茅台", 8), shortened("贵州茅台", 7), shortened("贵州茅台", 6), shortened("abc", 2)]).toEqual([
    "贵州茅台",
    "贵州茅…",
    "贵州…",
    "a…",
  ]);
});
