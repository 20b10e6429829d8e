// Drops that must not become rows: of tables of other systems, of other calendars, below names that are not UTF-8.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { latestEntries } from "../../src/lake/ledger.js";
import { importFiles } from "../../src/store/import.js";
import { temporaryFolder } from "../support/folders.js";
import { drop, factors, ingester, ledgerOf, outcomesOf, servedRows } from "../support/ingest.js";

let root: string;

beforeEach(async () => {
  root = await temporaryFolder();
});

const reasons = async (): Promise<Readonly<Record<string, string | null>>> =>
  Object.fromEntries(latestEntries(await ledgerOf(root)).map(({ path, reason }) => [path, reason]));

const OPTIONS = { map: {}, set: {}, memory: "1GB" };
const TABLES = [
  ["Delta Lake", "_delta_log/00000000000000000000.json"],
  ["Apache Hudi", ".hoodie/hoodie.properties"],
  ["Apache Iceberg", "metadata/v1.metadata.json"],
] as const;

test.each(TABLES)(
  "a file of a table of %s is refused with the reason, in the inbox and on import",
  async (system, log) => {
    const watcher = await ingester(root);
    await drop(root, `adj_factor/table/${log}`, "{}");
    const file = await drop(root, "adj_factor/table/year=2024/part.csv", factors("000001.SZ,20240102,1"));
    await drop(root, "adj_factor/plain.csv", factors("000001.SZ,20240103,1"));
    await watcher.settle();
    const reason = `it belongs to a table of ${system}, and only its log says which rows were deleted`;
    expect((await reasons())["adj_factor/table/year=2024/part.csv"]).toContain(reason);
    expect((await outcomesOf(root))["adj_factor/plain.csv"]).toBe("taken");
    const imported = importFiles(join(root, "other"), entityNamed("adj_factor")!, [file], OPTIONS);
    await expect(imported).rejects.toThrow(reason);
  },
);

const calendar = (isOpen: (day: number) => number): string =>
  ["cal_date,is_open", ...Array.from({ length: 20 }, (_, i) => `${20240101 + i},${isOpen(i)}`), ""].join("\n");

test("a calendar that contradicts many days is refused, unless import allows it", async () => {
  const watcher = await ingester(root);
  await drop(
    root,
    "trade_cal/own.csv",
    calendar(() => 1),
  );
  await watcher.settle();
  const file = await drop(
    root,
    "trade_cal/foreign.csv",
    calendar((i) => (i < 6 ? 0 : 1)),
  );
  await watcher.settle();
  const reason = "contradicts the lake: it has 6 rows with another is_open than the lake has, e.g. SSE 2024-01-01.";
  expect((await reasons())["trade_cal/foreign.csv"]).toContain(reason);
  const calendars = entityNamed("trade_cal")!;
  await expect(importFiles(root, calendars, [file], OPTIONS)).rejects.toThrow(reason);
  const report = await importFiles(root, calendars, [file], { ...OPTIONS, allowContradictions: true });
  expect(report.files[0]!.warnings).toEqual([
    "exchange is not in the file: SSE was assumed",
    "6 rows with another is_open than the lake has, e.g. SSE 2024-01-01",
  ]);
});

test("a calendar that corrects a few days is taken with a warning", async () => {
  const watcher = await ingester(root);
  await drop(
    root,
    "trade_cal/own.csv",
    calendar(() => 1),
  );
  await watcher.settle();
  await drop(
    root,
    "trade_cal/correction.csv",
    calendar((i) => (i === 3 ? 0 : 1)),
  );
  await watcher.settle();
  expect(watcher.logged.join("\n")).toMatch(
    /imported inbox\/trade_cal\/correction\.csv.*1 row with another is_open than/,
  );
  expect((await servedRows(root, "trade_cal"))[3]).toContain(0);
});

test.runIf(process.platform === "linux")("a folder whose name is not UTF-8 is reported as refused", async () => {
  const watcher = await ingester(root);
  const folder = Buffer.concat([Buffer.from(join(root, "inbox/adj_factor/")), Buffer.from([0xb9, 0xc9])]);
  await mkdir(join(root, "inbox/adj_factor"), { recursive: true });
  await mkdir(folder);
  await writeFile(Buffer.concat([folder, Buffer.from("/x.csv")]), factors("000001.SZ,20240102,1"));
  await watcher.settle();
  expect(await reasons()).toEqual({ "adj_factor/\ufffd\ufffd": "its name is not UTF-8; rename it" });
});
