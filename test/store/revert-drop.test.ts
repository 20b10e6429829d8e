// One drop is taken back: its rows go, those that it replaced or removed come back, and nothing else changes.
import { cp, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { idOf } from "../../src/lake/found-drops.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf, versionFile } from "../../src/lake/layout.js";
import { encodeVersion } from "../../src/lake/manifest.js";
import { repair } from "../../src/repair/repair.js";
import { verify } from "../../src/repair/verify.js";
import { compact } from "../../src/store/compact.js";
import { deleteRows } from "../../src/store/delete.js";
import { revertDrops } from "../../src/store/revert-drop.js";
import { revert } from "../../src/store/revert.js";
import { vacuum } from "../../src/store/vacuum.js";
import { temporaryFolder } from "../support/folders.js";
import { copyOfLake, filesOf, folderTest, isMirror, newLake } from "../support/lakes.js";
import {
  drop,
  dropFile,
  factors,
  ingester,
  ledgerOf,
  outcomesOf,
  sequenceOf,
  type TestIngester,
} from "../support/ingest.js";
import { isLong, someOf, someSteps } from "../support/size.js";
import { MEMORY, runNode, servedRows } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 600_000 });

let root: string;
let watcher: TestIngester;

const served = async (): Promise<readonly string[]> =>
  (await servedRows(root)).map((row) => (JSON.parse(row) as readonly unknown[]).join(" "));

let touches = 1_700_000_000;
const touch = async (path: string): Promise<void> => utimes(await dropFile(root, path), ++touches, touches);

async function take(path: string, ...lines: readonly string[]): Promise<void> {
  await drop(root, path, factors(...lines));
  await touch(path);
  await watcher.settle();
}

const takeBack = (...names: readonly string[]): ReturnType<typeof revertDrops> => revertDrops(root, names, MEMORY);

beforeEach(async () => {
  root = await newLake();
  watcher = await ingester(root);
});

const ONE = "000001.SZ";
const TWO = "000002.SZ";

