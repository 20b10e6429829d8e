// Runs of small test files of their own, whose outputs are read as people read them: from the end.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "./folders.js";
import { run, type Ended } from "./run.js";

const VITEST = join(import.meta.dirname, "../../node_modules/vitest/vitest.mjs");
const REPORTER = join(import.meta.dirname, "failed-tests.ts");

async function runTests(files: Readonly<Record<string, string>>): Promise<Ended> {
  const folder = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const reporters = ["--reporter=default", `--reporter=${REPORTER}`];
  return run(process.execPath, [VITEST, "run", "--root", folder, "--globals", ...reporters], {
    env: { ...process.env, NO_COLOR: "1" },
  });
}

test("a failing run ends with the names of tests, groups and files that failed, and of no others", async () => {
  const { output, exitCode } = await runTests({
    "a.test.ts": `
      test("adds", () => expect(1 + 1).toBe(2));
      describe("a sum", () => test("is wrong", () => expect(1 + 1).toBe(3)));
      describe("a group", () => {
        afterAll(() => Promise.reject(new Error("not closed")));
        test("passes", () => undefined);
      });`,
    "b.test.ts": `import "./missing.js";`,
    "c.test.ts": `test("passes", () => void Promise.reject(new Error("late")));`,
  });
  expect(exitCode).toBe(1);
  expect(output.slice(output.lastIndexOf("Failed:")).trimEnd().split("\n")).toEqual([
    "Failed:",
    "a.test.ts > a group",
    "a.test.ts > a sum > is wrong",
    "b.test.ts",
    "outside of the tests: late",
  ]);
});

test("a run without failures ends normally", async () => {
  const { output, exitCode } = await runTests({ "a.test.ts": `test("adds", () => expect(1 + 1).toBe(2));` });
  expect(exitCode).toBe(0);
  expect(output).not.toContain("Failed:");
});
