// Small files that take long to read, whatever makes them slow, hold up no other entity.
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { readStatus, type Status } from "../../src/lake/status.js";
import { temporaryFolder } from "../support/folders.js";
import { drop, factors, ingester, ledgerOf, outcomesOf } from "../support/ingest.js";
import { expectTold, tapehouse, until } from "../support/processes.js";

const HEADER = "ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount\n";
const ROW = "000001.SZ,20240102,1,1,1,1,1,0,0,1,1\n";
const equalRows = (bytes: number): string => HEADER + ROW.repeat(bytes / ROW.length);
const GOOD = factors("000001.SZ,20240102,1");

const pathsOf = async (root: string): Promise<readonly string[]> => (await ledgerOf(root)).map(({ path }) => path);

const isServed = async (root: string): Promise<true | undefined> =>
  (await outcomesOf(root))["adj_factor/good.csv"] === "taken" || undefined;

test("a good file is served before four that unpack to a lot, and status shows what is read and what waits", async () => {
  const root = await temporaryFolder();
  const bomb = gzipSync(equalRows(150e6));
  for (const entity of ["daily", "weekly", "monthly", "stk_limit"]) await drop(root, `${entity}/heavy.csv.gz`, bomb);
  const watcher = tapehouse("ingest", "--data", root);
  await expectTold(watcher, /^inbox\/daily\/heavy\.csv\.gz holds more than a small file may: it is retried/m);
  await drop(root, "adj_factor/good.csv", GOOD);
  await until("the good file is served", () => isServed(root));
  expect(await pathsOf(root)).toEqual(["adj_factor/good.csv"]);

  const shown = await until("the command status shows what takes long", async () => {
    const status = tapehouse("status", "--data", root);
    await status.ended;
    return status.told.stdout.includes("  reading ") ? status.told.stdout : undefined;
  });
  const [, read] = /^ {2}reading (inbox\/\w+\/heavy\.csv\.gz) \(\w+\) since 2/m.exec(shown)!;
  expect(shown).toMatch(new RegExp(`^ {2}waiting inbox/\\w+/heavy\\.csv\\.gz \\(slow\\) behind ${read}$`, "m"));
  const ended = new Promise((resolve) => watcher.child.once("close", resolve));
  watcher.child.kill("SIGKILL");
  await ended;
});

test("a small file that takes long gives up its slot to others, and is taken in the end", async () => {
  const root = await temporaryFolder();
  const watcher = await ingester(root);
  const drops = async (): Promise<Status["drops"]> => (await readStatus(await openLake(root))).drops;
  for (const entity of ["daily", "weekly"]) await drop(root, `${entity}/heavy.csv`, equalRows(12e6));
  await watcher.begin(0);
  await watcher.begin(500);
  await drop(root, "weekly/next.csv", HEADER);
  await drop(root, "monthly/good.csv", HEADER + ROW);
  await drop(root, "adj_factor/good.csv", GOOD);
  await watcher.begin(100);
  expect(await drops()).toMatchObject({ reading: [], waiting: [] });
  await watcher.begin(2_000);
  expect(watcher.logged).toEqual([
    "inbox/daily/heavy.csv takes long: it moves to the slot for slow files, so that others can start",
    "inbox/weekly/heavy.csv takes long: it stops so that others can start, and is retried when no other slow file is read",
  ]);
  const [daily, weekly] = [`daily/heavy.csv`, `weekly/heavy.csv`];
  expect(await drops()).toMatchObject({
    reading: [
      { entity: "daily", path: daily, files: 1, size: "slow", queued: 0 },
      { entity: "weekly", path: weekly, files: 1, size: "small", queued: 1 },
    ],
  });
  // The two good files were found together, so either may have the second slot.
  const good = ["adj_factor/good.csv", "monthly/good.csv"];
  const { waiting } = await drops();
  expect(waiting).toHaveLength(1);
  expect(good).toContain(waiting[0]?.path);
  expect(waiting[0]).toMatchObject({
    size: "small",
    behind: [weekly, ...good.filter((path) => path !== waiting[0]?.path)],
  });

  await until("the good file is served", async () => {
    await watcher.begin(100);
    return isServed(root);
  });
  await until("all are taken", async () => {
    await watcher.settle();
    return (await outcomesOf(root))["weekly/next.csv"] !== undefined || undefined;
  });
  const order = await pathsOf(root);
  expect(order.indexOf("adj_factor/good.csv")).toBeLessThan(order.indexOf(weekly));
  expect(await outcomesOf(root)).toMatchObject({ [daily]: "taken", [weekly]: "taken", "monthly/good.csv": "taken" });
  expect(await drops()).toMatchObject({ reading: [], waiting: [] });
});
