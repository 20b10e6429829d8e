// What the checks find is kept with the version, changes with the rows, and changes no row.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { joinDays, mergeFindings, spansToRecheck, type Finding } from "../../src/lake/findings.js";
import { openLake } from "../../src/lake/lake.js";
import { deleteRows } from "../../src/store/delete.js";
import { compact } from "../../src/store/compact.js";
import { importFiles, type ImportReport } from "../../src/store/import.js";
import { temporaryFolder } from "../support/folders.js";
import { newLake } from "../support/lakes.js";
import { servedRows } from "../support/ingest.js";
import { publishRows } from "../support/lake.js";
import { size } from "../support/size.js";

vi.setConfig({ testTimeout: 600_000 });

const HEADER = "ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount";
const GOOD = "10.1,10.6,10.0,10.5,10.0,0.5,5.0,2000,2060";
const CROSSED = "10.1,9.9,10.0,10.5,10.0,0.5,5.0,2000,2060";

let root: string;

beforeEach(async () => {
  root = await newLake();
});

async function take(lines: readonly string[], strict = false, entity = "daily"): Promise<ImportReport> {
  const file = join(root, "drop.csv");
  await writeFile(file, [HEADER, ...lines, ""].join("\n"));
  return importFiles(root, entityNamed(entity)!, [file], { map: {}, set: {}, memory: "1GB", strict });
}

const kept = async (): Promise<readonly Finding[]> => (await openLake(root)).current().files("daily").findings ?? [];

const counts = (findings: readonly Finding[]): Readonly<Record<string, number>> =>
  Object.fromEntries(findings.map(({ check, count }) => [check, count]));

