import { readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { openLake, type Snapshot } from "../../src/lake/lake.js";
import { fileList, type DataFile } from "../../src/lake/manifest.js";
import { writeDataFile } from "../../src/store/datafile.js";
import { merge } from "../../src/store/merge.js";
import { repair } from "../../src/repair/repair.js";
import { withWriteSession } from "../../src/store/session.js";
import { verify } from "../../src/repair/verify.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { dropFactors, factorFile, MEMORY, servedRows, tapehouse } from "../support/upkeep.js";

const adj = entityNamed("adj_factor")!;
const quick = { ...MEMORY, deep: false };
const deep = { ...MEMORY, deep: true };
const repairOnly = { ...quick, giveUp: false };

/** Two versions: one day, then a second day; the code copy holds both days. */
async function smallLake(): Promise<string> {
  const root = await temporaryFolder();
  const day = (date: string): string =>
    `SELECT * FROM (VALUES ('000001.SZ', DATE '${date}', 1.5), ('000002.SZ', DATE '${date}', 2.5))
     t(ts_code, trade_date, adj_factor)`;
  await publishRows(root, { adj_factor: day("2024-01-02") });
  await publishRows(root, { adj_factor: day("2024-01-03") }, { codeCopy: true });
  return root;
}

async function served(root: string): Promise<Snapshot> {
  return (await openLake(root)).current();
}

const pathOf = (root: string, file: DataFile | undefined): string => join(root, "lake", file!.path);

/** Changes one bit in the middle of a file, and nothing else of it. */
async function flipBit(path: string): Promise<void> {
  const [bytes, before] = [await readFile(path), await stat(path)];
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(path, bytes);
  await utimes(path, before.atime, before.mtime);
}

describe("verify", () => {
  test("finds nothing in an intact lake, and nothing in an empty one", async () => {
    const root = await smallLake();
    expect(await verify(root, deep)).toMatchObject({ versions: 2, files: 3, faults: [] });
    expect(await verify(await temporaryFolder(), deep)).toMatchObject({ versions: 0, files: 0, bytes: 0, faults: [] });
  });

  test.each([
    ["gone", (path: string) => rm(path), /^the file is missing$/],
    ["cut short", (path: string) => truncate(path, 100), /^the file has 100 bytes instead of \d+$/],
    ["changed by one bit", flipBit, /^the checksum does not match$/],
  ] as const)("names a file that is %s, and the versions that need it", async (_, harm, problem) => {
    const root = await smallLake();
    const file = (await served(root)).files("adj_factor").byDate[0]!;
    await harm(pathOf(root, file));
    const versions = (await (await openLake(root)).versions()).map((version) => version.data_version);
    const { faults } = await verify(root, quick);
    expect(faults).toEqual([
      {
        path: `lake/${file.path}`,
        entity: "adj_factor",
        kind: "damaged",
        problem: expect.stringMatching(problem) as string,
        versions,
      },
    ]);
  });

  test("names a damaged list and a damaged version", async () => {
    const root = await smallLake();
    const { version } = await served(root);
    const list = `state/lists/${version.lists["adj_factor"]!}.json`;
    await flipBit(join(root, list));
    await flipBit(join(root, "state/versions/0000000001.json"));
    const { faults } = await verify(root, quick);
    expect(faults.map(({ path, versions }) => [path, versions])).toEqual([
      ["state/versions/0000000001.json", ["number 1"]],
      [list, [version.data_version]],
    ]);
  });

  test("names a pointer that leads nowhere", async () => {
    const root = await smallLake();
    await writeFile(join(root, "state/current"), "7\n");
    expect((await verify(root, quick)).faults).toMatchObject([
      { path: "state/versions/0000000007.json", problem: "the file is missing" },
    ]);
    await writeFile(join(root, "state/current"), "seven\n");
    expect((await verify(root, quick)).faults).toMatchObject([{ path: "state/current" }]);
  });

  test.each([
    ["rows out of order", { order: ["trade_date"], identityIs: "group" }, 2, "2 rows are not in order"],
    ["an identity twice", { identityIs: "group" }, 1, "1 identities have more than one row"],
  ] as const)("finds %s in a file whose checksum is right", async (_, changed, first, problem) => {
    const root = await temporaryFolder();
    const rows = `(SELECT '00000' || c || '.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, c AS adj_factor
                   FROM (VALUES (${first}), (1)) t(c))`;
    await withWriteSession(root, MEMORY, async ({ writer, layout, publish }) => {
      const file = (await writeDataFile({ writer, layout }, { ...adj, ...changed }, { relation: rows }))!;
      await publish([fileList("adj_factor", [file])], "test");
    });
    expect((await verify(root, quick)).faults).toMatchObject([{ kind: "wrong", problem }]);
  });

  test("finds bounds that differ from the list, and files that overlap", async () => {
    const root = await temporaryFolder();
    const day = `(SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, FACTOR AS adj_factor)`;
    await withWriteSession(root, MEMORY, async ({ writer, layout, publish }) => {
      const one = (await writeDataFile({ writer, layout }, adj, { relation: day.replace("FACTOR", "1") }))!;
      const other = (await writeDataFile({ writer, layout }, adj, { relation: day.replace("FACTOR", "2") }))!;
      await publish(
        [
          fileList("adj_factor", [
            { ...one, mostOnADay: 2 },
            { ...other, last: "20240105" },
          ]),
        ],
        "test",
      );
    });
    const { faults } = await verify(root, quick);
    expect(faults.map(({ problem }) => problem.replace(/[0-9a-f]{16}/, "…"))).toEqual([
      "mostOnADay is 1 in the file and 2 in its list",
      "last is 20240102 in the file and 20240105 in its list",
      "it overlaps adj_factor/20240102-20240102-….parquet",
    ]);
  });

  test("compares the code copy with the date files with --deep", async () => {
    const root = await smallLake();
    await withWriteSession(root, MEMORY, async ({ writer, layout, base, publish }) => {
      const list = base.files("adj_factor");
      const other = `(SELECT ts_code, trade_date, adj_factor + 1 AS adj_factor FROM
                      read_parquet('${pathOf(root, list.byCode[0])}'))`;
      const copy = (await writeDataFile({ writer, layout }, adj, { relation: other }, "byCode"))!;
      await publish([{ ...list, byCode: [copy] }], "test");
    });
    expect((await verify(root, quick)).faults).toEqual([]);
    expect((await verify(root, deep)).faults).toMatchObject([{ problem: "the code copy differs from the date files" }]);
  });

  test("is a command that names faults and fails if there are any", async () => {
    const root = await smallLake();
    expect((await tapehouse("verify", "--data", root)).exitCode).toBe(0);
    await flipBit(pathOf(root, (await served(root)).files("adj_factor").byDate[1]));
    const { exitCode, stdout, stderr } = await tapehouse("verify", "--data", root);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/tapehouse: 1 fault found\n$/);
    expect(stdout).toMatch(
      /^lake\/adj_factor\/20240103-\S+: the checksum does not match\n {2}needed by .+ for adj_factor\n/,
    );
  });
});

