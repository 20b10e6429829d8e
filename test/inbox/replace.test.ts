// Files below `@replace-…` folders stand for their days, snapshots or codes; others patch and replace single rows.
import { beforeEach, describe, expect, test } from "vitest";
import { folderTest, newLake } from "../support/lakes.js";
import { drop, factors, ingester, ledgerOf, outcomesOf, servedRows } from "../support/ingest.js";

let root: string;

beforeEach(async () => {
  root = await newLake();
});

const factorsOf = async (): Promise<readonly string[]> =>
  (await servedRows(root, "adj_factor")).map((row) => row.join(" ").replaceAll("-", ""));

const entryOf = async (path: string) => (await ledgerOf(root)).findLast((entry) => entry.path === path)!;

const day = (codes: number, factor: number): string =>
  factors(...Array.from({ length: codes }, (_, i) => `00000${i + 1}.SZ,20240102,${factor}`));

describe("a file in @replace-day", () => {
  test("replaces its whole day, and the ledger counts the rows that it leaves out", async () => {
    const watcher = await ingester(root);
    await drop(
      root,
      "adj_factor/early.csv",
      factors("000001.SZ,20240102,1", "000002.SZ,20240102,1", "000002.SZ,20240103,1"),
    );
    await watcher.settle();
    await drop(root, "adj_factor/@replace-day/2024/final.csv", factors("000001.SZ,20240102,2"));
    await watcher.settle();
    expect(await factorsOf()).toEqual(["000001.SZ 20240102 2", "000002.SZ 20240103 1"]);
    const entry = await entryOf("adj_factor/@replace-day/2024/final.csv");
    expect(entry).toMatchObject({ outcome: "taken", replaced: 1, added: -1 });
    expect(entry.warnings).toEqual(["1 row removed because the file does not have them"]);
  });

  test("below a folder with a value replaces the day of the folder", async () => {
    const watcher = await ingester(root);
    await drop(root, "adj_factor/early.csv", day(3, 1));
    await watcher.settle();
    const text = "ts_code,adj_factor\n000001.SZ,2\n";
    await drop(root, "adj_factor/@replace-day/trade_date=20240102/x.csv", text);
    await watcher.settle();
    expect(await factorsOf()).toEqual(["000001.SZ 20240102 2"]);
  });

  test("is taken although the same content was taken as an ordinary file", async () => {
    const watcher = await ingester(root);
    await drop(root, "adj_factor/early.csv", day(3, 1));
    await watcher.settle();
    await drop(root, "adj_factor/final.csv", day(2, 2));
    await watcher.settle();
    expect(await factorsOf()).toHaveLength(3);
    await drop(root, "adj_factor/@replace-day/final.csv", day(2, 2));
    await watcher.settle();
    expect(await factorsOf()).toHaveLength(2);
    expect(await outcomesOf(root)).toMatchObject({ "adj_factor/@replace-day/final.csv": "taken" });
  });

  test("beside others of its day that are taken together: each stands for the day, so the last one stays", async () => {
    const watcher = await ingester(root);
    await drop(root, "adj_factor/@replace-day/a.csv", day(3, 1));
    await drop(root, "adj_factor/@replace-day/b.csv", factors("000009.SZ,20240102,2", "000009.SZ,20240103,2"));
    await drop(root, "adj_factor/@replace-day/c.csv", factors("000008.SZ,20240103,3"));
    await watcher.settle();
    expect(await factorsOf()).toEqual(["000009.SZ 20240102 2", "000008.SZ 20240103 3"]);
  });

  // S3 tells times in seconds, and objects of the same second are taken in the order of their keys.
  folderTest("between ordinary files keeps its place in the order", async () => {
    const watcher = await ingester(root);
    await drop(root, "adj_factor/1.csv", day(3, 1));
    await watcher.after(0);
    await drop(root, "adj_factor/@replace-day/2.csv", factors("000002.SZ,20240102,2"));
    await watcher.after(0);
    await drop(root, "adj_factor/3.csv", factors("000003.SZ,20240102,3"));
    await watcher.settle();
    expect((await ledgerOf(root)).map(({ path }) => path)).toEqual([
      "adj_factor/1.csv",
      "adj_factor/@replace-day/2.csv",
      "adj_factor/3.csv",
    ]);
    expect(await factorsOf()).toEqual(["000002.SZ 20240102 2", "000003.SZ 20240102 3"]);
  });
});

