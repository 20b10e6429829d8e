import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openLake, type Snapshot } from "../../src/lake/lake.js";
import { layoutOf, versionFile, type Layout } from "../../src/lake/layout.js";
import {
  emptyList,
  EMPTY_VERSION,
  fileList,
  type DataFile,
  type FileList,
  type Version,
} from "../../src/lake/manifest.js";
import { withWriteSession, publish } from "../../src/store/session.js";
import { folderTest, newLake } from "../support/lakes.js";
import { dropFactors, filesBelow, MEMORY, neededFiles, servedRows } from "../support/upkeep.js";

const NOON = new Date(Date.UTC(2024, 0, 2, 4));

function listOf(entity: string, rows: number): FileList {
  const file: DataFile = {
    ...{ path: `${entity}/f.parquet`, sha256: "", bytes: 1, rows, first: "20240102", last: "20240102" },
    ...{ firstCode: "a", lastCode: "z" },
  };
  return fileList(entity, [file]);
}

/** A layout with the file of the lists of `listOf`, which a mirror sends. */
async function newLayout(): Promise<Layout> {
  const layout = layoutOf(await newLake());
  for (const entity of ["daily", "weekly"]) {
    await mkdir(join(layout.lake, entity), { recursive: true });
    await writeFile(join(layout.lake, entity, "f.parquet"), "");
  }
  return layout;
}

const on = (version: Version): Snapshot => ({ version, files: emptyList });

describe("publishing", () => {
  test("numbers versions from one and names each by the time in China", async () => {
    const layout = await newLayout();
    const first = await publish(layout, on(EMPTY_VERSION), [listOf("daily", 1)], { reason: "import daily", now: NOON });
    expect(first).toMatchObject({ sequence: 1, data_version: "2024-01-02T12:00:00.000+08:00", reason: "import daily" });
    expect((await openLake(layout.root)).current().version).toEqual(first);
  });

  test("gives every version a later name, even if the clock stands still or goes back", async () => {
    const layout = await newLayout();
    const first = await publish(layout, on(EMPTY_VERSION), [listOf("daily", 1)], { reason: "one", now: NOON });
    const second = await publish(layout, on(first), [listOf("daily", 2)], { reason: "two", now: NOON });
    const third = await publish(layout, on(second), [listOf("daily", 3)], { reason: "three", now: new Date(0) });
    expect([second, third].map((version) => version.data_version)).toEqual([
      "2024-01-02T12:00:00.001+08:00",
      "2024-01-02T12:00:00.002+08:00",
    ]);
  });

  test("carries over the lists of entities that did not change, and leaves out one without files", async () => {
    const layout = await newLayout();
    const first = await publish(layout, on(EMPTY_VERSION), [listOf("daily", 1), listOf("weekly", 1)], {
      reason: "one",
      now: NOON,
    });
    const second = await publish(layout, on(first), [emptyList("weekly")], { reason: "two", now: NOON });
    expect(second.lists).toEqual({ daily: first.lists["daily"] });
    const lake = await openLake(layout.root);
    expect(lake.current().files("weekly")).toEqual(emptyList("weekly"));
    const before = await lake.at(first.data_version);
    expect(before).toMatchObject({ version: first });
  });

  // In a bucket, that is what every lost race is: see test/mirror/races.
  folderTest("refuses a number that another writer took: nothing changes", async () => {
    const layout = await newLayout();
    const first = await publish(layout, on(EMPTY_VERSION), [listOf("daily", 1)], { reason: "one", now: NOON });
    const path = join(layout.versions, versionFile(2));
    await writeFile(path, "of the other");
    await expect(publish(layout, on(first), [listOf("daily", 2)], { reason: "two", now: NOON })).rejects.toThrow(
      "another writer published at the same time",
    );
    expect(await readFile(path, "utf8")).toBe("of the other");
    expect((await openLake(layout.root)).current().version).toEqual(first);
  });

  test("a session publishes nothing if no list differs, and leaves no file that is not served", async () => {
    const root = await newLake();
    await dropFactors(root, ["000001.SZ,20240102,1"]);
    const rows = await servedRows(root);
    const version = await withWriteSession(root, MEMORY, ({ base, publish: publishLists }) =>
      publishLists([base.files("adj_factor"), emptyList("daily")], "nothing new"),
    );
    expect(version).toBeNull();
    expect((await dropFactors(root, ["000001.SZ,20240102,1"])).version).toBeNull();
    expect(await servedRows(root)).toEqual(rows);
    expect(await filesBelow(root)).toEqual(await neededFiles(root));
  });

  test("a session that fails leaves the lake as it was", async () => {
    const root = await newLake();
    await dropFactors(root, ["000001.SZ,20240102,1"]);
    const before = await filesBelow(root);
    await expect(dropFactors(root, ["000001.SZ,20240103,1", "000002.SZ,20240230,1"])).rejects.toThrow("20240230");
    expect(await filesBelow(root)).toEqual(before);
  });
});