describe("repair", () => {
  test("rewrites a damaged date file from the code copy", async () => {
    const root = await smallLake();
    const rows = await servedRows(root);
    for (const file of (await served(root)).files("adj_factor").byDate) await flipBit(pathOf(root, file));
    const { repaired, lost, faults, version } = await repair(root, repairOnly);
    expect({ repaired: repaired.map(({ from, isSame }) => [from, isSame]), lost, faults, version }).toEqual({
      repaired: [
        ["copy", true],
        ["copy", true],
      ],
      lost: [],
      faults: [],
      version: null,
    });
    expect(await servedRows(root)).toEqual(rows);
  });

  test("rewrites a damaged code copy from the date files", async () => {
    const root = await smallLake();
    await rm(pathOf(root, (await served(root)).files("adj_factor").byCode[0]));
    expect(await repair(root, repairOnly)).toMatchObject({ faults: [], lost: [] });
    expect((await verify(root, deep)).faults).toEqual([]);
  });

  test("reports what is lost without a second copy, and changes nothing", async () => {
    const root = await temporaryFolder();
    await dropFactors(root, ["000001.SZ,20240102,1"]);
    await dropFactors(root, ["000001.SZ,20240103,2", "000002.SZ,20240105,3"]);
    await flipBit(pathOf(root, (await served(root)).files("adj_factor").byDate[1]));
    const { lost, version, faults } = await repair(root, repairOnly);
    const dates = { first: "20240103", last: "20240105" };
    expect(lost).toEqual([{ entity: "adj_factor", ...dates, rows: 2, inInbox: 0, missing: [] }]);
    expect([version, faults.length]).toEqual([null, 1]);
  });

  test("gives up lost rows with --give-up, so that they can be dropped again", async () => {
    const root = await smallLake();
    await dropFactors(root, ["000001.SZ,20240104,9"]);
    await flipBit(pathOf(root, (await served(root)).files("adj_factor").byDate[2]));
    await expect(dropFactors(root, ["000001.SZ,20240104,9"])).rejects.toThrow(
      /a data file is damaged \(.+the checksum does not match\); see: tapehouse verify/,
    );
    const { lost, version } = await repair(root, { ...repairOnly, giveUp: true });
    expect(lost).toMatchObject([{ entity: "adj_factor", first: "20240104", last: "20240104", rows: 1 }]);
    expect(version).not.toBeNull();
    expect(await servedRows(root)).toHaveLength(4);
    await dropFactors(root, ["000001.SZ,20240104,9"]);
    expect((await servedRows(root)).at(-1)).toBe('["000001.SZ","2024-01-04",9]');
  });

  test("never serves rows from a code copy that were given up", async () => {
    const root = await smallLake();
    const { byDate, byCode } = (await served(root)).files("adj_factor");
    await flipBit(pathOf(root, byDate[0]));
    await flipBit(pathOf(root, byCode[0]));
    await repair(root, { ...repairOnly, giveUp: true });
    const list = (await served(root)).files("adj_factor");
    expect(list.codeRanges).toEqual([["20240103", "20240103"]]);
    expect(list.byCode.map(({ rows }) => rows)).toEqual([2]);
  });

  test("is a command that says what to do", async () => {
    const root = await temporaryFolder();
    const drop = await factorFile(["000001.SZ,20240102,1"]);
    await tapehouse("import", "adj_factor", drop, "--data", root);
    await flipBit(pathOf(root, (await served(root)).files("adj_factor").byDate[0]));
    const { exitCode, stdout } = await tapehouse("verify", "--repair", "--data", root);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      "adj_factor 20240102 to 20240102: 0 of 1 row are in the inbox; nothing was changed. --repair --give-up serves",
    );
    expect((await tapehouse("verify", "--give-up", "--data", root)).exitCode).toBe(2);
  });
});

test("rows of a damaged file never get a new checksum: a drop that would rewrite it is refused", async () => {
  const root = await temporaryFolder();
  await dropFactors(root, ["000001.SZ,20240102,1", "000002.SZ,20240102,1"]);
  const list = (await served(root)).files("adj_factor");
  await flipBit(pathOf(root, list.byDate[0]));
  await withWriteSession(root, MEMORY, async ({ writer, layout }) => {
    const staged = `(SELECT '000002.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, 2 AS adj_factor)`;
    await expect(merge({ writer, layout }, adj, list, { fresh: { relation: staged } })).rejects.toThrow(
      "the checksum does not match",
    );
  });
});
