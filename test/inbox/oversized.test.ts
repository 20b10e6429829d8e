// Files with enormous names, values and paths: what reaches the ledger and the log stays short, and others are imported.
import { access, mkdir, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf, type Layout } from "../../src/lake/layout.js";
import { readDrops } from "../../src/lake/status.js";
import { folderTest, newLake } from "../support/lakes.js";
import { drop, factors, ingester, ledgerOf, outcomesOf, servedRows } from "../support/ingest.js";

const ROW = "000001.SZ,20240102,1";
const LONG = "\u0001".repeat(1_900_000);
/** Bytes of a ledger with one entry, and characters of what is logged about it. */
const SHORT = 60_000;

let root: string;
let layout: Layout;

beforeEach(async () => {
  root = await newLake();
  layout = layoutOf(root);
});

/** Drops a file, lets it be judged, and returns its entry. */
async function judged(name: string, content: string | Buffer) {
  await drop(root, `adj_factor/${name}`, content);
  const watcher = await ingester(root);
  await watcher.settle();
  expect((await stat(layout.ledger)).size).toBeLessThan(SHORT);
  expect(watcher.logged.join("\n").length).toBeLessThan(SHORT);
  const [entry] = await ledgerOf(root);
  return entry!;
}

test("a column with an enormous name is a reason to reject the file, in a short message", async () => {
  const text = `ts_code,trade_date,adj_factor,${LONG}\n${ROW},1\n`;
  expect(await judged("a.csv.gz", gzipSync(text))).toMatchObject({
    outcome: "refused",
    reason: expect.stringMatching(
      /^has a column whose name has 1,900,000 characters, more than 256: "\\u0001/,
    ) as string,
  });
});

test("an enormous value is clipped in the reason", async () => {
  const { outcome, reason } = await judged("a.csv", factors(`000001.SZ,${"9".repeat(1_900_000)},1`));
  expect(outcome).toBe("refused");
  expect(reason!.length).toBeLessThanOrEqual(2_000);
});

test("of many unused columns the first are named, and the others are counted", async () => {
  const extra = Array.from({ length: 1_900 }, (_, i) => `column ${i}`);
  const { outcome, ignored } = await judged(
    "a.csv",
    `ts_code,trade_date,adj_factor,${extra.join(",")}\n${ROW},${extra.map(() => "1").join(",")}\n`,
  );
  expect(outcome).toBe("taken");
  const named = ignored.slice(0, -1);
  expect(named).toEqual(extra.slice(0, named.length));
  expect(ignored.at(-1)).toBe(`… and ${(1_900 - named.length).toLocaleString("en-US")} more`);
});

describe("a file below long folders", () => {
  /** Makes folders below `adj_factor` until the path of a file `a.csv` in them has this many bytes. */
  async function longFolder(bytes: number): Promise<string> {
    const base = join(layout.inbox, "adj_factor", "trade_date=20240102");
    let left = bytes - Buffer.byteLength(base) - "/a.csv".length;
    let folder = "";
    while (left > 0) {
      const length = left > 202 ? 200 : left - 1;
      folder += `/${"d".repeat(length)}`;
      left -= length + 1;
    }
    await mkdir(base + folder, { recursive: true });
    return base + folder;
  }

  // Keys are shorter than paths may be.
  folderTest("is imported if its path is the longest that can be opened", async () => {
    const folder = await longFolder(4_095);
    await writeFile(join(folder, "a.csv"), "ts_code,adj_factor\n000001.SZ,1\n");
    await (await ingester(root)).settle();
    expect((await ledgerOf(root)).map(({ outcome, reason }) => [outcome, reason])).toEqual([["taken", null]]);
    expect(await servedRows(root, "adj_factor")).toHaveLength(1);
  });

  folderTest("is rejected visibly if its path is longer, and others are imported", async () => {
    const folder = await longFolder(4_000);
    await writeFile(join(folder, "a.csv"), factors(ROW));
    await drop(root, "adj_factor/good.csv", factors(ROW));
    const [short, long] = ["trade_date=20240102", "l".repeat(200)].map((name) =>
      join(layout.inbox, "adj_factor", name),
    );
    await rename(short!, long!);
    try {
      const watcher = await ingester(root);
      await watcher.settle();
      const reason = "its path is too long to be opened; use shorter names or fewer folders";
      expect(watcher.logged.filter((line) => line.endsWith(`: ${reason}`))).toHaveLength(1);
      expect((await outcomesOf(root))["adj_factor/good.csv"]).toBe("taken");
      const { refused } = await readDrops(await openLake(root));
      expect(refused.map((entry) => entry.reason)).toEqual([reason]);
    } finally {
      await rename(long!, short!);
    }
  });
});

describe("crashes that a file caused", () => {
  const isCounted = (): Promise<boolean> =>
    access(layout.taking).then(
      () => true,
      () => false,
    );

  test("are forgotten once it is imported", async () => {
    await mkdir(layout.state, { recursive: true });
    await writeFile(layout.taking, '{"adj_factor/a.csv":1}');
    await drop(root, "adj_factor/a.csv", factors(ROW));
    await (await ingester(root)).settle();
    expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "taken" });
    expect(await isCounted()).toBe(false);
  });

  // What the ledger has is not fetched from a bucket again: there they are forgotten when the path is next imported.
  folderTest("are forgotten after a restart if the ledger has the file", async () => {
    await drop(root, "adj_factor/a.csv", factors(ROW));
    await (await ingester(root)).settle();
    await writeFile(layout.taking, '{"adj_factor/a.csv":1}');
    await (await ingester(root)).settle();
    expect(await isCounted()).toBe(false);
  });
});
