// Drops are imported in parallel, respect the disk reserve, and are not retried for ever.
import { execFile } from "node:child_process";
import { readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, expect, test, vi } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { fileList } from "../../src/lake/manifest.js";
import { isShort, freeSpace } from "../../src/lake/status.js";
import { withLock } from "../../src/lock.js";
import { revert } from "../../src/store/revert.js";
import { publish } from "../../src/store/session.js";
import { verify } from "../../src/repair/verify.js";
import { smallDisk } from "../support/disks.js";
import { temporaryFolder } from "../support/folders.js";
import { drop, factors, ingester, ledgerOf, outcomesOf, sequenceOf, servedRows } from "../support/ingest.js";
import { publishRows } from "../support/lake.js";
import { tapehouse, until } from "../support/processes.js";
import { longTest } from "../support/size.js";
import { MEMORY } from "../support/upkeep.js";

let root: string;

beforeEach(async () => {
  root = await temporaryFolder();
});

/** A CSV file with this number of rows: 100,000 codes on the first days of January. */
function manyFactors(rows: number): string {
  const line = (_: unknown, i: number): string =>
    `${String(i % 100_000).padStart(6, "0")}.SZ,${20240101 + Math.floor(i / 100_000)},1`;
  return factors(Array.from({ length: rows }, line).join("\n"));
}

const limits = (code: string): string => `ts_code,trade_date,up_limit,down_limit\n${code}.SZ,20240102,11,9\n`;

test("a small drop of another entity is served while a large one is read, and no temporary files are left", async () => {
  const watcher = await ingester(root);
  await drop(root, "adj_factor/large.csv", manyFactors(1_800_000));
  await watcher.begin(0);
  await watcher.begin(600);
  await drop(root, "stk_limit/small.csv", limits("000001"));
  await watcher.begin(1);
  await watcher.begin(600);
  await until("both are taken", async () => (await ledgerOf(root)).length === 2 || undefined);
  expect((await ledgerOf(root)).map(({ path }) => path)).toEqual(["stk_limit/small.csv", "adj_factor/large.csv"]);
  await watcher.taken();
  expect(await readdir(layoutOf(root).drops)).toEqual([]);
  expect((await openLake(root)).current().files("adj_factor").rows).toBe(1_800_000);
});

test("a drop is merged again if another writer changed its entity before the publication", async () => {
  const layout = layoutOf(root);
  await publishRows(root, {
    adj_factor: "SELECT 'GONE.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, 1 AS adj_factor",
  });
  const watcher = await ingester(root);
  await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,1"));
  await withLock(layout.writeLock, async () => {
    await watcher.begin(0);
    await watcher.begin(600);
    await until("the drop waits for the lock", async () =>
      (await readdir(layout.state)).some((name) => name.startsWith("write.lock.")),
    );
    const base = (await openLake(root)).current();
    await publish(layout, base, [fileList("adj_factor", [], [], [])], { reason: "test", now: watcher.now() });
  });
  await watcher.taken();
  expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "taken" });
  expect((await servedRows(root, "adj_factor")).map(([code]) => code)).toEqual(["000001.SZ"]);
  expect((await verify(root, { ...MEMORY, deep: true })).faults).toEqual([]);
});

test("drops wait while less disk space is free than the reserve; status shows it, and then they are taken", async ({
  skip,
}) => {
  const disk = await smallDisk(40);
  if (disk === null) return skip("no file system can be mounted here");
  root = join(disk, "data");
  const watcher = await ingester(root);
  await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,1"));
  const { free } = await freeSpace(layoutOf(root));
  await writeFile(join(disk, "filler"), Buffer.alloc(free - 1_000_000));
  expect(isShort(await freeSpace(layoutOf(root)))).toBe(true);
  await watcher.settle();
  await drop(root, "adj_factor/b.xlsx", "PK");
  await watcher.settle();
  expect(await ledgerOf(root)).toEqual([]);
  expect(watcher.logged).toEqual([
    expect.stringMatching(/^drops wait for disk space: .* free, 2\.1 MB must stay free/),
  ]);
  const status = tapehouse("status", "--data", root);
  expect(await status.ended).toBe(0);
  expect(status.told.stdout).toMatch(/^drops are waiting for disk space: 2\.1 MB must stay free$/m);
  await rm(join(disk, "filler"));
  await watcher.settle();
  expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "taken", "adj_factor/b.xlsx": "refused" });
  expect(watcher.logged[1]).toMatch(/^there is disk space again/);
});

