// A manifest that is newer than its files: a copy of lake/ made before a drop, and of state/ after it.
import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { repair } from "../../src/repair/repair.js";
import { verify } from "../../src/repair/verify.js";
import { withLock } from "../../src/lock.js";
import { flipBit } from "../support/backup.js";
import { copyOf, temporaryFolder } from "../support/folders.js";
import { drop, factors, ingester, outcomesOf } from "../support/ingest.js";
import { dropFactors, filesBelow, MEMORY, servedRows, tapehouse } from "../support/upkeep.js";

const plain = { ...MEMORY, deep: false, giveUp: false };
const back = { ...plain, backToLastWhole: true };

let original: string;
/** A copy of it for each test. */
let copy: string;
let rows: readonly string[];
let whole: string;

/** Rows of the copied lake/, and then a drop and an import that only the copied state/ knows. */
beforeAll(async () => {
  const root = await temporaryFolder();
  original = await temporaryFolder();
  await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,1", "000002.SZ,20240102,2"));
  await (await ingester(root)).settle();
  rows = await servedRows(root);
  whole = (await openLake(root)).current().version.data_version;
  await cp(join(root, "lake"), join(original, "lake"), { recursive: true });
  await drop(root, "adj_factor/b.csv", factors("000001.SZ,20240103,3"));
  await (await ingester(root)).settle();
  await dropFactors(root, ["000001.SZ,20240102,9"]);
  await cp(join(root, "state"), join(original, "state"), { recursive: true });
});

beforeEach(async () => {
  copy = await copyOf(original);
});

test("verify and its repair name the last whole version, and leave everything as it is", async () => {
  const before = await filesBelow(copy);
  const { exitCode, stdout } = await tapehouse("verify", "--data", copy);
  expect(exitCode).toBe(1);
  const offer = `version ${whole} (import adj_factor from the inbox) is whole: tapehouse verify --repair --back-to-last-whole serves it again`;
  expect(stdout).toContain(offer);
  expect((await tapehouse("verify", "--repair", "--data", copy)).stdout).toContain(offer);
  expect(await filesBelow(copy)).toEqual(before);
});

test("going back serves its rows as a new version, in which verify finds no fault, and names what to import again", async () => {
  const { exitCode, stdout } = await tapehouse("verify", "--repair", "--back-to-last-whole", "--data", copy);
  expect(exitCode, stdout).toBe(0);
  expect(stdout.split("\n").map((line) => line.replace(/20\d\d-\S+\+08:00/g, "VERSION"))).toEqual([
    "version VERSION is served again; 2 later versions undone",
    "these drops are no longer in the inbox, drop them again:",
    "  inbox/adj_factor/b.csv",
    "these were not made by drops, repeat what made them:",
    "  VERSION: import adj_factor",
    "published as data_version VERSION",
    expect.stringMatching(/^2 versions, 1 data file, .*: no faults$/),
    "",
  ]);
  expect(await servedRows(copy)).toEqual(rows);
  const { version } = (await openLake(copy)).current();
  expect([version.sequence, version.reason]).toEqual([4, `back to ${whole}`]);
  expect(await verify(copy, plain)).toMatchObject({ faults: [], lastWhole: null });
  const again = await tapehouse("verify", "--repair", "--back-to-last-whole", "--data", copy);
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("the served version is whole")]);
});

test("later drops are imported again, those in the inbox and those that come back, and no earlier one", async () => {
  await drop(copy, "adj_factor/b.csv", factors("000001.SZ,20240103,3"));
  await drop(copy, "adj_factor/a.csv", factors("000001.SZ,20240102,1", "000002.SZ,20240102,2"));
  const report = await repair(copy, back);
  expect(report.back).toMatchObject({ to: whole, again: ["inbox/adj_factor/b.csv"], gone: [] });
  await (await ingester(copy)).settle();
  expect(await outcomesOf(copy)).toEqual({ "adj_factor/a.csv": "same", "adj_factor/b.csv": "taken" });
  expect(await servedRows(copy)).toEqual([...rows, '["000001.SZ","2024-01-03",3]']);
});

test("after --give-up it is named as better, and can still be chosen", async () => {
  const { stdout } = await tapehouse("verify", "--repair", "--give-up", "--data", copy);
  expect(stdout).toContain(`version ${whole} (import adj_factor from the inbox) is whole`);
  expect(stdout).toContain("this is better than --give-up");
  expect(await servedRows(copy)).toEqual([]);
  await repair(copy, back);
  expect(await servedRows(copy)).toEqual(rows);
  expect((await verify(copy, plain)).faults).toEqual([]);
});

test("without a whole version nothing is offered, and going back changes nothing", async () => {
  const { files } = (await openLake(copy)).current();
  expect(files("adj_factor").rows).toBe(3);
  for (const path of await filesBelow(join(copy, "lake"))) await flipBit(join(copy, "lake", path));
  expect((await verify(copy, plain)).lastWhole).toBeNull();
  const before = await filesBelow(copy);
  await expect(repair(copy, back)).rejects.toThrow("no version before the served one is whole: nothing was changed");
  expect(await filesBelow(copy)).toEqual(before);
});

test("while a process watches the inbox nothing is changed", async () => {
  const { ingestLock } = layoutOf(copy);
  await mkdir(join(copy, "inbox"), { recursive: true });
  await withLock(ingestLock, () =>
    expect(repair(copy, back)).rejects.toThrow("a process watches the inbox: stop it (tapehouse serve or ingest)"),
  );
  expect((await openLake(copy)).current().version.sequence).toBe(3);
  await rm(join(copy, "inbox"), { recursive: true });
  expect((await repair(copy, back)).version?.sequence).toBe(4);
});

test("wrong calls are refused", async () => {
  for (const [args, reason] of [
    [["--back-to-last-whole"], "--back-to-last-whole requires --repair"],
    [["--repair", "--back-to-last-whole", "--give-up"], "use one"],
  ] as const) {
    const { exitCode, stderr } = await tapehouse("verify", ...args, "--data", copy);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(reason)]);
  }
});
