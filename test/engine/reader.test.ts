// Files that change while they are read: a server's own reader over a lake of its own.
import { open, rm, truncate, utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { openReader, type Reader } from "../../src/engine/reader.js";
import { DamagedFileError } from "../../src/lake/damaged-file.js";
import { createIntegrity } from "../../src/lake/integrity.js";
import { openLake } from "../../src/lake/lake.js";
import { planRead } from "../../src/query/plan.js";
import { parseRequest } from "../../src/query/request.js";
import { rangesOf } from "../../src/query/scan.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";

const ROWS = 600_000;
const entity = entityNamed("adj_factor")!;
const never = new AbortController().signal;

/** Rows of a read, during which something happens to the file once its first rows are there; and how it ended. */
async function readWhile(query: string, happens: (path: string) => Promise<unknown>): Promise<[number, unknown]> {
  const root = await temporaryFolder();
  await publishRows(root, { adj_factor: factors(ROWS) });
  const { layout, current } = await openLake(root);
  const files = current().files("adj_factor");
  const reader: Reader = await openReader({
    ...{ readable: { folder: layout.lake }, memory: "500MB", tempDirectory: root, spill: "1GB", threads: 1 },
    ...{ concurrency: 4, streams: 8, queue: 8, integrity: createIntegrity(layout) },
  });
  const request = parseRequest(entity, new URLSearchParams(query), { defaultLimit: null, maxLimit: null });
  const plan = planRead(request, files, null);
  let rows = 0;
  try {
    for await (const batch of reader.read({ ...plan, scans: plan.scans.flatMap(rangesOf) }, never)) {
      if (rows === 0) await happens(join(layout.lake, files.byDate[0]!.path));
      rows += batch.numRows;
    }
    return [rows, null];
  } catch (error) {
    return [rows, error];
  } finally {
    await reader.close();
  }
}

/** Another byte in the middle of a file. */
async function flip(path: string): Promise<void> {
  const file = await open(path, "r+");
  const { size } = await file.stat();
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, Math.floor(size / 2));
  await file.write(Buffer.of(byte[0]! ^ 1), 0, 1, Math.floor(size / 2));
  await file.close();
}

describe("a file that changes while it is read", () => {
  test.each(["fields=ts_code", "trade_date=20230103"])("ends the answer before its end: %s", async (query) => {
    const [, error] = await readWhile(query, flip);
    expect(error).toBeInstanceOf(DamagedFileError);
    expect(String(error)).toContain("the checksum does not match");
  });

  test("is named, whatever DuckDB makes of it", async () => {
    const [, error] = await readWhile("", (path) => truncate(path, 5_000));
    expect(String(error)).toMatch(/adj_factor\/\S+: the file has 5000 bytes instead of \d+/);
  });

  test("does no harm where it holds the same bytes", async () => {
    expect(await readWhile("", (path) => utimes(path, 1, 1))).toEqual([ROWS, null]);
  });

  test("or is removed, as vacuum does, does no harm to the one statement that reads it", async () => {
    expect(await readWhile("trade_date=20230103", rm)).toEqual([5_000, null]);
  });
});
