import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { run } from "../../src/cli/program.js";
import { temporaryFolder } from "../support/folders.js";

let root: string;
let out = "";
let err = "";

beforeEach(() => {
  out = err = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, "write").mockImplementation((text) => ((err += String(text)), true));
});
afterEach(() => void vi.restoreAllMocks());

const call = (...args: readonly string[]): Promise<number> => run([...args, "--data", root]);

async function csv(name: string, ...lines: readonly string[]): Promise<string> {
  const file = join(root, name);
  await writeFile(file, [...lines, ""].join("\n"));
  return file;
}

const FACTORS = "ts_code,trade_date,adj_factor";

beforeAll(async () => {
  root = await temporaryFolder();
  const weights = await csv("w.csv", "index_code,con_code,trade_date,weight", "000300.SH,000001.SZ,20250102,60");
  const factors = await csv("f.csv", FACTORS, "000001.SZ,20250102,0", "000001.SZ,20250103,1");
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  expect(await call("import", "index_weight", weights)).toBe(0);
  expect(await call("import", "adj_factor", factors)).toBe(0);
});

test("check names what it finds, and fails for what cannot be true", async () => {
  expect(await call("check")).toBe(1);
  expect(out).toBe(
    "adj_factor: 2 rows\n" +
      "  severe: the adjustment factor is zero or negative: 1 row, e.g. 000001.SZ 20250102 (adj_factor 0)\n" +
      "index_weight: 1 row\n" +
      "  suspicious: the weights of one index and day do not sum to 100 percent: 1 day, e.g. 000300.SH 20250102 (sum 60)\n",
  );
  expect(err).toContain("1 check found what cannot be true\n");
});

test("check succeeds for what is merely suspicious, and with --severe leaves it out", async () => {
  expect(await call("check", "index_weight")).toBe(0);
  expect(out).toContain("suspicious: ");
  out = "";
  expect(await call("check", "index_weight", "--severe")).toBe(0);
  expect(out).toBe("index_weight: 1 row, nothing found\n");
});

test("check looks only at the given days", async () => {
  expect(await call("check", "adj_factor", "--from", "2025-01-03")).toBe(0);
  expect(out).toBe("adj_factor: 1 row, nothing found\n");
  expect(await call("check", "adj_factor", "--to", "20250102")).toBe(1);
  expect(await call("check", "--from", "yesterday")).toBe(2);
  expect(err).toContain("It must be a day such as 20250102.");
  expect(await call("check", "--from", "20250103", "--to", "20250102")).toBe(2);
  expect(err).toContain("--from 20250103 is after --to 20250102");
});

test("check --json has everything for programs", async () => {
  expect(await call("check", "adj_factor", "--json")).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    entities: [
      {
        entity: "adj_factor",
        rows: 2,
        findings: [{ check: "factor-not-positive", severity: "severe", count: 1, days: [["20250102", "20250102", 1]] }],
      },
    ],
  });
});

test("status has a line for each entity with findings", async () => {
  expect(await call("status")).toBe(0);
  expect(out).toContain("checks of adj_factor: severe: factor-not-positive (1 row)\n");
  expect(out).toContain("checks of index_weight: suspicious: weights-sum (1 day)\n");
});

test("import --strict refuses the file and changes nothing", async () => {
  const file = await csv("strict.csv", FACTORS, "000002.SZ,20250106,-1");
  expect(await call("import", "adj_factor", file, "--strict")).toBe(1);
  expect(err).toContain("refused by --strict: the adjustment factor is zero or negative: 1 row");
  expect(await call("check", "adj_factor", "--from", "20250106")).toBe(0);
});
