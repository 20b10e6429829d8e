// A checkpoint holds what was put into it, for this reader and for DuckDB.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { type Add, DamagedLogError, PROTOCOL, type MetaData } from "../../src/delta/actions.js";
import { decodeCheckpoint, encodeCheckpoint } from "../../src/delta/checkpoint.js";
import { descriptionOf } from "../../src/delta/schema.js";
import { temporaryFolder } from "../support/folders.js";
import { sharedWriter } from "../support/upkeep.js";

const metaData: MetaData = {
  id: "5f2d6f1e-0f6b-4d0e-9d2b-0a1b2c3d4e5f",
  ...descriptionOf(entityNamed("balancesheet")!),
  format: { provider: "parquet", options: {} },
  partitionColumns: [],
  configuration: { "delta.enableInCommitTimestamps": "true" },
  createdTime: 1_764_540_000_123,
};

const files = (count: number): readonly Add[] =>
  Array.from({ length: count }, (_, i) => ({
    path: `2024-${i}.parquet`,
    partitionValues: {},
    size: 2 ** 33 + i,
    modificationTime: 1_764_540_000_000 + i,
    dataChange: false,
    stats: JSON.stringify({ numRecords: i, minValues: { ts_code: "股票" } }),
  }));

const content = (count: number) => ({ protocol: PROTOCOL, metaData, files: files(count) });

describe.each([0, 1, 5_000])("with %i files", (count) => {
  test("it is read as it was written", async () => {
    const { bytes, actions } = encodeCheckpoint(content(count));
    expect(actions).toBe(count + 2);
    expect(await decodeCheckpoint(bytes, "a checkpoint")).toEqual(content(count));
  });

  test("DuckDB reads the same paths and sizes", async () => {
    const path = join(await temporaryFolder(), "checkpoint.parquet");
    await writeFile(path, encodeCheckpoint(content(count)).bytes);
    const rows = await (
      await sharedWriter()
    ).rows(`SELECT add.path AS path, add.size AS size FROM read_parquet($1) WHERE add.path IS NOT NULL`, [path]);
    expect(rows).toEqual(files(count).map((file) => ({ path: file.path, size: file.size })));
  });
});

test.each([
  ["empty", (bytes: Uint8Array) => bytes.subarray(0, 0)],
  ["cut short", (bytes: Uint8Array) => bytes.subarray(0, -100)],
  ["without its beginning", (bytes: Uint8Array) => bytes.subarray(100)],
  ["other text", () => Buffer.from("PAR1 and no more PAR1")],
])("one that is %s is damaged", async (_, harm) => {
  const { bytes } = encodeCheckpoint(content(3));
  await expect(decodeCheckpoint(harm(bytes), "a checkpoint")).rejects.toThrow(DamagedLogError);
});