test("a file in @replace-code replaces the series of its codes", async () => {
  const watcher = await ingester(root);
  await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,1", "000001.SZ,20240103,1", "000002.SZ,20240102,1"));
  await watcher.settle();
  await drop(root, "adj_factor/@replace-code/a.csv", factors("000001.SZ,20240104,2"));
  await watcher.settle();
  expect(await factorsOf()).toEqual(["000002.SZ 20240102 1", "000001.SZ 20240104 2"]);
});

test.each([
  ["adj_factor/@replace-days/a.csv", "there is no folder @replace-days in the inbox: the known ones are @replace-day,"],
  ["adj_factor/@replace-snapshot/a.csv", "inbox/adj_factor/@replace-day/ or inbox/adj_factor/@replace-code/"],
  ["index_basic/@replace-day/a.csv", "index_basic has no main date, so its rows belong to no day"],
  ["adj_factor/@replace-day/@replace-code/a.csv", "it is in @replace-day and @replace-code: move it into one of them"],
])("%s is refused with the way out", async (path, reason) => {
  const watcher = await ingester(root);
  await drop(root, path, factors("000001.SZ,20240102,1"));
  await watcher.settle();
  const entry = await entryOf(path);
  expect(entry.outcome).toBe("refused");
  expect(entry.reason).toContain(reason);
});

test("another folder with an @ is a folder like any other", async () => {
  const watcher = await ingester(root);
  await drop(root, "adj_factor/@eaDir/a.csv", factors("000001.SZ,20240102,1"));
  await watcher.settle();
  expect(await outcomesOf(root)).toEqual({ "adj_factor/@eaDir/a.csv": "taken" });
});

describe("an ordinary file", () => {
  test("that replaces most rows of a day warns of the older rows that stay, and says how to replace the day", async () => {
    const watcher = await ingester(root);
    await drop(root, "adj_factor/early.csv", day(9, 1));
    await watcher.settle();
    await drop(root, "adj_factor/final.csv", day(8, 2));
    await watcher.settle();
    expect((await entryOf("adj_factor/final.csv")).warnings).toEqual([
      "20240102: 8 rows from this drop, 1 older row stays; " +
        "to replace the whole day: drop the file into inbox/adj_factor/@replace-day/",
    ]);
    expect(watcher.logged.at(-1)).toContain("1 older row stays");
  });

  test("has the warnings of what it did itself, and not of others that were imported with it", async () => {
    const watcher = await ingester(root);
    const limits = (date: string, codes: number, upLimit: string): string =>
      [
        "ts_code,trade_date,up_limit,down_limit",
        ...Array.from({ length: codes }, (_, i) => `00000${i + 1}.SZ,${date},${upLimit},9`),
        "",
      ].join("\n");
    await drop(root, "stk_limit/early1.csv", limits("20240102", 9, "11"));
    await drop(root, "stk_limit/early2.csv", limits("20240103", 9, "11"));
    await watcher.settle();
    await drop(root, "stk_limit/l1.csv", limits("20240102", 8, "12"));
    await drop(root, "stk_limit/l2.csv", limits("20240103", 9, ""));
    await drop(root, "stk_limit/l3.csv", limits("20240104", 1, "12"));
    await drop(root, "stk_limit/l4.csv", limits("20240104", 0, ""));
    await watcher.settle();
    const found = await Promise.all([1, 2, 3, 4].map(async (i) => (await entryOf(`stk_limit/l${i}.csv`)).warnings));
    expect(found).toEqual([
      [
        "20240102: 8 rows from this drop, 1 older row stays; " +
          "to replace the whole day: drop the file into inbox/stk_limit/@replace-day/",
      ],
      ["stored values replaced by missing ones: up_limit 9; a column that is not in the file keeps its values"],
      [],
      ["the file holds no rows"],
    ]);
  });

  test("with few columns keeps the others, and the ledger counts values that it empties", async () => {
    const watcher = await ingester(root);
    const limits = (columns: string, ...lines: string[]): string =>
      [`ts_code,trade_date,${columns}`, ...lines, ""].join("\n");
    await drop(
      root,
      "stk_limit/a.csv",
      limits("up_limit,down_limit", "000001.SZ,20240102,11,9", "000002.SZ,20240102,22,18"),
    );
    await watcher.settle();
    await drop(root, "stk_limit/b.csv", limits("up_limit", "000001.SZ,20240102,12", "000002.SZ,20240102,"));
    await watcher.settle();
    expect((await servedRows(root, "stk_limit")).map((row) => row.slice(2))).toEqual([
      [12, 9],
      [null, 18],
    ]);
    expect((await entryOf("stk_limit/b.csv")).warnings).toEqual([
      "without down_limit: rows that are replaced keep their values, new rows have none",
      "stored values replaced by missing ones: up_limit 1; a column that is not in the file keeps its values",
    ]);
  });
});
