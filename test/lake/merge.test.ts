import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { openLake } from "../../src/lake/lake.js";
import { merge } from "../../src/lake/write/merge.js";
import { withWriteSession } from "../../src/lake/write/session.js";
import { temporaryFolder } from "../support/folders.js";

const adj = entityNamed("adj_factor")!;

async function drop(root: string, values: string) {
  return withWriteSession(root, { memory: "1GB" }, async (session) => {
    await session.writer.run(
      `CREATE TEMP TABLE staged AS SELECT ts_code, trade_date::DATE AS trade_date, adj_factor::DOUBLE AS adj_factor
       FROM (VALUES ${values}) t(ts_code, trade_date, adj_factor)`,
    );
    const merged = await merge(session.writer, session.layout, adj, session.base.files("adj_factor"), "staged");
    return { merged, version: await session.publish([merged.list], "test") };
  });
}

async function rows(root: string) {
  return withWriteSession(root, { memory: "1GB" }, async ({ writer, layout, base }) => {
    const files = base.files("adj_factor").byDate.map((file) => `${layout.lake}/${file.path}`);
    const found = await writer.rows("SELECT * FROM read_parquet($1)", [files]);
    return found.map((row) => [row["ts_code"], row["trade_date"], row["adj_factor"]]);
  });
}

describe("merging a drop", () => {
  test("replaces the rows that share their identity and keeps the others", async () => {
    const root = await temporaryFolder();
    await drop(root, "('000001.SZ','2024-01-02',1.5), ('000002.SZ','2024-01-02',2)");
    const { merged } = await drop(root, "('000002.SZ','2024-01-02',3), ('000003.SZ','2024-01-03',4)");
    expect(merged.replaced).toBe(1);
    expect(await rows(root)).toEqual([
      ["000001.SZ", "2024-01-02", 1.5],
      ["000002.SZ", "2024-01-02", 3],
      ["000003.SZ", "2024-01-03", 4],
    ]);
  });

  test("publishes nothing when the same drop comes again", async () => {
    const root = await temporaryFolder();
    const first = await drop(root, "('000001.SZ','2024-01-02',1.5)");
    const second = await drop(root, "('000001.SZ','2024-01-02',1.5)");
    expect(first.version?.sequence).toBe(1);
    expect(second.version).toBeNull();
    expect((await openLake(root)).current().version.sequence).toBe(1);
  });
});
