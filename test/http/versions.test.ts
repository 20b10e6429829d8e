import { beforeAll, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";

interface Versions {
  readonly data_version: string;
  readonly versions: readonly string[];
}

let root: string;
let server: TestServer;

const publish = (days: number): Promise<unknown> =>
  publishRows(root, {
    weekly: `SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' + d::INT AS trade_date FROM range(${days}) t(d)`,
  });

const versions = async (): Promise<Versions> => (await (await server.get("/api/v1/versions")).json()) as Versions;

beforeAll(async () => {
  root = await temporaryFolder();
  for (const days of [1, 2, 3]) await publish(days);
  server = await serve(root);
});

describe("the list of versions", () => {
  test("names every kept one, newest first, and each can be read", async () => {
    const { data_version, versions: kept } = await versions();
    expect([kept.length, kept[0]]).toEqual([3, data_version]);
    expect(kept).toEqual(kept.toSorted().reverse());
    const counts = [];
    for (const version of kept) {
      counts.push((await server.json(`/api/v1/entities/weekly?data_version=${encodeURIComponent(version)}`)).count);
    }
    expect(counts).toEqual([3, 2, 1]);
  });

  test("grows with each publish", async () => {
    const before = await versions();
    await publish(4);
    await vi.waitFor(async () => expect((await versions()).versions).toHaveLength(4), { timeout: 30_000 });
    const after = await versions();
    expect(after.versions.slice(1)).toEqual(before.versions);
    expect(after.data_version).toBe(after.versions[0]);
  });

  test("is empty where nothing was published", async () => {
    const empty = await serve(await temporaryFolder());
    expect(await (await empty.get("/api/v1/versions")).json()).toMatchObject({ versions: [] });
  });
});
