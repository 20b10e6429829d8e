import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { openLake } from "../../src/lake/lake.js";
import { fileList, type FileList } from "../../src/lake/manifest.js";
import { importFiles } from "../../src/store/import.js";
import { merge } from "../../src/store/merge.js";
import { withWriteSession } from "../../src/store/session.js";
import { verify, findOverlaps } from "../../src/repair/verify.js";
import { quoteText } from "../../src/sql-text.js";
import { temporaryFolder } from "../support/folders.js";
import { newLake } from "../support/lakes.js";
import { factors, publishRows } from "../support/lake.js";
import { size, someOf } from "../support/size.js";
import { MEMORY, rowsOf, sharedWriter } from "../support/upkeep.js";

const adj = entityNamed("adj_factor")!;

async function drop(root: string, values: string) {
  return withWriteSession(root, { memory: "1GB" }, async (session) => {
    await session.writer.run(
      `CREATE TEMP TABLE staged AS SELECT ts_code, trade_date::DATE AS trade_date, adj_factor::DOUBLE AS adj_factor
       FROM (VALUES ${values}) t(ts_code, trade_date, adj_factor)`,
    );
    const merged = await merge(session, adj, session.base.files("adj_factor"), {
      fresh: { relation: "staged" },
    });
    return { merged, version: await session.publish([merged.list], "test") };
  });
}

async function rows(root: string) {
  return withWriteSession(root, { memory: "1GB" }, async ({ writer, layout, base }) => {
    const files = base.files("adj_factor").byDate.map((file) => `${layout.lake}/${file.path}`);
    const found = await writer.rows("SELECT * FROM read_parquet($1)", [files]);
    return found.map((row) => [row["ts_code"], row["trade_date"], row["adj_factor"]]);
  });
}

describe("merging a drop", () => {
  test("replaces rows of the same identity and keeps the others", async () => {
    const root = await newLake();
    await drop(root, "('000001.SZ','2024-01-02',1.5), ('000002.SZ','2024-01-02',2)");
    const { merged } = await drop(root, "('000002.SZ','2024-01-02',3), ('000003.SZ','2024-01-03',4)");
    expect(merged.replaced).toBe(1);
    expect(await rows(root)).toEqual([
      ["000001.SZ", "2024-01-02", 1.5],
      ["000002.SZ", "2024-01-02", 3],
      ["000003.SZ", "2024-01-03", 4],
    ]);
  });

  test("publishes nothing when the same drop comes again", async () => {
    const root = await newLake();
    const first = await drop(root, "('000001.SZ','2024-01-02',1.5)");
    const second = await drop(root, "('000001.SZ','2024-01-02',1.5)");
    expect(first.version?.sequence).toBe(1);
    expect(second.version).toBeNull();
    expect((await openLake(root)).current().version.sequence).toBe(1);
  });

  const ORDERS: readonly (readonly [string, string, boolean])[] = [
    ["by code", "ts_code, trade_date", false],
    ["in order", "trade_date, ts_code", true],
    ["newest first", "trade_date DESC, ts_code", false],
  ];

  test.each(someOf(ORDERS))(
    "a large file with rows %s is written in order, and sorted only if necessary",
    async (_, order, sorted) => {
      const root = await newLake();
      const path = join(await temporaryFolder(), "drop.parquet");
      const writer = await sharedWriter();
      await writer.run(`COPY (SELECT * FROM (${factors()}) ORDER BY ${order}) TO ${quoteText(path)} (FORMAT parquet)`);
      const { files } = await importFiles(root, adj, [path], { map: {}, set: {}, ...MEMORY });
      expect(files[0]!.sorted).toBe(sorted);
      expect((await openLake(root)).current().files("adj_factor").rows).toBe(1_500_000);
      expect((await verify(root, { deep: true, ...MEMORY })).faults).toEqual([]);
    },
  );

  test("ends full files with a date, and never splits a date", async () => {
    const root = await newLake();
    await publishRows(root, {
      adj_factor: `SELECT printf('%06d.SZ', i % 7000) AS ts_code, DATE '2020-01-01' + (i // 7000)::INT AS trade_date,
                   1 AS adj_factor FROM range(2_100_000) t(i)`,
    });
    const { byDate } = (await openLake(root)).current().files("adj_factor");
    expect(byDate.map(({ rows }) => rows)).toEqual([994_000, 994_000, 112_000]);
    for (const [i, file] of byDate.slice(1).entries()) expect(byDate[i]!.last! < file.first!).toBe(true);
  }, 120_000);
});

/** Rows as `('code','date',factor)` in random order, each with the number of its drop. */
const split = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 9 }), fc.nat(2)), {
    selector: ([code, day]) => `${code} ${day}`,
    minLength: 1,
    maxLength: 25,
    size: "max",
  })
  .map((rows) =>
    rows.map(([code, day, part]) => ({ part, sql: `('00000${code}.SZ','2024-01-0${day}',${code * day})` })),
  );

