// Drops are imported once, completely and in order, and a bad one never stops the others.
import { existsSync, renameSync } from "node:fs";
import {
  appendFile,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { openWriter } from "../../src/engine/writer.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { readStatus, type CrowdedFolder } from "../../src/lake/status.js";
import { importFiles } from "../../src/store/import.js";
import { withLock } from "../../src/lock.js";
import { findDrops, mayHold } from "../../src/lake/found-drops.js";
import { everywhere, folderTest, newLake } from "../support/lakes.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { drop, factors, ingester, ledgerOf, outcomesOf, sequenceOf, servedRows, dropFile } from "../support/ingest.js";

let root: string;

beforeEach(async () => {
  root = await newLake();
});

const factorsOf = async (): Promise<readonly string[]> =>
  (await servedRows(root, "adj_factor")).map((row) => row.join(" ").replaceAll("-", ""));

async function parquet(sql: string): Promise<Buffer> {
  const folder = await temporaryFolder();
  const writer = await openWriter({ memory: "1GB", tempDirectory: folder });
  try {
    await writer.run(`COPY (${sql}) TO '${folder}/x.parquet' (FORMAT parquet)`);
    return await readFile(`${folder}/x.parquet`);
  } finally {
    writer.close();
  }
}

describe("a drop", () => {
  // An object of a bucket is whole at once.
  folderTest("is taken when it has stopped changing", async () => {
    const watcher = await ingester(root);
    await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,1.5"));
    await watcher.after(100);
    await watcher.after(200);
    expect(await sequenceOf(root)).toBe(0);
    await watcher.after(300);
    expect(await factorsOf()).toEqual(["000001.SZ 20240102 1.5"]);
    expect(await ledgerOf(root)).toMatchObject([
      {
        path: "adj_factor/a.csv",
        entity: "adj_factor",
        outcome: "taken",
        rows: 1,
        added: 1,
        replaced: 0,
        reason: null,
      },
    ]);
    expect(watcher.logged).toEqual([
      expect.stringMatching(/^imported inbox\/adj_factor\/a\.csv: 1 row, data_version 2/),
    ]);
  });

  folderTest("that still grows is not taken", async () => {
    const watcher = await ingester(root);
    const file = await drop(root, "adj_factor/a.csv", factors());
    const lines = Array.from({ length: 12 }, (_, i) => `000001.SZ,202401${String(i + 10)},${i}`);
    for (const line of lines) {
      await watcher.after(300);
      await appendFile(file, `${line}\n`);
    }
    await watcher.after(100);
    expect(await sequenceOf(root)).toBe(0);
    await watcher.settle();
    expect(await factorsOf()).toHaveLength(lines.length);
    expect(await ledgerOf(root)).toHaveLength(1);
  });

  test("whose writer paused is taken once it is complete, and never refused", async () => {
    const watcher = await ingester(root);
    const complete = await parquet(
      "SELECT '000001.SZ' AS ts_code, DATE '2024-01-01' + i::INT AS trade_date, i AS adj_factor FROM range(1000) t(i)",
    );
    const file = await drop(root, "adj_factor/a.parquet", complete.subarray(0, 2_000));
    for (const wait of [100, 500, 500]) await watcher.after(wait);
    expect(await ledgerOf(root)).toEqual([]);
    await writeFile(file, complete);
    await watcher.settle();
    expect(await factorsOf()).toHaveLength(1000);
    expect(await ledgerOf(root)).toMatchObject([{ outcome: "taken", rows: 1000 }]);
    expect(await sequenceOf(root)).toBe(1);
  });

  test("in CSV whose writer paused within the last line is read when it is whole, and later files wait for it", async () => {
    const watcher = await ingester(root);
    const file = await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,1").slice(0, -1));
    await utimes(file, Date.now() / 1000, Date.now() / 1000 - 1);
    await drop(root, "adj_factor/b.csv", factors("000001.SZ,20240103,2"));
    for (const wait of [100, 500, 500]) await watcher.after(wait);
    expect(await ledgerOf(root)).toEqual([]);
    await writeFile(file, factors("000001.SZ,20240102,15"));
    await watcher.settle();
    expect(await factorsOf()).toEqual(["000001.SZ 20240102 15", "000001.SZ 20240103 2"]);
    expect((await ledgerOf(root)).map(({ outcome }) => outcome)).toEqual(["taken", "taken"]);
  });

  // The time of what was fetched from a bucket is old when it is seen.
  folderTest("in CSV without a last line end is taken after 3 seconds, one with it or of old at once", async () => {
    const watcher = await ingester(root);
    const bars = "ts_code,trade_date,open,high,low,close\n000001.SZ,20240131,1,1,1,1\n";
    await drop(root, "adj_factor/open.csv", factors("000001.SZ,20240102,1").slice(0, -1));
    await drop(root, "weekly/whole.csv", bars);
    const old = await drop(root, "monthly/old.csv", bars.slice(0, -1));
    await utimes(old, 1.7e9, 1.7e9);
    for (const wait of [0, 600]) await watcher.after(wait);
    expect(await outcomesOf(root)).toEqual({ "weekly/whole.csv": "taken", "monthly/old.csv": "taken" });
    for (const wait of [2_000, 1_000]) await watcher.after(wait);
    expect((await outcomesOf(root))["adj_factor/open.csv"]).toBe("taken");
  });

  // Objects are known by their size and time.
  folderTest("that is renamed over another is taken, even with the same size and time", async () => {
    const watcher = await ingester(root);
    const file = await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,1.5"));
    await watcher.settle();
    const { atime, mtime } = await stat(file);
    await utimes(file, atime, mtime);
    await watcher.settle();
    const other = await drop(root, "adj_factor/.b.csv", factors("000001.SZ,20240102,2.5"));
    await utimes(other, atime, mtime);
    await rename(other, file);
    await watcher.settle();
    expect(await factorsOf()).toEqual(["000001.SZ 20240102 2.5"]);
  });

  test("in folders named after columns gets missing columns from them; its own columns take precedence", async () => {
    const watcher = await ingester(root);
    await drop(root, "adj_factor/year=2024/trade_date=20240102/x.csv", "ts_code,adj_factor\n000001.SZ,1\n");
    await drop(root, "adj_factor/trade_date=20240103/y.csv", factors("000001.SZ,20240104,2"));
    await watcher.settle();
    expect(await factorsOf()).toEqual(["000001.SZ 20240102 1", "000001.SZ 20240104 2"]);
  });

  test("of every format is taken", async () => {
    const watcher = await ingester(root);
    const row = { ts_code: "000001.SZ", trade_date: "20240102", adj_factor: 1 };
    await drop(root, "adj_factor/a.json", JSON.stringify([row]));
    await drop(root, "adj_factor/b/c.ndjson", `${JSON.stringify({ ...row, trade_date: "20240103" })}\n`);
    await drop(
      root,
      "adj_factor/d.parquet",
      await parquet("SELECT '000001.SZ' AS ts_code, 20240104 AS trade_date, 1 AS adj_factor"),
    );
    await drop(root, "adj_factor/e.csv", factors("000001.SZ,20240105,1"));
    await drop(root, "adj_factor/f.csv.gz", gzipSync(factors("000001.SZ,20240108,1")));
    await watcher.settle();
    expect(await factorsOf()).toHaveLength(5);
    expect(await sequenceOf(root)).toBe(1);
  });
});

describe("several drops", () => {
  test("of one entity become one version; of rows in both, those of the later file stay", async () => {
    const watcher = await ingester(root);
    const late = await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,2"));
    const early = await drop(root, "adj_factor/z.csv", factors("000001.SZ,20240102,1", "000002.SZ,20240102,1"));
    await utimes(early, 1_700_000_000, 1_700_000_000);
    await utimes(late, 1_700_000_100, 1_700_000_100);
    await watcher.settle();
    expect(await factorsOf()).toEqual(["000001.SZ 20240102 2", "000002.SZ 20240102 1"]);
    expect(await sequenceOf(root)).toBe(1);
  });

  test("of two entities are all taken", async () => {
    const watcher = await ingester(root);
    await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,2"));
    await drop(root, "stk_limit/a.csv", "ts_code,trade_date,up_limit,down_limit\n000001.SZ,20240102,11,9\n");
    await watcher.settle();
    expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "taken", "stk_limit/a.csv": "taken" });
    expect(await servedRows(root, "stk_limit")).toHaveLength(1);
  });

  test("are taken without a bad one, which is refused with row, column and reason", async () => {
    const watcher = await ingester(root);
    await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,2"));
    await drop(root, "adj_factor/b.csv", factors("000001.SZ,20240103,2", "000001.SZ,20240132,x"));
    await drop(root, "adj_factor/c.csv", factors("000001.SZ,20240104,2"));
    await watcher.settle();
    expect(await factorsOf()).toEqual(["000001.SZ 20240102 2", "000001.SZ 20240104 2"]);
    const refused = (await ledgerOf(root)).filter(({ outcome }) => outcome === "refused");
    expect(refused).toMatchObject([{ path: "adj_factor/b.csv", entity: "adj_factor", rows: 0, data_version: null }]);
    expect(refused[0]!.reason).toMatch(/^row 2 \(line 3\), column trade_date: "20240132" is not a date/);
    await watcher.settle();
    expect(await ledgerOf(root)).toHaveLength(3);
    await drop(root, "adj_factor/b.csv", factors("000001.SZ,20240103,2", "000001.SZ,20240131,3"));
    await watcher.settle();
    expect(await factorsOf()).toHaveLength(4);
  });
});

