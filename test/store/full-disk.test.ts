// A really full disk: a small file system, which only root can mount.
import { join } from "node:path";
import { expect, test } from "vitest";
import { verify } from "../../src/repair/verify.js";
import { smallDisk } from "../support/disks.js";
import { publishRows } from "../support/lake.js";
import { dropFactors, filesBelow, MEMORY, neededFiles, servedRows } from "../support/upkeep.js";

test("a disk that fills up during a write keeps the old version and reports it", async ({ skip }) => {
  const disk = await smallDisk(4);
  if (disk === null) return skip("no file system can be mounted here");
  const root = join(disk, "parquet");
  await dropFactors(root, ["000001.SZ,20240102,1"]);
  const rows = `SELECT lpad(c::VARCHAR, 6, '0') || '.SZ' AS ts_code, DATE '2024-01-03' AS trade_date,
                       random() AS adj_factor FROM range(800000) a(c)`;
  await expect(publishRows(root, { adj_factor: rows })).rejects.toThrow(
    `no space is left on the disk that holds ${root}`,
  );
  expect(await servedRows(root)).toEqual(['["000001.SZ","2024-01-02",1]']);
  expect((await verify(root, { ...MEMORY, deep: true })).faults).toEqual([]);
  expect(await filesBelow(root)).toEqual(await neededFiles(root));

  await dropFactors(root, ["000001.SZ,20240103,2"]);
  expect(await servedRows(root)).toHaveLength(2);
});
