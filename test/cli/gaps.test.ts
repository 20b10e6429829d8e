import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { run } from "../../src/cli/program.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";

let root: string;
let out = "";
let err = "";

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, {
    daily: `SELECT '000001.SZ' AS ts_code, d::DATE AS trade_date
            FROM range(DATE '2024-01-01', DATE '2024-01-11', INTERVAL 1 DAY) t(d)`,
  });
});

beforeEach(() => {
  out = err = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, "write").mockImplementation((text) => ((err += String(text)), true));
});
afterEach(() => void vi.restoreAllMocks());

const gaps = (...args: string[]): Promise<number> => run(["gaps", ...args, "--data", root]);

describe("tapehouse gaps", () => {
  test("add records a gap, list shows its state, resolve removes it", async () => {
    expect(await gaps("list", "--json")).toBe(0);
    expect(JSON.parse(out)).toEqual([]);
    const days = ["--start", "20240110", "--end", "2024-01-12"];
    expect(await gaps("add", "daily", ...days, "--code", "000001.SZ")).toBe(0);
    expect(out).toContain("gap 1 is recorded\n");
    out = "";
    expect(await gaps("add", "daily", "--start", "20240102", "--end", "20240104", "--kind", "cut_off", "--json")).toBe(
      0,
    );
    expect(JSON.parse(out)).toMatchObject({ id: 2, kind: "cut_off", ts_code: null, resolved: null });
    expect(await gaps("add", "weekly", ...days)).toBe(0);
    expect(await gaps("resolve", "3")).toBe(0);
    expect(err).toMatch(/^gap 3 is resolved$/m);
    out = "";
    expect(await gaps("list", "--json")).toBe(0);
    expect(JSON.parse(out)).toMatchObject([
      { id: 1, state: "open", entity: "daily", ts_code: "000001.SZ", gap_start: "20240110", gap_end: "20240112" },
      { id: 2, state: "closed", kind: "cut_off" },
      { id: 3, state: "resolved", entity: "weekly", kind: "timeout" },
    ]);
    out = "";
    expect(await gaps("list")).toBe(0);
    expect(out.split("\n")[1]).toMatch(/^ *1 +open +daily +000001.SZ +20240110 +20240112 +timeout/);
  });

  test("excuse takes gaps away for a reason that list shows, and resolve takes it back", async () => {
    const own = await temporaryFolder();
    await publishRows(own, {
      trade_cal: `SELECT 'SSE' AS exchange, d::DATE AS cal_date, 1 AS is_open
                  FROM range(DATE '2024-01-01', DATE '2024-01-11', INTERVAL 1 DAY) t(d)`,
      daily: `SELECT '000001.SZ' AS ts_code, d::DATE AS trade_date
              FROM range(DATE '2024-01-01', DATE '2024-01-11', INTERVAL 1 DAY) t(d) WHERE day(d) NOT IN (4, 5, 8)`,
    });
    const of = (...args: string[]): Promise<number> => run(["gaps", ...args, "--data", own]);
    const days = ["--start", "2024-01-04", "--end", "20240108", "--reason", "停电，数据丢失"];
    expect(await of("excuse", "daily", ...days)).toBe(0);
    expect([out, err]).toEqual(["excuse 1 is recorded: 2 gaps on 20240104 to 20240108\n", ""]);
    out = "";
    expect(await of("excuse", "daily", ...days, "--json")).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ id: 1, kind: "excused", reason: "停电，数据丢失", excused_gaps: 2 });
    out = "";
    expect(await of("list", "--json")).toBe(0);
    expect(JSON.parse(out)).toMatchObject([{ id: 1, state: "excused", entity: "daily", reason: "停电，数据丢失" }]);
    expect(await of("resolve", "1")).toBe(0);
    out = err = "";
    expect(await of("list", "--json")).toBe(0);
    expect(JSON.parse(out)).toMatchObject([{ id: 1, state: "resolved" }]);
    expect(await of("excuse", "daily", "--start", "20240102", "--end", "20240102", "--reason", "x")).toBe(0);
    expect(err).toBe("warning: daily has no gap on these days now; the excuse holds for later ones\n");
  });

  test("add warns of days that have rows, by count and date, also in JSON", async () => {
    const add = (...args: string[]) => gaps("add", "daily", "--kind", "seen", ...args);
    expect(await add("--start", "20240109", "--end", "20240115")).toBe(0);
    expect(err).toBe("warning: daily has rows on 2 days of the gap: 20240109, 20240110\n");
    err = "";
    expect(await add("--start", "20240103", "--end", "20240103", "--code", "000001.SZ")).toBe(0);
    expect(err).toBe(
      "warning: daily of 000001.SZ has rows on 1 day of the gap: 20240103; no day is missing, so it is not served\n",
    );
    err = out = "";
    expect(await add("--start", "20240101", "--end", "20240201", "--json")).toBe(0);
    expect((JSON.parse(out) as { days_with_rows: string[] }).days_with_rows).toHaveLength(10);
    expect(err).toContain("10 days of the gap: 20240101, 20240102");
    expect(err).toContain("20240108 and 2 more\n");
    err = "";
    expect(await add("--start", "20240103", "--end", "20240103", "--code", "600519.SH")).toBe(0);
    expect(await add("--start", "20240301", "--end", "20240302")).toBe(0);
    expect(await gaps("add", "index_basic", "--start", "20240101", "--end", "20240102")).toBe(0);
    expect(err).toBe("");
  });

  test.each([
    [["add", "dayly", "--start", "20240102", "--end", "20240103"], 2, /did you mean daily\?/],
    [["add", "daily", "--start", "20240102"], 2, /--end/],
    [["add", "daily", "--start", "tomorrow", "--end", "20240103"], 2, /--start: "tomorrow" is not a calendar day/],
    [["add", "daily", "--start", "20240104", "--end", "20240103"], 2, /starts on 20240104 but ends on 20240103/],
    [["add", "daily", "--start", "20240102", "--end", "20240103", "--kind", "Time-out"], 2, /snake_case/],
    [
      ["add", "daily", "--start", "20240102", "--end", "20240103", "--code", "600519"],
      2,
      /--code: "600519" has no suffix .*; did you mean 600519.SH, 600519.SZ or 600519.BJ\?/,
    ],
    [["excuse", "daily", "--start", "20240102", "--end", "20240103"], 2, /--reason/],
    [["excuse", "daily", "--start", "20240102", "--end", "20240103", "--reason", " "], 2, /printable characters/],
    [["resolve", "one"], 2, /not the number of a gap/],
    [["resolve", "99"], 1, /no gap number 99/],
    [["resolve", "3"], 1, /was already resolved/],
  ])("%j fails with exit code %i and one clear line", async (args, exitCode, message) => {
    expect(await gaps(...args)).toBe(exitCode);
    expect(err).toMatch(message);
    expect(out).toBe("");
  });
});