test("any order of rows, in any split into drops, gives the same rows in files that do not overlap", async () => {
  await withWriteSession(await newLake(), { memory: "1GB" }, async ({ writer, layout }) => {
    let table = 0;
    const arrive = async (list: FileList, rows: readonly string[]): Promise<FileList> => {
      const staged = `staged_${++table}`;
      await writer.run(
        `CREATE TEMP TABLE ${staged} AS SELECT ts_code, trade_date::DATE AS trade_date, adj_factor::DOUBLE AS adj_factor
         FROM (VALUES ${rows.join(", ")}) t(ts_code, trade_date, adj_factor)`,
      );
      return (await merge({ writer, layout }, adj, list, { fresh: { relation: staged } })).list;
    };
    await fc.assert(
      fc.asyncProperty(split, async (rows) => {
        let list = fileList("adj_factor", []);
        for (const part of [0, 1, 2]) {
          const drop = rows.filter((row) => row.part === part).map((row) => row.sql);
          if (drop.length > 0) list = await arrive(list, drop);
        }
        const expected = rows.map(({ sql }) => sql).sort((a, b) => byDateThenCode(a).localeCompare(byDateThenCode(b)));
        const paths = list.byDate.map((file) => `${layout.lake}/${file.path}`);
        const found = await writer.rows("SELECT * FROM read_parquet($1)", [paths]);
        const lines = found.map((row) => `(${Object.values(row).map(quoted).join(",")})`);
        expect(lines).toEqual(expected);
        expect(findOverlaps(list)).toEqual([]);
        expect(list.rows).toBe(rows.length);
      }),
      { numRuns: size("MERGES", 8, 40) },
    );
  });
});

const quoted = (value: unknown): string => (typeof value === "string" ? `'${value}'` : String(value));
const byDateThenCode = (sql: string): string => sql.slice(13, 25) + sql.slice(1, 12);

describe("a day that is dropped again and again", () => {
  /** 1,000 stocks on each of 110 days. */
  const history = `SELECT printf('%06d.SZ', i % 1000) AS ts_code, DATE '2024-01-01' + (i // 1000)::INT AS trade_date,
    1.0 AS adj_factor FROM range(110000) t(i)`;
  const lastDay = (factor: number): string =>
    `SELECT printf('%06d.SZ', i) AS ts_code, DATE '2024-04-19' AS trade_date, ${factor} AS adj_factor FROM range(1000) t(i)`;

  test("gets a file of its own, and the days before it are rewritten only once", async () => {
    const root = await newLake();
    await publishRows(root, { adj_factor: history });
    const files = async () => (await openLake(root)).current().files("adj_factor").byDate;
    expect((await files()).map(({ first, last }) => [first, last])).toEqual([["20240101", "20240419"]]);
    await publishRows(root, { adj_factor: lastDay(2) });
    const [head, tail] = await files();
    expect([head!.first, head!.last, tail!.first, tail!.last]).toEqual([
      "20240101",
      "20240418",
      "20240419",
      "20240419",
    ]);
    await publishRows(root, { adj_factor: lastDay(3) });
    expect((await files())[0]).toEqual(head);
    expect((await files()).map(({ rows: count }) => count)).toEqual([109_000, 1_000]);
  });

  test("does not invalidate the code copy for the days before it", async () => {
    const root = await newLake();
    await publishRows(root, { adj_factor: history }, { codeCopy: true });
    await publishRows(root, { adj_factor: lastDay(2) });
    const { codeRanges, byCode } = (await openLake(root)).current().files("adj_factor");
    expect(codeRanges).toEqual([["20240101", "20240418"]]);
    expect(byCode.length).toBeGreaterThan(0);
  });
});

describe("rows without a main date", () => {
  const row = (ex: string, proc: string, cash: number): string =>
    `SELECT '000001.SZ' AS ts_code, DATE '2023-12-31' AS end_date, DATE '2024-03-01' AS ann_date, '${proc}' AS div_proc,
     ${ex} AS ex_date, ${cash} AS cash_div`;

  test("are alone in the last file, and are replaced by identity too", async () => {
    const root = await newLake();
    await publishRows(root, { dividend: `${row("NULL", "预案", 1)} UNION ALL ${row("DATE '2024-06-01'", "实施", 2)}` });
    await publishRows(root, { dividend: `${row("NULL", "预案", 3)} UNION ALL ${row("DATE '2024-07-01'", "实施", 4)}` });
    const snapshot = (await openLake(root)).current();
    const { byDate, rows: count } = snapshot.files("dividend");
    expect(byDate.map(({ first, rows: inFile }) => [first, inFile])).toEqual([
      ["20240601", 1],
      ["20240701", 1],
      [null, 1],
    ]);
    expect(count).toBe(3);
    const rows = await rowsOf(root, snapshot, "dividend");
    expect(rows.map((text) => /"(预案|实施)"/.exec(text)![1])).toEqual(["实施", "实施", "预案"]);
    expect(rows[2]).toContain("3");
  });
});
