// Restoring: completely or not at all, and only into an empty directory.
import { execFileSync, spawnSync } from "node:child_process";
import { cp, mkdir, readFile, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { run } from "../../src/cli/program.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { createToken } from "../../src/store/tokens.js";
import { backUp, contentBelow, flipBit, restored, restoreTo } from "../support/backup.js";
import { copyOf, temporaryFolder } from "../support/folders.js";
import { dropFactors, filesBelow, letClaimsAge, runNode, servedRows } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 120_000 });

/** A lake of which each test gets a copy. */
let original: string;
let root: string;
let place: string;
let again: string;

beforeAll(async () => {
  original = await temporaryFolder();
  await dropFactors(original, ["000001.SZ,20240102,1", "000002.SZ,20250103,2"]);
  await dropFactors(original, ["000001.SZ,20240102,3"]);
  await createToken(original, "alice", { entities: null, expires: null }, new Date());
});

beforeEach(async () => {
  root = await copyOf(original);
  const folder = await temporaryFolder();
  [place, again] = [join(folder, "backup"), join(folder, "again")];
});

const aDataFile = async (folder: string): Promise<string> =>
  join(
    folder,
    (await filesBelow(folder)).find((path) => path.endsWith(".parquet"))!,
  );

describe("a tar archive", () => {
  test("restores the same files", async () => {
    await backUp(root, `${place}.tar`);
    expect(await contentBelow(await restored(`${place}.tar`))).toEqual(await contentBelow(root));
  });

  const hasTar = spawnSync("tar", ["--version"]).status === 0;
  test.skipIf(!hasTar)("can be unpacked by tar, and one that tar made of a backup can be restored", async () => {
    await backUp(root, `${place}.tar`);
    await mkdir(place);
    execFileSync("tar", ["xf", `${place}.tar`, "-C", place]);
    expect(await contentBelow(await restored(place))).toEqual(await contentBelow(root));
    for (const format of ["gnu", "pax", "ustar"]) {
      execFileSync("tar", ["cf", `${place}.${format}.tar`, `--format=${format}`, "-C", place, "."]);
      expect(await contentBelow(await restored(`${place}.${format}.tar`))).toEqual(await contentBelow(root));
    }
  });

  test("that ends early, is damaged or is something else is refused, and what it left is opened by nothing", async () => {
    const archive = `${place}.tar`;
    await backUp(root, archive);
    const whole = await readFile(archive);
    for (const [bytes, reason] of [
      [whole.subarray(0, whole.length >> 1), "ends early: it is not complete"],
      [whole.subarray(0, whole.length - 2048), "holds no complete backup|ends early"],
      [Buffer.from("hello\n".repeat(200)), "is damaged or no tar archive"],
      [Buffer.alloc(1024), "holds no complete backup"],
    ] as const) {
      await writeFile(archive, bytes);
      await expect(restoreTo(archive, again)).rejects.toThrow(new RegExp(reason));
      await expect(openLake(again)).rejects.toThrow("a restore into this data directory has not finished");
    }
    await writeFile(archive, whole);
    await restoreTo(archive, again);
    expect(await contentBelow(again)).toEqual(await contentBelow(root));
  });

  test("goes through a pipe", async () => {
    const main = join(import.meta.dirname, "../../dist/main.js");
    const tapehouse = `'${process.execPath}' '${main}'`;
    const script = `${tapehouse} backup - --data '${root}' | ${tapehouse} restore - --data '${again}'`;
    execFileSync("bash", ["-o", "pipefail", "-c", script], { stdio: "pipe" });
    expect(await contentBelow(again)).toEqual(await contentBelow(root));
    const cut = spawnSync("bash", ["-o", "pipefail", "-c", `${tapehouse} backup - --data '${root}' | true`]);
    expect(cut.status).toBe(1);
    expect(cut.stderr.toString()).toContain("tapehouse: the program that reads the archive ended");
  });
});

describe("a damaged backup", () => {
  test.each([
    ["changed", flipBit, "the checksum does not match"],
    ["cut short", (path: string) => truncate(path, 10), "the file has 10 bytes instead of"],
    ["missing", (path: string) => rm(path), "the file is missing"],
  ])(
    "of which a file is %s is refused and the file named; a sound one then completes the directory",
    async (_, harm, reason) => {
      await backUp(root, place);
      await cp(place, `${place}.sound`, { recursive: true });
      const path = await aDataFile(place);
      await harm(path);
      const name = path.slice(place.length + 1);
      await expect(restoreTo(place, again)).rejects.toThrow(`${name} of the backup ${place} is damaged (${reason}`);
      // Nothing was begun where the sizes show the damage.
      const pointer = await readFile(layoutOf(again).pointer, "utf8").catch(() => null);
      expect(pointer).toBe(harm === flipBit ? "restoring\n" : null);
      await restoreTo(`${place}.sound`, again);
      expect(await contentBelow(again)).toEqual(await contentBelow(root));
    },
  );

  test("whose state was changed is refused", async () => {
    await backUp(root, place);
    const [state] = await readdir(join(place, "states"));
    await flipBit(join(place, "states", state!, "tokens.json"));
    await expect(restoreTo(place, again)).rejects.toThrow(`states/${state}/tokens.json of the backup`);
  });
});

