// A drop whose rows a later one, or a command, replaced is taken again when it is dropped again; any other known content is not.
import { readdir, rename, utimes } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import type { LedgerEntry } from "../../src/lake/ledger.js";
import { createStandingDrops } from "../../src/inbox/standing.js";
import { deleteRows } from "../../src/store/delete.js";
import { importFiles } from "../../src/store/import.js";
import { revert } from "../../src/store/revert.js";
import { isMirror, newLake } from "../support/lakes.js";
import { temporaryFolder } from "../support/folders.js";
import {
  drop,
  factors,
  ingester,
  outcomesOf,
  sequenceOf,
  servedRows,
  type TestIngester,
  dropFile,
} from "../support/ingest.js";
import { isLong, someOf, someSteps } from "../support/size.js";
import { dropFactors, factorFile, MEMORY, runNode } from "../support/upkeep.js";

const RIGHT = factors("000001.SZ,20240102,1", "000001.SZ,20240103,2");
const WRONG = factors("000001.SZ,20240102,100", "000001.SZ,20240103,200");

let root: string;
let watcher: TestIngester;

const served = async (): Promise<readonly unknown[]> =>
  (await servedRows(root, "adj_factor")).map(([, , factor]) => factor);

let touches = 1_700_000_000;
const touch = (...paths: readonly string[]): Promise<unknown> =>
  Promise.all(paths.map(async (path) => utimes(await dropFile(root, path), ++touches, touches)));

beforeEach(async () => {
  root = await newLake();
  watcher = await ingester(root);
});

async function take(path: string, content: string): Promise<void> {
  await drop(root, path, content);
  await watcher.settle();
}

describe("after a wrong correction, the right file is taken again", () => {
  beforeEach(async () => {
    await take("adj_factor/right.csv", RIGHT);
    await take("adj_factor/wrong.csv", WRONG);
    expect(await served()).toEqual([100, 200]);
  });

  const AGAIN: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["under a new name", () => drop(root, "adj_factor/again.csv", RIGHT)],
    ["when it is touched", () => touch("adj_factor/right.csv")],
    // As rsync does: a new file takes the place of the old one.
    [
      "when another copy takes its place",
      async () => {
        await drop(root, "adj_factor/.right.csv", RIGHT);
        await touch("adj_factor/.right.csv");
        await rename(await dropFile(root, "adj_factor/.right.csv"), await dropFile(root, "adj_factor/right.csv"));
      },
    ],
  ];

  test.each(AGAIN)("%s", async (_how, again) => {
    await again();
    await watcher.settle();
    expect(await served()).toEqual([1, 2]);
    expect(await sequenceOf(root)).toBe(3);
  });

  test.each(someOf(AGAIN))("%s, after a restart", async (_how, again) => {
    watcher = await ingester(root);
    await watcher.settle();
    expect(await sequenceOf(root)).toBe(2);
    await again();
    await watcher.settle();
    expect(await served()).toEqual([1, 2]);
  });

  test("but not by itself, nor the wrong one as long as its rows are served", async () => {
    watcher = await ingester(root);
    await touch("adj_factor/wrong.csv");
    await watcher.settle();
    expect(await sequenceOf(root)).toBe(2);
    expect(await outcomesOf(root)).toEqual({ "adj_factor/right.csv": "taken", "adj_factor/wrong.csv": "same" });
  });

  test("and each of them in turn, as often as they are dropped", async () => {
    for (const [path, values] of [
      ["right", [1, 2]],
      ["wrong", [100, 200]],
      ["right", [1, 2]],
      ["wrong", [100, 200]],
    ] as const) {
      await touch(`adj_factor/${path}.csv`);
      await watcher.settle();
      expect(await served()).toEqual(values);
    }
  });

  test("but if both are touched, the later one stays, and no version is published", async () => {
    for (let times = 0; times < 3; times++) {
      await touch("adj_factor/right.csv");
      await touch("adj_factor/wrong.csv");
      await watcher.settle();
      expect(await served()).toEqual([100, 200]);
    }
    expect(await sequenceOf(root)).toBe(2);
  });

  test("before a known file that follows it, with a new one between them", async () => {
    await touch("adj_factor/right.csv");
    await drop(root, "adj_factor/new.csv", factors("000001.SZ,20240104,3"));
    await touch("adj_factor/new.csv", "adj_factor/wrong.csv");
    await watcher.settle();
    expect(await served()).toEqual([100, 200, 3]);
  });
});

test("a file is taken again if one that was imported together with it replaced its rows", async () => {
  await drop(root, "adj_factor/a.csv", RIGHT);
  await drop(root, "adj_factor/b.csv", WRONG);
  await touch("adj_factor/a.csv", "adj_factor/b.csv");
  await watcher.settle();
  expect(await served()).toEqual([100, 200]);
  await touch("adj_factor/a.csv");
  await watcher.settle();
  expect(await served()).toEqual([1, 2]);
});

test("of files with the same days, only those of the corrected code are taken again", async () => {
  const codes = Array.from({ length: 30 }, (_, i) => `${String(i + 1).padStart(6, "0")}.SZ`);
  const paths = codes.map((code) => `adj_factor/${code}.csv`);
  for (const code of codes)
    await drop(root, `adj_factor/${code}.csv`, factors(`${code},20240102,1`, `${code},20240131,2`));
  await watcher.settle();
  await take("adj_factor/correction.csv", factors("000007.SZ,20240131,9"));
  await touch(...paths);
  await watcher.settle();
  const outcomes = await outcomesOf(root);
  expect(paths.filter((path) => outcomes[path] === "taken")).toEqual(["adj_factor/000007.SZ.csv"]);
  expect((await served()).filter((factor) => factor === 9)).toEqual([]);
  const before = await sequenceOf(root);
  await touch(...paths);
  await watcher.settle();
  expect(await sequenceOf(root)).toBe(before);
  const again = await outcomesOf(root);
  expect(new Set(paths.map((path) => again[path]))).toEqual(new Set(["same"]));
});

