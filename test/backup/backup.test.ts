// Backups in a folder: what they hold, what they copy again, and what they refuse.
import { cp, mkdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { openLake } from "../../src/lake/lake.js";
import { readRecordedGaps } from "../../src/lake/gaps.js";
import { addGap, excuseGaps } from "../../src/store/gaps.js";
import { withLock } from "../../src/lock.js";
import { createToken } from "../../src/store/tokens.js";
import { vacuum } from "../../src/store/vacuum.js";
import { backUp, contentBelow, flipBit, restored, restoreTo, rowsByVersion } from "../support/backup.js";
import { copyOf, temporaryFolder } from "../support/folders.js";
import { drop, factors, ingester, ledgerOf, outcomesOf } from "../support/ingest.js";
import { dropFactors, filesBelow, runNode, servedRows } from "../support/upkeep.js";
import { someOf } from "../support/size.js";

vi.setConfig({ testTimeout: 120_000 });

/** A lake of which each test gets a copy. */
let original: string;
let root: string;
let place: string;

beforeAll(async () => {
  original = await temporaryFolder();
  await dropFactors(original, ["000001.SZ,20240102,1", "000002.SZ,20240103,2"]);
  await dropFactors(original, ["000001.SZ,20240102,3"]);
});

beforeEach(async () => {
  [root, place] = [await copyOf(original), join(await temporaryFolder(), "backup")];
});

const dataFiles = async (folder: string): Promise<readonly string[]> =>
  (await filesBelow(folder)).filter((path) => path.endsWith(".parquet"));
const servedFile = async (): Promise<string> =>
  join("lake", (await openLake(root)).current().files("adj_factor").byDate[0]!.path);
const vacuumAll = () => vacuum(root, { olderThan: 0, keep: 1, now: new Date() });

describe("a backup in a folder", () => {
  test("restores every version, the tokens, the gaps, the ledger and the identity, and no work in progress", async () => {
    await drop(root, "adj_factor/a.csv", factors("000003.SZ,20240104,4"));
    await (await ingester(root)).settle();
    await createToken(root, "alice", { entities: null, expires: null }, new Date());
    const gap = { start: "20240105", end: "20240105", code: null, kind: "timeout" };
    await addGap(root, entityNamed("daily")!, gap, new Date());
    await excuseGaps(root, entityNamed("daily")!, { ...gap, reason: "never published" }, new Date());
    await vacuum(root, { olderThan: 0, keep: 2, now: new Date() });
    await writeFile(join(root, "state/intake.json"), "{}");
    const report = await backUp(root, place);
    expect(report).toMatchObject({ versions: 2, removed: 0 });
    const again = await restored(place);
    const expected = new Map(await contentBelow(root));
    expected.delete("state/intake.json");
    expect(await contentBelow(again)).toEqual(expected);
    expect(await rowsByVersion(again)).toEqual(await rowsByVersion(root));
    expect((await readRecordedGaps(join(again, "state/gaps.json"))).at(-1)).toMatchObject({
      reason: "never published",
    });
    expect([...expected.keys()]).toEqual(
      expect.arrayContaining(["state/removed.txt", "state/ledger.ndjson", "state/gaps.json", "state/tokens.json"]),
    );
  });

  test("copies only new files the next time, and removes those that no version needs any more", async () => {
    expect((await backUp(root, place)).copied.files).toBe(2);
    const first = await dataFiles(place);
    expect((await backUp(root, place)).copied).toEqual({ files: 0, bytes: 0 });
    await dropFactors(root, ["000001.SZ,20250102,5"]);
    expect(await backUp(root, place)).toMatchObject({ copied: { files: 1 }, removed: 0, versions: 3 });
    expect(await dataFiles(place)).toEqual(expect.arrayContaining([...first]));
    await vacuumAll();
    expect(await backUp(root, place)).toMatchObject({ copied: { files: 0 }, removed: 1, versions: 1 });
    expect(await dataFiles(place)).toHaveLength(2);
    expect(await servedRows(await restored(place))).toEqual(await servedRows(root));
  });

  test("shares no file with the lake", async () => {
    await backUp(root, place);
    for (const path of await dataFiles(place)) {
      const [copy, original] = [await stat(join(place, path)), await stat(join(root, path))];
      expect([copy.nlink, copy.ino === original.ino]).toEqual([1, false]);
    }
  });

  test("copies a file again that was cut short or, with --verify, changed", async () => {
    await backUp(root, place);
    const [one, other] = (await dataFiles(place)).map((path) => join(place, path));
    await truncate(one!, 10);
    await flipBit(other!);
    expect((await backUp(root, place)).copied.files).toBe(1);
    expect((await backUp(root, place, true)).copied.files).toBe(1);
    await restored(place);
  });

  test("leaves out ledger entries of drops that are in none of its versions, so that these are imported later", async () => {
    await drop(root, "adj_factor/a.csv", factors("000003.SZ,20240104,4"));
    await (await ingester(root)).settle();
    const before = await temporaryFolder();
    await cp(root, before, { recursive: true });
    await drop(root, "adj_factor/b.csv", factors("000004.SZ,20240104,5"));
    await (await ingester(root)).settle();
    // A drop that was taken while the backup was made: its version is not in it.
    await cp(join(root, "state/ledger.ndjson"), join(before, "state/ledger.ndjson"));
    await backUp(before, place);
    const again = await restored(place);
    expect(await outcomesOf(again)).toEqual({ "adj_factor/a.csv": "taken" });
    await dropFactors(again, ["000005.SZ,20240105,6"]);
    await cp(join(root, "inbox"), join(again, "inbox"), { recursive: true, preserveTimestamps: true });
    await (await ingester(again)).settle();
    expect((await ledgerOf(again)).map(({ path, outcome }) => [path, outcome])).toContainEqual([
      "adj_factor/b.csv",
      "taken",
    ]);
    expect(await servedRows(again)).toHaveLength(5);
  });
});

describe("a damaged lake", () => {
  const HARMS = [
    ["changed", "the checksum does not match", flipBit],
    ["cut short", "the file has 10 bytes instead of", (path: string) => truncate(path, 10)],
    ["missing", "the file is missing", (path: string) => rm(path)],
  ] as const;

  test.each(someOf(HARMS))(
    "is not backed up if a data file is %s, and the earlier backup stays",
    async (_, reason, harm) => {
      await backUp(root, place);
      const rows = await servedRows(root);
      await dropFactors(root, ["000009.SZ,20240102,9"]);
      const path = await servedFile();
      await harm(join(root, path));
      await expect(backUp(root, place)).rejects.toThrow(`${path} is damaged (${reason}`);
      await expect(backUp(root, `${place}.tar`)).rejects.toThrow(`${path} is damaged (${reason}`);
      expect(await servedRows(await restored(place))).toEqual(rows);
      await expect(stat(`${place}.tar`)).rejects.toThrow("ENOENT");
    },
  );

  test.each([
    ["state/gaps.json", "[{"],
    ["state/tokens.json", "[{"],
    ["state/removed.txt", "x\n"],
    ["state/ledger.ndjson", '{"path":1}\n'],
    ["state/versions/0000000001.json", "{}"],
  ])("is not backed up if %s is damaged", async (path, text) => {
    await writeFile(join(root, path), text);
    await expect(backUp(root, place)).rejects.toThrow(
      /(gaps\.json|tokens\.json|removed\.txt|ledger\.ndjson|version 1) is damaged/,
    );
  });
});

describe("a place that is refused", () => {
  test("is a folder with other content, which stays", async () => {
    await mkdir(place);
    await writeFile(join(place, "thesis.txt"), "mine");
    await expect(backUp(root, place)).rejects.toThrow("is not empty and holds no backup");
    expect(await filesBelow(place)).toEqual(["thesis.txt"]);
  });

  test("is a file, a folder within the data directory, and one around it", async () => {
    await writeFile(place, "");
    await expect(backUp(root, place)).rejects.toThrow("is a file: name a folder, or a new file that ends in .tar");
    await expect(backUp(root, join(root, "backup"))).rejects.toThrow("lie within each other");
    await expect(backUp(root, join(root, "inbox/a.tar"))).rejects.toThrow("lie within each other");
    await expect(backUp(root, join(root, ".."))).rejects.toThrow("lie within each other");
  });

  test("holds a backup of another lake, or of a newer state of this one", async () => {
    const older = await temporaryFolder();
    await cp(root, older, { recursive: true });
    await dropFactors(root, ["000001.SZ,20250102,5"]);
    await backUp(root, place);
    const before = await contentBelow(place, /backup\.lock/);
    await expect(backUp(older, place)).rejects.toThrow(
      "does not continue: if the backup is the better one, restore it",
    );
    const other = await temporaryFolder();
    await dropFactors(other, ["000001.SZ,20240102,1"]);
    await expect(backUp(other, place)).rejects.toThrow("holds a backup of another lake");
    expect(await contentBelow(place, /backup\.lock/)).toEqual(before);
  });

  test("holds a damaged manifest, unless that is removed: then the files are used", async () => {
    await backUp(root, place);
    const manifest = join(place, "backup.json");
    await writeFile(manifest, (await readFile(manifest, "utf8")).replace('"versions":2', '"versions":3'));
    await expect(backUp(root, place)).rejects.toThrow("backup.json is damaged");
    await rm(manifest);
    expect((await backUp(root, place)).copied.files).toBe(0);
  });

  test("is used by another backup", async () => {
    await backUp(root, place);
    const meanwhile = (): Promise<unknown> => backUp(root, place);
    const refused = withLock(join(place, "backup.lock"), meanwhile);
    await expect(refused).rejects.toThrow(`another backup is being made in ${place}`);
    await backUp(root, place);
  });
});

test("a lake without a version is not backed up", async () => {
  await expect(backUp(await temporaryFolder(), place)).rejects.toThrow("has no version yet");
});

test("a killed backup leaves the earlier one usable, and the next one completes", async () => {
  await backUp(root, place);
  const rows = await servedRows(root);
  await dropFactors(root, ["000001.SZ,20250102,5", "000002.SZ,20260102,6"]);
  await vacuumAll();
  for (const call of [2, 6, 9, 12, 15, 18, 21, 24]) {
    const { signal, stderr } = await runNode("test/support/faults.mjs", [
      ...["kill", String(call), "--", "backup", place, "--data", root],
    ]);
    expect(signal, stderr).toBe("SIGKILL");
    expect([rows, await servedRows(root)]).toContainEqual(await servedRows(await restored(place)));
  }
  await backUp(root, place);
  expect(await servedRows(await restored(place))).toEqual(await servedRows(root));
  expect((await filesBelow(place)).filter((path) => /incoming|lock|tmp$/.test(path))).toEqual([]);
  expect(await dataFiles(place)).toEqual(await dataFiles(root));
});

test("a first backup that is killed is none, and the next one completes it", async () => {
  for (const call of [4, 9, 14]) {
    const { signal } = await runNode("test/support/faults.mjs", [
      ...["kill", String(call), "--", "backup", place, "--data", root],
    ]);
    expect(signal).toBe("SIGKILL");
    await expect(restoreTo(place, join(place, "../none"))).rejects.toThrow("holds no complete backup");
  }
  await backUp(root, place);
  expect(await servedRows(await restored(place))).toEqual(await servedRows(root));
});
