import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { wasRemoved } from "../../src/lake/kept-versions.js";
import { vacuum } from "../../src/store/vacuum.js";
import { verify } from "../../src/repair/verify.js";
import { temporaryFolder } from "../support/folders.js";
import { ageObjects, folderTest, newLake } from "../support/lakes.js";
import { serve } from "../support/server.js";
import { dropFactors, filesBelow, MEMORY, neededFiles, servedRows, tapehouse } from "../support/upkeep.js";

const HOUR = 3_600_000;
const at = (hour: number): Date => new Date(Date.UTC(2024, 0, 2, hour));

/** Three versions, published at the hours 0, 1 and 2; each replaces the one row of the one before. */
async function threeVersions(): Promise<{ root: string; versions: readonly string[] }> {
  const root = await newLake();
  for (const hour of [0, 1, 2]) await dropFactors(root, [`000001.SZ,20240102,${hour}`], at(hour));
  await ageObjects(root);
  const versions = (await (await openLake(root)).versions()).map((version) => version.data_version);
  return { root, versions };
}

describe("vacuum", () => {
  test("removes versions that were replaced long enough ago, and the files that only they need", async () => {
    const { root, versions } = await threeVersions();
    const rows = await servedRows(root);
    const report = await vacuum(root, { olderThan: 2 * HOUR, keep: 1, now: at(3) });
    expect(report).toMatchObject({ removed: [versions[0]], kept: 2, files: 3 });
    expect(report.bytes).toBeGreaterThan(500);
    expect(await servedRows(root)).toEqual(rows);
    expect(await filesBelow(root)).toEqual([...(await neededFiles(root)), "state/removed.txt"].sort());
    expect((await verify(root, { ...MEMORY, deep: true })).faults).toEqual([]);
  });

  test("counts the age of a version from its replacement, so that running reads can finish", async () => {
    const { root, versions } = await threeVersions();
    const removedAt = async (hour: number): Promise<unknown> =>
      (await vacuum(root, { olderThan: 10 * HOUR, keep: 1, dryRun: true, now: at(hour) })).removed;
    expect(await removedAt(10)).toEqual([]);
    expect(await removedAt(11)).toEqual([versions[0]]);
    expect(await removedAt(12)).toEqual([versions[0], versions[1]]);
    expect(await removedAt(150)).toEqual([versions[0], versions[1]]);
  });

  test("keeps the newest versions regardless of age, and always the served one", async () => {
    const { root, versions } = await threeVersions();
    expect((await vacuum(root, { olderThan: 0, keep: 2, now: at(99) })).removed).toEqual([versions[0]]);
    expect((await vacuum(root, { olderThan: 0, keep: 0, now: at(99) })).removed).toEqual([versions[1]]);
    expect((await vacuum(root, { olderThan: 0, keep: 1, now: at(99) })).removed).toEqual([]);
  });

  test("asks whether the clock is right if nothing was published for long, and removes nothing", async () => {
    const { root, versions } = await threeVersions();
    const before = await filesBelow(root);
    const options = { olderThan: HOUR, keep: 1, now: at(24 * 365) };
    const message =
      "the clock says 2025-01-01T08:00:00.000+08:00, 364 days after the newest version, so 2 versions would be removed: " +
      "set the clock, or say that it is right with --trust-clock";
    await expect(vacuum(root, options)).rejects.toThrow(message);
    await expect(vacuum(root, { ...options, dryRun: true })).rejects.toThrow(message);
    expect(await filesBelow(root)).toEqual(before);
    const { removed } = await vacuum(root, { ...options, trustClock: true });
    expect(removed).toEqual(versions.slice(0, 2));
    // Nothing is left to remove, so there is no question.
    expect((await vacuum(root, options)).removed).toEqual([]);
  });

  test("reports what it would remove and removes nothing in a dry run", async () => {
    const { root, versions } = await threeVersions();
    const before = await filesBelow(root);
    const dry = await vacuum(root, { olderThan: 0, keep: 1, dryRun: true, now: at(9) });
    expect(dry.removed).toEqual(versions.slice(0, 2));
    expect(await filesBelow(root)).toEqual(before);
    expect(await vacuum(root, { olderThan: 0, keep: 1, now: at(9) })).toEqual(dry);
  });

  test("distinguishes a removed version from one that never existed", async () => {
    const { root, versions } = await threeVersions();
    await vacuum(root, { olderThan: 0, keep: 1, now: at(9) });
    const lake = await openLake(root);
    expect(await Promise.all(versions.slice(0, 2).map((version) => lake.at(version)))).toEqual(["removed", "removed"]);
    expect(await lake.at("2024-01-02T08:30:00.000+08:00")).toBe("unknown");
    expect(await lake.at(versions[2]!)).toBe(lake.current());
  });

  // In a bucket, garbage is what its objects are: see test/mirror/vacuum.
  folderTest("removes data files and lists that no version names, and no unknown files", async () => {
    const { root } = await threeVersions();
    await writeFile(join(root, "lake/adj_factor/20240102-20240102-0123456789abcdef.parquet"), "left by a crash");
    await writeFile(join(root, `state/lists/${"ab".repeat(32)}.json`), "{}");
    await writeFile(join(root, "lake/adj_factor/notes.txt"), "mine");
    expect(await vacuum(root, { olderThan: 99 * HOUR, keep: 1, now: at(9) })).toMatchObject({ removed: [], files: 2 });
    expect(await filesBelow(root)).toEqual([...(await neededFiles(root)), "lake/adj_factor/notes.txt"].sort());
  });

  test("removes what a crash left of a list that an older version names", async () => {
    const { root } = await threeVersions();
    const { lists } = (await (await openLake(root)).versions())[0]!;
    await writeFile(join(root, `state/lists/${lists["adj_factor"]}.json.tmp`), "{");
    await writeFile(join(root, "state/pending.txt"), "");
    await vacuum(root, { olderThan: 99 * HOUR, keep: 1, now: at(9) });
    expect(await filesBelow(root)).toEqual(await neededFiles(root));
  });

  // Without its state, a folder is no mirror.
  folderTest("removes nothing if the lake has files but the state folder has no version", async () => {
    const { root } = await threeVersions();
    await rm(join(root, "state"), { recursive: true });
    const before = await filesBelow(join(root, "lake"));
    await expect(vacuum(root, { olderThan: 0, keep: 1, now: at(9) })).rejects.toThrow(/holds files but no version/);
    expect(await filesBelow(join(root, "lake"))).toEqual(before);
  });

  test("refuses to guess what a damaged version needs", async () => {
    const { root } = await threeVersions();
    await writeFile(join(root, "state/versions/0000000002.json"), "{}");
    await expect(vacuum(root, { olderThan: 0, keep: 1, now: at(9) })).rejects.toThrow(
      "version 2 is damaged; see: tapehouse verify",
    );
  });

  test("makes a running server answer 410 for a removed version and serve the current one", async () => {
    const { root, versions } = await threeVersions();
    const server = await serve(root);
    const path = (version: string): string => `/api/v1/entities/adj_factor?data_version=${encodeURIComponent(version)}`;
    expect((await server.json(path(versions[0]!))).rows).toEqual([["000001.SZ", "20240102", 0]]);
    await vacuum(root, { olderThan: 0, keep: 1, now: at(9) });
    expect((await server.get(path(versions[0]!))).status).toBe(410);
    expect((await server.json("/api/v1/entities/adj_factor")).rows).toEqual([["000001.SZ", "20240102", 2]]);
  });

  test("is a command that accepts a time span", async () => {
    const { root, versions } = await threeVersions();
    const command = ["vacuum", "--older-than", "1d", "--trust-clock", "--json", "--data", root];
    const { exitCode, stdout } = await tapehouse(...command);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ removed: versions.slice(0, 2), kept: 1 });
    expect((await tapehouse("vacuum", "--older-than", "soon", "--data", root)).exitCode).toBe(2);
    expect((await tapehouse("vacuum", "--keep", "0", "--data", root)).exitCode).toBe(2);
  });
});

describe("the list of removed versions", () => {
  test("is searched without reading it all", async () => {
    const path = join(await temporaryFolder(), "removed.txt");
    const lines = Array.from({ length: 1_000 }, (_, i) => at(i).toISOString().replace("Z", "+08:00"));
    await writeFile(path, lines.map((line) => `${line}\n`).join(""));
    for (const i of [0, 1, 499, 500, 998, 999]) expect(await wasRemoved(path, lines[i]!)).toBe(true);
    for (const other of ["", "1999-01-01T00:00:00.000+08:00", lines[5]!.replace(".000", ".001"), "9"]) {
      expect(await wasRemoved(path, other)).toBe(false);
    }
    expect(await wasRemoved(`${path}.absent`, lines[0]!)).toBe(false);
  });

  test("keeps what earlier runs removed, in order", async () => {
    const { root, versions } = await threeVersions();
    await vacuum(root, { olderThan: 0, keep: 2, now: at(9) });
    await vacuum(root, { olderThan: 0, keep: 1, now: at(9) });
    expect(await readFile(join(root, "state/removed.txt"), "utf8")).toBe(`${versions[0]!}\n${versions[1]!}\n`);
  });
});
