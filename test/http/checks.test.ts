import { beforeAll, describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { checksOf } from "../../src/catalog/checks.js";
import { importFiles } from "../../src/store/import.js";
import { createToken } from "../../src/store/tokens.js";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../support/folders.js";
import { serve, type TestServer } from "../support/server.js";

let root: string;
let server: TestServer;
const versions: string[] = [];

interface Answer {
  readonly entity: string;
  readonly data_version: string;
  readonly checks: readonly { readonly check: string; readonly count: number; readonly examples: readonly unknown[] }[];
}

const checks = async (path: string): Promise<Answer> =>
  (await server.json(`/api/v1/entities/${path}`)) as unknown as Answer;

async function take(entity: string, ...lines: readonly string[]): Promise<void> {
  const file = join(root, `${entity}.csv`);
  await writeFile(file, [...lines, ""].join("\n"));
  const { version } = await importFiles(root, entityNamed(entity)!, [file], { map: {}, set: {}, memory: "1GB" });
  versions.push(version!.data_version);
}

beforeAll(async () => {
  root = await temporaryFolder();
  await take("stk_limit", "ts_code,trade_date,up_limit,down_limit", "000001.SZ,20250102,11,9");
  await take("daily", "ts_code,trade_date,high,low", "000001.SZ,20250102,12,10", "000002.SZ,20250102,9,10");
  await take("daily", "ts_code,trade_date,high,low", "000002.SZ,20250102,10,9");
  server = await serve(root);
});

describe("GET /api/v1/entities/<entity>/checks", () => {
  test("lists every check of the entity, with what it found in the current version", async () => {
    const answer = await checks("daily/checks");
    expect(answer).toMatchObject({ entity: "daily", data_version: versions[2] });
    expect(answer.checks.map(({ check }) => check)).toEqual(checksOf("daily").map(({ id }) => id));
    expect(answer.checks.filter(({ count }) => count > 0)).toEqual([
      {
        check: "beyond-limit",
        severity: "suspicious",
        says: "a price is beyond the price limits of the day",
        chinese: "价格超出当日涨跌停价",
        counts: "rows",
        count: 1,
        first: "20250102",
        last: "20250102",
        examples: [{ code: "000001.SZ", date: "20250102", values: { high: 12, low: 10, up_limit: 11, down_limit: 9 } }],
      },
    ]);
  });

  test("answers for an older version", async () => {
    const found = (await checks(`daily/checks?data_version=${encodeURIComponent(versions[1]!)}`)).checks;
    expect(found.filter(({ count }) => count > 0).map(({ check }) => check)).toEqual([
      "high-below-low",
      "beyond-limit",
    ]);
  });

  test("has no checks for an entity without any", async () => {
    expect((await checks("namechange/checks")).checks).toEqual([]);
  });

  test("shows no values of an entity that the token does not cover", async () => {
    const now = new Date();
    const token = await createToken(root, "narrow", { entities: ["daily"], expires: null }, now);
    const headers = { Authorization: `Bearer ${token}` };
    const response = await server.get("/api/v1/entities/daily/checks", headers);
    const { checks: found } = (await response.json()) as Answer;
    expect(found.find(({ check }) => check === "beyond-limit")).toMatchObject({ count: 1, examples: [] });
    expect((await server.get("/api/v1/entities/stk_limit/checks", headers)).status).toBe(403);
  });

  test("refuses parameters that it does not have", async () => {
    expect((await server.get("/api/v1/entities/daily/checks?ts_code=000001.SZ")).status).toBe(400);
  });
});
