// The Delta log of any history of versions gives the files of the manifest, whatever failed meanwhile.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { cleanLog, deltaVersions } from "../../src/delta/history.js";
import { followEntity } from "../../src/delta/follow.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf, versionFile } from "../../src/lake/layout.js";
import { type DataFile, emptyList, EMPTY_VERSION, fileList, type Version } from "../../src/lake/manifest.js";
import type { ObjectStore } from "../../src/objects/object-store.js";
import { publish } from "../../src/store/session.js";
import { removeVersions } from "../../src/store/vacuum.js";
import { actionsOf, deltaVersionsOf, replayAll } from "../support/delta-log.js";
import { temporaryFolder } from "../support/folders.js";
import { folderObjects } from "../support/folder-objects.js";
import { size } from "../support/size.js";

const ADJ = entityNamed("adj_factor")!;

/** A data file as a list names it. Nobody reads its rows here. */
const fileNamed = (number: number): DataFile => ({
  path: `adj_factor/20240102-20240102-${String(number).padStart(16, "0")}.parquet`,
  sha256: "0".repeat(64),
  bytes: 100 + number,
  rows: 10,
  first: "20240102",
  last: "20240102",
  firstCode: "000001.SZ",
  lastCode: "600000.SH",
});

/** A lake without data files, whose versions are published as the lists say. */
class Lists {
  version: Version = EMPTY_VERSION;
  constructor(readonly root: string) {}

  async publish(files: readonly number[], reason = "import adj_factor", entity = "adj_factor"): Promise<Version> {
    const list = fileList(entity, files.map(fileNamed));
    const now = new Date(1_700_000_000_000 + this.version.sequence * 60_000);
    const base = { version: this.version, files: emptyList };
    return (this.version = await publish(layoutOf(this.root), base, [list], { reason, now }));
  }

  async remove(versions: readonly Version[]): Promise<void> {
    const layout = layoutOf(this.root);
    const files = versions.map(({ sequence }) => join(layout.versions, versionFile(sequence)));
    await removeVersions(layout, versions, files);
  }

  /** Files of each kept version, as the replay shows them. */
  async kept(): Promise<readonly (readonly [string, readonly string[]])[]> {
    const lake = await openLake(this.root);
    const kept: (readonly [string, readonly string[]])[] = [];
    for (const { data_version } of await lake.versions()) {
      const found = await lake.at(data_version);
      if (typeof found === "string") throw new Error(data_version);
      const files = found.files("adj_factor").byDate;
      kept.push([data_version, files.map(({ path, bytes }) => `${path.slice("adj_factor/".length)} ${bytes}`).sort()]);
    }
    return kept;
  }
}

const begun = async (): Promise<Lists> => new Lists(await temporaryFolder());

const objectsOf = (root: string, before?: Parameters<typeof folderObjects>[1]): ObjectStore =>
  folderObjects(layoutOf(root).lake, before);

async function follow(root: string, before?: Parameters<typeof folderObjects>[1]): Promise<number> {
  return followEntity(await openLake(root), objectsOf(root, before), ADJ);
}

/** The files at a `data_version` by the log: those of the newest version of the table until then. */
async function filesAt(root: string, dataVersion: string): Promise<readonly string[] | undefined> {
  const versions = await replayAll(root, "adj_factor");
  return versions.findLast(({ commit }) => commit.operationParameters["data_version"]! <= dataVersion)?.files;
}

type Step =
  | { readonly does: "publish"; readonly files: readonly number[]; readonly reason: string; readonly entity: string }
  | { readonly does: "remove"; readonly oldest: number }
  | { readonly does: "fail"; readonly call: number }
  | { readonly does: "follow" }
  | { readonly does: "clean" };

const files = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 6 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        does: fc.constant("publish" as const),
        reason: fc.constantFrom("import adj_factor", "compact"),
        entity: fc.constantFrom("adj_factor", "adj_factor", "adj_factor", "daily"),
        files,
      }),
    },
    { weight: 6, arbitrary: fc.record({ does: fc.constant("follow" as const) }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant("fail" as const), call: fc.integer({ min: 1, max: 6 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ does: fc.constant("remove" as const), oldest: fc.integer({ min: 1, max: 30 }) }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("clean" as const) }) },
  ),
  { minLength: 5, maxLength: 70 },
);

async function live(history: readonly Step[]): Promise<Lists> {
  const lists = await begun();
  const { root } = lists;
  const published: Version[] = [];
  for (const step of history) {
    if (step.does === "publish") published.push(await lists.publish(step.files, step.reason, step.entity));
    else if (step.does === "remove")
      await lists.remove(published.splice(0, Math.min(step.oldest, published.length - 1)));
    else if (step.does === "follow") await follow(root);
    else if (step.does === "clean") await cleanLog(await openLake(root), objectsOf(root), ADJ);
    else {
      let calls = 0;
      await follow(root, () => {
        if (++calls === step.call) throw new Error("the disk is gone");
      }).catch(() => undefined);
    }
  }
  await follow(root);
  return lists;
}

const HISTORIES = size("DELTA_HISTORIES", 60, 400);

test("any history of versions, failures and clean-ups gives a log whose every version equals the manifest", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const lists = await live(history);
      const kept = await lists.kept();
      const first = (await replayAll(lists.root, "adj_factor"))[0]?.commit.operationParameters["data_version"] ?? "~";
      for (const [dataVersion, expected] of kept) {
        const found = await filesAt(lists.root, dataVersion);
        if (dataVersion < first) expect(expected, dataVersion).toEqual([]);
        else expect(found, dataVersion).toEqual(expected);
      }
      const versions = await replayAll(lists.root, "adj_factor");
      const times = versions.map(({ commit }) => commit.inCommitTimestamp);
      expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
      expect(new Set(versions.map(({ tableId }) => tableId)).size).toBeLessThanOrEqual(1);
      expect(await follow(lists.root)).toBe(0);
    }),
    { numRuns: HISTORIES },
  );
}, 1_800_000);

