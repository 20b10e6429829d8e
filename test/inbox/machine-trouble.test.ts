// A machine that fails is no fault of a file: a drop is tried again until it is taken, and is never refused for it.
import { execFileSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { OperatorError, EngineError, MachineError } from "../../src/errors.js";
import { openWriter } from "../../src/engine/writer.js";
import { layoutOf } from "../../src/lake/layout.js";
import { freeSpace } from "../../src/lake/status.js";
import { stage, type Staged } from "../../src/intake/normalise.js";
import { fillDisk, smallDisk } from "../support/disks.js";
import { temporaryFolder } from "../support/folders.js";
import { drop, factors, ingester, ledgerOf, outcomesOf } from "../support/ingest.js";

const ROWS = 20_000;
const codeOf = (i: number): string => `${String(i).padStart(6, "0")}.SZ`;
const LINES = Array.from({ length: ROWS }, (_, i) => `${codeOf(i)},20240102,1.5`);
const CODES = JSON.stringify(Object.fromEntries(LINES.map((_, i) => [i, codeOf(i)])));
const FACTORS = JSON.stringify(Object.fromEntries(LINES.map((_, i) => [i, 1.5])));
const DATES = JSON.stringify(Object.fromEntries(LINES.map((_, i) => [i, "20240102"])));
/** In GB18030: a name and its code in two bytes a character. */
const GB = Buffer.concat([Buffer.from("ts_code,trade_date,adj_factor,"), Buffer.from("c3fbb3c6", "hex")]);

/** Each format that is written to the disk in another form before it is read. */
const FILES: Readonly<Record<string, Buffer | string>> = {
  "packed.csv.gz": gzipSync(factors(...LINES)),
  "chinese.csv": Buffer.concat([GB, Buffer.from(`\n${LINES.map((line) => `${line},x`).join("\n")}\n`)]),
  "mixed.csv": `ts_code,trade_date,adj_factor\r\n${LINES.join("\n")}\n`,
  "noted.csv": `${factors(...LINES)}source: some vendor\n`,
  "columns.json": `{"ts_code": ${CODES}, "trade_date": ${DATES}, "adj_factor": ${FACTORS}}`,
};

test.each(Object.keys(FILES))("%s is not at fault if the disk is full when it is unpacked", async (name) => {
  const disk = await smallDisk(8);
  if (disk === null) return;
  const folder = await temporaryFolder();
  const file = join(folder, name);
  await writeFile(file, FILES[name]!);
  const writer = await openWriter({ memory: "1GB", tempDirectory: join(folder, "spill"), threads: 1 });
  const read = (): Promise<Staged> => stage(writer, entityNamed("adj_factor")!, file, { map: {}, set: {} }, disk);
  try {
    const ballast = await fillDisk(disk, 64);
    const failure = await read().catch((error: unknown) => error);
    expect(failure).not.toBeInstanceOf(OperatorError);
    expect(failure).toMatchObject({ code: "ENOSPC" });
    await rm(ballast);
    expect((await read()).rows).toBe(ROWS);
  } finally {
    writer.close();
  }
});

test("a drop that fails on a full disk is taken once there is space, and never refused", async ({ skip }) => {
  const disk = await smallDisk(40);
  if (disk === null) return skip("no file system can be mounted here");
  const root = join(disk, "parquet");
  await drop(root, "adj_factor/packed.csv.gz", gzipSync(factors("000001.SZ,20240102,1\n".repeat(500_000))));
  const { after, logged } = await ingester(root);
  const { reserve } = await freeSpace(layoutOf(root));
  const ballast = await fillDisk(disk, Math.ceil(reserve / 1024) + 1_024);
  await after(0);
  await after(600);
  expect(await ledgerOf(root)).toEqual([]);
  expect(logged.join("\n")).toMatch(/no space is left/);
  await rm(ballast);
  await after(120_000);
  expect(await outcomesOf(root)).toEqual({ "adj_factor/packed.csv.gz": "taken" });
});

test("a bad file that quotes messages of the system is refused nevertheless", async () => {
  const root = await temporaryFolder();
  const quotes = ["IO Error: Cannot open file: Too many open files", "Out of Memory Error", "No space left on device"];
  await drop(root, "adj_factor/values.csv", factors(...quotes.map((quote) => `000001.SZ,20240102,${quote}`)));
  await drop(root, "adj_factor/cells.csv", factors(`000001.SZ,20240102,1,${quotes.join(",")}`));
  await drop(root, "adj_factor/x: No space left on device.csv", "ts_code\n");
  const { settle } = await ingester(root);
  await settle();
  expect(new Set(Object.values(await outcomesOf(root)))).toEqual(new Set(["refused"]));
  expect(await ledgerOf(root)).toHaveLength(3);
});

test("a file with an unforeseen fault is refused, and its neighbours are taken", async () => {
  const root = await temporaryFolder();
  await drop(root, "adj_factor/a.json", '{"columns": [null, "adj_factor"], "data": [[1, 2]]}');
  await drop(root, "adj_factor/b.csv", factors("000001.SZ,20240102,1"));
  const { settle } = await ingester(root);
  await settle();
  expect(await outcomesOf(root)).toEqual({ "adj_factor/a.json": "refused", "adj_factor/b.csv": "taken" });
});

describe("DuckDB's failures are classified by their cause", () => {
  const MANY = "CREATE TEMP TABLE t AS SELECT range AS i, hash(range) AS h, hash(range + 1) AS g FROM range(6000000)";

  test("a configured limit is one; the statement may be split", async () => {
    const folder = await temporaryFolder();
    const options = { memory: "64MB", tempDirectory: join(folder, "spill"), threads: 1 };
    const bounded = await openWriter({ ...options, spill: "20MB" });
    try {
      const failure = await bounded.run(MANY).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(EngineError);
      expect(failure).toMatchObject({ lack: "disk" });
      const large = await bounded
        .run("CREATE TEMP TABLE u AS SELECT repeat('x', 200000000) || range FROM range(2)")
        .catch((error: unknown) => error);
      expect(large).toMatchObject({ name: "EngineError", lack: "memory" });
    } finally {
      bounded.close();
    }
  });

  test.for([
    ["full", MANY, "ENOSPC"],
    ["read-only", "COPY (SELECT 1) TO '$disk/a.parquet' (FORMAT parquet)", "EROFS"],
  ] as const)("a %s disk is the machine's fault", async ([kind, sql, code], { skip }) => {
    const disk = await smallDisk(4);
    if (disk === null) return skip("no file system can be mounted here");
    if (kind === "read-only") execFileSync("mount", ["-o", "remount,ro", disk]);
    const writer = await openWriter({ memory: "64MB", tempDirectory: join(disk, "spill"), spill: "1GB", threads: 1 });
    try {
      const failure = await writer.run(sql.replace("$disk", disk)).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(MachineError);
      expect(failure).toMatchObject({ code });
    } finally {
      writer.close();
    }
  });
});