describe("between other drops, a bad one", () => {
  let taken: string | undefined;
  beforeEach(async () => {
    if (taken === undefined) {
      await take("adj_factor/good.csv", `${ONE},20240102,1`, `${ONE},20240103,2`);
      await take("adj_factor/bad.csv", `${ONE},20240103,99`, `${ONE},20240104,98`);
      await take("adj_factor/later.csv", `${TWO},20240103,5`);
      taken = root;
    }
    root = await copyOfLake(taken);
    watcher = await ingester(root);
    await watcher.settle();
  });
  const WITHOUT = ["000001.SZ 2024-01-02 1", "000001.SZ 2024-01-03 2", "000002.SZ 2024-01-03 5"];
  const WITH = [
    "000001.SZ 2024-01-02 1",
    "000001.SZ 2024-01-03 99",
    "000002.SZ 2024-01-03 5",
    "000001.SZ 2024-01-04 98",
  ];

  test("is taken back by its path or its ID, and stays in the inbox as withdrawn", async () => {
    const id = idOf((await ledgerOf(root)).find(({ path }) => path === "adj_factor/bad.csv")!);
    for (const name of ["inbox/adj_factor/bad.csv", "bad.csv", id, id.toUpperCase()]) {
      const { withdrawn } = await revertDrops(root, [name], { ...MEMORY, dryRun: true });
      expect(withdrawn).toEqual(["adj_factor/bad.csv"]);
    }
    const report = await takeBack("adj_factor/bad.csv");
    expect(report).toMatchObject({
      to: null,
      from: { sequence: 3 },
      entities: [
        {
          ...{ entity: "adj_factor", before: { rows: 4, last: "20240104" }, after: { rows: 3, last: "20240103" } },
          difference: { gone: 2, back: 1, days: 2, first: "20240103", last: "20240104" },
        },
      ],
      withdrawn: ["adj_factor/bad.csv"],
      version: { sequence: 4, reason: "revert drop adj_factor/bad.csv" },
    });
    expect(await served()).toEqual(WITHOUT);
    expect((await verify(root, { deep: true, ...MEMORY })).faults).toEqual([]);
    watcher = await ingester(root);
    await watcher.settle();
    expect(await sequenceOf(root)).toBe(4);
    expect(await outcomesOf(root)).toEqual({
      ...{ "adj_factor/good.csv": "taken", "adj_factor/bad.csv": "withdrawn", "adj_factor/later.csv": "taken" },
    });
  });

  test("is only reported by a dry run, and not taken back if the data changed after it", async () => {
    const asIn = await revertDrops(root, ["bad.csv"], { ...MEMORY, dryRun: true });
    expect(asIn).toMatchObject({
      entities: [{ after: { rows: 3 } }],
      withdrawn: ["adj_factor/bad.csv"],
      version: null,
    });
    expect(await served()).toEqual(WITH);
    await take("adj_factor/more.csv", `${TWO},20240108,6`);
    await expect(revertDrops(root, ["bad.csv"], { ...MEMORY, asIn })).rejects.toThrow(
      "the data changed while you were",
    );
    expect(await sequenceOf(root)).toBe(4);
  });

  test.each([
    ["touched", () => touch("adj_factor/bad.csv")],
    [
      "dropped under a new name",
      async () => rename(await dropFile(root, "adj_factor/bad.csv"), await dropFile(root, "adj_factor/again.csv")),
    ],
  ])("is imported again if it is %s, and can be taken back again", async (_how, again) => {
    await takeBack("bad.csv");
    await again();
    await watcher.settle();
    expect(await served()).toEqual(WITH);
    const [path] = Object.entries(await outcomesOf(root)).findLast(([, outcome]) => outcome === "taken")!;
    await takeBack(path);
    expect(await served()).toEqual(WITHOUT);
  });

  test("is back, as imported, if the version that took it back is reverted", async () => {
    await takeBack("bad.csv");
    await revert(root, "3", MEMORY);
    expect(await served()).toEqual(WITH);
    await touch("adj_factor/bad.csv");
    await watcher.settle();
    expect(await sequenceOf(root)).toBe(5);
    expect(await outcomesOf(root)).toMatchObject({ "adj_factor/bad.csv": "same" });
    await takeBack("bad.csv");
    expect(await served()).toEqual(WITHOUT);
  });

  test("does not count as imported after a revert to a version before it", async () => {
    await takeBack("bad.csv");
    await revert(root, "1", MEMORY);
    await touch("adj_factor/bad.csv");
    await watcher.settle();
    expect(await outcomesOf(root)).toMatchObject({
      "adj_factor/bad.csv": "taken",
      "adj_factor/later.csv": "withdrawn",
    });
    expect(await served()).toEqual(WITH.filter((row) => !row.startsWith(TWO)));
  });

  // What is damaged in a mirror is fetched again.
  test.runIf(isLong && !isMirror)(
    "can be taken back after a compaction, and a file damaged then is restored without it",
    async () => {
      await compact(root, MEMORY);
      await takeBack("bad.csv");
      await compact(root, MEMORY);
      expect(await served()).toEqual(WITHOUT);
      const { byDate } = (await openLake(root)).current().files("adj_factor");
      for (const { path } of byDate) await cp(join(root, "state/current"), join(root, "lake", path));
      expect(await repair(root, { deep: false, giveUp: false, ...MEMORY })).toMatchObject({ lost: [], faults: [] });
      expect(await served()).toEqual(WITHOUT);
    },
  );

  test("cannot be taken back alone if later versions changed its rows: the error names them", async () => {
    await take("adj_factor/fix.csv", `${ONE},20240103,3`);
    await deleteRows(root, entityNamed("adj_factor")!, { where: [], from: "20240104", to: null, all: false }, MEMORY);
    const day = new Date(Date.parse((await openLake(root)).current().version.data_version) + 8 * 3_600_000);
    const today = day.toISOString().slice(0, 10);
    await expect(takeBack("bad.csv")).rejects.toThrow(
      "inbox/adj_factor/bad.csv cannot be taken back alone, since rows of it were changed later: " +
        `version 4 (import adj_factor from the inbox, inbox/adj_factor/fix.csv, ${today}) changed 1 row, ` +
        `version 5 (delete adj_factor, ${today}) changed 1 row; take that back first, drop a corrected file, ` +
        "or serve the version before the drop with tapehouse revert 1",
    );
    expect(await sequenceOf(root)).toBe(5);
    await revert(root, "4", MEMORY);
    await takeBack("fix.csv");
    await takeBack("bad.csv");
    expect(await served()).toEqual(WITHOUT);
  });

  test("cannot be taken back if its version, or the one before it, is not kept", async () => {
    const now = new Date(Date.now() + 60_000);
    for (const [keep, which] of [
      [2, "the version before it"],
      [1, "its version 2"],
    ] as const) {
      await vacuum(root, { olderThan: 0, keep, now });
      const error = await takeBack("bad.csv").catch((thrown: unknown) => (thrown as Error).message);
      expect(error).toContain(`inbox/adj_factor/bad.csv cannot be taken back, since ${which}`);
      expect(error).toMatch(
        /is no longer kept: drop a corrected file, or delete its rows with tapehouse delete adj_factor$/,
      );
    }
  });
});