describe("a log", () => {
  test("begins with a commit for each kept version that changed the entity", async () => {
    const lists = await begun();
    await lists.publish([1]);
    await lists.publish([1, 2]);
    await lists.publish([7], "import daily", "daily");
    await lists.publish([2, 3], "compact");
    expect(await follow(lists.root)).toBe(3);
    const versions = await replayAll(lists.root, "adj_factor");
    expect(versions.map(({ commit }) => [commit.operation, commit.operationParameters["sequence"]])).toEqual([
      ["WRITE", "1"],
      ["WRITE", "2"],
      ["OPTIMIZE", "4"],
    ]);
    const [compacted] = (await actionsOf(lists.root, "adj_factor", 2)).flatMap(({ add }) => add ?? []);
    expect(compacted).toMatchObject({ dataChange: false });
    expect(JSON.parse(compacted!.stats)).toEqual({
      numRecords: 10,
      minValues: { ts_code: "000001.SZ", trade_date: "2024-01-02" },
      maxValues: { ts_code: "600000.SH", trade_date: "2024-01-02" },
      nullCount: { trade_date: 0 },
    });
  });

  test("does not claim that rows stay if versions between were removed", async () => {
    const lists = await begun();
    await lists.publish([1]);
    await follow(lists.root);
    await lists.remove([await lists.publish([1, 2])]);
    await lists.publish([3], "compact");
    await follow(lists.root);
    expect((await replayAll(lists.root, "adj_factor")).at(-1)!.commit.operation).toBe("WRITE");
  });

  test("of an entity without data does not exist, and that of one that lost all its rows is an empty table", async () => {
    const lists = await begun();
    await lists.publish([7], "import daily", "daily");
    expect(await follow(lists.root)).toBe(0);
    expect(await deltaVersionsOf(lists.root, "adj_factor")).toEqual([]);
    await lists.publish([1]);
    await lists.publish([]);
    expect(await follow(lists.root)).toBe(2);
    expect((await replayAll(lists.root, "adj_factor")).at(-1)!.files).toEqual([]);
  });

  test("that is damaged begins anew under the next number, with another id and a checkpoint", async () => {
    const lists = await begun();
    for (const file of [1, 2, 3]) await lists.publish([file]);
    await follow(lists.root);
    const before = (await replayAll(lists.root, "adj_factor"))[0]!.tableId;
    const log = join(lists.root, "lake/adj_factor/_delta_log");
    await writeFile(join(log, "00000000000000000001.json"), "{");
    await rm(join(log, "00000000000000000000.json"));
    await lists.publish([4]);
    expect(await follow(lists.root)).toBe(4);
    await rm(join(log, "00000000000000000001.json"));
    await rm(join(log, "00000000000000000002.json"));
    const versions = await replayAll(lists.root, "adj_factor");
    expect(versions.map(({ version, files }) => [version, files.map((file) => file.slice(33, 34))])).toEqual([
      [3, ["1"]],
      [4, ["2"]],
      [5, ["3"]],
      [6, ["4"]],
    ]);
    expect(versions[0]!.tableId).not.toBe(before);
    expect(await follow(lists.root)).toBe(0);
  });

  test("follows an older state that was restored", async () => {
    const lists = await begun();
    const older = await lists.publish([1]);
    const newer = await lists.publish([1, 2]);
    await follow(lists.root);
    await writeFile(layoutOf(lists.root).pointer, `${older.sequence}\n`);
    await rm(join(layoutOf(lists.root).versions, versionFile(newer.sequence)));
    expect(await follow(lists.root)).toBe(1);
    expect((await replayAll(lists.root, "adj_factor")).at(-1)!.files).toHaveLength(1);
    expect(await follow(lists.root)).toBe(0);
  });

  test("takes each version once from many processes at a time", async () => {
    const lists = await begun();
    for (let i = 1; i <= 30; i++) await lists.publish([i]);
    const counts = await Promise.all(Array.from({ length: 8 }, () => follow(lists.root)));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(30);
    const versions = await replayAll(lists.root, "adj_factor");
    expect(versions.map(({ commit }) => Number(commit.operationParameters["sequence"]))).toEqual(
      Array.from({ length: 30 }, (_, i) => i + 1),
    );
  });

  test("forgets what no kept version needs, and says which versions the lake still keeps", async () => {
    const lists = await begun();
    const versions: Version[] = [];
    for (let i = 1; i <= 45; i++) {
      versions.push(await lists.publish([i]));
      await follow(lists.root);
    }
    await lists.remove(versions.slice(0, 30));
    const lake = await openLake(lists.root);
    await cleanLog(lake, objectsOf(lists.root), ADJ);
    // Checkpoints are at 19 and 39, and the oldest kept version is 30.
    expect((await deltaVersionsOf(lists.root, "adj_factor"))[0]).toBe(19);
    const shown = await deltaVersions(lake, objectsOf(lists.root), ADJ);
    expect(shown.map(({ version, isKept }) => [version, isKept])).toEqual(
      Array.from({ length: 26 }, (_, i) => [i + 19, i + 19 >= 30]),
    );
    expect(shown.at(-1)).toMatchObject({ data_version: versions.at(-1)!.data_version, rows: 10 });
  });
});