describe("a file that is not a drop", () => {
  test("is ignored if it is hidden, temporary or a marker", async () => {
    const watcher = await ingester(root);
    const names = [".a.csv", "_SUCCESS", "a.csv.tmp", "a.csv~", "a.parquet.part", "a.csv.crdownload", "README.md"];
    for (const name of names) await drop(root, `adj_factor/${name}`, factors("000001.SZ,20240102,2"));
    await drop(root, "adj_factor/_temporary/a.csv", factors("000001.SZ,20240102,2"));
    await watcher.settle();
    expect(await ledgerOf(root)).toEqual([]);
    expect(await sequenceOf(root)).toBe(0);
  });

  test("is refused if its folder is not an entity, or its format is unknown", async () => {
    const watcher = await ingester(root);
    await drop(root, "a.csv", factors("000001.SZ,20240102,2"));
    await drop(root, "adj_facter/a.csv", factors("000001.SZ,20240102,2"));
    await drop(root, "adj_factor/a.xlsx", "PK");
    await watcher.settle();
    const reasons = Object.fromEntries((await ledgerOf(root)).map(({ path, reason }) => [path, reason]));
    expect(reasons).toEqual({
      "a.csv": "it is not in an entity's folder; move it to inbox/<entity>/, e.g. inbox/daily/",
      "adj_facter/a.csv": 'there is no entity "adj_facter"; did you mean inbox/adj_factor/?',
      "adj_factor/a.xlsx": expect.stringContaining("has an unknown format (.xlsx)"),
    });
  });
});

