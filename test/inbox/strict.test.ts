// The inbox tells what the checks find in a drop, and in strict mode refuses what cannot be true.
import { beforeEach, expect, test } from "vitest";
import { readStatus } from "../../src/lake/status.js";
import { openLake } from "../../src/lake/lake.js";
import { newLake } from "../support/lakes.js";
import { drop, factors, ingester, ledgerOf, outcomesOf, servedRows } from "../support/ingest.js";

let root: string;

beforeEach(async () => {
  root = await newLake();
});

const FOUND = "the adjustment factor is zero or negative: 1 row, e.g. 000001.SZ 20250102 (adj_factor 0)";

test("a finding is in the log, in the ledger and in the status", async () => {
  const watcher = await ingester(root);
  await drop(root, "adj_factor/a.csv", factors("000001.SZ,20250102,0", "000002.SZ,20250102,1"));
  await watcher.settle();
  expect(watcher.logged.join("\n")).toContain(FOUND);
  expect((await ledgerOf(root))[0]!.warnings).toEqual([FOUND]);
  const { entities } = await readStatus(await openLake(root));
  expect(entities[0]!.findings).toMatchObject([{ check: "factor-not-positive", count: 1 }]);
  await drop(root, "adj_factor/b.csv", factors("000001.SZ,20250102,2"));
  await watcher.settle();
  expect((await readStatus(await openLake(root))).entities[0]!.findings).toEqual([]);
});

test("a strict inbox refuses only the file with the fault", async () => {
  const watcher = await ingester(root, undefined, { strict: true });
  await drop(root, "adj_factor/bad.csv", factors("000001.SZ,20250102,0", "000003.SZ,20250102,1"));
  await drop(root, "adj_factor/good.csv", factors("000002.SZ,20250102,1"));
  await watcher.settle();
  expect(await outcomesOf(root)).toEqual({ "adj_factor/bad.csv": "refused", "adj_factor/good.csv": "taken" });
  const refused = (await ledgerOf(root)).find(({ outcome }) => outcome === "refused")!;
  expect(refused.reason).toBe(`refused by --strict: ${FOUND}`);
  expect((await servedRows(root, "adj_factor")).map(([code]) => code)).toEqual(["000002.SZ"]);
});
