import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPrintable, printable, printableJson, shown } from "../src/words.js";
import { UNPRINTABLE } from "./support/printable.js";

describe("printable text", () => {
  test.each([
    ["a line end", "a\nb", String.raw`a\nb`],
    ["a carriage return", "a\rb", String.raw`a\rb`],
    ["a tab", "a\tb", String.raw`a\tb`],
    ["an escape sequence", "\u001b[31mred", String.raw`\u001b[31mred`],
    ["a bell and a zero", "\u0007\u0000", String.raw`\u0007\u0000`],
    ["DEL and C1 controls", "\u007f\u0085\u009b2J", String.raw`\u007f\u0085\u009b2J`],
    ["reversed text", "a\u202evsc.b\u2066\u2069\u200f\u061c", String.raw`a\u202evsc.b\u2066\u2069\u200f\u061c`],
    ["line and paragraph separators", "\u2028\u2029", String.raw`\u2028\u2029`],
    ["invisible letters", "a\u200bb\ufeff\u{e0041}", String.raw`a\u200bb\ufeff\udb40\udc41`],
    ["half a pair", "\ud800x", String.raw`\ud800x`],
  ])("has %s escaped", (_what, text, expected) => {
    expect(printable(text)).toBe(expected);
    expect(isPrintable(text)).toBe(false);
    expect(shown(text)).toBe(`"${expected}"`);
  });

  test("leaves everything else as it is", () => {
    for (const text of ["贵州茅台 600519.SH", "C:\\new\\table", "é ñ 😀 «»", "inbox/daily/a b.csv"]) {
      expect([printable(text), isPrintable(text), shown(text)]).toEqual([text, true, text]);
    }
    expect(shown("")).toBe('""');
  });

  test("is free of what steers, whatever it was, and the same where it is made so twice", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(printable(text)).not.toMatch(UNPRINTABLE);
        expect(printable(printable(text))).toBe(printable(text));
      }),
    );
  });

  test("as JSON has the meaning it had", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), fc.nat({ max: 3 }), (value, indent) => {
        const text = printableJson(value, indent);
        expect(text.replaceAll("\n", "")).not.toMatch(UNPRINTABLE);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
