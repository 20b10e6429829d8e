import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Problem } from "../../src/errors.js";
import { searchOfBody } from "../../src/query/body.js";

const read = (body: string): URLSearchParams => searchOfBody(Buffer.from(body));
const pairsIn = (body: string): [string, string][] => [...read(body)];

function problemOf(read: () => unknown): Problem {
  try {
    read();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

const name = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom('"', "\\", '\\"', '":', "a:b", "__proto__"),
);

describe("a body", () => {
  test("keeps every name and text, whatever characters they have", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(name, name), { selector: ([key]) => key }), (pairs) => {
        const members = pairs.map(([key, value]) => `${JSON.stringify(key)} : ${JSON.stringify(value)}`);
        // JSON.parse puts names that are indexes first.
        expect(pairsIn(`{${members.join()}}`).toSorted()).toEqual(pairs.toSorted());
      }),
    );
  });

  test("that has a name twice is refused, however it is written", () => {
    fc.assert(
      fc.property(name, fc.array(fc.tuple(name, name), { maxLength: 3 }), (twice, others) => {
        const pairs = [[twice, "a"], ...others, [twice, '"b": {'], ...others].map(
          ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
        );
        expect(problemOf(() => read(`{${pairs.join()}}`)).code).toBe("duplicate_parameter");
      }),
    );
    expect(problemOf(() => read('{"limit": 1, "l\\u0069mit": 1}')).extras.parameter).toBe("limit");
  });

  test("with an object in it is refused for that, not for a name that both have", () => {
    for (const value of ['{"limit":1}', '[{"limit":1}]']) {
      const { code, detail } = problemOf(() => read(`{"limit":1,"ts_code":${value}}`));
      expect([code, detail]).toEqual(["invalid_parameter", expect.stringMatching(/^ts_code: it contains an object/)]);
    }
  });

  test("of any bytes is read or refused with a problem", () => {
    const json = fc.json({ maxDepth: 2 }).map((text) => Buffer.from(text));
    const bytes = fc.oneof(fc.uint8Array(), json);
    fc.assert(
      fc.property(bytes, (body) => {
        const found = ((): unknown => {
          try {
            return searchOfBody(body);
          } catch (error) {
            return error;
          }
        })();
        expect(found instanceof URLSearchParams || (found instanceof Problem && found.status === 400)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test("has a list as several values, in which commas are part of a value", () => {
    expect(pairsIn('{"name": ["a", "b,c", "say \\"x, y\\"", 5, true]}')).toEqual([
      ...[
        ["name", "a"],
        ["name", '"b,c"'],
        ["name", '"say ""x, y"""'],
        ["name", "5"],
        ["name", "true"],
      ],
    ]);
    expect(pairsIn('{"name": "a,b"}')).toEqual([["name", "a,b"]]);
    expect(pairsIn("{}")).toEqual([]);
  });

  test.each([
    ["null", /^ts_code: it is null/],
    ["[]", /^ts_code: the list is empty/],
    ["[null]", /^ts_code: it is null/],
    ["{}", /^ts_code: it contains an object or a list/],
    ["[[]]", /^ts_code: it contains an object or a list/],
    ["1.5", /^ts_code: it contains a number that is not whole/],
    ["1e400", /^ts_code: it contains a number that is not whole/],
    ["12345678901234567890", /has too many digits$/],
    ['"\\ud800"', /^ts_code: it contains an unpaired surrogate/],
  ])("whose value is %s is refused by the name of the parameter", (value, detail) => {
    const problem = problemOf(() => read(`{"ts_code": ${value}}`));
    expect([problem.code, problem.extras.parameter]).toEqual(["invalid_parameter", "ts_code"]);
    expect(problem.detail).toMatch(detail);
  });
});
