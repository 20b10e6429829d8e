import fc from "fast-check";
import { expect, test } from "vitest";
import { membersOf, skipWhitespace, skipValue } from "../../src/intake/json-tables.js";

const members = async (text: string): Promise<Record<string, unknown>> => {
  const bytes = Buffer.from(text);
  return Object.fromEntries(
    (await membersOf(bytes, skipWhitespace(bytes, 0), 1_000))!.map(({ key, start, end }) => [
      key,
      JSON.parse(bytes.toString("utf8", start, end)),
    ]),
  );
};

test("the members of any object are found, however it is laid out", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()),
      fc.constantFrom(0, 1, 4),
      async (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        expect(await members(` \n${text}`)).toEqual(JSON.parse(text));
      },
    ),
  );
});

test("an object that is cut anywhere, or lacks a punctuation mark, is malformed at a byte", async () => {
  const text = '{"a": {"0": "x\\"}", "1": [1, {"b": null}]}, "c": -1.5e3, "d": "\\\\"}';
  for (let length = 1; length < text.length; length++) {
    await expect(members(text.slice(0, length))).rejects.toThrow(/^malformed at byte \d+$/);
  }
  for (const wrong of ['{"a" 1}', '{"a": 1 "b": 2}', "{a: 1}", '{"a": }', '{"a": 1,}', "[1]"]) {
    await expect(members(wrong)).rejects.toThrow(/^malformed at byte \d+$/);
  }
});

test("an object with more members than wanted is not parsed", async () => {
  const bytes = Buffer.from('{"a": 1, "b": {"c": 2}, "d": 3}');
  expect(await membersOf(bytes, 0, 3)).toHaveLength(3);
  expect(await membersOf(bytes, 0, 2)).toBeNull();
});

test("integers of any length are kept as written", async () => {
  const bytes = Buffer.from('{"n": 9007199254740993}');
  const [member] = (await membersOf(bytes, 0, 1))!;
  expect(bytes.toString("utf8", member!.start, member!.end)).toBe("9007199254740993");
  expect(await skipValue(bytes, 0)).toBe(bytes.length);
});

test("a large object is scanned in slices, so that other work goes on meanwhile", async () => {
  const column = `{${Array.from({ length: 200_000 }, (_, i) => `"${i}":"\\"${i}"`).join(",")}}`;
  const bytes = Buffer.from(`{"a":${column},"b":[${"[1,2],".repeat(2_000_000)}3]}`);
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const found = await membersOf(bytes, 0, 2);
  clearInterval(timer);
  expect(found!.map(({ start, end }) => end - start)).toEqual([column.length, 12_000_003]);
  expect(turns).toBeGreaterThan(1);
});
