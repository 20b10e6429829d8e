// A mirror on a disk that is full: what does not fit is an error, nothing half-fetched stays, and other reads go on.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { NoSpaceError } from "../../src/errors.js";
import { createIntegrity, sha256OfFile } from "../../src/lake/integrity.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import type { DataFile } from "../../src/lake/manifest.js";
import { openMirror } from "../../src/lake/mirror/mirror.js";
import { fillDisk, smallDisk } from "../support/disks.js";
import { publishRows } from "../support/lake.js";
import { newAddress, newMirror, pull } from "../support/mirrors.js";
import { serve } from "../support/server.js";
import { filesBelow } from "../support/upkeep.js";

const disk = await smallDisk(32);

/** Rows that take 8 bytes each. */
const noise = (column: string, rows: number): string =>
  `SELECT printf('%06d.SZ', i) AS ts_code, DATE '2024-01-02' AS trade_date, random() AS ${column} FROM range(${rows}) t(i)`;

const ROWS = 200_000;

/** A mirror on the small disk of a lake with two files of about 1.6 MB and one of about 100 kB. */
async function newReader(): Promise<string> {
  const address = await newAddress("folder");
  await publishRows(await newMirror(address), {
    adj_factor: noise("adj_factor", ROWS),
    // Clearly smaller, so that it fits in place of the other.
    stk_limit: noise("up_limit", ROWS * 0.95),
    daily: noise("close", 10_000),
  });
  const root = join(disk!, "mirror");
  await rm(root, { recursive: true, force: true });
  await openMirror(root, { address, size: 1e9 });
  await pull(root);
  return root;
}

const filesIn = async (root: string, entity: string): Promise<readonly DataFile[]> =>
  (await openLake(root)).current().files(entity).byDate;

const fetched = async (root: string): Promise<readonly string[]> =>
  (await filesBelow(layoutOf(root).lake))
    .filter((path) => path.endsWith(".parquet"))
    .map((path) => path.split("/")[0]!);

describe.skipIf(disk === null)("a mirror on a full disk", () => {
  test("answers requests for rows that do not fit with 503, others as ever, and all when there is space again", async () => {
    const root = await newReader();
    const server = await serve(root, { copies: "none" });
    const rows = async (entity: string): Promise<number> => {
      const body = await (await server.get(`/api/v1/entities/${entity}?format=ndjson`)).text();
      return body.split("\n").filter((line) => line.startsWith('{"ts_code"')).length;
    };
    expect(await rows("daily")).toBe(10_000);
    const ballast = await fillDisk(disk!, 1_000);
    for (let tries = 0; tries < 3; tries++) {
      const response = await server.get("/api/v1/entities/adj_factor?format=ndjson");
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("5");
      expect(await response.json()).toMatchObject({ code: "out_of_room" });
      expect(await readdir(layoutOf(root).fetching)).toEqual([]);
      expect(await fetched(root)).toEqual(["daily"]);
      const one = await server.json(`/api/v1/entities/daily?ts_code=00000${tries}.SZ`);
      expect(one.count).toBe(1);
    }
    expect(server.logged.join("\n")).toContain("the disk of the mirror is full");
    expect(await (await server.get("/health")).json()).toMatchObject({ status: "ok" });
    await rm(ballast);
    expect(await rows("adj_factor")).toBe(ROWS);
  });

  test("removes files that nobody reads, and only if another one then fits", async () => {
    const root = await newReader();
    const integrity = createIntegrity(layoutOf(root));
    const [first, second] = [await filesIn(root, "adj_factor"), await filesIn(root, "stk_limit")];
    const reading = await integrity.hold(first);
    const ballast = await fillDisk(disk!, 1_000);
    await expect(integrity.hold(second)).rejects.toThrow(NoSpaceError);
    expect(await fetched(root)).toEqual(["adj_factor"]);
    reading.leave();
    // Until the list of files in use is written, which itself needs a little room, reads get the same answer.
    await vi.waitFor(async () => (await integrity.hold(second)).leave(), { timeout: 60_000 });
    expect(await fetched(root)).toEqual(["stk_limit"]);
    await rm(ballast);
    await (await integrity.hold([...first, ...second])).check();
    expect(await fetched(root)).toEqual(["adj_factor", "stk_limit"]);
  });

  test("a file whose last bytes do not fit counts as incomplete", async () => {
    const root = await newReader();
    const [file] = await filesIn(root, "daily");
    const path = join(layoutOf(root).lake, file!.path);
    let refused = 0;
    for (let kilobytes = 16; kilobytes < 160; kilobytes += 4) {
      const integrity = createIntegrity(layoutOf(root));
      const ballast = await fillDisk(disk!, kilobytes);
      const held = await integrity.hold([file!]).catch((error: unknown) => {
        expect(error).toBeInstanceOf(NoSpaceError);
        refused++;
      });
      if (held) expect(await sha256OfFile(path)).toBe(file!.sha256);
      held?.leave();
      await rm(ballast);
      await rm(path, { force: true });
    }
    expect(refused).toBeGreaterThan(0);
  });
});