const NAMES: readonly (readonly [string, string | RegExp])[] = [
  ["unknown.csv", "no drop is named unknown.csv; see: tapehouse status"],
  [
    "a.csv",
    /^a\.csv may be [\da-f]{8} inbox\/adj_factor\/a\.csv, [\da-f]{8} inbox\/stk_limit\/a\.csv: give the path, or/,
  ],
  ["bad.csv", "inbox/adj_factor/bad.csv was refused, so none of its rows were imported: "],
  ["gone.csv", "inbox/adj_factor/gone.csv cannot be taken back again: its rows were taken back (revert drop "],
  ["0000", "no drop is named 0000; see: tapehouse status"],
];

test.each(someOf(NAMES, 2))("the name %s is an error", async (name, message) => {
  await take("adj_factor/a.csv", `${ONE},20240102,1`);
  await drop(root, "stk_limit/a.csv", `ts_code,trade_date,up_limit,down_limit\n${ONE},20240102,11,9\n`);
  await take("adj_factor/bad.csv", `${ONE},20240231,1`);
  await take("adj_factor/gone.csv", `${ONE},20240103,1`);
  await takeBack("gone.csv");
  const before = await sequenceOf(root);
  await expect(takeBack(name)).rejects.toThrow(message);
  expect(await sequenceOf(root)).toBe(before);
  const only = await revertDrops(root, ["a.csv"], { ...MEMORY, entity: entityNamed("stk_limit")! });
  expect(only.withdrawn).toEqual(["stk_limit/a.csv"]);
  expect(await servedRows(root, "stk_limit")).toEqual([]);
});

test("a drop that was imported again without a change is taken back as it was imported first", async () => {
  await take("adj_factor/a.csv", `${ONE},20240102,1`, `${TWO},20240104,1`);
  // Its day and code are between those of the first drop, so its rows may have been those of the first one.
  await take("adj_factor/b.csv", `${TWO},20240103,2`);
  await take("adj_factor/b.csv", `${TWO},20240103,3`);
  await touch("adj_factor/a.csv");
  await watcher.settle();
  const imports = (await ledgerOf(root)).filter(({ path, outcome }) => path.endsWith("a.csv") && outcome === "taken");
  expect(imports).toHaveLength(2);
  expect(await takeBack("a.csv")).toMatchObject({ withdrawn: ["adj_factor/a.csv"] });
  expect(await served()).toEqual(["000002.SZ 2024-01-03 3"]);
  await watcher.settle();
  expect(await outcomesOf(root)).toMatchObject({ "adj_factor/a.csv": "withdrawn", "adj_factor/b.csv": "taken" });
  await expect(takeBack("a.csv")).rejects.toThrow("cannot be taken back again");
});