describe("nothing is taken twice", () => {
  const content = factors("000001.SZ,20240102,1.5");

  beforeEach(async () => {
    await drop(root, "adj_factor/a.csv", content);
    await (await ingester(root)).settle();
  });

  test("after a restart", async () => {
    const before = await ledgerOf(root);
    await (await ingester(root)).settle();
    expect(await sequenceOf(root)).toBe(1);
    expect(await ledgerOf(root)).toEqual(before);
  });

  test("when a file is touched", async () => {
    await utimes(await dropFile(root, "adj_factor/a.csv"), 1_700_000_000, 1_700_000_000);
    const watcher = await ingester(root);
    await watcher.settle();
    await utimes(await dropFile(root, "adj_factor/a.csv"), 1_700_000_100, 1_700_000_100);
    await watcher.settle();
    expect(await sequenceOf(root)).toBe(1);
    expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "same" });
  });

  test("when a file is copied or moved", async () => {
    const file = await dropFile(root, "adj_factor/a.csv");
    await copyFile(file, await dropFile(root, "adj_factor/b.csv"));
    await rename(file, await dropFile(root, "adj_factor/c.csv"));
    await (await ingester(root)).settle();
    expect(await sequenceOf(root)).toBe(1);
    expect(await outcomesOf(root)).toMatchObject({ "adj_factor/b.csv": "same", "adj_factor/c.csv": "same" });
  });

  test("except a file with the same bytes in a folder with another value", async () => {
    const watcher = await ingester(root);
    const bytes = "ts_code,adj_factor\n000001.SZ,1\n";
    await drop(root, "adj_factor/trade_date=20240103/x.csv", bytes);
    await watcher.settle();
    await drop(root, "adj_factor/trade_date=20240104/x.csv", bytes);
    await drop(root, "adj_factor/trade_date=20240105/x.csv", bytes);
    await watcher.settle();
    expect(await factorsOf()).toEqual(["02 1.5", "03 1", "04 1", "05 1"].map((row) => `000001.SZ 202401${row}`));
    await drop(root, "adj_factor/trade_date=20240104/copy.csv", bytes);
    await watcher.settle();
    expect(await outcomesOf(root)).toMatchObject({ "adj_factor/trade_date=20240104/copy.csv": "same" });
  });

  test("except a file that changed, or changed back", async () => {
    const watcher = await ingester(root);
    await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,2.5"));
    await watcher.settle();
    expect(await factorsOf()).toEqual(["000001.SZ 20240102 2.5"]);
    await drop(root, "adj_factor/a.csv", content);
    await watcher.settle();
    expect(await factorsOf()).toEqual(["000001.SZ 20240102 1.5"]);
    expect(await sequenceOf(root)).toBe(3);
  });

  // In a bucket, that is another address.
  folderTest("except into a new lake", async () => {
    await rm(layoutOf(root).lake, { recursive: true });
    await rm(layoutOf(root).versions, { recursive: true });
    await rm(layoutOf(root).pointer);
    await (await ingester(root)).settle();
    expect(await factorsOf()).toHaveLength(1);
  });
});

