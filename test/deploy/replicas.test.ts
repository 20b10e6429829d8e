// Several servers on one lake, as behind one load balancer.
import { expect, test } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve } from "../support/server.js";

const day = (n: number, close: number): Record<string, string> => ({
  daily: `SELECT lpad(i::VARCHAR, 6, '0') || '.SZ' AS ts_code, DATE '2024-01-0${n}' AS trade_date, ${close} AS close FROM range(5) t(i)`,
});

test("a replica knows a version that it has not seen yet, and one that never was as before", async () => {
  const root = await temporaryFolder();
  await publishRows(root, day(1, 1));
  const replica = await openLake(root);
  const published = await publishRows(root, day(2, 2));
  expect(await replica.at(published!.data_version)).toMatchObject({ version: { sequence: 2 } });
  expect(await replica.at("2999-01-01T00:00:00.000+08:00")).toBe("unknown");
});

test("pages, pinned versions and ETags of one replica go on at the other, while a third process publishes", async () => {
  const root = await temporaryFolder();
  await publishRows(root, day(1, 1));
  const replicas = [await serve(root), await serve(root)];
  for (let n = 2; n <= 6; n++) {
    await publishRows(root, day(n, n));
    await replicas[0]!.context.lake.refresh();
    const path = "/api/v1/entities/daily?limit=3";
    const first = await replicas[0]!.json(path);
    const rows = [...first.rows];
    let cursor = first.next_cursor;
    for (let page = 1; cursor !== null; page++) {
      const next = await replicas[page % 2]!.json(`${path}&cursor=${cursor}`);
      expect(next.data_version).toBe(first.data_version);
      rows.push(...next.rows);
      cursor = next.next_cursor;
    }
    expect(rows).toHaveLength(n * 5);

    const pinned = `/api/v1/entities/daily?data_version=${encodeURIComponent(first.data_version)}`;
    const etag = (await replicas[0]!.get(pinned)).headers.get("etag")!;
    expect((await replicas[1]!.get(pinned, { "If-None-Match": etag })).status).toBe(304);
  }
});
