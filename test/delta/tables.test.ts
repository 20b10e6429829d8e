// Whatever publishes keeps the Delta tables, whatever fails; and what tidies up the lake leaves their logs alone.
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { ENTITY_NAMES, entityNamed } from "../../src/catalog/index.js";
import { NO_FAILURES, readDeltaState } from "../../src/lake/delta-state.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { repair } from "../../src/repair/repair.js";
import { verify } from "../../src/repair/verify.js";
import { compact } from "../../src/store/compact.js";
import { deleteRows } from "../../src/store/delete.js";
import { revert } from "../../src/store/revert.js";
import { beginTables, endTables, followTables, listTables } from "../../src/store/tables.js";
import { vacuum } from "../../src/store/vacuum.js";
import { backUp, restored } from "../support/backup.js";
import { deltaVersionsOf, replayAll } from "../support/delta-log.js";
import { copyAtCall } from "../support/dying.js";
import { copyOf, temporaryFolder } from "../support/folders.js";
import { drop, factors, ingester } from "../support/ingest.js";
import { publishRows } from "../support/lake.js";
import { someSteps, size } from "../support/size.js";
import { dropFactors, filesBelow, MEMORY } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 300_000 });

const ADJ = entityNamed("adj_factor")!;
const ALL = { where: [], from: null, to: null, all: true };

/** The files of an entity in the served version, as a replay shows them. */
async function servedFiles(root: string, entity = "adj_factor"): Promise<readonly string[]> {
  const { byDate } = (await openLake(root)).current().files(entity);
  return byDate.map(({ path, bytes }) => `${path.slice(entity.length + 1)} ${bytes}`).sort();
}

/** The reasons of the versions of a table, each with whether it is an optimization. */
async function commitsOf(root: string, entity = "adj_factor"): Promise<readonly string[]> {
  const versions = await replayAll(root, entity);
  return versions.map(({ commit }) => `${commit.operation} ${commit.operationParameters["reason"]}`);
}

/** Every table has the rows of the served version. */
async function expectKept(root: string, when = ""): Promise<void> {
  for (const entity of ENTITY_NAMES) {
    const newest = (await replayAll(root, entity)).at(-1)?.files ?? [];
    expect(newest, `${entity} ${when}`).toEqual(await servedFiles(root, entity));
  }
}

let three: string;

beforeAll(async () => {
  three = await temporaryFolder();
  await dropFactors(three, ["000001.SZ,20240102,1", "000002.SZ,20240102,2"]);
  await dropFactors(three, ["000001.SZ,20240103,3"]);
  await dropFactors(three, ["000001.SZ,20240104,4"]);
});

