// tapehouse sql: statements as an argument and from a prompt, over a lake without a server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { beforeAll, expect, test } from "vitest";
import { complete } from "../../src/cli/sql-prompt.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { hasSail, startSail } from "../support/sail.js";

let data: string;

beforeAll(async () => {
  data = await temporaryFolder();
  await publishRows(data, { adj_factor: factors(50) });
});

/** Runs the built command, since a process that runs SQL cannot run the sources. */
async function sql(args: readonly string[], input = "") {
  const main = new URL("../../dist/main.js", import.meta.url).pathname;
  const child = spawn(process.execPath, [main, "sql", "--data", data, ...args], { stdio: "pipe" });
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null) await once(child, "exit");
  return { stdout, stderr, exitCode: child.exitCode };
}

test("a statement is printed as a table, or in any format", async () => {
  const table = await sql(["SELECT count(*) AS n, max(adj_factor) > 0 AS positive FROM adj_factor"]);
  expect(table.stdout).toMatch(/^ *n +positive\n *50 +1\n$/);
  const csv = await sql(["--format", "csv", "--param", "n=2", "SELECT i FROM range($n::BIGINT) r(i) ORDER BY i"]);
  expect(csv.stdout).toBe("i\n0\n1\n");
});

test("a list is a value as JSON, and one that is not JSON is refused", async () => {
  const found = await sql(["--format", "csv", "--param", 'n=["1", "3"]', "SELECT $n[2] AS second"]);
  expect(found.stdout).toBe("second\n3\n");
  const refused = await sql(["--param", "n=[1,", "SELECT $n AS n"]);
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("A list must be JSON")]);
});

test.runIf(hasSail)("a statement runs on the cluster that is given", async () => {
  const { address } = await startSail();
  const statement = "SELECT count(*) AS n FROM adj_factor";
  const there = await sql(["--cluster", address, "--engine", "cluster", "--format", "csv", statement]);
  expect(there).toEqual({ stdout: "n\n50\n", stderr: "", exitCode: 0 });
  const { stderr } = await sql(["--engine", "cluster", statement]);
  expect(stderr).toMatch(/no cluster/);
});

test("a mistake is one line with its place, and exit code 1", async () => {
  const { exitCode, stderr } = await sql(["SELECT adj_facto FROM adj_factor"]);
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(/^tapehouse: line 1, column 8: .*adj_facto.*"adj_factor".*\n$/),
  ]);
});

test("statements from the input run one after another; a mistake does not end them", async () => {
  const input = "SELECT 1\n  AS one;\nSELECT oops;\nSELECT 2 AS two;\nSELECT 3 AS three";
  const { exitCode, stdout, stderr } = await sql([], input);
  expect([exitCode, stdout]).toEqual([0, "one\n  1\ntwo\n  2\nthree\n    3\n"]);
  expect(stderr).toMatch(/oops/);
});

test("names of entities, columns and functions are completed", () => {
  expect(complete("SELECT * FROM adj_f")).toEqual([["adj_factor"], "adj_f"]);
  expect(complete("FROM know")).toEqual([["known"], "know"]);
  expect(complete("SELECT ")).toEqual([[], ""]);
});
