// Whole processes with wrong clocks (libfaketime): versions stay in order, drops are taken, nothing is removed early.
import { existsSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { newLake } from "../support/lakes.js";
import { drop, factors } from "../support/ingest.js";
import { endAll, tapehouseUnder, until } from "../support/processes.js";
import { isLong } from "../support/size.js";
import { factorFile, filesBelow, servedRows } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 300_000 });

const LIBRARY = `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/faketime/libfaketimeMT.so.1`;
const hasFakeTime = existsSync(LIBRARY);
if (!hasFakeTime) console.warn(`no tests under wrong clocks: install libfaketime (${LIBRARY})`);

/** `clock` is in the format of libfaketime, e.g. `+1y`. Only the wall clock changes, not the monotonic clock. */
const under = (clock: string): readonly string[] => [
  ...["env", `LD_PRELOAD=${LIBRARY}`, `FAKETIME=${clock}`, "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1"],
];

async function runAt(clock: string, ...args: readonly string[]): Promise<string> {
  const command = tapehouseUnder(clock === "" ? ["env"] : under(clock), ...args);
  const code = await command.ended;
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${command.told.stderr}`);
  return command.told.stdout;
}

const CLOCKS = ["", "@2099-01-01 00:00:00", "@1970-01-02 00:00:00", "-1h", "@2040-01-01 00:00:00", ""];

test.skipIf(!hasFakeTime)(
  "imports with a clock that jumps back and forth create versions in order, and a vacuum keeps today's",
  async () => {
    const root = await newLake();
    for (const [i, clock] of CLOCKS.entries()) {
      await runAt(clock, "import", "adj_factor", await factorFile([`000001.SZ,20240102,${i}`]), "--data", root);
    }
    const versions = await (await openLake(root)).versions();
    expect(versions.map(({ sequence }) => sequence)).toEqual(CLOCKS.map((_, i) => i + 1));
    expect(versions.map(({ data_version }) => data_version)).toEqual(
      versions.map(({ data_version }) => data_version).sort(),
    );
    expect(versions[1]!.data_version).toMatch(/^2099-01-01/);
    const removed = await runAt("", "vacuum", "--older-than", "1h", "--data", root);
    expect(removed).toContain("removed 0 versions");
    expect(await runAt("@1970-01-02 00:00:00", "vacuum", "--older-than", "1h", "--data", root)).toContain(
      "removed 0 versions",
    );
    expect(await servedRows(root)).toEqual([`["000001.SZ","2024-01-02",${CLOCKS.length - 1}]`]);
    const doctor = tapehouseUnder([], "doctor", "--data", root, "--port", "0", "--json");
    await doctor.ended;
    expect(doctor.told.stdout).toMatch(/the newest version is 2099-01-01.*one of them is wrong/);
  },
);

test.skipIf(!hasFakeTime)("a vacuum with a clock that is a year ahead is refused and removes nothing", async () => {
  const root = await newLake();
  for (let i = 0; i < 3; i++) {
    await runAt("", "import", "adj_factor", await factorFile([`000001.SZ,20240102,${i}`]), "--data", root);
  }
  const before = await filesBelow(root);
  await expect(runAt("+1y", "vacuum", "--older-than", "7d", "--data", root)).rejects.toThrow(
    /vacuum ended with 1: .*36[456] days after the newest version, so 2 versions would be removed: set the clock/,
  );
  expect(await filesBelow(root)).toEqual(before);
  expect(await runAt("+6d", "vacuum", "--older-than", "7d", "--data", root)).toContain("removed 0 versions");
  const trusted = await runAt("+1y", "vacuum", "--older-than", "7d", "--trust-clock", "--data", root);
  expect(trusted).toContain("removed 2 versions");
  expect(await servedRows(root)).toEqual(['["000001.SZ","2024-01-02",2]']);
});

test.skipIf(!hasFakeTime).each(["@2099-01-01 00:00:00", ...(isLong ? ["@1970-01-02 00:00:00"] : [])])(
  "drops are taken once, in the order of their times, with the clock at %s",
  async (clock) => {
    const root = await newLake();
    await drop(root, "adj_factor/1.csv", factors("000001.SZ,20240102,1"));
    const watching = tapehouseUnder(under(clock), "ingest", "--data", root);
    await until("the first drop is taken", () => watching.told.stderr.includes("imported inbox/adj_factor/1.csv"));
    await drop(root, "adj_factor/2.csv", factors("000001.SZ,20240102,2"));
    await until("the second drop is taken", () => watching.told.stderr.includes("imported inbox/adj_factor/2.csv"));
    await endAll();
    const after = tapehouseUnder([], "ingest", "--data", root);
    await drop(root, "adj_factor/3.csv", factors("000001.SZ,20240102,3"));
    await until("the third drop is taken", () => after.told.stderr.includes("imported inbox/adj_factor/3.csv"));
    expect(after.told.stderr).not.toMatch(/imported inbox.*[12].csv/);
    expect(await servedRows(root)).toEqual(['["000001.SZ","2024-01-02",3]']);
  },
);
