// A ledger that has grown is rewritten and keeps all relevant entries.
import { readFile, stat } from "node:fs/promises";
import { beforeEach, expect, test } from "vitest";
import { layoutOf, type Layout } from "../../src/lake/layout.js";
import type { LedgerEntry } from "../../src/lake/ledger.js";
import type { Version } from "../../src/lake/manifest.js";
import { openLedger } from "../../src/inbox/ledger.js";
import { newLake } from "../support/lakes.js";
import { drop } from "../support/ingest.js";

const SERVED = "2026-01-05T09:30:00.000+08:00";
const NO_VERSIONS = (): Promise<readonly Version[]> => Promise.resolve([]);
let root: string;
let layout: Layout;

beforeEach(async () => {
  root = await newLake();
  layout = layoutOf(root);
});

async function entryOf(path: string, sha256: string, outcome: LedgerEntry["outcome"]): Promise<LedgerEntry> {
  const { size, mtimeMs } = await stat(await drop(root, path, sha256));
  const counts = {
    rows: 1,
    duplicates: 0,
    ignored: [],
    added: 1,
    replaced: 0,
    superseded: 0,
    first: "20240102",
    last: "20240102",
    warnings: [],
    reason: null,
  };
  const entity = path.split("/")[0]!;
  return { path, size, mtime: mtimeMs, sha256, entity, outcome, ...counts, data_version: SERVED, time: SERVED };
}

test("a file that was written thousands of times is one line, and content with another time keeps its order", async () => {
  const ledger = await openLedger(layout, SERVED, NO_VERSIONS);
  const old = await entryOf("adj_factor/old.csv", "a", "taken");
  const other = await entryOf("adj_factor/other.csv", "b", "taken");
  await ledger.append([old, other, { ...old, outcome: "same", reason: "touched" }]);
  const today = await entryOf("adj_factor/today.csv", "0", "taken");
  await ledger.append(Array.from({ length: 5_100 }, (_, i) => ({ ...today, sha256: String(i) })));

  const lines = (await readFile(layout.ledger, "utf8")).trimEnd().split("\n");
  const left = lines.slice(1).map((line) => JSON.parse(line) as LedgerEntry);
  expect(left.map(({ path, outcome }) => [path, outcome])).toEqual([
    ["adj_factor/old.csv", "taken"],
    ["adj_factor/other.csv", "taken"],
    ["adj_factor/old.csv", "same"],
    ["adj_factor/today.csv", "taken"],
  ]);
  const again = await openLedger(layout, SERVED, NO_VERSIONS);
  expect(again.taken("adj_factor", { path: "adj_factor/copy.csv", sha256: "a" })).toEqual(old);
  expect(again.last("adj_factor/today.csv")?.sha256).toBe("5099");
});

test("entries of versions after the served one do not count", async () => {
  const entry = await entryOf("adj_factor/a.csv", "a", "taken");
  await (await openLedger(layout, SERVED, NO_VERSIONS)).append([entry]);
  expect((await openLedger(layout, SERVED, NO_VERSIONS)).last(entry.path)).toEqual(entry);
  expect((await openLedger(layout, "2026-01-04T00:00:00.000+08:00", NO_VERSIONS)).last(entry.path)).toBeUndefined();
});