test("missing and unused columns of a drop are reported", async () => {
  const watcher = await ingester(root);
  const rows = ["000001.SZ,20240102,1", "000001.SZ,20240102,1", "000001.SZ,20240103,2", "000001.SZ,20240103,3"];
  await drop(root, "adj_factor/a.csv", factors(...rows));
  await drop(
    root,
    "weekly/a.csv",
    "ts_code,trade_date,close,open\n000001.SZ,20240105,inf,NaN\n000001.SZ,20240112,1,1\n",
  );
  await drop(root, "stk_limit/a.csv", "ts_code,trade_date,up_limit,down_limt\n000001.SZ,20240102,11,9\n");
  await watcher.settle();
  const entries = Object.fromEntries((await ledgerOf(root)).map((entry) => [entry.path, entry]));
  expect(entries["adj_factor/a.csv"]).toMatchObject({
    ...{ rows: 2, duplicates: 1, ignored: [] },
    warnings: [
      "1 row replaced by another of the same identity, e.g. 000001.SZ 2024-01-03; values not used: adj_factor 1",
    ],
  });
  expect(entries["stk_limit/a.csv"]).toMatchObject({
    ignored: ["down_limt"],
    warnings: ["without down_limit: rows that are replaced keep their values, new rows have none; not used: down_limt"],
  });
  const lost = ["NaN read as missing values: open 1", "infinite numbers read as missing values: close 1"];
  expect(entries["weekly/a.csv"]!.warnings.slice(1)).toEqual(lost);
  expect(watcher.logged.join("\n")).toContain(lost.join("; "));
  expect(watcher.logged.join("\n")).toContain("adj_factor/a.csv: 2 rows and 1 duplicate, data_version 2");
});

