// Many small files at once: they are read together and become one version, and each has its own entry in the ledger.
import { existsSync } from "node:fs";
import { mkdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { stampOf } from "../../src/files.js";
import { ChangedDrop, type CheckedDrop } from "../../src/inbox/judge.js";
import { stageDrops } from "../../src/inbox/stage-drops.js";
import { NO_LIMITS } from "../../src/intake/limits.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { withDropStaging } from "../../src/store/staging.js";
import { folderTest, newLake } from "../support/lakes.js";
import { size } from "../support/size.js";
import { drop, factors, ingester, ledgerOf, outcomesOf, sequenceOf, servedRows } from "../support/ingest.js";
import { tapehouse, until } from "../support/processes.js";
import { MEMORY } from "../support/upkeep.js";

let root: string;

beforeEach(async () => {
  root = await newLake();
});

/** In the order of their paths, the days are in none: 7 divides none of these numbers. */
const FILES = size("MANY_FILES", 90, 300);
const DAY_MS = 86_400_000;
const FIRST = Date.UTC(2020, 0, 1);
const dateOf = (day: number): string => new Date(FIRST + day * DAY_MS).toISOString().slice(0, 10);
/** Three rows of a day. */
const rowsOf = (day: number, factor = 1): readonly string[] =>
  ["000001.SZ", "000002.SZ", "600000.SH"].map((code) => `${code},${dateOf(day).replaceAll("-", "")},${factor}`);

/** Drops one-day files whose times put their days in no order; `others` replace the content of some. */
async function dropDays(others: Readonly<Record<number, string>>): Promise<void> {
  for (let i = 0; i < FILES; i++) {
    const file = await drop(root, `adj_factor/${i}.csv`, others[i] ?? factors(...rowsOf((i * 7) % FILES)));
    await utimes(file, 1.7e9 + i, 1.7e9 + i);
  }
}

test("many files become one version, in the order of their days, and each one is reported as if it were alone", async () => {
  const [bad, empty, twice, correction] = [17, 42, 59, FILES - 1];
  await dropDays({
    [bad]: factors("000001.SZ,20200103,x"),
    [empty]: factors(),
    [twice]: factors(...rowsOf((twice * 7) % FILES), ...rowsOf((twice * 7) % FILES)),
    [correction]: factors(...rowsOf(5, 2)),
  });
  const watcher = await ingester(root);
  await watcher.settle();

  expect(await sequenceOf(root)).toBe(1);
  const entries = new Map((await ledgerOf(root)).map((entry) => [entry.path, entry]));
  expect(entries.size).toBe(FILES);
  const entryOf = (i: number) => entries.get(`adj_factor/${i}.csv`)!;
  expect(entryOf(bad)).toMatchObject({
    outcome: "refused",
    reason: 'row 1 (line 2), column adj_factor: "x" is not a number',
  });
  expect(entryOf(empty)).toMatchObject({ outcome: "taken", rows: 0, warnings: ["the file holds no rows"] });
  expect(entryOf(twice)).toMatchObject({ outcome: "taken", rows: 3, duplicates: 3 });
  expect(entryOf(0)).toMatchObject({
    ...{ outcome: "taken", rows: 3, duplicates: 0, reason: null },
    span: { first: "20200101", last: "20200101", firstCode: "000001.SZ", lastCode: "600000.SH" },
  });
  const expected = Array.from({ length: FILES }, (_, i) => i)
    .filter((i) => ![bad, empty, correction].includes(i))
    .map((i) => (i * 7) % FILES)
    .sort((a, b) => a - b)
    .flatMap((day) => rowsOf(day, day === 5 ? 2 : 1));
  expect((await servedRows(root, "adj_factor")).map((row) => row.join(",").replaceAll("-", ""))).toEqual(expected);
});

test("files that each hold all days of one code are in the order of the entity too", async () => {
  for (let i = 9; i > 0; i--) {
    await drop(root, `adj_factor/${i}.csv`, factors(...[1, 2, 3].map((day) => `00000${i}.SZ,2024010${day},${i}`)));
  }
  const watcher = await ingester(root);
  await watcher.settle();
  const rows = await servedRows(root, "adj_factor");
  const keys = rows.map(([code, date]) => `${String(date)} ${String(code)}`);
  expect(keys).toEqual([...keys].sort());
  expect(keys).toHaveLength(27);
});

test("the later one of two files stays, whatever their names", async () => {
  await dropDays({});
  for (const [i, name] of ["z", "b", "a"].entries()) {
    const file = await drop(root, `adj_factor/${name}.csv`, factors(...rowsOf(5, i + 2)));
    await utimes(file, 1.8e9 + i, 1.8e9 + i);
  }
  const watcher = await ingester(root);
  await watcher.settle();
  expect(await sequenceOf(root)).toBe(1);
  const rows = (await servedRows(root, "adj_factor")).map((row) => row.join(",").replaceAll("-", ""));
  expect(rows.slice(15, 18)).toEqual(rowsOf(5, 4));
  expect(rows).toHaveLength(3 * FILES);
});

test("no file is lost or imported twice if the process dies while it imports many", async () => {
  await dropDays({ 17: factors("000001.SZ,20200103,x") });
  const { taking } = layoutOf(root);
  const killed = tapehouse("ingest", "--data", root);
  await until("files are being imported", () => existsSync(taking) || undefined);
  killed.child.kill("SIGKILL");
  await killed.ended;
  tapehouse("ingest", "--data", root);
  const outcomes = await until("all have an outcome", async () => {
    const found = await outcomesOf(root);
    return Object.keys(found).length === FILES ? found : undefined;
  });
  expect(Object.keys(outcomes).filter((path) => outcomes[path] !== "taken")).toEqual(["adj_factor/17.csv"]);
  expect(await ledgerOf(root)).toHaveLength(FILES);
  expect(await servedRows(root, "adj_factor")).toHaveLength(3 * (FILES - 1));
});

test("a file of which the process died once is tried with few others, and those are imported", async () => {
  await dropDays({});
  const { taking, state } = layoutOf(root);
  const died = Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`adj_factor/${i}.csv`, 1]));
  await mkdir(state, { recursive: true });
  await writeFile(taking, JSON.stringify(died));
  const watcher = await ingester(root);
  await watcher.settle();
  await watcher.settle();
  expect(new Set(Object.values(await outcomesOf(root)))).toEqual(new Set(["taken"]));
  expect(await sequenceOf(root)).toBe(Math.ceil(FILES / 70));
});

