import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { backup } from "../../src/backup/backup.js";
import { restore } from "../../src/backup/restore.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf, listFile } from "../../src/lake/layout.js";
import { fileList, type DataFile, type Version } from "../../src/lake/manifest.js";
import { takeInventory } from "../../src/repair/inventory.js";
import { repair } from "../../src/repair/repair.js";
import { verify } from "../../src/repair/verify.js";
import { writeDataFiles } from "../../src/store/datafile.js";
import { withWriteSession } from "../../src/store/session.js";
import { vacuum } from "../../src/store/vacuum.js";
import { copyAtCall } from "../support/dying.js";
import { longList, withChangedDay } from "../support/file-lists.js";
import { temporaryFolder } from "../support/folders.js";
import { longTest, size, someSteps } from "../support/size.js";
import { dropFactors, filesBelow, listFilesOf, MEMORY, neededFiles, servedRows } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 600_000 });

const DAYS = 2_500;
const LIMITS = { memory: "256MB", threads: 1 };

/** A lake of lists only. */
async function lakeOfDays(): Promise<string> {
  const root = await temporaryFolder();
  await mkdir(join(layoutOf(root).lake, "daily"), { recursive: true });
  await withWriteSession(root, LIMITS, ({ publish }) => publish([longList("daily", DAYS)], "test"));
  return root;
}

const changeDay = (root: string, day: number, content: string): Promise<Version | null> =>
  withWriteSession(root, LIMITS, ({ base, publish }) =>
    publish([withChangedDay(base.files("daily"), day, content)], "test"),
  );

const listsIn = async (root: string): Promise<readonly string[]> => (await readdir(layoutOf(root).lists)).sort();

/** The files that store the lists of all kept versions. */
async function neededLists(root: string): Promise<readonly string[]> {
  const versions = await (await openLake(root)).versions();
  const names = await Promise.all(versions.map(({ lists }) => listFilesOf(root, lists["daily"]!)));
  return [...new Set(names.flat())].map(listFile).sort();
}

/** The served list, which a process reads that knows none of its parts. */
const filesServed = async (root: string): Promise<readonly DataFile[]> =>
  (await openLake(await copyOf(root))).current().files("daily").byDate;

async function copyOf(root: string): Promise<string> {
  const copy = await temporaryFolder();
  await cp(root, copy, { recursive: true });
  return copy;
}

describe("publishing a long list", () => {
  test("writes little for a small change, nothing for none, and leaves earlier versions as they were", async () => {
    const root = await lakeOfDays();
    const before = await filesServed(root);
    const first = await listsIn(root);
    expect(first.length).toBeGreaterThan(3);
    expect((await changeDay(root, 1_234, "other"))!.sequence).toBe(2);
    const fresh = (await listsIn(root)).filter((name) => !first.includes(name));
    expect(fresh.length).toBeLessThanOrEqual(4);
    expect(await changeDay(root, 1_234, "other")).toBeNull();
    const lake = await openLake(root);
    const [oldest] = await lake.versions();
    const snapshot = await lake.at(oldest!.data_version);
    if (typeof snapshot === "string") throw new Error(snapshot);
    expect(snapshot.files("daily").byDate).toEqual(before);
    expect(await listsIn(root)).toEqual(await neededLists(root));
  });

  test("leaves the version before it or the new one wherever it crashes, and the next one cleans up", async () => {
    const base = await lakeOfDays();
    const before = await filesServed(base);
    const run = async (root: string): Promise<unknown> => changeDay(root, 777, "other");
    const done = await copyOf(base);
    await run(done);
    const after = await filesServed(done);
    const calls = Array.from({ length: 60 }, (_, i) => i + 1);
    let deaths = 0;
    for (const call of someSteps(calls, size("LIST_STEPS", 3, 1))) {
      const root = await copyOf(base);
      const copy = await copyAtCall(call, root, () => run(root));
      if (copy === null) break;
      deaths++;
      expect([before, after], `died at call ${call}`).toContainEqual(await filesServed(copy));
      expect((await takeInventory(layoutOf(copy))).faults, `died at call ${call}`).toEqual([]);
      await changeDay(copy, 778, "next");
      expect(await listsIn(copy), `died at call ${call}`).toEqual(await neededLists(copy));
    }
    expect(deaths).toBeGreaterThan(5);
  });
});

test("vacuum removes exactly the parts that no kept version names", async () => {
  const root = await lakeOfDays();
  for (const [day, content] of [
    [3, "b"],
    [1_700, "c"],
    [2_400, "d"],
  ] as const)
    await changeDay(root, day, content);
  const stray = listFile("ab".repeat(32));
  await writeFile(join(layoutOf(root).lists, stray), "{}");
  const served = await filesServed(root);
  const [before, named] = [await listsIn(root), await neededLists(root)];
  expect(before).toEqual([...named, stray].sort());
  for (const keep of [3, 1]) {
    await vacuum(root, { olderThan: 0, keep, now: new Date(Date.now() + 1_000) });
    expect(await listsIn(root)).toEqual(await neededLists(root));
  }
  expect((await listsIn(root)).length).toBeLessThan(named.length);
  expect(await filesServed(root)).toEqual(served);
});

