import { beforeAll, describe, expect, test } from "vitest";
import { createToken } from "../../src/store/tokens.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve } from "../support/server.js";

let root: string;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, { weekly: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' AS trade_date" });
});

const WEEKLY = "/api/v1/entities/weekly";
const codes = (count: number): string => Array.from({ length: count }, (_, i) => `T${i}.SH`).join();

describe("requests with thousands of codes", () => {
  test("wait for each other, while small requests of another token are answered", async () => {
    const server = await serve(root);
    const token = await createToken(root, "small", { entities: null, expires: null }, new Date());
    const large = `${WEEKLY}?ts_code=000001.SZ,${codes(19_000)}`;
    let answered = 0;
    let most = 0;
    const flood = Array.from({ length: 30 }, async () => {
      const answer = await server.get(large);
      answered++;
      return ((await answer.json()) as { readonly count: number }).count;
    });
    for (let i = 0; i < 5; i++) {
      const small = await server.get(`${WEEKLY}?ts_code=000001.SZ`, { Authorization: `Bearer ${token}` });
      expect(await small.json()).toMatchObject({ count: 1 });
      most = Math.max(most, server.context.reader.load().streams.active);
    }
    expect(answered).toBeLessThan(20);
    expect(most).toBeLessThanOrEqual(4);
    expect(await Promise.all(flood)).toEqual(Array(30).fill(1));
  });

  test("are refused if too many of them wait", async () => {
    const server = await serve(root, { queue: "0" });
    const inUrl = `${WEEKLY}?ts_code=${codes(19_000)}`;
    const statuses = async (answers: readonly Promise<Response>[]): Promise<readonly number[]> =>
      (await Promise.all(answers)).map(({ status }) => status).sort();
    const found = await statuses(Array.from({ length: 40 }, () => server.get(inUrl)));
    expect(found).toContain(200);
    expect(found).toContain(429);
    expect(await statuses([server.get(inUrl)])).toEqual([200]);
  });
});