test("a file that needs more space than the disk has is refused in the end, and others of its entity are taken", async ({
  skip,
}) => {
  const disk = await smallDisk(60);
  if (disk === null) return skip("no file system can be mounted here");
  root = join(disk, "data");
  const watcher = await ingester(root);
  const unpacked = factors("000001.SZ,20240102,1\n".repeat(4_000_000));
  await drop(root, "adj_factor/a.csv.gz", gzipSync(unpacked));
  await drop(root, "adj_factor/b.csv", factors("000001.SZ,20240103,1"));
  for (let i = 0; i < 12; i++) await watcher.after(5_000);
  expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv.gz": "refused", "adj_factor/b.csv": "taken" });
  const logged = watcher.logged.length;
  for (let i = 0; i < 4; i++) await watcher.after(60_000);
  expect(watcher.logged).toHaveLength(logged);
});

longTest(
  "wherever the process dies that imports a drop, the drop is imported once, and a revert takes it back",
  async () => {
    const [first, states] = [await temporaryFolder(), await temporaryFolder()];
    await drop(first, "adj_factor/good.csv", factors("000001.SZ,20240102,1"));
    await utimes(join(first, "inbox/adj_factor/good.csv"), 1_700_000_000, 1_700_000_000);
    await (await ingester(first)).settle();
    await drop(first, "adj_factor/bad.csv", factors("000001.SZ,20240102,9"));
    await utimes(join(first, "inbox/adj_factor/bad.csv"), 1_700_000_001, 1_700_000_001);
    const args = ["test/support/faults.mjs", "snapshot", first, states, "--", "ingest", "--data", "{}"];
    const dying = execFile(process.execPath, args);
    const ended = new Promise((resolve) => dying.once("exit", resolve));
    await vi.waitFor(async () => expect(await outcomesOf(first)).toMatchObject({ "adj_factor/bad.csv": "taken" }), {
      interval: 20,
      timeout: 60_000,
    });
    dying.kill("SIGTERM");
    await ended;
    const factorOf = async (root: string): Promise<unknown> => (await servedRows(root, "adj_factor"))[0]![2];
    const steps = (await readdir(states)).map(Number).sort((a, b) => a - b);
    const stateOf = async (step: number): Promise<string> => {
      const lake = join(states, String(step));
      return `${await sequenceOf(lake)} ${(await outcomesOf(lake))["adj_factor/bad.csv"] ?? "unknown"}`;
    };
    const found = await Promise.all(steps.map(stateOf));
    expect([...new Set(found)]).toEqual(["1 unknown", "2 unknown", "2 taken"]);
    for (const [i, step] of steps.entries()) {
      const root = join(states, String(step));
      const isImported = found[i] !== "1 unknown";
      if (isImported) await revert(root, "1", MEMORY);
      await (await ingester(root)).settle();
      const when = `died at step ${step}`;
      expect(await factorOf(root), when).toBe(isImported ? 1 : 9);
      const bad = isImported ? "withdrawn" : "taken";
      expect(await outcomesOf(root), when).toEqual({ "adj_factor/good.csv": "taken", "adj_factor/bad.csv": bad });
      expect(
        (await ledgerOf(root)).filter(({ outcome }) => outcome === "taken"),
        when,
      ).toHaveLength(2);
    }
  },
  600_000,
);