test("a drop that changed no row has nothing to take back", async () => {
  await take("adj_factor/a.csv", `${ONE},20240102,1`, `${ONE},20240103,2`);
  await take("adj_factor/b.csv", `${ONE},20240103,2`);
  expect(await takeBack("b.csv")).toMatchObject({ entities: [], withdrawn: [], version: null });
  expect(await outcomesOf(root)).toMatchObject({ "adj_factor/b.csv": "taken" });
  await takeBack("a.csv");
  expect(await served()).toEqual([]);
  await touch("adj_factor/b.csv");
  await watcher.settle();
  expect(await served()).toEqual(["000001.SZ 2024-01-03 2"]);
});

describe("of drops that came together", () => {
  const together = async (files: Readonly<Record<string, readonly string[]>>): Promise<void> => {
    for (const [path, lines] of Object.entries(files)) {
      await drop(root, path, factors(...lines));
      await touch(path);
    }
    await watcher.settle();
  };

  test("one is taken back by itself if they have different days or codes", async () => {
    await take("adj_factor/old.csv", `${ONE},20240103,1`, `${TWO},20240103,1`);
    await together({
      "adj_factor/one.csv": [`${ONE},20240102,2`, `${ONE},20240103,2`],
      "adj_factor/two.csv": [`${TWO},20240102,3`, `${TWO},20240103,3`],
    });
    expect(await sequenceOf(root)).toBe(2);
    await takeBack("two.csv");
    expect(await served()).toEqual(["000001.SZ 2024-01-02 2", "000001.SZ 2024-01-03 2", "000002.SZ 2024-01-03 1"]);
    expect(await outcomesOf(root)).toMatchObject({ "adj_factor/one.csv": "taken", "adj_factor/two.csv": "withdrawn" });
    await takeBack("one.csv");
    expect(await served()).toEqual(["000001.SZ 2024-01-03 1", "000002.SZ 2024-01-03 1"]);
  });

  test("those that may have the same rows are taken back together, each by its name", async () => {
    await take("adj_factor/old.csv", `${ONE},20240103,1`);
    await together({
      "adj_factor/a.csv": [`${ONE},20240102,2`, `${ONE},20240103,2`],
      "adj_factor/b.csv": [`${ONE},20240103,3`],
    });
    await expect(takeBack("a.csv")).rejects.toThrow(
      "inbox/adj_factor/a.csv was imported together with inbox/adj_factor/b.csv, and they may have the same days and codes: " +
        "take them back together with --drop adj_factor/a.csv --drop adj_factor/b.csv, or serve the version before 2 with " +
        "tapehouse revert 1",
    );
    const report = await takeBack("a.csv", "adj_factor/b.csv");
    expect(report.withdrawn).toEqual(["adj_factor/a.csv", "adj_factor/b.csv"]);
    expect(await served()).toEqual(["000001.SZ 2024-01-03 1"]);
    await expect(takeBack("old.csv", "a.csv")).rejects.toThrow("cannot be taken back again");
  });

  test("none is taken back with one of another version", async () => {
    await take("adj_factor/a.csv", `${ONE},20240102,1`);
    await take("adj_factor/b.csv", `${ONE},20240103,1`);
    await expect(takeBack("a.csv", "b.csv")).rejects.toThrow(
      "inbox/adj_factor/a.csv and inbox/adj_factor/b.csv came in different versions: take them back one after the other",
    );
  });
});