describe("verify", () => {
  type Harm = (path: string, other: string) => Promise<void>;
  const harms: readonly (readonly [string, Harm, RegExp])[] = [
    [
      "damaged",
      async (path) => writeFile(path, (await readFile(path, "utf8")).replace("daily", "dairy")),
      /is damaged$/,
    ],
    ["missing", (path) => rm(path), /^the file is missing$/],
    [
      "replaced by another one",
      async (path, other) => cp(other, path),
      /^part \w+ of the file list of daily is damaged$/,
    ],
  ];

  test.each(harms)("names a part that is %s, and the versions that need it", async (_, harm, problem) => {
    const root = await lakeOfDays();
    await changeDay(root, 0, "other");
    const [first, second] = await (await openLake(root)).versions();
    const [old, fresh] = [
      await listFilesOf(root, first!.lists["daily"]!),
      await listFilesOf(root, second!.lists["daily"]!),
    ];
    const shared = old.filter((name) => fresh.includes(name));
    const own = fresh.slice(1).find((name) => !old.includes(name))!;
    const { lists } = layoutOf(root);
    await harm(join(lists, listFile(shared[0]!)), join(lists, listFile(shared[1]!)));
    await harm(join(lists, listFile(own)), join(lists, listFile(shared[1]!)));
    const { faults } = await takeInventory(layoutOf(root));
    const both = [first!.data_version, second!.data_version];
    const found = new Map(faults.map((fault) => [fault.path, fault]));
    expect(found.get(`state/lists/${shared[0]}.json`)).toMatchObject({
      entity: "daily",
      kind: "damaged",
      versions: both,
    });
    expect(found.get(`state/lists/${own}.json`)?.versions).toEqual([second!.data_version]);
    for (const fault of faults) expect(fault.problem).toMatch(problem);
    expect(faults).toHaveLength(2);
  });
});

const factors = entityNamed("adj_factor")!;

/** A lake of more small files than one file lists, each with a row. */
async function lakeOfFiles(): Promise<string> {
  const root = await temporaryFolder();
  await withWriteSession(root, LIMITS, async (session) => {
    const days = Array.from({ length: 1_030 }, (_, day) => ({
      relation: `(SELECT '000001.SZ' AS ts_code, DATE '2020-01-01' + ${day} AS trade_date, ${day}::DOUBLE AS adj_factor)`,
    }));
    const files: DataFile[] = [];
    for await (const file of writeDataFiles(session, factors, days)) files.push(file);
    return session.publish([fileList("adj_factor", files)], "test");
  });
  return root;
}

longTest("a lake of more than a thousand files is changed, verified, repaired, backed up and restored", async () => {
  const root = await lakeOfFiles();
  const rows = await servedRows(root);
  await dropFactors(root, ["000001.SZ,20210101,-1"]);
  const changed = await servedRows(root);
  expect(changed.filter((row, i) => row !== rows[i])).toEqual(['["000001.SZ","2021-01-01",-1]']);
  expect((await verify(root, { deep: false, ...MEMORY })).faults).toEqual([]);

  const place = await temporaryFolder();
  const copied = await backup(root, place, { verify: false, now: new Date() }, process.stdout);
  expect(copied.files).toBe(1_031);
  const restored = join(await temporaryFolder(), "data");
  await restore(place, restored, process.stdin);
  expect(await servedRows(restored)).toEqual(changed);
  expect(await filesBelow(layoutOf(restored).lists)).toEqual(await filesBelow(layoutOf(root).lists));

  const [first, second] = await (await openLake(root)).versions();
  const old = await listFilesOf(root, first!.lists["adj_factor"]!);
  const own = (await listFilesOf(root, second!.lists["adj_factor"]!)).slice(1).find((name) => !old.includes(name))!;
  await writeFile(join(layoutOf(root).lists, listFile(own)), "{}");
  const report = await repair(root, { deep: false, giveUp: false, ...MEMORY });
  expect(report.manifest[0]).toMatch(/^the list of adj_factor is damaged: its state of 20\S+ is served again$/);
  expect(report.faults).toEqual([]);
  expect(await servedRows(root)).toEqual(rows);
  await vacuum(root, { olderThan: 0, keep: 1, now: new Date(Date.now() + 1_000) });
  expect((await filesBelow(root)).filter((path) => path !== join("state", "removed.txt"))).toEqual(
    await neededFiles(root),
  );
});
