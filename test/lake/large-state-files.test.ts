// State files of any size: commands read them line by line, or report that they are too large.
import { appendFile, mkdir, stat, truncate, writeFile } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { OperatorError } from "../../src/errors.js";
import { openCrashes } from "../../src/inbox/failures.js";
import { readRecordedGaps } from "../../src/lake/gaps.js";
import { readRemoved } from "../../src/lake/kept-versions.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf, type Layout } from "../../src/lake/layout.js";
import { inspectLedger, LEDGER_BEGIN, type LedgerEntry } from "../../src/lake/ledger.js";
import { seal } from "../../src/lake/records.js";
import { readStatus, readIntake } from "../../src/lake/status.js";
import { readTokens } from "../../src/lake/tokens.js";
import { repair } from "../../src/repair/repair.js";
import { verify } from "../../src/repair/verify.js";
import { settle } from "../../src/store/journal.js";
import { lookAtLock } from "../../src/lock.js";
import { temporaryFolder } from "../support/folders.js";
import { drop, factors, ingester, ledgerOf } from "../support/ingest.js";
import { MEMORY } from "../support/upkeep.js";
import { longTest } from "../support/size.js";

/** More than a string can hold. The files have holes, and occupy no disk space. */
const HUGE = 600_000_000;

let root: string;
let layout: Layout;

beforeEach(async () => {
  root = await temporaryFolder();
  layout = layoutOf(root);
  await mkdir(layout.state, { recursive: true });
});

async function makeHuge(path: string): Promise<void> {
  await appendFile(path, "");
  await truncate(path, HUGE);
}

describe("a ledger", () => {
  const imported = async (): Promise<LedgerEntry> => {
    await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,1"));
    await (await ingester(root)).settle();
    return (await ledgerOf(root))[0]!;
  };

  test("with enormous entries of an earlier release is read, and made small by the process that watches the inbox", async () => {
    const entry = await imported();
    const long = "\u0001".repeat(100_000);
    const lines = ["b", "c", "d"].map((name) =>
      seal({ ...entry, path: `adj_factor/${name}.csv`, ignored: [long], warnings: [long, long], reason: long }),
    );
    await appendFile(layout.ledger, `${lines.join("\n")}\n`);
    const { drops } = await readStatus(await openLake(root));
    expect([drops.imported, drops.damagedLines]).toEqual([4, 0]);
    await (await ingester(root)).settle();
    expect((await stat(layout.ledger)).size).toBeLessThan(200_000);
    expect((await ledgerOf(root)).map(({ path }) => path)).toEqual(
      ["a", "b", "c", "d"].map((name) => `adj_factor/${name}.csv`),
    );
    expect((await inspectLedger(layout.ledger)).isClipped).toBe(false);
  });

  test("with an endless line is damaged at that line, and can be repaired", async () => {
    const entry = await imported();
    await truncate(layout.ledger, 70_000_000);
    await appendFile(layout.ledger, `\n${seal({ ...entry, path: "adj_factor/b.csv" })}\n`);
    const { drops } = await readStatus(await openLake(root));
    expect([drops.imported, drops.damagedLines]).toEqual([2, 1]);
    const problem = "line 3 is damaged; no drop is imported until it is repaired";
    expect((await verify(root, { ...MEMORY, deep: false })).faults).toMatchObject([{ problem }]);
    expect((await repair(root, { ...MEMORY, deep: false, giveUp: false })).faults).toEqual([]);
    expect(await ledgerOf(root)).toEqual([entry]);
  });

  test("that is damaged from its first line on is begun again", async () => {
    await writeFile(layout.ledger, "{}\n");
    await repair(root, { ...MEMORY, deep: false, giveUp: false });
    expect(await inspectLedger(layout.ledger)).toMatchObject({ damaged: [], sound: LEDGER_BEGIN.length });
  });

  longTest("longer than a string can be is read", async () => {
    await imported();
    await makeHuge(layout.ledger);
    expect(await inspectLedger(layout.ledger)).toMatchObject({ entries: [{ outcome: "taken" }], damaged: [3] });
  });
});

describe("a large file", () => {
  test.each([
    ["tokens", readTokens],
    ["gaps", readRecordedGaps],
    ["pending", () => settle(layout)],
    ["pointer", () => openLake(root)],
  ] as const)("instead of %s is an error in words", async (name, read) => {
    await makeHuge(layout[name]);
    const error = await read(layout[name]).then(
      () => undefined,
      (problem: unknown) => problem,
    );
    expect(error).toBeInstanceOf(OperatorError);
    expect((error as Error).message).toContain("it has 600 MB, more than the 67.1 MB that such a file may have");
  });

  test("instead of the list of removed versions is damage, which a repair removes", async () => {
    await writeFile(layout.removed, "\0".repeat(1_000_000));
    expect(await readRemoved(layout.removed)).toEqual({ versions: [], isDamaged: true });
    await repair(root, { ...MEMORY, deep: false, giveUp: false });
    expect((await stat(layout.removed)).size).toBe(0);
  });

  test("instead of a report of the process that watches the inbox counts as none", async () => {
    await makeHuge(layout.taking);
    await makeHuge(layout.intake);
    expect((await openCrashes(layout)).of("adj_factor/a.csv")).toBe(0);
    expect(await readIntake(layout.intake)).toEqual({ reading: [], waiting: [], crowded: [] });
  });

  test("instead of a lock names no holder", async () => {
    await makeHuge(layout.writeLock);
    expect(await lookAtLock(layout.writeLock)).toEqual({ pid: null, isDead: false });
  });
});
