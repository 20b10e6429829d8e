import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { run } from "../../src/cli/program.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";

let root: string;
const versions: string[] = [];
let out = "";
let err = "";

beforeEach(() => {
  out = err = "";
  vi.spyOn(process.stdout, "write").mockImplementation((told) => ((out += String(told)), true));
  vi.spyOn(process.stderr, "write").mockImplementation((told) => ((err += String(told)), true));
});
afterEach(() => void vi.restoreAllMocks());

const daily = (rows: string): string =>
  `SELECT ts_code, trade_date::DATE AS trade_date, amount FROM (VALUES ${rows}) t(ts_code, trade_date, amount)`;

beforeAll(async () => {
  root = await temporaryFolder();
  for (const rows of ["('600519.SH', '2024-01-02', 1234567.8912)", "('000001.SZ', '2024-01-03', NULL)"]) {
    versions.push((await publishRows(root, { daily: daily(rows) }))!.data_version);
  }
});

const lines = (): readonly string[] => out.split("\n").map((line) => line.split(/ +/).filter(Boolean).join(" "));

describe("tapehouse statistics", () => {
  test("shows what each column holds, with every digit", async () => {
    expect(await run(["statistics", "daily", "--columns", "ts_code, amount,vol", "--data", root])).toBe(0);
    expect(lines()).toEqual([
      "column nulls distinct min max last",
      "ts_code 0 2 000001.SZ 600519.SH 20240103",
      "amount 1 1 1234567.8912 1234567.8912 20240102",
      "vol 2 0",
      "",
    ]);
    expect(err).toBe(`daily: 2 rows in version ${versions[1]}\n`);
  });

  test("shows every column, and nothing but zeros for an entity without rows", async () => {
    expect(await run(["statistics", "weekly", "--data", root])).toBe(0);
    expect(lines().slice(0, 2)).toEqual(["column nulls distinct min max last", "ts_code 0 0"]);
  });

  test("prints for programs what the server returns, of an older version too", async () => {
    for (const version of ["1", versions[0]!]) {
      out = "";
      const args = ["--columns", "amount", "--at", version, "--json", "--data", root];
      expect(await run(["statistics", "daily", ...args])).toBe(0);
      const amount = { nulls: 0, distinct: 1, min: 1234567.8912, max: 1234567.8912, last: "20240102" };
      expect(JSON.parse(out)).toEqual({
        ...{ entity: "daily", data_version: versions[0], rows: 1 },
        columns: [{ name: "amount", ...amount }],
      });
    }
  });

  test.each([
    [["dayly"], 'tapehouse: there is no entity "dayly"; did you mean daily?\n', 2],
    [["daily", "--columns", "amont"], "tapehouse: daily has no column amont; did you mean amount?\n", 2],
    [["daily", "--at", "9"], "tapehouse: version 9 is not among the kept versions (see: tapehouse versions)\n", 1],
  ])("refuses %j", async (args, told, code) => {
    expect(await run(["statistics", ...args, "--data", root])).toBe(code);
    expect([out, err]).toEqual(["", told]);
  });
});
