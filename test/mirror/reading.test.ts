// What a mirror reads: files are fetched once, checked, kept within a size, and never removed while they are read.
import { readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { openReader } from "../../src/engine/reader.js";
import { warmUp } from "../../src/http/warm.js";
import { BucketAwayError } from "../../src/lake/continuity.js";
import { createIntegrity } from "../../src/lake/integrity.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import type { DataFile } from "../../src/lake/manifest.js";
import { lastUses } from "../../src/lake/mirror/holds.js";
import { vacuum } from "../../src/store/vacuum.js";
import { factors, publishRows } from "../support/lake.js";
import { bucketProxy, mirrorAt, newAddress, newMirror, pull, STORES } from "../support/mirrors.js";
import { dropFactors, servedRows } from "../support/upkeep.js";

/** Rows of `adj_factor` for so many days of 2023. */
const days = (count: number): string => factors(5_000 * count);

const filesOf = async (root: string): Promise<readonly DataFile[]> => {
  const { byDate, byCode } = (await openLake(root)).current().files("adj_factor");
  return [...byDate, ...byCode];
};

const fetched = async (root: string): Promise<readonly string[]> =>
  (await readdir(layoutOf(root).lake, { recursive: true })).filter((name) => name.endsWith(".parquet")).sort();

describe.each(STORES)("a mirror of a %s", (store) => {
  test("has no data file before one is read, and then only that one", async () => {
    const address = await newAddress(store);
    const writer = await newMirror(address);
    await publishRows(writer, {
      adj_factor: days(1),
      stk_limit: days(1).replace("1.5 AS adj_factor", "1.5 AS up_limit"),
    });
    const reader = await newMirror(address);
    await pull(reader);
    expect(await fetched(reader)).toEqual([]);
    expect(await servedRows(reader)).toHaveLength(5_000);
    expect(await fetched(reader)).toEqual((await filesOf(reader)).map(({ path }) => path));
  });

  test("fetches a file that is damaged or cut short again, and serves no row of it", async () => {
    const address = await newAddress(store);
    const writer = await newMirror(address);
    await publishRows(writer, { adj_factor: days(2) });
    const reader = await newMirror(address);
    await pull(reader);
    const rows = await servedRows(reader);
    const [file] = await filesOf(reader);
    const path = join(layoutOf(reader).lake, file!.path);
    const bytes = await readFile(path);
    for (const spoil of [
      () => writeFile(path, Buffer.from(bytes).fill(0, bytes.length >> 1, (bytes.length >> 1) + 8)),
      () => truncate(path, bytes.length - 1),
      () => rm(path),
      () => rm(dirname(path), { recursive: true }),
    ]) {
      await spoil();
      expect(await servedRows(reader)).toEqual(rows);
      expect(await readFile(path)).toEqual(bytes);
    }
  });

  test("removes the files that were used least recently, and none that is being read", async () => {
    const address = await newAddress(store);
    const writer = await newMirror(address);
    for (let month = 1; month <= 6; month++) {
      await publishRows(writer, {
        adj_factor: `SELECT printf('%06d.SZ', i) AS ts_code, DATE '20${20 + month}-01-01' AS trade_date,
          random() AS adj_factor FROM range(20000) t(i)`,
      });
    }
    const files = (await filesOf(writer)).toSorted((a, b) => (a.first! < b.first! ? -1 : 1));
    const size = Math.max(...files.map(({ bytes }) => bytes));
    const reader = await newMirror(address, Math.floor(2.5 * size));
    await pull(reader);
    const integrity = createIntegrity(layoutOf(reader));
    const first = await integrity.hold([files[0]!]);
    for (const file of files.slice(1)) (await integrity.hold([file])).leave();
    const left = await fetched(reader);
    expect(left).toContain(files[0]!.path);
    expect(left).toContain(files.at(-1)!.path);
    expect(left.length).toBeLessThan(4);
    expect((await lastUses(layoutOf(reader))).get(files[0]!.path)).toBe(Infinity);
    first.leave();
    expect(await servedRows(reader)).toHaveLength(120_000);
  });

  test("asks for each file once, however many readers want it", async () => {
    const address = await newAddress(store);
    const writer = await newMirror(address);
    await publishRows(writer, { adj_factor: days(1) });
    const reader = await newMirror(address);
    await pull(reader);
    const [file] = await filesOf(reader);
    const before = store === "bucket" ? bucketProxy().requests.length : 0;
    const integrities = Array.from({ length: 8 }, () => createIntegrity(layoutOf(reader)));
    await Promise.all(integrities.map((integrity) => integrity.check([file!])));
    const asked = store === "bucket" ? bucketProxy().requests.slice(before) : [];
    expect(asked.filter(({ path }) => path.includes(".parquet")).length).toBe(store === "bucket" ? 1 : 0);
  });

  test("keeps what it fetched when it is opened again", async () => {
    const address = await newAddress(store);
    const writer = await newMirror(address);
    await publishRows(writer, { adj_factor: days(1) });
    const reader = await newMirror(address);
    await pull(reader);
    const [file] = await filesOf(reader);
    await createIntegrity(layoutOf(reader)).check([file!]);
    const { ino } = await stat(join(layoutOf(reader).lake, file!.path));
    await createIntegrity(layoutOf(reader)).check([file!]);
    expect((await stat(join(layoutOf(reader).lake, file!.path))).ino).toBe(ino);
  });

  test("says that a version was removed once another machine has removed it", async () => {
    const address = await newAddress(store);
    const writer = await newMirror(address);
    for (const day of [2, 3, 4]) await dropFactors(writer, [`000001.SZ,2024010${day},1`]);
    const reader = await newMirror(address);
    await pull(reader);
    const lake = await openLake(reader);
    const [oldest] = await lake.versions();
    await vacuum(writer, { olderThan: 0, keep: 1, now: new Date() });
    await pull(reader);
    expect(await lake.at(oldest!.data_version)).toBe("removed");
    expect((await lake.versions()).map(({ sequence }) => sequence)).toEqual([3]);
    expect(await servedRows(reader)).toHaveLength(3);
  });

  test("refuses a bucket that was emptied or that holds another lake, and keeps what it has", async () => {
    const address = await newAddress(store);
    const writer = await newMirror(address);
    await dropFactors(writer, ["000001.SZ,20240102,1.5"]);
    const reader = await newMirror(address);
    await pull(reader);
    const rows = await servedRows(reader);
    const { objects } = await mirrorAt(reader);
    const keys: string[] = [];
    for await (const { key } of objects.list("")) keys.push(key);
    await objects.remove(keys);
    await expect(pull(reader)).rejects.toThrow("no longer holds the lake");
    await dropFactors(await newMirror(address), ["000002.SZ,20240103,1"]);
    await expect(pull(reader)).rejects.toThrow("holds another lake");
    expect(await servedRows(reader)).toEqual(rows);
  });
});

describe.skipIf(!STORES.includes("bucket"))("a bucket that is slow or away", () => {
  afterEach(async () => {
    bucketProxy().fault = () => undefined;
  });

  test("does not keep a server from starting while its newest file is fetched", async () => {
    const address = await newAddress("bucket");
    await publishRows(await newMirror(address), { adj_factor: days(1) });
    const root = await newMirror(address);
    await pull(root);
    const { layout, current } = await openLake(root);
    const [file] = current().files("adj_factor").byDate;
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const before = bucketProxy().requests.length;
    bucketProxy().fault = async ({ path }) => {
      if (path.includes(".parquet")) await answered;
      return undefined;
    };
    const integrity = createIntegrity(layout);
    const reader = await openReader({
      ...{ readable: { folder: layout.lake }, memory: "500MB", tempDirectory: root, spill: "1GB", threads: 1 },
      ...{ concurrency: 1, streams: 1, queue: 1, integrity },
    });
    await warmUp({ lake: await openLake(root), reader }, 50);
    answer();
    await integrity.check([file!]);
    await reader.close();
    const asked = bucketProxy().requests.slice(before);
    expect(asked.filter(({ path }) => path.includes(".parquet"))).toHaveLength(1);
  });

  test("leaves what was fetched readable; the rest fails until it is back", async () => {
    const address = await newAddress("bucket");
    const writer = await newMirror(address);
    await publishRows(writer, { adj_factor: days(1) }, { codeCopy: true });
    const reader = await newMirror(address);
    await pull(reader);
    const rows = await servedRows(reader);
    const copy = (await openLake(reader)).current().files("adj_factor").byCode;
    bucketProxy().fault = () => ({ status: 503, body: "" });
    expect(await servedRows(reader)).toEqual(rows);
    const integrity = createIntegrity(layoutOf(reader));
    await expect(integrity.check(copy)).rejects.toThrow(BucketAwayError);
    expect(await integrity.stillDamaged([(await openLake(reader)).current().files("adj_factor")])).toEqual([]);
    bucketProxy().fault = () => undefined;
    await integrity.check(copy);
  });
});