describe("what a drop did otherwise is undone too:", () => {
  const LIMITS = "ts_code,trade_date,up_limit,down_limit";
  const bring = async (path: string, ...lines: readonly string[]): Promise<void> => {
    await drop(root, path, `${lines.join("\n")}\n`);
    await touch(path);
    await watcher.settle();
  };

  test("a replaced day", async () => {
    await bring("stk_limit/a.csv", LIMITS, `${ONE},20240102,11,9`, `${TWO},20240102,22,18`, `${TWO},20240103,23,19`);
    const before = await servedRows(root, "stk_limit");
    await bring("stk_limit/@replace-day/b.csv", LIMITS, `${ONE},20240102,12,10`);
    expect(await servedRows(root, "stk_limit")).toHaveLength(2);
    const report = await takeBack("@replace-day/b.csv");
    expect(report.entities).toMatchObject([{ difference: { gone: 1, back: 2, days: 1 } }]);
    expect(await servedRows(root, "stk_limit")).toEqual(before);
  });

  test("a patch of one column", async () => {
    await bring("stk_limit/a.csv", LIMITS, `${ONE},20240102,11,9`);
    await bring("stk_limit/b.csv", "ts_code,trade_date,up_limit", `${ONE},20240102,12`, `${TWO},20240102,22`);
    await takeBack("b.csv");
    expect(await servedRows(root, "stk_limit")).toEqual([`["${ONE}","2024-01-02",11,9]`]);
  });

  test("rows of an identity that has several, and ticks", async () => {
    const group = "ts_code,trade_date,suspend_type,suspend_timing";
    await bring("suspend_d/a.csv", group, `${ONE},20240102,S,`, `${ONE},20240102,S,09:30-10:00`, `${TWO},20240102,R,`);
    const [suspended] = [await servedRows(root, "suspend_d")];
    await bring("suspend_d/b.csv", group, `${ONE},20240102,S,13:00-14:00`);
    const ticks = "ts_code,trade_date,ts_type,time,price,vol,amount,pre_close";
    await bring(
      "stk_auction/a.csv",
      ticks,
      `${ONE},20240102,STK,09:25:01,1,100,,`,
      `${ONE},20240102,STK,09:25:02,2,100,,`,
    );
    const auction = await servedRows(root, "stk_auction");
    await bring("stk_auction/b.csv", ticks, `${ONE},20240102,STK,09:25:03,3,100,,`);
    await takeBack("suspend_d/b.csv");
    await takeBack("stk_auction/b.csv");
    expect(await servedRows(root, "suspend_d")).toEqual(suspended);
    expect(await servedRows(root, "stk_auction")).toEqual(auction);
  });

  test("rows of an entity without dates, and the first drop of an entity", async () => {
    await bring("stock_company/a.csv", "ts_code,chairman", `${ONE},A`);
    await bring("stock_company/b.csv", "ts_code,chairman", `${ONE},B`, `${TWO},C`);
    await takeBack("stock_company/b.csv");
    const rows = (await servedRows(root, "stock_company")).map((row) => (JSON.parse(row) as unknown[])[0]);
    expect(rows).toEqual([ONE]);
    expect((await takeBack("stock_company/a.csv")).entities).toMatchObject([{ after: { rows: 0, first: null } }]);
    expect(await servedRows(root, "stock_company")).toEqual([]);
  });
});

