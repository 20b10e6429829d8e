// The bars of one day are dropped every few seconds: readers see complete states, and few files are left.
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { readStatus } from "../../src/lake/status.js";
import { temporaryFolder } from "../support/folders.js";
import { drop, ingester, sequenceOf } from "../support/ingest.js";
import { publishRows } from "../support/lake.js";
import { serve } from "../support/server.js";
import { size } from "../support/size.js";

const DROPS = size("DROPS", 8, 300);
const STOCKS = 40;
const MINUTE = 60_000;

const bars = (close: number): string => {
  const rows = Array.from({ length: STOCKS }, (_, i) => `${600000 + i}.SH,20240603,${close}`);
  return ["ts_code,trade_date,close", ...rows, ""].join("\n");
};

test(
  `${DROPS} drops of one day are merged one by one, are visible completely or not at all, and leave few files`,
  { timeout: 900_000 },
  async () => {
    const root = await temporaryFolder();
    await publishRows(root, {
      daily:
        "SELECT (600000 + s)::VARCHAR || '.SH' AS ts_code, DATE '2024-01-02' + d::INT AS trade_date, 0 AS close " +
        "FROM range(1000) a(s), range(120) b(d)",
    });
    const server = await serve(root);
    const watcher = await ingester(root);

    const seen: number[] = [];
    const read = async (): Promise<void> => {
      const { rows } = await server.json("/api/v1/entities/daily?start_date=20240603&end_date=20240603&fields=close");
      expect([0, STOCKS]).toContain(rows.length);
      expect(new Set(rows.map(([close]) => close)).size).toBeLessThanOrEqual(1);
      seen.push(...rows.slice(0, 1).map(([close]) => close as number));
    };

    let most = 0;
    for (let i = 1; i <= DROPS; i++) {
      await rename(await drop(root, "daily/.new", bars(i)), join(root, "inbox/daily/today.csv"));
      await watcher.after(100);
      await Promise.all([watcher.after(4_900), read().then(read)]);
      await read();
      most = Math.max(most, (await openLake(root)).current().files("daily").byDate.length);
    }
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(new Set(seen).size).toBeGreaterThan(DROPS / 6);
    expect(most).toBeLessThanOrEqual(3);
    expect(await sequenceOf(root)).toBeGreaterThanOrEqual(DROPS);

    const during = await readStatus(await openLake(root));
    expect(during.versions.kept).toBeLessThan(15 * 12 + 30);
    await watcher.after(16 * MINUTE);
    const after = await readStatus(await openLake(root));
    expect(after.versions.kept).toBeLessThanOrEqual(55);
    expect((await readdir(layoutOf(root).lake, { recursive: true })).length).toBeLessThan(65);
    expect(after.disk.state).toBeLessThan(500_000);
    expect(after.drops).toMatchObject({
      imported: 1,
      refused: [],
      latest: [{ path: "daily/today.csv", rows: STOCKS }],
    });
  },
);
