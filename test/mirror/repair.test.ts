// Objects of a bucket that are damaged or gone: verify finds them, and repair sends or rewrites them.
import { readdir, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf, listFile, nameOf } from "../../src/lake/layout.js";
import { repair } from "../../src/repair/repair.js";
import { verify } from "../../src/repair/verify.js";
import { factors, ingester } from "../support/ingest.js";
import { publishRows } from "../support/lake.js";
import { mirrorAt, newAddress, newMirror, pull, STORES } from "../support/mirrors.js";
import { MEMORY, servedRows } from "../support/upkeep.js";

const OPTIONS = { ...MEMORY, deep: true };

const ROWS = `SELECT printf('%06d.SZ', i % 50) AS ts_code, DATE '2024-01-02' + (i // 50)::INT AS trade_date,
  i / 4 AS adj_factor FROM range(5000) t(i)`;

async function newLake(store: (typeof STORES)[number]) {
  const root = await newMirror(await newAddress(store));
  await publishRows(root, { adj_factor: ROWS }, { codeCopy: true });
  const layout = layoutOf(root);
  const { objects } = await mirrorAt(root);
  const { version, files } = (await openLake(root)).current();
  const [file] = files("adj_factor").byDate;
  const dataKey = nameOf(layout, join(layout.lake, file!.path));
  const listKey = nameOf(layout, join(layout.lists, listFile(version.lists["adj_factor"]!)));
  return { root, layout, objects, dataKey, listKey, path: join(layout.lake, file!.path) };
}

/** Puts a file of `adj_factor` into the inbox of the bucket and has it imported. */
async function take(root: string, path: string, ...lines: readonly string[]): Promise<void> {
  const text = Buffer.from(factors(...lines));
  await (await mirrorAt(root)).objects.put(`inbox/${path}`, path.endsWith(".gz") ? gzipSync(text) : text);
  const one = await ingester(root);
  // A bucket is looked at every two seconds.
  await one.after(2_600);
  await one.settle();
}

describe.each(STORES)("a lake in a %s", (store) => {
  test("is verified by what is there, not by what the mirror has", async () => {
    const { root, objects, dataKey, listKey } = await newLake(store);
    expect((await verify(root, OPTIONS)).faults).toEqual([]);
    await objects.remove([dataKey, listKey]);
    const { faults } = await verify(root, OPTIONS);
    expect(faults.map(({ path }) => path).sort()).toEqual([dataKey, listKey].sort());
    expect(faults[0]).toMatchObject({ kind: "damaged", problem: expect.stringContaining("does not have the file") });
  });

  test("gets objects again that are whole in the mirror", async () => {
    const { root, objects, dataKey, listKey } = await newLake(store);
    const data = (await objects.get(dataKey))!.bytes;
    await objects.put(dataKey, Buffer.from(data).fill(7, 100, 108));
    await objects.put(listKey, Buffer.from("{}"));
    const report = await repair(root, { ...OPTIONS, giveUp: false });
    expect(report.manifest).toEqual(["2 objects of the bucket sent again"]);
    expect((await objects.get(dataKey))!.bytes).toEqual(data);
    expect((await verify(root, OPTIONS)).faults).toEqual([]);
  });

  test("gets a data file that is whole nowhere from the other copy of its rows", async () => {
    const { root, objects, dataKey, path } = await newLake(store);
    const rows = await servedRows(root);
    await objects.put(dataKey, Buffer.from("gone"));
    await rm(path);
    await repair(root, { ...OPTIONS, giveUp: false });
    expect((await verify(root, OPTIONS)).faults).toEqual([]);
    const other = await newMirror(objects.address);
    await pull(other);
    expect(await servedRows(other)).toEqual(rows);
  });

  test("gets a data file that is whole nowhere from the drops in the inbox of the bucket", async () => {
    const root = await newMirror(await newAddress(store));
    const layout = layoutOf(root);
    const { objects } = await mirrorAt(root);
    await take(root, "adj_factor/a.csv", "000001.SZ,20240102,1", "000002.SZ,20240102,2");
    await take(root, "adj_factor/b.csv.gz", "000001.SZ,20240102,3");
    await take(root, "adj_factor/other.csv", "000001.SZ,20240109,9");
    expect(await readdir(join(layout.inbox, "adj_factor"))).toEqual([]);
    const rows = await servedRows(root);
    const [file] = (await openLake(root)).current().files("adj_factor").byDate;
    const path = join(layout.lake, file!.path);
    await objects.put(nameOf(layout, path), Buffer.from("gone"));
    await rm(path);
    // Drops are found by their content, whatever their names are now.
    const { bytes } = (await objects.get("inbox/adj_factor/a.csv"))!;
    await objects.put("inbox/adj_factor/done/first.csv", bytes);
    await objects.remove(["inbox/adj_factor/a.csv"]);
    const { repaired, lost, faults, version } = await repair(root, { ...OPTIONS, giveUp: false });
    expect({ lost, faults, version }).toEqual({ lost: [], faults: [], version: null });
    expect(repaired).toMatchObject([{ from: "inbox", isSame: true }]);
    expect(await servedRows(root)).toEqual(rows);
    expect(await readdir(layout.scratch)).toEqual([]);
  });

  test.each(["versions", "lists"] as const)("is not changed if only the mirror has damaged %s", async (folder) => {
    const { root, layout } = await newLake(store);
    await publishRows(root, { adj_factor: "SELECT 'a' AS ts_code, DATE '2024-02-02' AS trade_date, 2 AS adj_factor" });
    const [rows, before] = [await servedRows(root), (await openLake(root)).current().version];
    for (const name of await readdir(layout[folder])) await truncate(join(layout[folder], name), 20);
    const { faults, version } = await repair(root, { ...OPTIONS, giveUp: false });
    expect([faults, version]).toEqual([[], null]);
    expect((await openLake(root)).current().version).toEqual(before);
    expect(await servedRows(root)).toEqual(rows);
  });

  test.each([
    ["damaged", (path: string) => writeFile(path, "garbage")],
    ["gone", (path: string) => rm(path)],
    ["that of an older version", (path: string) => writeFile(path, "1\n")],
  ])("gives a mirror its pointer again that is %s", async (_, harm) => {
    const { root, layout } = await newLake(store);
    await publishRows(root, { adj_factor: "SELECT 'a' AS ts_code, DATE '2024-02-02' AS trade_date, 2 AS adj_factor" });
    const before = (await openLake(root)).current().version;
    await harm(layout.pointer);
    await pull(root);
    expect((await openLake(root)).current().version).toEqual(before);
  });

  test("names the drops that have left the inbox of the bucket", async () => {
    const root = await newMirror(await newAddress(store));
    const layout = layoutOf(root);
    const { objects } = await mirrorAt(root);
    await take(root, "adj_factor/a.csv", "000001.SZ,20240102,1");
    await take(root, "adj_factor/b.csv.gz", "000002.SZ,20240102,2");
    const [file] = (await openLake(root)).current().files("adj_factor").byDate;
    await objects.remove([nameOf(layout, join(layout.lake, file!.path)), "inbox/adj_factor/b.csv.gz"]);
    await rm(join(layout.lake, file!.path));
    const { lost } = await repair(root, { ...OPTIONS, giveUp: false });
    expect(lost).toMatchObject([{ inInbox: 1, missing: ["inbox/adj_factor/b.csv.gz is gone or has changed"] }]);
  });
});