test("a killed restore leaves a directory that nothing opens, and that the next restore completes", async () => {
  await backUp(root, place);
  const archive = `${place}.tar`;
  await backUp(root, archive);
  for (const [source, calls] of [
    [place, [8, 20, 26, 34]],
    [archive, [8, 20, 30, 45]],
  ] as const) {
    const data = `${again}-${source === place ? "folder" : "archive"}`;
    for (const call of calls) {
      const { signal, stderr } = await runNode("test/support/faults.mjs", [
        ...["kill", String(call), "--", "restore", source, "--data", data],
      ]);
      expect(signal, stderr).toBe("SIGKILL");
      const pointer = await readFile(layoutOf(data).pointer, "utf8").catch(() => null);
      // The first call comes before the pointer is written.
      expect(pointer, `call ${call}`).toBe(call === calls[0] ? null : "restoring\n");
      if (pointer === null) continue;
      await expect(openLake(data)).rejects.toThrow("a restore into this data directory has not finished");
      await expect(dropFactors(data, ["000001.SZ,20240102,1"])).rejects.toThrow("has not finished");
    }
    await restoreTo(source, data);
    await letClaimsAge(data);
    expect(await contentBelow(data)).toEqual(await contentBelow(root));
    expect((await readdir(data)).sort()).toEqual(["lake", "state"]);
    await dropFactors(data, ["000009.SZ,20240102,9"]);
  }
});

test("a restore that another backup completes leaves nothing of the first", async () => {
  await backUp(root, place);
  const other = await temporaryFolder();
  await dropFactors(other, ["000007.SZ,20200102,7"]);
  await backUp(other, `${place}.other`);
  await runNode("test/support/faults.mjs", ["kill", "20", "--", "restore", place, "--data", again]);
  await restoreTo(`${place}.other`, again);
  expect(await contentBelow(again)).toEqual(await contentBelow(other));
});

describe("a data directory", () => {
  test.each(["lake", "state", "other"])("that holds %s is refused and stays", async (name) => {
    await backUp(root, place);
    await mkdir(join(again, name), { recursive: true });
    await writeFile(join(again, name, "file"), "mine");
    await expect(restoreTo(place, again)).rejects.toThrow(
      `${again} is not empty (it holds ${name}): restore into a new directory with --data, or move ${again} away first`,
    );
    expect(await filesBelow(again)).toEqual([join(name, "file")]);
  });

  test("may hold an inbox, whose drops that the backup holds are not imported again", async () => {
    await backUp(root, place);
    await mkdir(join(again, "inbox/adj_factor"), { recursive: true });
    await restoreTo(place, again);
    expect(await servedRows(again)).toEqual(await servedRows(root));
  });

  test("is not created if there is no backup, or if the source is a data directory itself", async () => {
    await expect(restoreTo(place, again)).rejects.toThrow(`there is no backup ${place}`);
    await expect(restoreTo(root, again)).rejects.toThrow(`${root} is a data directory, not a backup`);
    await mkdir(place);
    await expect(restoreTo(place, again)).rejects.toThrow("holds no complete backup: backup.json is missing");
    await expect(readdir(again)).rejects.toThrow("ENOENT");
  });

  test("is not created within the backup", async () => {
    await backUp(root, place);
    await expect(restoreTo(place, join(place, "data"))).rejects.toThrow("is within the backup");
  });
});

describe("the commands", () => {
  let err = "";
  beforeEach(() => {
    err = "";
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    vi.spyOn(process.stderr, "write").mockImplementation((text) => ((err += String(text)), true));
    return () => vi.restoreAllMocks();
  });

  test.each([
    [["backup"], 2, "missing required argument 'backup'"],
    [["backup", ""], 2, "the name of the backup is empty"],
    [["backup", "https://host/x"], 2, "https://host/x is a URL"],
    [["backup", "x.tar.gz"], 2, "use a name that ends in .tar"],
    [["backup", "x.zip"], 2, "use a name that ends in .tar"],
    [["backup", "x.tar", "--verify"], 2, "--verify checks an earlier backup in a folder"],
    [["backup", "-", "--json"], 2, "--json and - both use standard output"],
    [["backup", "/none/x.tar"], 1, "there is no folder /none"],
    [["restore"], 2, "missing required argument 'backup'"],
    [["restore", ""], 2, "the name of the backup is empty"],
    [["restore", "/none/x.tar"], 1, "there is no backup /none/x.tar"],
  ])("refuse %j", async (args, code, reason) => {
    expect(await run([...args, "--data", root])).toBe(code);
    expect(err).toContain(reason);
    expect(await servedRows(root)).toHaveLength(2);
  });

  test("report what they did, and other commands say what a backup is", async () => {
    expect(await run(["backup", place, "--data", root, "--json"])).toBe(0);
    expect(await run(["restore", place, "--data", again, "--json"])).toBe(0);
    expect(await run(["verify", "--data", place])).toBe(1);
    expect(err).toContain(`${place} is a backup: restore it into a data directory with tapehouse restore`);
    await writeFile(layoutOf(again).pointer, "restoring\n");
    expect(await run(["verify", "--repair", "--data", again])).toBe(1);
    expect(err).toContain("a restore into this data directory has not finished: run tapehouse restore again");
    expect(await readFile(layoutOf(again).pointer, "utf8")).toBe("restoring\n");
    expect(await run(["doctor", "--port", "0", "--data", again])).toBe(1);
  });
});
