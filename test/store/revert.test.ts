// An earlier version is served again as a new one, and the ledger follows.
import { readdir, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { openLake } from "../../src/lake/lake.js";
import { findDrops } from "../../src/lake/found-drops.js";
import { layoutOf } from "../../src/lake/layout.js";
import { readStatus } from "../../src/lake/status.js";
import { repair } from "../../src/repair/repair.js";
import { verify } from "../../src/repair/verify.js";
import { compact } from "../../src/store/compact.js";
import { revert } from "../../src/store/revert.js";
import { vacuum } from "../../src/store/vacuum.js";
import { temporaryFolder } from "../support/folders.js";
import { copyOfLake, folderTest, newLake } from "../support/lakes.js";
import { drop, dropFile, factors, ingester, outcomesOf, sequenceOf, type TestIngester } from "../support/ingest.js";
import { publishRows, factors as manyFactors } from "../support/lake.js";
import { someSteps } from "../support/size.js";
import { MEMORY, runNode, servedRows } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 600_000 });

let root: string;
let watcher: TestIngester;

const served = async (lake = root): Promise<readonly string[]> =>
  (await servedRows(lake)).map((row) => (JSON.parse(row) as readonly unknown[]).slice(1).join(" "));

let touches = 1_700_000_000;
const touch = async (path: string): Promise<void> => utimes(await dropFile(root, path), ++touches, touches);

async function take(path: string, ...lines: readonly string[]): Promise<void> {
  await drop(root, path, factors(...lines));
  // Copies of a lake have times of whole milliseconds.
  await touch(path);
  await watcher.settle();
}

async function openNew(): Promise<void> {
  root = await newLake();
  watcher = await ingester(root);
}

/** Builds a lake from drops; each test of the group gets a copy. */
function buildOnce(drops: Readonly<Record<string, readonly string[]>>, end?: () => Promise<unknown>): void {
  let built: string;
  beforeAll(async () => {
    await openNew();
    for (const [path, lines] of Object.entries(drops)) await take(path, ...lines);
    await end?.();
    built = root;
  });
  beforeEach(async () => {
    root = await copyOfLake(built);
    watcher = await ingester(root);
  });
}

beforeEach(openNew);

const GOOD = ["000001.SZ,20240102,1", "000001.SZ,20240103,2"];
const BAD = ["000001.SZ,20240103,99", "000001.SZ,20240104,98"];
const BEFORE = ["2024-01-02 1", "2024-01-03 2"];
const AFTER = ["2024-01-02 1", "2024-01-03 99", "2024-01-04 98"];

