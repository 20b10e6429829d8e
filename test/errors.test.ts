import { expect, test } from "vitest";
import { nearest, Problem } from "../src/errors.js";

test("a mistyped name is near the one that was meant; a long text is near none", () => {
  expect(nearest("dialy", ["daily", "weekly"])).toBe("daily");
  expect(nearest("d".repeat(65), ["d".repeat(64)])).toBeUndefined();
});

test("a problem repeats little of what a client sent", () => {
  const problem = new Problem("invalid_parameter", "x".repeat(100_000), { parameter: "y".repeat(100_000), hint: "z" });
  expect([problem.detail.length, problem.message.length, problem.extras.parameter!.length]).toEqual([501, 501, 61]);
  expect(problem.extras.hint).toBe("z");
});
