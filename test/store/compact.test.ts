import { cpSync, existsSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { layoutOf } from "../../src/lake/layout.js";
import { openLake } from "../../src/lake/lake.js";
import { fileList, type DataFile, type DateRange, type FileList } from "../../src/lake/manifest.js";
import { compact, planGroups, type CompactReport, wantsCodeCopy } from "../../src/store/compact.js";
import { merge } from "../../src/store/merge.js";
import { columnList, scan } from "../../src/store/datafile.js";
import { withWriteSession } from "../../src/store/session.js";
import { vacuum } from "../../src/store/vacuum.js";
import { verify, isSameInBoth } from "../../src/repair/verify.js";
import { temporaryFolder } from "../support/folders.js";
import { folderTest, newLake } from "../support/lakes.js";
import { publishRows } from "../support/lake.js";
import { dropFactors, filesBelow, MEMORY, neededFiles, servedRows } from "../support/upkeep.js";

const daily = entityNamed("daily")!;
const adj = entityNamed("adj_factor")!;

function file(day: number, rows: number, lastDay = day): DataFile {
  const [first, last] = [`202401${String(day).padStart(2, "0")}`, `202401${String(lastDay).padStart(2, "0")}`];
  return { path: `daily/${first}`, sha256: "", bytes: 1, rows, first, last, firstCode: "a", lastCode: "z" };
}

const undated: DataFile = { ...file(1, 5), path: "daily/undated", first: null, last: null };

function listOf(files: readonly DataFile[], covered: readonly DataFile[] = []): FileList {
  const ranges = covered.map((f): DateRange => [f.first!, f.last!]);
  return fileList("daily", files, covered, ranges);
}

const daysOf = (runs: readonly (readonly DataFile[])[]): unknown =>
  runs.map((run) => run.map((f) => Number(f.first!.slice(6))));

describe("compaction joins", () => {
  test("groups of small neighbours, up to the size limit of a file", () => {
    const files = [1, 2, 3, 4, 5].map((day) => file(day, 400_000));
    expect(daysOf(planGroups(listOf(files), 0, true))).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test("no large file, no single file, and not the file of rows without a date", () => {
    const files = [file(1, 5), file(2, 500_000), file(3, 5), file(4, 5), file(5, 900_000), file(6, 5), undated];
    expect(daysOf(planGroups(listOf(files), 0, true))).toEqual([[3, 4]]);
  });

  test("not the latest days that have files of their own, if these are to be kept", () => {
    const files = [file(1, 5), file(2, 5), file(3, 5), file(4, 5), file(5, 5), undated];
    expect(daysOf(planGroups(listOf(files), 2, true))).toEqual([[1, 2, 3]]);
    const long = [file(1, 5), file(2, 5, 3), file(4, 5)];
    expect(daysOf(planGroups(listOf(long), 3, true))).toEqual([[1, 2]]);
  });

  test("no files that the code copy covers with others, unless the copy is rebuilt", () => {
    const files = [1, 2, 3, 4].map((day) => file(day, 5));
    const list = listOf(files, files.slice(0, 2));
    expect(daysOf(planGroups(list, 0, false))).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(daysOf(planGroups(list, 0, true))).toEqual([[1, 2, 3, 4]]);
  });
});

describe("a code copy", () => {
  test("is built from 200,000 rows on, if rows are missing in it", () => {
    const small = [file(1, 199_999)];
    const large = [file(1, 150_000), file(2, 50_000)];
    expect(wantsCodeCopy(daily, listOf(small), false)).toBe(false);
    expect(wantsCodeCopy(daily, listOf(large), false)).toBe(true);
    expect(wantsCodeCopy(daily, listOf(large, large.slice(0, 1)), false)).toBe(true);
    expect(wantsCodeCopy(daily, listOf(large, large), false)).toBe(false);
    expect(wantsCodeCopy(entityNamed("anns_d")!, listOf(large), false)).toBe(false);
  });

  test("is rebuilt in the background only if many rows are missing in it", () => {
    const covered = file(1, 8_000_000);
    const missing = (rows: number): FileList => listOf([covered, file(2, rows)], [covered]);
    expect(wantsCodeCopy(daily, missing(250_000), true)).toBe(false);
    expect(wantsCodeCopy(daily, missing(420_000), true)).toBe(false);
    expect(wantsCodeCopy(daily, missing(430_000), true)).toBe(true);
  });
});

describe("compacting", () => {
  test("joins many days into one file and changes no row", async () => {
    const root = await newLake();
    for (const day of ["02", "03", "04"]) {
      await dropFactors(root, [`000001.SZ,202401${day},1`, `000002.SZ,202401${day},${day}`]);
    }
    const rows = await servedRows(root);
    const { entities, version } = await compact(root, MEMORY);
    expect(entities).toEqual([{ entity: "adj_factor", filesBefore: 3, filesAfter: 1, codeCopy: "none" }]);
    expect(version!.sequence).toBe(4);
    expect(await servedRows(root)).toEqual(rows);
    expect((await verify(root, { ...MEMORY, deep: true })).faults).toEqual([]);
  });

  test("publishes nothing if there is nothing to do", async () => {
    const root = await newLake();
    expect(await compact(root, MEMORY)).toEqual({ entities: [], version: null });
    await dropFactors(root, ["000001.SZ,20240102,1"]);
    expect(await compact(root, MEMORY)).toEqual({ entities: [], version: null });
  });

  test("leaves other entities unchanged", async () => {
    const root = await newLake();
    for (const day of ["02", "03"]) await dropFactors(root, [`000001.SZ,202401${day},1`]);
    expect((await compact(root, { ...MEMORY, entities: ["daily"] })).version).toBeNull();
  });

  test("builds the code copy, which holds exactly the rows of the date files", async () => {
    const root = await newLake();
    const days = (from: number, to: number): string =>
      `SELECT lpad(c::VARCHAR, 6, '0') || '.SZ' AS ts_code, DATE '2020-01-01' + d::INT AS trade_date,
              hash(c, d) % 1000 / 7 AS adj_factor FROM range(300) a(c), range(${from}, ${to}) b(d)`;
    await publishRows(root, { adj_factor: days(0, 600) });
    await publishRows(root, { adj_factor: days(600, 900) });
    const before = await checksum(root);
    const { entities } = await compact(root, MEMORY);
    expect(entities).toEqual([{ entity: "adj_factor", filesBefore: 2, filesAfter: 1, codeCopy: "built" }]);
    expect(await checksum(root)).toBe(before);

    const list = (await openLake(root)).current().files("adj_factor");
    expect(list.byCode.length).toBe(5);
    expect(list.codeRanges).toEqual([["20200101", "20220618"]]);
    await withWriteSession(root, MEMORY, async ({ writer, layout }) => {
      expect(await isSameInBoth(writer, layout, entityNamed("adj_factor")!, list)).toBe(true);
    });
  }, 120_000);

  test("continues after days that are dropped again: the copy covers the days before them", async () => {
    const root = await newLake();
    const first = `SELECT lpad(c::VARCHAR, 6, '0') || '.SZ' AS ts_code, DATE '2020-01-01' + d::INT AS trade_date,
                          1 AS adj_factor FROM range(300) a(c), range(700) b(d)`;
    await publishRows(root, { adj_factor: first });
    await compact(root, MEMORY);
    await dropFactors(root, ["000000.SZ,20211130,2"]);
    const list = (await openLake(root)).current().files("adj_factor");
    expect(list.byDate.map(({ first, last }) => [first, last])).toEqual([
      ["20200101", "20211129"],
      ["20211130", "20211130"],
    ]);
    expect(list.codeRanges).toEqual([["20200101", "20211129"]]);
    expect((await verify(root, { ...MEMORY, deep: true })).faults).toEqual([]);
    const { version } = await compact(root, { ...MEMORY, keepRecent: 1 });
    expect(version).toBeNull();
  }, 120_000);
});

describe("compacting while drops come", () => {
  const table = (days: string, factor: string): string =>
    `SELECT printf('%06d.SZ', c) AS ts_code, DATE '2020-01-01' + d::INT AS trade_date, ${factor} AS adj_factor
     FROM range(300) a(c), ${days} b(d)`;

  /** Compacts, and drops a day when everything is built but nothing is published. */
  async function compactDuring(root: string, builtRows: number, day: number): Promise<CompactReport> {
    const { report } = await withWriteSession(root, MEMORY, async ({ writer, layout, base, publish }) => {
      const compacting = await new Promise<{ report: Promise<CompactReport> }>((resolve) => {
        const report = compact(root, MEMORY, (_, rows) => {
          if (rows === builtRows) resolve({ report });
        });
        report.finally(() => resolve({ report })).catch(() => undefined);
      });
      await writer.run(`CREATE TEMP TABLE dropped AS ${table(`range(${day}, ${day + 1})`, "9::DOUBLE")}`);
      const { list } = await merge({ writer, layout }, adj, base.files("adj_factor"), {
        fresh: { relation: "dropped" },
      });
      await publish([list], "drop");
      return compacting;
    });
    return report;
  }

  test("blocks no writer, and joins only files that are still served", async () => {
    const root = await newLake();
    const days = [0, 1, 2, 3];
    for (const day of days) await publishRows(root, { adj_factor: table(`range(${day}, ${day + 1})`, "1") });
    expect(await compactDuring(root, 1200, 2)).toEqual({ entities: [], version: null });
    const rows = await servedRows(root);
    expect([rows.length, rows.filter((row) => row.endsWith(",9]")).length]).toEqual([1200, 300]);
    expect(await filesBelow(root)).toEqual(await neededFiles(root));
    expect((await compact(root, MEMORY)).entities).toMatchObject([{ filesBefore: 4, filesAfter: 1 }]);
    expect(await servedRows(root)).toEqual(rows);
  });

  test("covers with the code copy only files that are still served", async () => {
    const root = await newLake();
    await publishRows(root, { adj_factor: table("range(0, 800)", "1") });
    await publishRows(root, { adj_factor: table("range(800, 1500)", "1") });
    const report = await compactDuring(root, 450_000, 900);
    expect(report.entities).toMatchObject([{ filesBefore: 2, filesAfter: 2, codeCopy: "built" }]);
    const list = (await openLake(root)).current().files("adj_factor");
    expect(list.codeRanges).toEqual([["20200101", "20220310"]]);
    expect(list.rows).toBe(450_000);
    expect((await verify(root, { ...MEMORY, deep: true })).faults).toEqual([]);
  }, 120_000);

  // Writers replace files of the folder by copying those of another lake into it.
  folderTest("begins again if its sources are replaced and removed meanwhile", async () => {
    const root = await newLake();
    const limits = (days: string, price: number): string =>
      `SELECT ts_code, trade_date, ${price} AS up_limit FROM (${table(days, "1")})`;
    for (const day of ["range(0, 1)", "range(1, 2)"]) {
      await publishRows(root, { adj_factor: table(day, "1"), stk_limit: limits(day, 10) });
    }
    const later = await temporaryFolder();
    cpSync(root, later, { recursive: true });
    await publishRows(later, { adj_factor: table("range(0, 2)", "2"), stk_limit: limits("range(0, 2)", 11) });
    await vacuum(later, { olderThan: 0, keep: 1, now: new Date(Date.now() + 1_000) });
    const gone = (await filesBelow(root)).filter((path) => !existsSync(join(later, path)));
    let begun = 0;
    const report = await compact(root, MEMORY, () => {
      if (begun++ > 0) return;
      cpSync(later, root, { recursive: true });
      for (const path of gone) rmSync(join(root, path));
    });
    expect(gone.length).toBeGreaterThan(3);
    expect(report.entities.map(({ filesAfter }) => filesAfter)).toEqual([1, 1]);
    expect((await servedRows(root)).every((row) => row.endsWith(",2]"))).toBe(true);
    expect((await verify(root, { ...MEMORY, deep: true })).faults).toEqual([]);
  });

  test("leaves its files to the next vacuum if it dies", async () => {
    const root = await newLake();
    await dropFactors(root, ["000001.SZ,20240102,1"]);
    const left = join(layoutOf(root).staging, "lake/adj_factor/x.parquet");
    await mkdir(dirname(left), { recursive: true });
    await writeFile(left, "rows");
    await vacuum(root, { olderThan: 0, keep: 1, now: new Date() });
    expect(await filesBelow(root)).toEqual(await neededFiles(root));
  });
});

/** A checksum of all rows that does not depend on their order. */
async function checksum(root: string): Promise<unknown> {
  return withWriteSession(root, MEMORY, async ({ writer, layout, base }) => {
    const columns = columnList(entityNamed("adj_factor")!);
    const files = scan(layout, base.files("adj_factor").byDate);
    const [row] = await writer.rows(`SELECT sum(hash(${columns})::HUGEINT)::VARCHAR AS sum FROM ${files}`);
    return row!["sum"];
  });
}