test("after each way back, the findings are those of the rows that are served", async () => {
  const bring = async (name: string, up: number): Promise<void> => {
    await drop(root, `stk_limit/${name}`, `ts_code,trade_date,up_limit,down_limit\n${ONE},20240102,${up},9\n`);
    await watcher.settle();
  };
  const findings = async (): Promise<readonly string[]> =>
    ((await openLake(root)).current().files("stk_limit").findings ?? []).map(({ check, count }) => `${check} ${count}`);
  await bring("good.csv", 11);
  await bring("bad.csv", 1);
  expect(await findings()).toEqual(["limits-crossed 1"]);
  await takeBack("bad.csv");
  expect(await findings()).toEqual([]);
  await revert(root, "2", MEMORY);
  expect(await findings()).toEqual(["limits-crossed 1"]);
  await revert(root, "1", MEMORY);
  expect(await findings()).toEqual([]);
  const { path } = (await openLake(root)).current().files("stk_limit").byDate[0]!;
  await bring("new.csv", 2);
  expect(await findings()).toEqual(["limits-crossed 1"]);
  const fresh = (await openLake(root)).current().files("stk_limit").byDate[0]!;
  expect(fresh.path).not.toBe(path);
  for (const place of new Set([root, await filesOf(root)])) await rm(join(place, "lake", fresh.path));
  const { back } = await repair(root, { deep: false, giveUp: false, backToLastWhole: true, ...MEMORY });
  expect(back?.undone).toHaveLength(1);
  expect(await findings()).toEqual([]);
});

test("after one drop was taken back, one that confirmed its rows is imported if it is dropped again", async () => {
  await take("adj_factor/bad.csv", `${ONE},20240103,9`);
  await take("adj_factor/more.csv", `${ONE},20240103,9`, `${ONE},20240104,8`);
  await takeBack("bad.csv");
  expect(await served()).toEqual(["000001.SZ 2024-01-04 8"]);
  await touch("adj_factor/more.csv");
  await watcher.settle();
  expect(await served()).toEqual(["000001.SZ 2024-01-03 9", "000001.SZ 2024-01-04 8"]);
});

// No earlier release could write to a bucket.
folderTest("a drop of a version that an earlier release made names the way out", async () => {
  await take("adj_factor/a.csv", `${ONE},20240102,1`);
  await take("adj_factor/b.csv", `${ONE},20240103,1`);
  const { version } = (await openLake(root)).current();
  const { entries, ...older } = version;
  expect(entries).toHaveLength(1);
  await writeFile(join(layoutOf(root).versions, versionFile(2)), encodeVersion(older));
  await expect(takeBack("b.csv")).rejects.toThrow(
    "version 2 was made by an earlier release, which did not record its drops: serve the version before it with tapehouse revert 1",
  );
});

// The steps are copies of the data directory; test/mirror/crash ends a writer at each request to the bucket.
test.runIf(isLong && !isMirror)("wherever taking a drop back crashes, the ledger follows what is served", async () => {
  await take("adj_factor/good.csv", `${ONE},20240102,1`, `${ONE},20240103,2`);
  await take("adj_factor/bad.csv", `${ONE},20240103,99`, `${ONE},20240104,98`);
  const [copy, states] = [await temporaryFolder(), await temporaryFolder()];
  const [before, after] = [await served(), ["000001.SZ 2024-01-02 1", "000001.SZ 2024-01-03 2"]];
  await cp(root, copy, { recursive: true, preserveTimestamps: true });
  const args = ["revert", "--drop", "bad.csv", "--yes", "--data", "{}"];
  const { exitCode, stderr } = await runNode("test/support/faults.mjs", ["snapshot", copy, states, "--", ...args]);
  expect(exitCode, stderr).toBe(0);
  const steps = (await readdir(states)).map(Number).sort((a, b) => a - b);
  expect(steps.length).toBeGreaterThan(15);
  for (const step of someSteps(steps)) {
    root = join(states, String(step));
    const isTakenBack = (await sequenceOf(root)) === 3;
    watcher = await ingester(root);
    await watcher.settle();
    const when = `died at step ${step}`;
    expect(await served(), when).toEqual(isTakenBack ? after : before);
    const bad = isTakenBack ? "withdrawn" : "taken";
    expect(await outcomesOf(root), when).toEqual({ "adj_factor/good.csv": "taken", "adj_factor/bad.csv": bad });
    await touch("adj_factor/bad.csv");
    await watcher.settle();
    expect(await served(), when).toEqual(before);
    expect((await verify(root, { deep: false, ...MEMORY })).faults, when).toEqual([]);
  }
});