describe("the findings of a version", () => {
  test("are told with the drop, and kept in the list of its entity", async () => {
    const report = await take([`000001.SZ,20250102,${CROSSED}`, `000002.SZ,20250102,${GOOD}`]);
    expect(report.files[0]!.warnings).toContain("high is below low: 1 row, e.g. 000001.SZ 20250102 (high 9.9, low 10)");
    expect(report.added).toBe(2);
    expect(await kept()).toEqual(report.findings);
    expect(report.findings).toEqual([
      {
        check: "high-below-low",
        count: 1,
        days: [["20250102", "20250102", 1]],
        examples: [{ code: "000001.SZ", date: "20250102", values: { high: 9.9, low: 10 } }],
      },
    ]);
  });

  test("about whole days are told with the last file that has rows of the day, of files imported together", async () => {
    const day = (n: number): string => `2025010${n}`;
    const bars = (n: number, rows: number, values: string): readonly string[] =>
      Array.from({ length: rows }, (_, i) => `${String(i).padStart(6, "0")}.SZ,${day(n)},${values}`);
    const lost = "10.1,10.6,10.0,10.5,10.0,0.5,5.0,2000,";
    const contents: Readonly<Record<string, readonly string[]>> = {
      "a.csv": [1, 2, 3, 4, 5].flatMap((n) => bars(n, 120, GOOD)),
      "b.csv": bars(6, 10, GOOD),
      "c.csv": bars(6, 30, GOOD),
      "d.csv": bars(7, 120, lost),
      "e.csv": bars(8, 120, GOOD),
    };
    const files = Object.keys(contents).map((name) => join(root, name));
    for (const [name, lines] of Object.entries(contents)) {
      await writeFile(join(root, name), [HEADER, ...lines, ""].join("\n"));
    }
    const report = await importFiles(root, entityNamed("daily")!, files, { map: {}, set: {}, memory: "1GB" });
    const told = report.files.map(({ warnings }) => warnings.filter((text) => /2025010\d \((rows|column)/.test(text)));
    expect(told).toMatchObject([
      [],
      [],
      [expect.stringContaining(`${day(6)} (rows 30, usual rows 120)`)],
      [expect.stringContaining(`${day(7)} (column amount)`)],
      [],
    ]);
    expect(await kept()).toEqual(report.findings);
  });

  test("of several files are counted together", async () => {
    const files = ["a.csv", "b.csv"].map((name) => join(root, name));
    await writeFile(files[0]!, `${HEADER}\n000001.SZ,20250102,${CROSSED}\n`);
    await writeFile(files[1]!, `${HEADER}\n000001.SZ,20250103,${CROSSED}\n000002.SZ,20250103,${CROSSED}\n`);
    const report = await importFiles(root, entityNamed("daily")!, files, { map: {}, set: {}, memory: "1GB" });
    expect(counts(report.findings)).toEqual({ "high-below-low": 3 });
  });

  test("go when the rows are corrected, and stay for the rows that are not", async () => {
    await take([`000001.SZ,20250102,${CROSSED}`, `000002.SZ,20250102,${CROSSED}`, `000001.SZ,20250106,${CROSSED}`]);
    expect(counts(await kept())).toEqual({ "high-below-low": 3 });
    const second = await take([`000001.SZ,20250102,${GOOD}`]);
    expect(second.findings).toEqual([]);
    expect(counts(await kept())).toEqual({ "high-below-low": 2 });
    await take([`000002.SZ,20250102,${GOOD}`, `000001.SZ,20250106,${GOOD}`]);
    expect(await kept()).toEqual([]);
  });

  test("of a later day go when the day before it is corrected", async () => {
    const tenfold = "1010,1060,1000,1050,1000,50,5.0,2000,206000";
    await take([`000001.SZ,20250102,${tenfold}`]);
    await take([`000001.SZ,20250103,${GOOD}`]);
    expect(counts(await kept())).toEqual({ "price-jump": 1 });
    await take([`000001.SZ,20250102,${GOOD}`]);
    expect(await kept()).toEqual([]);
  });

  test("tell a price that jumps from one that rises day by day, however far", async () => {
    const bars = (code: string, prices: readonly number[]) =>
      prices.map((price, i) => `${code},2025010${i + 6},${price},${price},${price},${price},${price},0,0,0,0`);
    const report = await take([...bars("000001.SZ", [10, 200, 4_000]), ...bars("000002.SZ", [10, 10, 4_000])]);
    expect(report.findings).toMatchObject([
      { check: "price-jump", count: 1, examples: [{ code: "000002.SZ", date: "20250108" }] },
    ]);
  });

  test("go with rows that are deleted, and stay for the others", async () => {
    await take([`000001.SZ,20250102,${CROSSED}`, `000002.SZ,20250102,${CROSSED}`, `000002.SZ,20250303,${CROSSED}`]);
    const selection = { where: [["ts_code", "000002.SZ"]] as const, from: null, to: null, all: false };
    await deleteRows(root, entityNamed("daily")!, selection, { memory: "1GB" });
    expect((await kept()).map(({ count, days }) => ({ count, days }))).toEqual([
      { count: 1, days: [["20250102", "20250102", 1]] },
    ]);
  });

  test("compare what a file with a few columns leaves together with what it brings", async () => {
    await take([`000001.SZ,20250102,${GOOD}`]);
    const file = join(root, "patch.csv");
    await writeFile(file, "ts_code,trade_date,high\n000001.SZ,20250102,9.9\n");
    const report = await importFiles(root, entityNamed("daily")!, [file], { map: {}, set: {}, memory: "1GB" });
    expect(counts(report.findings)).toEqual({ "high-below-low": 1 });
  });

  test("name a drop that moves the last day to a Saturday", async () => {
    const report = await take([`000001.SZ,20250103,${GOOD}`, `000001.SZ,20250104,${GOOD}`]);
    expect(report.files[0]!.warnings.join()).toMatch(/Saturday or Sunday: 1 row, e.g. 000001.SZ 20250104/);
  });

  test("stay through a compaction, and make no version when the same rows come again", async () => {
    const lines = [`000001.SZ,20250102,${CROSSED}`];
    await take(lines);
    await publishRows(root, { daily: "SELECT '000009.SZ' AS ts_code, DATE '2025-03-03' AS trade_date" });
    await compact(root, { memory: "1GB" });
    expect(counts(await kept())).toEqual({ "high-below-low": 1 });
    expect((await take(lines)).version).toBeNull();
  });

  test("are told for the file that has them, if several are imported together", async () => {
    const files = ["a.csv", "b.csv"].map((name) => join(root, name));
    await writeFile(files[0]!, `${HEADER}\n000001.SZ,20250102,${CROSSED}\n`);
    await writeFile(files[1]!, `${HEADER}\n000002.SZ,20250102,${GOOD}\n`);
    const report = await importFiles(root, entityNamed("daily")!, files, { map: {}, set: {}, memory: "1GB" });
    expect(report.files.map(({ warnings }) => warnings.filter((one) => one.startsWith("high")).length)).toEqual([1, 0]);
  });
});

describe("a strict import", () => {
  test("refuses a file with what cannot be true, with the count and an example, and imports nothing", async () => {
    await expect(take([`000001.SZ,20250102,${CROSSED}`, `000002.SZ,20250102,${GOOD}`], true)).rejects.toThrow(
      /drop.csv: refused by --strict: high is below low: 1 row, e.g. 000001.SZ 20250102 \(high 9.9, low 10\)$/,
    );
    expect((await openLake(root)).current().version.sequence).toBe(0);
  });

  test("takes what is merely suspicious", async () => {
    const report = await take([`000001.SZ,20250102,${GOOD.replace("2060", "2060000")}`], true);
    expect(counts(report.findings)).toEqual({ "turnover-off-price": 1 });
  });

  test("compares with what is stored", async () => {
    await take([`000001.SZ,20250102,${GOOD}`]);
    const hundredfold = "1010,1060,1000,1050,1000,50,5.0,2000,206000";
    await expect(take([`000001.SZ,20250103,${hundredfold}`], true)).rejects.toThrow(/a price in another unit: 1 row/);
  });
});

const number = fc.oneof(
  fc.constant(null),
  fc.double({ min: -50, max: 50, noNaN: true }),
  fc.integer({ min: 0, max: 9 }),
);
const row = fc.record({
  code: fc.integer({ min: 1, max: 4 }),
  day: fc.integer({ min: 1, max: 28 }),
  values: fc.array(number, { minLength: 9, maxLength: 9 }),
});

test("checks never change what is stored", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(row, { selector: ({ code, day }) => `${code} ${day}`, minLength: 1 }),
      async (rows) => {
        root = await newLake();
        const lines = rows.map(({ code, day, values }) =>
          [`00000${code}.SZ`, 20250200 + day, ...values.map((value) => value ?? "")].join(","),
        );
        await take(lines.slice(0, Math.ceil(lines.length / 2)));
        await take(lines);
        const plain = await temporaryFolder();
        const literal = rows.map(
          ({ code, day, values }) =>
            `('00000${code}.SZ', DATE '2025-02-01' + ${day - 1}, ${values.map((value) => (value === null ? "NULL" : `'${value}'::DOUBLE`)).join(", ")})`,
        );
        await publishRows(plain, { daily: `SELECT * FROM (VALUES ${literal.join(", ")}) t(${HEADER})` });
        expect(await servedRows(root, "daily")).toEqual(await servedRows(plain, "daily"));
      },
    ),
    { numRuns: size("CHECKED_DROPS", 5, 40) },
  );
});

describe("the days of findings", () => {
  const day = (n: number): string => String(20250100 + n);

  test("are joined when there are many, without losing a count", () => {
    const days = Array.from({ length: 1000 }, (_, i) => [String(20000101 + i), String(20000101 + i), 2] as const);
    const joined = joinDays(days);
    expect(joined.length).toBeLessThanOrEqual(400);
    expect(joined.reduce((sum, [, , n]) => sum + n, 0)).toBe(2000);
    expect([joined[0]![0], joined.at(-1)]).toEqual(["20000101", days.at(-1)]);
  });

  test("are checked again as a whole if a drop touches them, or a day shortly before", () => {
    const findings: Finding[] = [{ check: "closed-day", count: 2, days: [[day(20), day(21), 2]], examples: [] }];
    expect(spansToRecheck(findings, [day(22)])).toEqual([]);
    expect(spansToRecheck(findings, [day(6)])).toEqual([[day(20), day(21)]]);
    expect(spansToRecheck(findings, [day(4), null])).toEqual([]);
    expect(mergeFindings(findings, [[day(20), day(21)]], [])).toEqual([]);
    expect(mergeFindings(findings, [[day(1), day(2)]], [])).toEqual(findings);
  });
});
