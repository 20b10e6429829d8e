import fc from "fast-check";
import { expect, test } from "vitest";
import { membersOf, skipWhitespace, skipValue } from "../../src/intake/json-tables.js";

const members = (text: string): Record<string, unknown> => {
  const bytes = Buffer.from(text);
  return Object.fromEntries(
    membersOf(bytes, skipWhitespace(bytes, 0), 1_000)!.map(({ key, start, end }) => [
      key,
      JSON.parse(bytes.toString("utf8", start, end)),
    ]),
  );
};

test("the members of any object are found, however it is laid out", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()),
      fc.constantFrom(0, 1, 4),
      (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        expect(members(` \n${text}`)).toEqual(JSON.parse(text));
      },
    ),
  );
});

test("an object that is cut anywhere, or lacks a mark, is malformed at a byte", () => {
  const text = '{"a": {"0": "x\\"}", "1": [1, {"b": null}]}, "c": -1.5e3, "d": "\\\\"}';
  for (let length = 1; length < text.length; length++) {
    expect(() => members(text.slice(0, length))).toThrow(/^malformed at byte \d+$/);
  }
  for (const wrong of ['{"a" 1}', '{"a": 1 "b": 2}', "{a: 1}", '{"a": }', '{"a": 1,}', "[1]"]) {
    expect(() => members(wrong)).toThrow(/^malformed at byte \d+$/);
  }
});

test("an object with more members than are wanted is left alone", () => {
  const bytes = Buffer.from('{"a": 1, "b": {"c": 2}, "d": 3}');
  expect(membersOf(bytes, 0, 3)).toHaveLength(3);
  expect(membersOf(bytes, 0, 2)).toBeNull();
});

test("whole numbers of any length are left as they are written", () => {
  const bytes = Buffer.from('{"n": 9007199254740993}');
  const [member] = membersOf(bytes, 0, 1)!;
  expect(bytes.toString("utf8", member!.start, member!.end)).toBe("9007199254740993");
  expect(skipValue(bytes, 0)).toBe(bytes.length);
});
