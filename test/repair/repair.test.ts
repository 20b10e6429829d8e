// Real damage is repaired from the inbox, and from older versions if the manifest is damaged.
import { mkdir, readdir, readFile, rename, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { openLake, type Snapshot } from "../../src/lake/lake.js";
import { layoutOf, listFile, versionFile } from "../../src/lake/layout.js";
import { repair } from "../../src/repair/repair.js";
import { verify } from "../../src/repair/verify.js";
import { deleteRows } from "../../src/store/delete.js";
import { copyOf, temporaryFolder } from "../support/folders.js";
import { drop, dropFile, factors, ingester, ledgerOf, servedRows } from "../support/ingest.js";
import { copyOfLake, everywhere, folderTest, newLake } from "../support/lakes.js";
import { publishRows } from "../support/lake.js";
import { someOf, someSteps } from "../support/size.js";
import { dropFactors, MEMORY, runNode } from "../support/upkeep.js";

const repairOnly = { ...MEMORY, deep: false, giveUp: false };
const giveUp = { ...repairOnly, giveUp: true };

/** Changes one bit in the middle of a file, and nothing else of it. */
async function flipBit(path: string): Promise<void> {
  const [bytes, before] = [await readFile(path), await stat(path)];
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(path, bytes);
  await utimes(path, before.atime, before.mtime);
}

const HARMS = [
  ["changed by one bit", flipBit],
  ["cut short", (path: string) => truncate(path, 20)],
  ["empty", (path: string) => truncate(path, 0)],
  ["gone", (path: string) => rm(path)],
] as const;

/** A lake of which each test harms a copy. */
let sound: string;
let root: string;

const served = async (): Promise<Snapshot> => (await openLake(root)).current();
const fileOf = async (entity: string, at = 0): Promise<string> =>
  join("lake", (await served()).files(entity).byDate[at]!.path);
/** Harms a file of the lake, wherever it is. */
const damage = (path: string, harm: (path: string) => Promise<unknown> = flipBit): Promise<void> =>
  everywhere(root, path, harm);
const factorsOf = async (): Promise<readonly string[]> =>
  (await servedRows(root, "adj_factor")).map((row) => row.join(" "));
const faultsOf = async (): Promise<readonly string[]> =>
  (await verify(root, repairOnly)).faults.map(({ path }) => path);

async function take(path: string, ...lines: readonly string[]): Promise<string> {
  const file = await drop(root, path, factors(...lines));
  await (await ingester(root)).settle();
  return file;
}

const LIMITS = "ts_code,trade_date,up_limit,down_limit\n000001.SZ,20240102,11,9\n";

beforeAll(async () => {
  sound = await newLake();
  const drops = [
    { "adj_factor/a.csv": factors("000001.SZ,20240102,1", "000002.SZ,20240103,2") },
    { "stk_limit/a.csv": LIMITS, "adj_factor/b.csv": factors("000001.SZ,20240102,3", "000003.SZ,20240103,4") },
  ];
  for (const [i, files] of drops.entries()) {
    for (const [path, content] of Object.entries(files)) {
      await utimes(await drop(sound, path, content), 1_700_000_000 + i, 1_700_000_000 + i);
    }
    await (await ingester(sound)).settle();
  }
});

beforeEach(async () => {
  root = await copyOfLake(sound);
});

describe("a damaged data file", () => {
  test.each(someOf(HARMS, 2))(
    "that is %s is restored to the same bytes from the drops that held its rows",
    async (_, harm) => {
      const rows = await factorsOf();
      await damage(await fileOf("adj_factor"), harm);
      const { repaired, lost, faults, version } = await repair(root, repairOnly);
      expect({ lost, faults, version }).toEqual({ lost: [], faults: [], version: null });
      expect(repaired).toMatchObject([{ rows: 3, from: "inbox", isSame: true }]);
      expect(await factorsOf()).toEqual(rows);
      expect(await servedRows(root, "stk_limit")).toHaveLength(1);
      expect(await faultsOf()).toEqual([]);
    },
  );

  test("is restored from drops in the order of import, even under new names and times", async () => {
    const inbox = await dropFile(root, "adj_factor");
    // Its row was replaced, so the file is imported again.
    await utimes(join(inbox, "a.csv"), 1_900_000_000, 1_900_000_000);
    await (await ingester(root)).settle();
    const rows = await factorsOf();
    expect(rows[0]).toBe("000001.SZ 2024-01-02 1");
    await mkdir(join(inbox, "old"));
    await rename(join(inbox, "b.csv"), join(inbox, "old/x.csv"));
    await damage(await fileOf("adj_factor"));
    expect(await repair(root, repairOnly)).toMatchObject({ lost: [], faults: [] });
    expect(await factorsOf()).toEqual(rows);
  });

  test("gets only rows of its dates from the inbox: days that were corrected by an import stay as they are", async () => {
    await dropFactors(root, ["000001.SZ,20240105,9"]);
    await take("adj_factor/c.csv", "000001.SZ,20240102,5", "000001.SZ,20240105,6");
    await dropFactors(root, ["000001.SZ,20240105,9"]);
    const rows = await factorsOf();
    const list = (await served()).files("adj_factor");
    expect(list.byDate).toHaveLength(2);
    await damage(await fileOf("adj_factor"));
    expect(await repair(root, repairOnly)).toMatchObject({ lost: [], faults: [], repaired: [{ isSame: true }] });
    expect(await factorsOf()).toEqual(rows);
  });

  test("is restored as patches and whole days left it", async () => {
    const limits = (columns: string, ...lines: readonly string[]): string =>
      [`ts_code,trade_date,${columns}`, ...lines, ""].join("\n");
    const bring = async (path: string, text: string): Promise<void> => {
      await drop(root, `stk_limit/${path}`, text);
      await (await ingester(root)).settle();
    };
    await bring("b.csv", limits("up_limit,down_limit", "000001.SZ,20240102,21,19", "000002.SZ,20240102,22,18"));
    await bring("@replace-day/c.csv", limits("up_limit,down_limit", "000001.SZ,20240102,31,29"));
    await bring("d.csv", limits("up_limit", "000001.SZ,20240102,32"));
    const rows = await servedRows(root, "stk_limit");
    expect(rows.map((row) => row.slice(2))).toEqual([[32, 29]]);
    await damage(await fileOf("stk_limit"));
    expect(await repair(root, repairOnly)).toMatchObject({ lost: [], faults: [], repaired: [{ isSame: true }] });
    expect(await servedRows(root, "stk_limit")).toEqual(rows);
  });

  test("of which the inbox holds only some rows stays, and the report names the missing ones; other entities are restored", async () => {
    await dropFactors(root, ["000009.SZ,20240103,7"]);
    await rm(await dropFile(root, "adj_factor/b.csv"));
    await damage(await fileOf("adj_factor"));
    const { lost, version, repaired } = await repair(root, repairOnly);
    expect(lost).toEqual([
      {
        ...{ entity: "adj_factor", first: "20240102", last: "20240103", rows: 4, inInbox: 2 },
        missing: [
          "inbox/adj_factor/b.csv is gone or has changed",
          expect.stringMatching(/^1 row of version .* came by tapehouse import, not from the inbox$/),
        ],
      },
    ]);
    expect([version, repaired]).toEqual([null, []]);
    expect(await faultsOf()).toEqual([expect.stringMatching(/^lake\/adj_factor\//)]);
    expect(await servedRows(root, "stk_limit")).toHaveLength(1);
  });

  test("is replaced by the remaining rows with --give-up, and the others can be dropped again", async () => {
    await dropFactors(root, ["000009.SZ,20240103,7"]);
    const before = await served();
    await damage(await fileOf("adj_factor"));
    const { lost, version } = await repair(root, giveUp);
    expect(lost).toMatchObject([{ rows: 4, inInbox: 3, missing: [expect.stringContaining("by tapehouse import")] }]);
    expect(version!.lists["stk_limit"]).toBe(before.version.lists["stk_limit"]);
    expect(await factorsOf()).toHaveLength(3);
    await take("adj_factor/d.csv", "000009.SZ,20240103,7");
    expect(await factorsOf()).toHaveLength(4);
  });

  test("stays if one of its rows was corrected by an import, which the report names", async () => {
    const { version } = await dropFactors(root, ["000003.SZ,20240103,8"]);
    await damage(await fileOf("adj_factor"));
    const { repaired, lost } = await repair(root, repairOnly);
    const missing = [`1 row of version ${version!.data_version} came by tapehouse import, not from the inbox`];
    expect([repaired, lost]).toMatchObject([[], [{ rows: 3, inInbox: 3, missing }]]);
    expect((await repair(root, giveUp)).lost).toMatchObject([{ missing }]);
    expect(await factorsOf()).toEqual(["000001.SZ 2024-01-02 3", "000002.SZ 2024-01-03 2", "000003.SZ 2024-01-03 4"]);
  });

  test("is restored without rows that were deleted, and with those of a later drop", async () => {
    const selection = { where: [["ts_code", "000001.SZ,000003.SZ"]] as const, from: null, to: null, all: false };
    await deleteRows(root, entityNamed("adj_factor")!, selection, MEMORY);
    await take("adj_factor/c.csv", "000003.SZ,20240102,6");
    const rows = await factorsOf();
    expect(rows).toEqual(["000003.SZ 2024-01-02 6", "000002.SZ 2024-01-03 2"]);
    for (const at of (await served()).files("adj_factor").byDate.keys()) await damage(await fileOf("adj_factor", at));
    const { repaired, lost, version } = await repair(root, repairOnly);
    expect([lost, version]).toEqual([[], null]);
    expect(repaired.every(({ isSame }) => isSame)).toBe(true);
    expect(await factorsOf()).toEqual(rows);
  });

  test("of rows that were given up, gets them from a drop that is dropped again", async () => {
    const file = await dropFile(root, "adj_factor/b.csv");
    const text = await readFile(file);
    await rm(file);
    const rows = await factorsOf();
    await damage(await fileOf("adj_factor"));
    await repair(root, giveUp);
    expect(await factorsOf()).toHaveLength(2);
    await writeFile(file, text);
    await (await ingester(root)).settle();
    expect(await factorsOf()).toEqual(rows);
  });

  test("is restored although a drop that it does not need can no longer be read", async () => {
    await take("adj_factor/c.csv", "000001.SZ,20240104,1");
    await rm(await dropFile(root, "adj_factor/c.csv"));
    await publishRows(root, {
      adj_factor: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-04' AS trade_date, 1 AS adj_factor",
    });
    await damage(await fileOf("adj_factor"));
    const { lost, faults } = await repair(root, repairOnly);
    expect([lost, faults]).toEqual([[], []]);
  });

  test("of a table without dates is restored from its drops", async () => {
    const company = "ts_code,chairman\n000001.SZ,甲\n000002.SZ,乙\n";
    await drop(root, "stock_company/a.csv", company);
    await (await ingester(root)).settle();
    const rows = await servedRows(root, "stock_company");
    await damage(await fileOf("stock_company"), rm);
    expect(await repair(root, repairOnly)).toMatchObject({ lost: [], faults: [], version: null });
    expect(await servedRows(root, "stock_company")).toEqual(rows);
  });

  test("is restored together with a damaged code copy", async () => {
    await publishRows(
      root,
      { adj_factor: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, 3 AS adj_factor" },
      { codeCopy: true },
    );
    const { byCode } = (await served()).files("adj_factor");
    const rows = await factorsOf();
    await damage(join("lake", byCode[0]!.path));
    await damage(await fileOf("adj_factor"), (path) => truncate(path, 30));
    const { repaired, lost, faults } = await repair(root, { ...repairOnly, deep: true });
    expect([lost, faults]).toEqual([[], []]);
    expect(repaired.map(({ from }) => from)).toEqual(["inbox", "copy"]);
    expect(await factorsOf()).toEqual(rows);
    expect((await verify(root, { ...MEMORY, deep: true })).faults).toEqual([]);
  });
});

describe("a damaged pointer", () => {
  const pointer = (): string => layoutOf(root).pointer;

  // A mirror replaces its pointer: see test/mirror/repair.
  folderTest.each([
    ["garbage", () => writeFile(pointer(), "\x00\xff garbage")],
    ["empty", () => truncate(pointer(), 0)],
    ["gone", () => rm(pointer())],
    ["changed to an older version", () => writeFile(pointer(), "1\n")],
    ["changed to one that never was", () => writeFile(pointer(), "903\n")],
  ])("that is %s is noticed, stops writers, and is reset to the newest version", async (_, harm) => {
    const { version } = await served();
    const rows = await factorsOf();
    await harm();
    await expect(openLake(root)).rejects.toThrow(/pointer to the current version|version 903 is gone/);
    await expect(dropFactors(root, ["000001.SZ,20240109,1"])).rejects.toThrow("see: tapehouse verify");
    expect((await verify(root, repairOnly)).faults).not.toEqual([]);
    const report = await repair(root, repairOnly);
    expect(report.faults).toEqual([]);
    expect(report.manifest.join("\n")).toContain(version.data_version);
    expect(await factorsOf()).toEqual(rows);
    expect(await faultsOf()).toEqual([]);
    expect((await dropFactors(root, ["000001.SZ,20240109,1"])).version!.data_version > version.data_version).toBe(true);
  });

  folderTest("is not reported for a lake whose first writer died before the publication", async () => {
    const layout = layoutOf(root);
    for (const name of await readdir(layout.versions))
      if (!name.startsWith("0000000001")) await rm(join(layout.versions, name));
    await rm(layout.pointer);
    await writeFile(layout.pending, "");
    expect((await openLake(root)).current().version.sequence).toBe(0);
    await dropFactors(root, ["000001.SZ,20240109,1"]);
    expect((await openLake(root)).current().version.sequence).toBe(1);
  });
});

describe("a damaged version", () => {
  const pathOf = (sequence: number): string => join("state/versions", versionFile(sequence));

  test.each(someOf(HARMS, 2))(
    "that is served and is %s is replaced by the previous one, and later drops are imported again",
    async (_, harm) => {
      const { version } = await served();
      const rows = await factorsOf();
      await damage(pathOf(version.sequence), harm);
      await expect(openLake(root)).rejects.toThrow(`version ${version.sequence} is`);
      const report = await repair(root, repairOnly);
      expect(report.manifest[0]).toMatch(/^the served version cannot be read: 20\S+ is served again/);
      expect(report.takenAgain).toEqual([
        { entity: expect.any(String) as string, files: 1, rows: expect.any(Number) as number, missing: [] },
      ]);
      expect(report.faults).toEqual([]);
      expect(report.version!.sequence).toBe(version.sequence + 1);
      expect(await factorsOf()).toEqual(rows);
      expect(await servedRows(root, "stk_limit")).toHaveLength(1);
      expect(await faultsOf()).toEqual([]);
      const before = await ledgerOf(root);
      await (await ingester(root)).settle();
      expect(await ledgerOf(root)).toEqual(before);
    },
  );

  test("that is served makes the report name later drops that cannot be imported again", async () => {
    const { version } = await served();
    await rm(await dropFile(root, "adj_factor/b.csv"));
    await rm(await dropFile(root, "stk_limit/a.csv"));
    await damage(pathOf(version.sequence));
    await damage(pathOf(version.sequence - 1));
    const { takenAgain } = await repair(root, repairOnly);
    expect(takenAgain.map(({ entity, files, missing }) => [entity, files, missing])).toEqual([
      ["adj_factor", 0, ["inbox/adj_factor/b.csv is gone or has changed"]],
      ["stk_limit", 0, ["inbox/stk_limit/a.csv is gone or has changed"]],
    ]);
    expect(await factorsOf()).toEqual(["000001.SZ 2024-01-02 1", "000002.SZ 2024-01-03 2"]);
  });

  test("that is no longer served affects only its own readers before a repair, and nobody afterwards", async () => {
    const lake = await openLake(root);
    const versions = await lake.versions();
    await damage(pathOf(1));
    const again = await openLake(root);
    await expect(again.at(versions[0]!.data_version)).rejects.toThrow("version 1 is damaged");
    expect(await again.at(versions[1]!.data_version)).toMatchObject({ version: { sequence: 2 } });
    const rows = await factorsOf();
    const { manifest, version, faults } = await repair(root, repairOnly);
    expect(manifest).toEqual(["state/versions/0000000001.json could not be read and was removed"]);
    expect([version, faults]).toEqual([null, []]);
    expect(await factorsOf()).toEqual(rows);
    expect(await (await openLake(root)).versions()).toHaveLength(versions.length - 1);
  });

  test("without any intact one leaves everything as it is", async () => {
    const { version } = await served();
    for (let sequence = 1; sequence <= version.sequence; sequence++) await damage(pathOf(sequence));
    await expect(repair(root, repairOnly)).rejects.toThrow(
      "no version can be read: restore the folder state from a backup",
    );
    expect(await readFile(layoutOf(root).pointer, "utf8")).toBe(`${version.sequence}\n`);
  });
});

describe("a damaged list", () => {
  const pathOf = async (entity: string): Promise<string> =>
    join("state/lists", listFile((await served()).version.lists[entity]!));

  test.each(someOf(HARMS, 2))(
    "that is %s is replaced by an older one, and later drops are imported again; other entities stay",
    async (_, harm) => {
      const { version } = await served();
      const [rows, limits] = [await factorsOf(), await servedRows(root, "stk_limit")];
      await damage(await pathOf("adj_factor"), harm);
      const report = await repair(root, repairOnly);
      expect(report.manifest[0]).toMatch(/^the list of adj_factor is damaged: its state of 20\S+ is served again$/);
      expect(report.takenAgain).toEqual([{ entity: "adj_factor", files: 1, rows: 2, missing: [] }]);
      expect(report.faults).toEqual([]);
      expect(report.version!.lists["stk_limit"]).toBe(version.lists["stk_limit"]);
      expect(await factorsOf()).toEqual(rows);
      expect(await servedRows(root, "stk_limit")).toEqual(limits);
      expect(await faultsOf()).toEqual([]);
    },
  );

  test("without an older one makes its entity start again from the inbox", async () => {
    const limits = await servedRows(root, "stk_limit");
    await damage(await pathOf("stk_limit"));
    expect(await repair(root, repairOnly)).toMatchObject({
      faults: [],
      takenAgain: [{ entity: "stk_limit", files: 1 }],
    });
    expect(await servedRows(root, "stk_limit")).toEqual(limits);
    expect(await factorsOf()).toHaveLength(3);
  });

  test("together with an incompletely restorable data file changes nothing without --give-up", async () => {
    await take("adj_factor/c.csv", "000001.SZ,20240104,1");
    await dropFactors(root, ["000009.SZ,20240102,9"]);
    await take("adj_factor/d.csv", "000001.SZ,20240105,1");
    const data = await fileOf("adj_factor");
    await damage(await pathOf("adj_factor"));
    await damage(data);
    await expect(repair(root, repairOnly)).rejects.toThrow("data files of adj_factor are damaged too");
    const { lost, takenAgain } = await repair(root, giveUp);
    expect(lost).toMatchObject([{ rows: 4, inInbox: 3 }]);
    expect(takenAgain).toMatchObject([{ entity: "adj_factor", files: 1, rows: 1 }]);
    expect(await factorsOf()).toHaveLength(5);
  });
});

// The writing calls of a process are counted in one folder.
folderTest("a repair that crashes at any step is completed by the next one", { timeout: 300_000 }, async () => {
  const { version } = await served();
  const [rows, limits] = [await factorsOf(), await servedRows(root, "stk_limit")];
  for (const sequence of [version.sequence, version.sequence - 1])
    await damage(join("state/versions", versionFile(sequence)));
  const states = await temporaryFolder();
  const run = await copyOf(root);
  const args = ["snapshot", run, states, "--", "verify", "--repair", "--data", "{}"];
  const { exitCode, stderr } = await runNode("test/support/faults.mjs", args);
  expect(exitCode, stderr).toBe(0);
  const steps = (await readdir(states)).sort((a, b) => Number(a) - Number(b));
  expect(steps.length).toBeGreaterThan(15);
  for (const step of someSteps(steps)) {
    root = join(states, step);
    expect((await repair(root, repairOnly)).faults, step).toEqual([]);
    expect(await factorsOf(), step).toEqual(rows);
    expect(await servedRows(root, "stk_limit"), step).toEqual(limits);
  }
});