describe("after a bad drop, the version before it", () => {
  buildOnce({ "adj_factor/good.csv": GOOD, "adj_factor/bad.csv": BAD });

  test("is served again as a new version, and the versions between keep their rows", async () => {
    const report = await revert(root, "1", MEMORY);
    expect(report).toMatchObject({
      to: { sequence: 1 },
      from: { sequence: 2 },
      entities: [
        {
          entity: "adj_factor",
          before: { rows: 3, first: "20240102", last: "20240104" },
          after: { rows: 2, first: "20240102", last: "20240103" },
          difference: { gone: 2, back: 1, days: 2, first: "20240103", last: "20240104" },
        },
      ],
      withdrawn: ["adj_factor/bad.csv"],
      version: { sequence: 3, reason: "revert to 1" },
    });
    expect(await served()).toEqual(BEFORE);
    expect((await verify(root, { deep: true, ...MEMORY })).faults).toEqual([]);
    const { data_version } = report.from;
    await revert(root, data_version, MEMORY);
    expect(await served()).toEqual(AFTER);
  });

  test("is only reported by a dry run", async () => {
    const report = await revert(root, "1", { ...MEMORY, dryRun: true });
    expect(report).toMatchObject({
      entities: [{ entity: "adj_factor" }],
      withdrawn: ["adj_factor/bad.csv"],
      version: null,
    });
    expect(await sequenceOf(root)).toBe(2);
    expect(await outcomesOf(root)).toMatchObject({ "adj_factor/bad.csv": "taken" });
  });

  test("is not served again if the data changed after the report", async () => {
    const asIn = await revert(root, "1", { ...MEMORY, dryRun: true });
    await take("adj_factor/late.csv", "000001.SZ,20240105,5");
    await expect(revert(root, "1", { ...MEMORY, asIn })).rejects.toThrow(/^the data changed while you were asked/);
    expect(await sequenceOf(root)).toBe(3);
  });

  test("stays, even after a restart: the withdrawn file lies in the inbox and is reported", async () => {
    await revert(root, "1", MEMORY);
    await watcher.settle();
    await (await ingester(root)).settle();
    expect(await served()).toEqual(BEFORE);
    expect(await outcomesOf(root)).toEqual({ "adj_factor/good.csv": "taken", "adj_factor/bad.csv": "withdrawn" });
    const { drops } = await readStatus(await openLake(root));
    const reason = "its rows were taken back (revert to 1); to import it again, drop it again or touch it";
    expect(drops).toMatchObject({ imported: 1, same: 0, withdrawn: [{ path: "adj_factor/bad.csv", reason }] });
    expect(watcher.logged.at(-1)).toBe(`withdrawn inbox/adj_factor/bad.csv: ${reason}`);
  });

  test.each([
    ["touched", () => touch("adj_factor/bad.csv")],
    ["dropped under a new name", () => drop(root, "adj_factor/again.csv", factors(...BAD))],
  ])("gives way to the withdrawn file if it is %s, with and without a restart", async (_how, again) => {
    await revert(root, "1", MEMORY);
    await again();
    await watcher.settle();
    expect(await served()).toEqual(AFTER);
    await revert(root, "1", MEMORY);
    expect(await served()).toEqual(BEFORE);
    watcher = await ingester(root);
    await touch("adj_factor/bad.csv");
    await watcher.settle();
    expect(await served()).toEqual(AFTER);
  });

  test("can be reverted itself: the drop counts as taken again, and is overwritten by the good one if that is dropped", async () => {
    await revert(root, "1", MEMORY);
    await revert(root, "2", MEMORY);
    expect(await served()).toEqual(AFTER);
    watcher = await ingester(root);
    await touch("adj_factor/bad.csv");
    await watcher.settle();
    expect(await sequenceOf(root)).toBe(4);
    expect(await outcomesOf(root)).toEqual({ "adj_factor/good.csv": "taken", "adj_factor/bad.csv": "same" });
    const found = await findDrops(layoutOf(root), "adj_factor", () => true);
    expect(found.map(({ path }) => path)).toEqual(["adj_factor/good.csv", "adj_factor/bad.csv"]);
    await touch("adj_factor/good.csv");
    await watcher.settle();
    expect(await served()).toEqual([...BEFORE, "2024-01-04 98"]);
  });

  test("gives way to a corrected file of the same name, while the good one is known still", async () => {
    await revert(root, "1", MEMORY);
    await touch("adj_factor/good.csv");
    await take("adj_factor/bad.csv", "000001.SZ,20240103,3");
    expect(await served()).toEqual(["2024-01-02 1", "2024-01-03 3"]);
    expect(await outcomesOf(root)).toEqual({ "adj_factor/good.csv": "same", "adj_factor/bad.csv": "taken" });
  });

  test("leaves no withdrawn drop for a repair to find, even if its own list is damaged", async () => {
    await revert(root, "1", MEMORY);
    const layout = layoutOf(root);
    expect((await findDrops(layout, "adj_factor", () => true)).map(({ path }) => path)).toEqual([
      "adj_factor/good.csv",
    ]);
    const { version } = (await openLake(root)).current();
    await rm(join(layout.lists, `${version.lists["adj_factor"]}.json`));
    await repair(root, { deep: false, giveUp: false, ...MEMORY });
    expect(await served()).toEqual(BEFORE);
  });

  test("is kept for the other entities if only one is reverted", async () => {
    await publishRows(root, { daily: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, 1.0 AS close" });
    const { version } = await revert(root, "1", { ...MEMORY, entity: entityNamed("adj_factor")! });
    expect(version?.reason).toBe("revert adj_factor to 1");
    expect(await served()).toEqual(BEFORE);
    expect(await servedRows(root, "daily")).toHaveLength(1);
    const all = await revert(root, "1", MEMORY);
    expect(all.entities).toMatchObject([{ entity: "daily", after: { rows: 0, first: null } }]);
    expect(await servedRows(root, "daily")).toEqual([]);
  });
});

test("a revert brings the code copy back too", async () => {
  await publishRows(root, { adj_factor: manyFactors(20_000) }, { codeCopy: true });
  const { byCode, codeRanges } = (await openLake(root)).current().files("adj_factor");
  await publishRows(root, {
    adj_factor: "SELECT '000001.SZ' AS ts_code, DATE '2023-01-02' AS trade_date, 2 AS adj_factor",
  });
  await revert(root, "1", MEMORY);
  expect((await openLake(root)).current().files("adj_factor")).toMatchObject({ byCode, codeRanges });
  expect((await verify(root, { deep: true, ...MEMORY })).faults).toEqual([]);
});

test("a version whose rows are served changes nothing, even if files were joined since", async () => {
  await take("adj_factor/a.csv", "000001.SZ,20240102,1");
  await take("adj_factor/b.csv", "000001.SZ,20240103,2");
  await compact(root, MEMORY);
  expect(await sequenceOf(root)).toBe(3);
  expect(await revert(root, "2", MEMORY)).toMatchObject({ entities: [], withdrawn: [], version: null });
  expect(await sequenceOf(root)).toBe(3);
});

// A drop in a bucket is fetched before it is imported, so that two looks do not begin its import.
folderTest("a drop that was merged but not recorded before a revert is withdrawn when it is recorded", async () => {
  await take("adj_factor/good.csv", ...GOOD);
  await drop(root, "adj_factor/bad.csv", factors(...BAD));
  await watcher.begin(600);
  await watcher.begin(600);
  await vi.waitFor(async () => expect(await sequenceOf(root)).toBe(2), { interval: 1, timeout: 20_000 });
  await revert(root, "1", MEMORY);
  await watcher.taken();
  await watcher.settle();
  expect(await served()).toEqual(BEFORE);
  expect(await outcomesOf(root)).toMatchObject({ "adj_factor/bad.csv": "withdrawn" });
});

describe("a version that cannot be served again is refused:", () => {
  const drops = ["02", "03", "04"].map((day) => [`adj_factor/${day}.csv`, [`000001.SZ,202401${day},1`]] as const);
  buildOnce(Object.fromEntries(drops), () =>
    vacuum(root, { olderThan: 0, keep: 2, now: new Date(Date.now() + 1_000) }),
  );

  const OLDEST = "; the oldest that is kept is 2, 20";
  test.each([
    ["the current one", "3", "version 3 is the current one; earlier ones: tapehouse versions"],
    ["a removed one", "1", `version 1 was removed${OLDEST}`],
    ["a future one", "4", "there is no version 4; the current one is 3, 20"],
    ["none", "0", `there is no version 0${OLDEST}`],
    [
      "an unknown data_version",
      "2020-01-31T16:00:00.000+08:00",
      `there is no version 2020-01-31T16:00:00.000+08:00${OLDEST}`,
    ],
    [
      "a future data_version",
      "2999-01-31T16:00:00.000+08:00",
      "there is no version 2999-01-31T16:00:00.000+08:00; the current",
    ],
    ["no name", "yesterday", '"yesterday" is neither the number of a version nor a data_version such as 2025-'],
  ])("%s", async (_what, name, message) => {
    await expect(revert(root, name, MEMORY)).rejects.toThrow(message);
    expect(await sequenceOf(root)).toBe(3);
  });

  // A mirror fetches the file again.
  folderTest("one with a damaged file", async () => {
    await publishRows(root, {
      adj_factor: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-04' AS trade_date, 2 AS adj_factor",
    });
    const lake = await openLake(root);
    const three = await lake.at((await lake.versions())[1]!.data_version);
    if (typeof three === "string") throw new Error(three);
    await rm(join(lake.layout.lake, three.files("adj_factor").byDate.at(-1)!.path));
    await expect(revert(root, "3", MEMORY)).rejects.toThrow(/^a data file is damaged/);
    expect(await sequenceOf(root)).toBe(4);
  });
});

// The steps are copies of the data directory; test/mirror/crash ends a writer at each request to the bucket.
folderTest("wherever a revert crashes, the ledger follows what is served", { timeout: 300_000 }, async () => {
  await take("adj_factor/good.csv", ...GOOD);
  await take("adj_factor/bad.csv", ...BAD);
  const [copy, states] = [await copyOfLake(root), await temporaryFolder()];
  const args = ["revert", "1", "--yes", "--data", "{}"];
  const { exitCode, stderr } = await runNode("test/support/faults.mjs", ["snapshot", copy, states, "--", ...args]);
  expect(exitCode, stderr).toBe(0);
  const steps = (await readdir(states)).map(Number).sort((a, b) => a - b);
  expect(steps.length).toBeGreaterThan(15);
  for (const step of someSteps(steps)) {
    root = join(states, String(step));
    const isReverted = (await sequenceOf(root)) === 3;
    watcher = await ingester(root);
    await watcher.settle();
    const when = `died at step ${step}`;
    expect(await served(), when).toEqual(isReverted ? BEFORE : AFTER);
    const bad = isReverted ? "withdrawn" : "taken";
    expect(await outcomesOf(root), when).toEqual({ "adj_factor/good.csv": "taken", "adj_factor/bad.csv": bad });
    await touch("adj_factor/bad.csv");
    await watcher.settle();
    expect(await served(), when).toEqual(AFTER);
    expect((await verify(root, { deep: false, ...MEMORY })).faults, when).toEqual([]);
  }
});