describe("a drop whose rows a command changed is imported again when it is dropped again", () => {
  const adjFactor = entityNamed("adj_factor")!;
  const two = { where: [["ts_code", "000002.SZ"]] as const, from: null, to: null, all: false };
  const COMMANDS: readonly (readonly [string, () => Promise<unknown>, after: readonly number[]])[] = [
    ["an import", () => dropFactors(root, ["000002.SZ,20240103,9"]), [1, 9, 3]],
    [
      "an import of a whole day",
      async () => {
        const options = { map: {}, set: {}, replace: "day" as const, ...MEMORY };
        await importFiles(root, adjFactor, [await factorFile(["000005.SZ,20240103,5"])], options);
      },
      [1, 5, 3],
    ],
    ["a deletion", () => deleteRows(root, adjFactor, two, MEMORY), [1, 3]],
  ];
  const ROWS = factors("000001.SZ,20240102,1", "000002.SZ,20240103,2");

  test.each(someOf(COMMANDS))("after %s, even after a restart; any other drop is not", async (_what, run, after) => {
    await take("adj_factor/a.csv", ROWS);
    await take("adj_factor/other.csv", factors("000003.SZ,20240104,3"));
    await run();
    await watcher.settle();
    expect(await served()).toEqual(after);
    watcher = await ingester(root);
    await touch("adj_factor/a.csv", "adj_factor/other.csv");
    await watcher.settle();
    expect(await served()).toEqual(after.includes(5) ? [1, 2, 5, 3] : [1, 2, 3]);
    expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "taken", "adj_factor/other.csv": "same" });
    expect(watcher.logged).toHaveLength(2);
  });

  test.each(someOf(COMMANDS))("after %s, but not if that was taken back by a revert", async (_what, run) => {
    await take("adj_factor/a.csv", ROWS);
    await take("adj_factor/other.csv", factors("000003.SZ,20240104,3"));
    await run();
    await revert(root, "2", MEMORY);
    await touch("adj_factor/a.csv");
    await watcher.settle();
    expect([await served(), await outcomesOf(root)]).toMatchObject([[1, 2, 3], { "adj_factor/a.csv": "same" }]);
  });

  // Copies of a mirror would share its bucket.
  test.runIf(isLong && !isMirror)("wherever the command crashes", { timeout: 300_000 }, async () => {
    await take("adj_factor/a.csv", ROWS);
    await touch("adj_factor/a.csv");
    await watcher.settle();
    const states = await temporaryFolder();
    const args = ["delete", "adj_factor", "--where", "ts_code=000002.SZ", "--yes", "--data", "{}"];
    const { exitCode, stderr } = await runNode("test/support/faults.mjs", ["snapshot", root, states, "--", ...args]);
    expect(exitCode, stderr).toBe(0);
    for (const step of someSteps((await readdir(states)).map(Number).sort((a, b) => a - b))) {
      root = join(states, String(step));
      watcher = await ingester(root);
      await watcher.settle();
      const isDeleted = (await sequenceOf(root)) === 2;
      expect(await served(), `died at step ${step}`).toEqual(isDeleted ? [1] : [1, 2]);
      await touch("adj_factor/a.csv");
      await watcher.settle();
      expect(await served(), `died at step ${step}`).toEqual([1, 2]);
      expect(await sequenceOf(root), `died at step ${step}`).toBe(isDeleted ? 3 : 1);
    }
  });
});

describe("to find whether thousands of drops were replaced, few of them are looked at", () => {
  const FILES = 5_000;
  const entryOf = (i: number, change: Partial<LedgerEntry>): LedgerEntry => ({
    ...{ path: `daily/${i}.csv`, size: i, mtime: i, sha256: String(i), entity: "daily", outcome: "taken", rows: 1 },
    ...{ duplicates: 0, ignored: [], added: 0, replaced: 1, superseded: 0, first: null, last: null, warnings: [] },
    ...{ reason: null, data_version: String(i).padStart(8, "0"), time: "", ...change },
  });
  const day = (i: number): string => String(19_000_000 + i);
  const code = (i: number): string => String(i).padStart(6, "0");

  test.each([
    [
      "a file for each day",
      (i: number) => ({ first: day(i), last: day(i), firstCode: code(0), lastCode: code(9_999) }),
    ],
    [
      "a file for each code",
      (i: number) => ({ first: day(0), last: day(9_999), firstCode: code(i), lastCode: code(i) }),
    ],
  ])("of %s, each of which replaced rows", (_what, span) => {
    const drops = createStandingDrops();
    const entries = Array.from({ length: FILES }, (_, i) => entryOf(i, { span: span(i) }));
    for (const entry of entries) drops.learn(entry);
    expect(entries.filter((entry) => !drops.find("daily", entry))).toEqual([]);
    expect(drops.looked()).toBeLessThan(FILES * 100);
    drops.learn(entryOf(FILES, { span: span(1_234) }));
    expect(entries.filter((entry) => !drops.find("daily", entry)).map(({ path }) => path)).toEqual(["daily/1234.csv"]);
  });

  test("of files that replaced nothing, none is looked at", () => {
    const drops = createStandingDrops();
    const entries = Array.from({ length: FILES }, (_, i) => entryOf(i, { replaced: 0 }));
    for (const entry of entries) drops.learn(entry);
    expect(entries.filter((entry) => !drops.find("daily", entry))).toEqual([]);
    expect(drops.looked()).toBe(0);
  });
});
