// Backups of a lake in a bucket, backups in a bucket, and with both a way from a folder into a bucket and back.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { backup } from "../../src/backup/backup.js";
import { restore } from "../../src/backup/restore.js";
import { sha256OfFile } from "../../src/lake/integrity.js";
import { openLake } from "../../src/lake/lake.js";
import { readTokens } from "../../src/lake/tokens.js";
import { layoutOf } from "../../src/lake/layout.js";
import { openMirror } from "../../src/lake/mirror/mirror.js";
import { verify } from "../../src/repair/verify.js";
import { createToken } from "../../src/store/tokens.js";
import { smallDisk } from "../support/disks.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { mirrorAt, newAddress, newMirror, pull, STORES } from "../support/mirrors.js";
import { dropFactors, MEMORY, rowsOf } from "../support/upkeep.js";

const OPTIONS = { verify: false, now: new Date() };

const backUp = (root: string, place: string, verified = false) =>
  backup(root, place, { ...OPTIONS, verify: verified }, process.stdout);

const restoreTo = (place: string, root: string) => restore(place, root, process.stdin);

/** The rows of every kept version. */
async function historyOf(root: string): Promise<readonly (readonly string[])[]> {
  const lake = await openLake(root);
  const found: (readonly string[])[] = [];
  for (const { data_version } of await lake.versions()) {
    const snapshot = await lake.at(data_version);
    if (typeof snapshot !== "string") found.push(await rowsOf(root, snapshot, "adj_factor"));
  }
  return found;
}

async function fill(root: string): Promise<void> {
  for (const day of [2, 3, 4]) await dropFactors(root, [`000001.SZ,2024010${day},1`, `000002.SZ,2024010${day},2`]);
  await createToken(root, "mine", { entities: null, expires: null }, new Date());
}

describe.each(STORES)("a lake in a %s", (store) => {
  test("moves from a data directory into the bucket and back, with all versions and tokens", async () => {
    const folder = join(await temporaryFolder(), "data");
    await fill(folder);
    const place = join(await temporaryFolder(), "backup");
    await backUp(folder, place);
    const address = await newAddress(store);
    const mirror = await newMirror(address);
    await restoreTo(place, mirror);
    expect(await historyOf(mirror)).toEqual(await historyOf(folder));

    const other = await newMirror(address);
    await pull(other);
    await (await mirrorAt(other)).pull.files(layoutOf(other).tokens);
    expect(await historyOf(other)).toEqual(await historyOf(folder));
    expect((await readTokens(layoutOf(other).tokens)).tokens).toMatchObject([{ name: "mine" }]);
    await dropFactors(other, ["000003.SZ,20240105,3"]);

    const second = join(await temporaryFolder(), "backup");
    await backUp(other, second);
    const back = join(await temporaryFolder(), "data");
    await restoreTo(second, back);
    expect(await historyOf(back)).toEqual(await historyOf(other));
    expect((await verify(back, { ...MEMORY, deep: true })).faults).toEqual([]);
  });

  test("is not restored over another lake, and nobody follows a bucket while a lake is restored into it", async () => {
    const folder = join(await temporaryFolder(), "data");
    await fill(folder);
    const place = join(await temporaryFolder(), "backup");
    await backUp(folder, place);
    const taken = await newMirror(await newAddress(store));
    await dropFactors(taken, ["000009.SZ,20240102,9"]);
    await expect(restoreTo(place, taken)).rejects.toThrow("is not empty");

    const address = await newAddress(store);
    const mirror = await newMirror(address);
    await (await mirrorAt(mirror)).objects.put("state/restoring", Buffer.from("begun\n"));
    await expect(pull(await newMirror(address))).rejects.toThrow("has not finished");
    await restoreTo(place, mirror);
    const other = await newMirror(address);
    await pull(other);
    expect(await historyOf(other)).toEqual(await historyOf(folder));
  });
});

const disk = await smallDisk(6);

test.skipIf(disk === null)(
  "a backup that is larger than the disk of a mirror is restored into its bucket",
  async () => {
    const folder = join(await temporaryFolder(), "data");
    const year = (i: number): string =>
      `SELECT printf('%06d.SZ', i) AS ts_code, DATE '20${10 + i}-01-04' AS trade_date, random() AS adj_factor FROM range(120_000) t(i)`;
    for (let i = 0; i < 8; i++) await publishRows(folder, { adj_factor: year(i) });
    const { byDate } = (await openLake(folder)).current().files("adj_factor");
    expect(byDate.reduce((sum, { bytes }) => sum + bytes, 0)).toBeGreaterThan(6e6);
    const place = join(await temporaryFolder(), "backup");
    await backUp(folder, place);
    const address = await newAddress("folder");
    const mirror = join(disk!, "mirror");
    await openMirror(mirror, { address, size: 1e6 });
    await restoreTo(place, mirror);
    expect((await openLake(mirror)).current().files("adj_factor").byDate).toEqual(byDate);
    for (const { path, bytes, sha256 } of byDate) {
      const object = join(address, "lake", path);
      expect([(await stat(object)).size, await sha256OfFile(object)]).toEqual([bytes, sha256]);
    }
  },
);

describe.skipIf(!STORES.includes("bucket"))("a backup in a bucket", () => {
  test("copies only what is new, finds damage if asked, and can be restored", async () => {
    const folder = join(await temporaryFolder(), "data");
    await fill(folder);
    const place = await newAddress("bucket");
    expect((await backUp(folder, place)).copied.files).toBeGreaterThan(0);
    expect((await backUp(folder, place)).copied.files).toBe(0);
    await dropFactors(folder, ["000003.SZ,20240105,3"]);
    expect((await backUp(folder, place)).copied.files).toBe(1);
    expect((await backUp(folder, place, true)).copied.files).toBe(0);
    const back = join(await temporaryFolder(), "data");
    await restoreTo(place, back);
    expect(await historyOf(back)).toEqual(await historyOf(folder));
  });

  test("is not made where something else is, or within the lake itself", async () => {
    const address = await newAddress("bucket");
    const lake = await newMirror(address);
    await fill(lake);
    await expect(backUp(lake, `${address}/backup`)).rejects.toThrow("lie within each other");
    const folder = join(await temporaryFolder(), "data");
    await fill(folder);
    await expect(backUp(folder, address)).rejects.toThrow("is not empty and holds no backup");
  });
});