describe("ticks of one code and day in two files", () => {
  const ticks = (...times: readonly string[]): string =>
    [
      "ts_code,trade_date,ts_type,time,price,vol,amount,pre_close",
      ...times.map((time) => `000001.SZ,20240102,STK,${time},10,1,10,9`),
      "",
    ].join("\n");
  const cause = "a file replaces all rows of the same ts_code, trade_date, so put these into one file";
  const warningsOf = async (path: string): Promise<readonly string[]> =>
    (await ledgerOf(root)).findLast((entry) => entry.path === path)!.warnings;

  test("that are taken together: the later one stays, with a warning about the replaced rows and the cause", async () => {
    const watcher = await ingester(root);
    await drop(root, "stk_auction/am.csv", ticks("09:15", "09:20", "09:25"));
    await drop(root, "stk_auction/pm.csv", ticks("14:57", "15:00"));
    await drop(root, "stk_auction/z.csv", ticks());
    await watcher.settle();
    expect(await servedRows(root, "stk_auction")).toHaveLength(2);
    expect(await ledgerOf(root)).toMatchObject([
      { path: "stk_auction/am.csv", rows: 3, superseded: 3, replaced: 0, warnings: [] },
      { path: "stk_auction/pm.csv", rows: 2, superseded: 3 },
      { path: "stk_auction/z.csv", rows: 0, warnings: ["the file holds no rows"] },
    ]);
    const warning = `3 rows of files imported together with it replaced: ${cause}`;
    expect(await warningsOf("stk_auction/pm.csv")).toEqual([warning]);
    expect(watcher.logged.at(-2)).toContain(warning);
    expect((await readStatus(await openLake(root))).drops.warned).toContainEqual(
      expect.objectContaining({ path: "stk_auction/pm.csv", warnings: [warning] }),
    );
  });

  test("that are taken one after the other: the warning names the earlier one", async () => {
    const watcher = await ingester(root);
    await drop(root, "stk_auction/am.csv", ticks("09:15", "09:20", "09:25"));
    await watcher.settle();
    await drop(root, "stk_auction/pm.csv", ticks("14:57", "15:00"));
    await watcher.settle();
    expect(await warningsOf("stk_auction/pm.csv")).toEqual([
      `3 rows of inbox/stk_auction/am.csv or earlier files replaced: ${cause}`,
    ]);
  });

  test("of the same name: fewer rows give a warning, and as many are a correction", async () => {
    const watcher = await ingester(root);
    for (const [content, warnings] of [
      [ticks("09:15", "09:20"), []],
      [ticks("09:15", "09:21"), []],
      [ticks("09:25"), [`2 rows replaced: ${cause}`]],
    ] as const) {
      await drop(root, "stk_auction/today.csv", content);
      await watcher.settle();
      expect(await warningsOf("stk_auction/today.csv")).toEqual(warnings);
    }
  });

  test("of different codes are all kept, without a warning", async () => {
    const watcher = await ingester(root);
    await drop(root, "stk_auction/a.csv", ticks("09:15"));
    await drop(root, "stk_auction/b.csv", ticks("09:15").replaceAll("000001.SZ", "000002.SZ"));
    await watcher.settle();
    expect(await servedRows(root, "stk_auction")).toHaveLength(2);
    expect((await ledgerOf(root)).flatMap(({ warnings }) => warnings)).toEqual([]);
  });
});

test("a drop is taken while maintenance is running", async () => {
  const layout = layoutOf(root);
  for (let day = 0; day < 30; day++) {
    await publishRows(root, {
      adj_factor: `SELECT '000001.SZ' AS ts_code, DATE '2023-01-01' + ${day} AS trade_date, 1 AS adj_factor`,
    });
  }
  const watcher = await ingester(root);
  await withLock(layout.stagingLock, async () => {
    const maintenance = watcher.after(20_000);
    await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,2"));
    for (const wait of [20_000, 1_000, 1_000]) await watcher.step(wait);
    expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "taken" });
    expect((await openLake(root)).current().files("adj_factor").byDate).toHaveLength(31);
    return { maintenance };
  }).then((running) => running.maintenance);
  const { byDate, rows } = (await openLake(root)).current().files("adj_factor");
  expect(rows).toBe(31);
  expect(byDate.length).toBeLessThan(10);
});

