import { beforeAll, beforeEach, afterEach, describe, expect, test, vi } from "vitest";
import { run } from "../../src/cli/program.js";
import { openLake } from "../../src/lake/lake.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";

let root: string;
let out = "";
let err = "";

beforeEach(() => {
  out = err = "";
  vi.spyOn(process.stdout, "write").mockImplementation((told) => {
    out += typeof told === "string" ? told : Buffer.from(told).toString();
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((told) => ((err += String(told)), true));
});
afterEach(() => void vi.restoreAllMocks());

const daily = (rows: string): string =>
  `SELECT ts_code, trade_date::DATE AS trade_date, close FROM (VALUES ${rows}) t(ts_code, trade_date, close)`;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, { daily: daily("('600519.SH', '2024-01-02', 10.5), ('000001.SZ', '2024-01-02', 7)") });
  await publishRows(root, {
    daily: daily("('600519.SH', '2024-01-02', 10.75), ('600519.SH', '2024-01-04', 11)"),
    stock_company: "SELECT '000001.SZ' AS ts_code",
  });
});

describe("tapehouse diff", () => {
  test("counts the rows of each entity that differ, from a version to the current one", async () => {
    expect(await run(["diff", "1", "--data", root])).toBe(0);
    expect(out.split("\n").map((line) => line.split(/ +/).filter(Boolean).join(" "))).toEqual([
      "entity added removed changed first last",
      "daily 1 0 1 20240102 20240104",
      "stock_company 1 0 0",
      "",
    ]);
  });

  test("takes both versions by number or by data_version", async () => {
    const [first, second] = (await (await openLake(root)).versions()).map(({ data_version }) => data_version);
    expect(await run(["diff", second!, "1", "--json", "--data", root])).toBe(0);
    expect(JSON.parse(out)).toEqual({
      from: second,
      to: first,
      entities: [
        { entity: "daily", added: 0, removed: 1, changed: 1, first: "20240102", last: "20240104" },
        { entity: "stock_company", added: 0, removed: 1, changed: 0, first: null, last: null },
      ],
    });
  });

  test("says when nothing differs", async () => {
    expect(await run(["diff", "2", "2", "--data", root])).toBe(0);
    expect(out).toBe("no rows differ\n");
  });

  test("prints the rows of one entity as CSV or JSON, or only counts them", async () => {
    expect(await run(["diff", "1", "2", "--entity", "daily", "--data", root])).toBe(0);
    expect(out.split("\n").slice(0, 2)).toEqual([
      "change,ts_code,trade_date,column,before,after",
      "changed,600519.SH,20240102,close,10.5,10.75",
    ]);
    out = "";
    expect(await run(["diff", "1", "2", "--entity", "daily", "--json", "--data", root])).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ entity: "daily", count: 2, truncated: false });
    out = "";
    expect(await run(["diff", "1", "2", "--entity", "daily", "--summary", "--data", root])).toBe(0);
    expect(out).toMatch(/^entity .*\ndaily .*\n$/);
  });

  test("refuses a version that is not kept", async () => {
    expect(await run(["diff", "7", "--data", root])).toBe(1);
    expect(await run(["diff", "yesterday", "--data", root])).toBe(1);
    expect(err).toBe(
      "tapehouse: version 7 is not among the kept versions (see: tapehouse versions)\n" +
        "tapehouse: version yesterday is unknown (see: tapehouse versions)\n",
    );
  });
});

describe("tapehouse versions --changes", () => {
  test("tells by how many rows each entity grew", async () => {
    expect(await run(["versions", "--changes", "--json", "--data", root])).toBe(0);
    expect((JSON.parse(out) as { grown: unknown }[]).map(({ grown }) => grown)).toEqual([
      { daily: 2 },
      { daily: 1, stock_company: 1 },
    ]);
    out = "";
    expect(await run(["versions", "--changes", "--data", root])).toBe(0);
    expect(out).toMatch(/test +daily \+1, stock_company \+1\n$/);
  });
});
