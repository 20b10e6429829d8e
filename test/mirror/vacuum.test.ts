// What a vacuum removes from a bucket: objects that no version names and that are older than a day.
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { vacuum } from "../../src/store/vacuum.js";
import { folderBehind, mirrorAt, newAddress, newMirror, STORES } from "../support/mirrors.js";
import { dropFactors, servedRows } from "../support/upkeep.js";

const LEFT = ["lake/adj_factor/20240102-20240102-0123456789abcdef.parquet", `state/lists/${"ab".repeat(32)}.json`];
const MINE = "lake/adj_factor/notes.txt";

test.each(STORES)("a vacuum of a %s removes what a writer left a day ago, and no unknown objects", async (store) => {
  const address = await newAddress(store);
  const root = await newMirror(address);
  await dropFactors(root, ["000001.SZ,20240102,1"]);
  const { objects } = await mirrorAt(root);
  for (const key of [...LEFT, MINE]) await objects.put(key, Buffer.from("left"));
  const options = { olderThan: 0, keep: 1, now: new Date() };
  expect(await vacuum(root, options)).toMatchObject({ removed: [], files: 0 });
  const longAgo = new Date(Date.now() - 2 * 86_400_000);
  for (const key of [...LEFT, MINE]) await utimes(join(folderBehind(address), key), longAgo, longAgo);
  expect(await vacuum(root, options)).toMatchObject({ removed: [], files: LEFT.length });
  for (const key of LEFT) expect(await objects.get(key)).toBeUndefined();
  expect((await objects.get(MINE))!.bytes.toString()).toBe("left");
  expect(await servedRows(root)).toHaveLength(1);
});