describe("failures", () => {
  test("with the lake of one entity lead to retries, while drops of other entities are taken", async () => {
    const watcher = await ingester(root);
    await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,1"));
    await watcher.settle();
    const [file] = (await openLake(root)).current().files("adj_factor").byDate;
    const path = join("lake", file!.path);
    const intact = await readFile(join(root, path));
    await everywhere(root, path, (place) => writeFile(place, intact.subarray(0, 100)));
    await drop(root, "adj_factor/b.csv", factors("000002.SZ,20240102,1"));
    await drop(root, "stk_limit/a.csv", "ts_code,trade_date,up_limit,down_limit\n000001.SZ,20240102,11,9\n");
    await watcher.settle();
    expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "taken", "stk_limit/a.csv": "taken" });
    expect(watcher.logged.join("\n")).toMatch(
      /cannot import inbox\/adj_factor\/b\.csv: a data file is damaged .*next try in/,
    );
    await everywhere(root, path, (place) => writeFile(place, intact));
    await watcher.after(60_000);
    expect(await factorsOf()).toHaveLength(2);
  });

  test("of the process at the same file, three times, make it refuse the file until it changes; others are taken", async () => {
    await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,1"));
    await drop(root, "adj_factor/b.csv", factors("000001.SZ,20240103,1"));
    const first = await ingester(root);
    await first.after(0);
    await writeFile(layoutOf(root).taking, JSON.stringify({ "adj_factor/a.csv": 3, "adj_factor/b.csv": 1 }));
    await (await ingester(root)).settle();
    expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "refused", "adj_factor/b.csv": "taken" });
    await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,3"));
    await (await ingester(root)).settle();
    expect(await factorsOf()).toHaveLength(2);
  });
});

describe("the drops that hold a range", () => {
  const found = async (...range: readonly string[]): Promise<readonly (string | null)[]> => {
    const [first, last] = range;
    const drops = await findDrops(layoutOf(root), "adj_factor", (entry) =>
      mayHold(entry, first === undefined ? null : [first, last!]),
    );
    return drops.map(({ entry, path }) => (path === null ? `${entry.path} is gone` : `inbox/${path}`));
  };

  beforeEach(async () => {
    const watcher = await ingester(root);
    for (const [name, day] of [
      ["c", "20240102"],
      ["a", "20240103"],
      ["b", "20240102"],
    ]) {
      await drop(root, `adj_factor/${name}.csv`, factors(`00000${name}.SZ,${day},1`));
      await watcher.settle();
    }
  });

  test("are found in the order of import", async () => {
    expect(await found("20240101", "20240102")).toEqual(["inbox/adj_factor/c.csv", "inbox/adj_factor/b.csv"]);
    expect(await found()).toEqual(["c", "a", "b"].map((name) => `inbox/adj_factor/${name}.csv`));
    expect(await findDrops(layoutOf(root), "daily", () => true)).toEqual([]);
  });

  test("are found by content, and keep their order when they are touched, moved or dropped again", async () => {
    const inbox = await dropFile(root, "adj_factor");
    await utimes(join(inbox, "c.csv"), 1_700_000_000, 1_700_000_000);
    await (await ingester(root)).settle();
    await rename(join(inbox, "b.csv"), join(inbox, "x.csv"));
    expect(await outcomesOf(root)).toMatchObject({ "adj_factor/c.csv": "same" });
    expect(await found("20240101", "20240102")).toEqual(["inbox/adj_factor/c.csv", "inbox/adj_factor/x.csv"]);
  });

  // A bucket has no links.
  folderTest("are not found through links", async () => {
    const elsewhere = await temporaryFolder();
    await rename(await dropFile(root, "adj_factor/a.csv"), join(elsewhere, "a.csv"));
    await symlink(elsewhere, join(root, "inbox/adj_factor/link"));
    await symlink(join(elsewhere, "a.csv"), await dropFile(root, "adj_factor/a.csv"));
    expect(await found("20240103", "20240103")).toEqual(["adj_factor/a.csv is gone"]);
  });

  test("are named if their content is gone, unless a later one of the same path replaced them", async () => {
    await rm(await dropFile(root, "adj_factor/c.csv"));
    await drop(root, "adj_factor/b.csv", factors("00000b.SZ,20240102,2"));
    await (await ingester(root)).settle();
    expect(await found("20240102", "20240102")).toEqual(["adj_factor/c.csv is gone", "inbox/adj_factor/b.csv"]);
  });
});

