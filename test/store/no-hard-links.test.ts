// A data directory on a file system without hard links, and without symbolic ones.
import { readdir, rm, utimes } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { verify } from "../../src/repair/verify.js";
import { temporaryFolder } from "../support/folders.js";
import { drop, factors, outcomesOf } from "../support/ingest.js";
import { canHideLinks, withoutLinks } from "../support/no-links.js";
import { tapehouseUnder, until } from "../support/processes.js";
import { run, type Ended } from "../support/run.js";
import { longTest, size, someOf, someSteps } from "../support/size.js";
import { dropFactors, factorFile, filesBelow, MEMORY, neededFiles, servedRows } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 300_000 });

const ROOT = join(import.meta.dirname, "../..");
const { ENOTSUP, EPERM, ENOSYS } = constants.errno;

let without: Awaited<ReturnType<typeof withoutLinks>>;

const command = (errno: number, ...args: readonly string[]): Promise<Ended> =>
  run(process.execPath, [join(ROOT, "dist/main.js"), ...args], { env: without(errno) });

const nodeScript = (script: string, ...args: readonly string[]): Promise<Ended> =>
  run(process.execPath, [join(ROOT, script), ...args], { env: without(ENOTSUP) });

/** Locks and claims that do not say whose they are are left alone for a minute: lets that minute pass. */
async function letLocksAge(root: string): Promise<void> {
  const { state } = layoutOf(root);
  const longAgo = new Date(Date.now() - 3_600_000);
  for (const name of await readdir(state).catch(() => []))
    if (/\.lock/.test(name)) await utimes(join(state, name), longAgo, longAgo);
}

const ROUNDS = size("ROUNDS", 1, 3);

const title = "a file system without links";
describe.skipIf(!canHideLinks)(canHideLinks ? title : `${title} (skipped: needs Linux and gcc)`, () => {
  beforeAll(async () => {
    without = await withoutLinks();
  });

  test("holds a lake as any other does, and the doctor says so", async () => {
    const root = join(await temporaryFolder(), "lake");
    const calls: readonly (readonly string[])[] = [
      ["import", "adj_factor", await factorFile(["000001.SZ,20240102,1"])],
      ["import", "adj_factor", await factorFile(["000001.SZ,20240103,2"])],
      ["token", "create", "alice"],
      ["gaps", "add", "daily", "--start", "20240104", "--end", "20240104"],
      ["compact"],
      ["vacuum", "--older-than", "0d"],
      ["verify", "--deep"],
    ];
    for (const call of calls) {
      const { exitCode, output } = await command(ENOTSUP, ...call, "--data", root);
      expect(exitCode, output).toBe(0);
    }
    expect(await servedRows(root)).toEqual(['["000001.SZ","2024-01-02",1]', '["000001.SZ","2024-01-03",2]']);
    expect((await readdir(layoutOf(root).state)).filter((name) => /lock|tmp/.test(name))).toEqual([]);
    const { output } = await command(ENOTSUP, "doctor", "--port", "0", "--data", root);
    expect(output).toMatch(/^ok +hard links +none on this file system/m);
    expect((await readdir(root)).sort()).toEqual(["lake", "state"]);
  });

  test.each(
    someOf([
      ["EPERM", EPERM],
      ["ENOSYS", ENOSYS],
    ]),
  )("is recognized by %s too", async (_, errno) => {
    const root = await temporaryFolder();
    const file = await factorFile(["000001.SZ,20240102,1"]);
    const { exitCode, output } = await command(errno, "import", "adj_factor", file, "--data", root);
    expect(exitCode, output).toBe(0);
    expect(await filesBelow(root)).toEqual(await neededFiles(root));
  });

  test("takes the drops of two processes at the same time, round after round", async () => {
    const root = await temporaryFolder();
    for (let round = 0; round < ROUNDS; round++) {
      const files = await Promise.all(
        ["000001.SZ", "000002.SZ"].map((code) => factorFile([`${code},20240102,${round}`])),
      );
      const ended = await Promise.all(
        files.map((file) => command(ENOTSUP, "import", "adj_factor", file, "--data", root)),
      );
      expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
      expect(await servedRows(root)).toEqual([
        `["000001.SZ","2024-01-02",${round}]`,
        `["000002.SZ","2024-01-02",${round}]`,
      ]);
    }
    const versions = await (await openLake(root)).versions();
    expect(versions.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 2 * ROUNDS }, (_, i) => i + 1));
    expect(await filesBelow(root)).toEqual(await neededFiles(root));
  });

  longTest("leaves the lake intact wherever an import crashes, and the next import cleans up", async () => {
    const [root, states] = [await temporaryFolder(), await temporaryFolder()];
    await dropFactors(root, ["000001.SZ,20240102,1"]);
    const before = await servedRows(root);
    const file = await factorFile(["000002.SZ,20240103,2"]);
    const args = ["snapshot", root, states, "--", "import", "adj_factor", file, "--data", root];
    const { exitCode, output } = await nodeScript("test/support/faults.mjs", ...args);
    expect(exitCode, output).toBe(0);
    const after = await servedRows(root);
    const steps = (await readdir(states)).map(Number).sort((a, b) => a - b);
    expect(steps.length).toBeGreaterThan(15);
    const next = await factorFile(["000003.SZ,20240104,3"]);
    for (const step of someSteps(steps)) {
      const [state, when] = [join(states, String(step)), `died at step ${step}`];
      const rows = await servedRows(state);
      expect([before, after], when).toContainEqual(rows);
      expect((await verify(state, { deep: false, ...MEMORY })).faults, when).toEqual([]);
      await letLocksAge(state);
      const ended = await command(ENOTSUP, "import", "adj_factor", next, "--data", state);
      expect(ended.exitCode, `${when}: ${ended.output}`).toBe(0);
      expect(await servedRows(state), when).toEqual([...rows, '["000003.SZ","2024-01-04",3]']);
      expect(await filesBelow(state), when).toEqual(await neededFiles(state));
      await rm(state, { recursive: true });
    }
  });

  test("holds a backup, and is restored to, even if it refuses modes", async () => {
    const [root, place] = [await temporaryFolder(), join(await temporaryFolder(), "backup")];
    const again = join(await temporaryFolder(), "again");
    await dropFactors(root, ["000001.SZ,20240102,1"]);
    for (const args of [
      ["backup", place, "--data", root],
      ["backup", place, "--verify", "--data", root],
      ["restore", place, "--data", again],
    ]) {
      const env = without(EPERM, { NO_MODES: "1" });
      const { exitCode, output } = await run(process.execPath, [join(ROOT, "dist/main.js"), ...args], { env });
      expect(exitCode, output).toBe(0);
    }
    expect(await servedRows(again)).toEqual(await servedRows(root));
    expect(await filesBelow(again)).toEqual(await neededFiles(again));
  });

  test("takes drops from the inbox", async () => {
    const root = await temporaryFolder();
    await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,1"));
    const env = without(ENOTSUP);
    const preload = ["env", `LD_PRELOAD=${env["LD_PRELOAD"]}`, `NO_LINKS=${env["NO_LINKS"]}`, "NO_MODES=1"];
    const ingest = tapehouseUnder(preload, "ingest", "--data", root);
    await until("the drop is imported", async () => (await outcomesOf(root))["adj_factor/a.csv"]);
    expect(await outcomesOf(root), ingest.told.stderr).toEqual({ "adj_factor/a.csv": "taken" });
    expect(await servedRows(root)).toEqual(['["000001.SZ","2024-01-02",1]']);
  });
});