// It begins after the drops were fetched.
folderTest("a file that is written while it is read with others is left out, with all of its rows", async () => {
  const layout = layoutOf(root);
  const entity = entityNamed("adj_factor")!;
  const batch: CheckedDrop[] = [];
  for (const day of [1, 2, 3]) {
    const path = `adj_factor/${day}.csv`;
    const stats = await stat(await drop(root, path, factors(...rowsOf(day))));
    const file = { path, size: stats.size, mtime: stats.mtimeMs, kind: "file", isReplaced: false } as const;
    batch.push({ file, entity, sha256: String(day), identity: stampOf(stats), hasOpenEnd: false, span: null });
  }
  await withDropStaging(layout, MEMORY, async (writer, staging) => {
    const base = (await openLake(root)).current();
    // The statement that reads the files is followed by the change of one of them.
    const changing = {
      ...writer,
      async run(...given: Parameters<typeof writer.run>) {
        const done = await writer.run(...given);
        await utimes(join(layout.inbox, "adj_factor/2.csv"), 1.7e9, 1.7e9);
        return done;
      },
    };
    const options = { layout, entity, base, limits: NO_LIMITS, strict: false, check: () => Promise.resolve(undefined) };
    const outcomes = [];
    for await (const [, outcome] of stageDrops({ writer: changing, staging, ...options }, batch))
      outcomes.push(outcome);
    const [first, second, third] = outcomes;
    expect(second).toBeInstanceOf(ChangedDrop);
    expect([first, third]).toMatchObject([{ rows: 3 }, { rows: 3 }]);
    if (first instanceof Error || first === undefined) throw new Error("the first file was refused");
    const [left] = await writer.rows(
      `SELECT list(DISTINCT __file ORDER BY __file)::VARCHAR AS files FROM ${first.table}`,
    );
    expect(left).toEqual({ files: "[0, 2]" });
  });
});