describe("a data directory that becomes unavailable while its inbox is watched", () => {
  const away = (): string => `${root}-away`;
  const content = factors("000001.SZ,20240103,2");
  const ROW = "SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, 1 AS adj_factor";

  beforeEach(async () => {
    root = join(await temporaryFolder(), "data");
    await publishRows(root, { adj_factor: ROW });
  });

  // A mirror may be removed at any time.
  folderTest.each([
    ["with an empty one in its place", () => mkdir(root)],
    ["with another lake in its place", () => publishRows(root, { adj_factor: ROW })],
    ["with nothing in its place", () => Promise.resolve()],
  ])("%s gets nothing written to, and its drops are taken when it is back", async (_, replace) => {
    const watcher = await ingester(root);
    await drop(root, "adj_factor/a.csv", content);
    await rename(root, away());
    await replace();
    const there = await readdir(root, { recursive: true }).catch(() => null);
    await watcher.settle();
    expect(await readdir(root, { recursive: true }).catch(() => null)).toEqual(there);
    expect(watcher.logged).toEqual([expect.stringContaining("not watching the inbox: the data directory ")]);
    await rm(root, { recursive: true, force: true });
    await rename(away(), root);
    await watcher.settle();
    expect(watcher.logged[1]).toBe("watching the inbox again");
    expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "taken" });
  });

  folderTest("during an import is not created again by it", async () => {
    const after = (await openLake(root)).mark();
    const options = { memory: "1GB", map: {}, set: {}, after };
    const file = await drop(await temporaryFolder(), "adj_factor/a.csv", content);
    let moved = false;
    const importing = importFiles(root, entityNamed("adj_factor")!, [file], options, () => {
      if (!moved) renameSync(root, away());
      moved = true;
    });
    await expect(importing).rejects.toThrow();
    expect(existsSync(root)).toBe(false);
    await expect(importFiles(root, entityNamed("adj_factor")!, [file], options)).rejects.toThrow(
      "is missing; restore it",
    );
    expect(existsSync(root)).toBe(false);
    await rename(away(), root);
    await importFiles(root, entityNamed("adj_factor")!, [file], options);
    expect(await sequenceOf(root)).toBe(2);
  });
});

// A bucket is listed as a whole.
folderTest("a folder that holds a lot is reported once in the log, and by status until files are removed", async () => {
  const folder = join(root, "inbox/stk_limit/many");
  await mkdir(folder, { recursive: true });
  for (let i = 0; i < 150; i++) await writeFile(join(folder, `${i}.txt`), "x");
  // Each step of a scan takes a millisecond.
  let time = 0;
  const watcher = await ingester(root, undefined, { timer: () => time++ });
  const crowdedUntil = async (isCrowded: boolean): Promise<readonly CrowdedFolder[]> => {
    for (let i = 0; i < 1_000; i++) {
      await watcher.begin(100);
      const { crowded } = (await readStatus(await openLake(root))).drops;
      if (crowded.length > 0 === isCrowded) return crowded;
    }
    throw new Error("the report did not change");
  };
  expect(await crowdedUntil(true)).toMatchObject([{ path: "stk_limit", names: 151, isFull: false }]);
  await rm(folder, { recursive: true });
  expect(await crowdedUntil(false)).toEqual([]);
  expect(watcher.logged.filter((line) => line.startsWith("inbox/stk_limit holds 151 files and folders"))).toHaveLength(
    1,
  );
});