describe("the tables of a lake", () => {
  test("begin with all kept versions, and are kept by imports, deletions, compaction and reverts", async () => {
    const root = await copyOf(three);
    expect(await followTables(layoutOf(root))).toBeNull();
    expect(await beginTables(root)).toBe(3);
    await dropFactors(root, ["000001.SZ,20240105,5"]);
    await compact(root, MEMORY);
    const { data_version } = (await openLake(root)).current().version;
    await deleteRows(root, ADJ, ALL, MEMORY);
    expect((await replayAll(root, "adj_factor")).at(-1)!.files).toEqual([]);
    await revert(root, data_version, MEMORY);
    await expectKept(root);
    expect(await commitsOf(root)).toEqual([
      ...Array.from({ length: 4 }, () => "WRITE import adj_factor"),
      "OPTIMIZE compact",
      "WRITE delete adj_factor",
      "WRITE revert to 5",
    ]);
  });

  test("are kept by drops and by the upkeep in the background", async () => {
    const root = await copyOf(three);
    await beginTables(root);
    await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240108,8"));
    await (await ingester(root)).settle();
    await expectKept(root);
    expect((await commitsOf(root)).at(-1)).toMatch(/^WRITE /);
  });

  test("have no commit if only the code copy or another entity changes", async () => {
    const root = await copyOf(three);
    await beginTables(root);
    await publishRows(root, { stk_limit: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date" });
    await publishRows(
      root,
      { adj_factor: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, 1.0 AS adj_factor" },
      { codeCopy: true },
    );
    const listed = await listTables(root);
    expect(listed.map(({ entity, version, rows }) => [entity, version, rows])).toEqual([
      ["adj_factor", (await deltaVersionsOf(root, "adj_factor")).at(-1), 4],
      ["stk_limit", 0, 1],
    ]);
    await expectKept(root);
  });

  test("end with their logs, and begin anew with another id", async () => {
    const root = await copyOf(three);
    await beginTables(root);
    const before = (await replayAll(root, "adj_factor"))[0]!.tableId;
    await endTables(root);
    expect((await filesBelow(root)).filter((path) => path.includes("_delta_log"))).toEqual([]);
    await dropFactors(root, ["000001.SZ,20240105,5"]);
    expect((await filesBelow(root)).filter((path) => path.includes("_delta_log"))).toEqual([]);
    await beginTables(root);
    expect((await replayAll(root, "adj_factor"))[0]!.tableId).not.toBe(before);
    await expectKept(root);
  });
});

describe("a log that cannot be written", () => {
  /** A file in the place of the log's folder. */
  const block = async (root: string): Promise<string> => {
    const log = join(root, "lake/adj_factor/_delta_log");
    await rename(log, `${log}-away`);
    await writeFile(log, "");
    return log;
  };
  const unblock = async (log: string): Promise<void> => {
    await rm(log);
    await rename(`${log}-away`, log);
  };

  test("holds no publication up; it is reported once, counted, and made up for with the next one", async () => {
    const root = await copyOf(three);
    await beginTables(root);
    const log = await block(root);
    const said: string[] = [];
    const options = { ...MEMORY, log: (line: string) => said.push(line) };
    await deleteRows(root, ADJ, { ...ALL, all: false, from: "20240104", to: "20240104" }, options);
    await deleteRows(root, ADJ, { ...ALL, all: false, from: "20240103", to: "20240103" }, options);
    expect(said).toEqual([expect.stringMatching(/^the Delta tables are behind: /)]);
    const state = await readDeltaState(layoutOf(root));
    expect(state).toMatchObject({ failures: 2, last: { reason: expect.stringContaining("_delta_log") as string } });
    await unblock(log);
    await publishRows(root, { stk_limit: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date" });
    expect(await readDeltaState(layoutOf(root))).toEqual({ failures: 2, last: null });
    expect((await commitsOf(root)).slice(-2)).toEqual(["WRITE delete adj_factor", "WRITE delete adj_factor"]);
    await expectKept(root);
  });

  test("is made up for by the upkeep in the background", async () => {
    const root = await copyOf(three);
    await beginTables(root);
    const log = await block(root);
    await dropFactors(root, ["000001.SZ,20240105,5"]);
    const watcher = await ingester(root);
    await unblock(log);
    await watcher.settle();
    await watcher.after(10_000);
    await expectKept(root);
    expect((await readDeltaState(layoutOf(root)))!.last).toBeNull();
    expect(watcher.logged.filter((line) => line.includes("Delta"))).toEqual(["the Delta tables are up to date again"]);
  });

  test("keeps a vacuum from removing files that the table still names", async () => {
    const root = await copyOf(three);
    await beginTables(root);
    const log = await block(root);
    await deleteRows(root, ADJ, ALL, MEMORY);
    const before = await filesBelow(root);
    await expect(vacuum(root, { olderThan: 0, keep: 1, now: new Date() })).rejects.toThrow(
      /^nothing was removed, since the Delta tables cannot be written: /,
    );
    expect(await filesBelow(root)).toEqual(before);
    await unblock(log);
    await vacuum(root, { olderThan: 0, keep: 1, now: new Date() });
    await expectKept(root);
  });
});

describe("a log stays where it is", () => {
  test("through vacuum, verify and repair", async () => {
    const root = await copyOf(three);
    await beginTables(root);
    await dropFactors(root, ["000001.SZ,20240105,5"]);
    const logs = async (): Promise<readonly string[]> =>
      (await filesBelow(root)).filter((path) => path.includes("_delta_log"));
    const before = await logs();
    await vacuum(root, { olderThan: 0, keep: 1, now: new Date() });
    expect((await verify(root, { deep: true, ...MEMORY })).faults).toEqual([]);
    await repair(root, { ...MEMORY, deep: true, giveUp: false });
    expect(await logs()).toEqual(before);
    await expectKept(root);
  });

  test("a repair that rewrites a file or drops versions is one more commit", async () => {
    const root = await copyOf(three);
    await beginTables(root);
    const [first] = (await openLake(root)).current().files("adj_factor").byDate;
    await rm(join(root, "lake", first!.path));
    await repair(root, { ...MEMORY, deep: false, giveUp: true });
    await expectKept(root);
    expect((await commitsOf(root)).at(-1)).toBe("WRITE repair, rows given up");
  });

  test("but no backup has one: a restored lake has the tables, which begin anew", async () => {
    const root = await copyOf(three);
    await beginTables(root);
    const before = (await replayAll(root, "adj_factor"))[0]!.tableId;
    const place = join(await temporaryFolder(), "backup");
    await backUp(root, place);
    const other = await restored(place);
    expect(await readDeltaState(layoutOf(other))).toEqual(NO_FAILURES);
    expect(await deltaVersionsOf(other, "adj_factor")).toEqual([]);
    expect(await followTables(layoutOf(other))).toBe(3);
    expect((await replayAll(other, "adj_factor"))[0]!.tableId).not.toBe(before);
    await expectKept(other);
  });
});

test("a crash between any two writes is made up for by the next command", async () => {
  const commands = {
    import: (root: string) => dropFactors(root, ["000001.SZ,20240105,5"]),
    vacuum: (root: string) => vacuum(root, { olderThan: 0, keep: 1, now: new Date() }),
    begin: (root: string) => beginTables(root),
  };
  for (const [name, command] of Object.entries(commands)) {
    const base = await copyOf(three);
    if (name !== "begin") await beginTables(base);
    let died: string | null = base;
    for (const call of someSteps(
      Array.from({ length: 1_000 }, (_, i) => i + 1),
      size("CRASHES_OF_TABLES", 25, 3),
    )) {
      const root = await copyOf(base);
      died = await copyAtCall(call, root, () => command(root));
      if (died === null) break;
      const when = `${name} died at call ${call}`;
      await dropFactors(died, ["000001.SZ,20240108,8"]);
      if ((await readDeltaState(layoutOf(died))) !== null) await expectKept(died, when);
      expect((await verify(died, { deep: false, ...MEMORY })).faults, when).toEqual([]);
      await rm(root, { recursive: true });
      await rm(died, { recursive: true });
    }
    expect(died, `${name} has fewer writes than were looked at`).toBeNull();
  }
});
