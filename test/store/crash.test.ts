// Import, compact and vacuum crash at every step, and get a full disk at every step.
import { createHash } from "node:crypto";
import { cp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { vacuum } from "../../src/store/vacuum.js";
import { verify } from "../../src/repair/verify.js";
import { temporaryFolder } from "../support/folders.js";
import { someOf, someSteps } from "../support/size.js";
import {
  dropFactors,
  factorFile,
  filesBelow,
  letClaimsAge,
  MEMORY,
  neededFiles,
  rowsOf,
  runNode,
  servedRows,
} from "../support/upkeep.js";

// Each test opens and writes about forty lakes.
vi.setConfig({ testTimeout: 300_000 });

const FAULTS = "test/support/faults.mjs";
const DROPS = [
  ["000001.SZ,20240102,1", "000002.SZ,20240102,2", "000001.SZ,20240103,3"],
  ["000001.SZ,20240104,4"],
  ["000001.SZ,20240104,5", "000002.SZ,20240105,6"],
];
/** Corrects one file, adds a row to another, and adds a new day. */
const DROP = ["000001.SZ,20240103,7", "000003.SZ,20240105,8", "000001.SZ,20240108,9"];
const NEXT = ["000009.SZ,20240102,10", "000009.SZ,20240109,11"];

/** The arguments of each command; `{}` stands for the lake. */
const COMMANDS = {
  "the first import": (file: string) => ["import", "adj_factor", file, "--data", "{}"],
  "an import": (file: string) => ["import", "adj_factor", file, "--data", "{}"],
  compact: () => ["compact", "--data", "{}"],
  vacuum: () => ["vacuum", "--older-than", "0d", "--data", "{}"],
} as const;
type Name = keyof typeof COMMANDS;
const COMMAND_NAMES: readonly Name[] = ["an import", "the first import", "compact", "vacuum"];

/** The number of the served version, and its rows. */
async function contentOf(root: string): Promise<string> {
  return JSON.stringify([(await openLake(root)).current().version.sequence, await servedRows(root)]);
}

/** Equal for lakes that differ only in random names and times. */
async function fingerprint(root: string): Promise<string> {
  const hash = createHash("sha256");
  for (const path of await filesBelow(root)) {
    const isScratch = path.startsWith(join("lake", ".scratch"));
    hash.update(isScratch ? "scratch" : path.replace(/[0-9a-f-]{36}$/, ""));
    if (!isScratch) hash.update(await readFile(join(root, path)));
  }
  return hash.digest("hex");
}

async function baseFor(name: Name): Promise<string> {
  const root = await temporaryFolder();
  if (name === "the first import") return root;
  for (const lines of DROPS) await dropFactors(root, lines);
  return root;
}

/** Every kept version must still have its rows. Copies of a lake number their versions alike. */
async function rowsByVersion(root: string): Promise<ReadonlyMap<number, string>> {
  const rows = new Map<number, string>();
  const lake = await openLake(root);
  for (const { data_version, sequence } of await lake.versions()) {
    const found = await lake.at(data_version);
    if (typeof found === "string") throw new Error(`${data_version} is kept and yet ${found}`);
    rows.set(sequence, JSON.stringify(await rowsOf(root, found, "adj_factor")));
  }
  return rows;
}

describe.each(someOf(COMMAND_NAMES))("%s", (name) => {
  let base: string;
  let args: readonly string[];
  let before: string;
  let versions: ReadonlyMap<number, string>;
  const looked = new Set<string>();

  beforeAll(async () => {
    base = await baseFor(name);
    args = COMMANDS[name](await factorFile(DROP));
    before = await contentOf(base);
    versions = await rowsByVersion(base);
  });

  /** Inspects equal lakes only once. */
  async function expectSoundOnce(root: string, states: readonly string[], when: string): Promise<void> {
    const seen = await fingerprint(root);
    if (!looked.has(seen)) {
      looked.add(seen);
      await expectSound(root, states, when);
      await expectNextImportWorks(root, when);
    }
    await rm(root, { recursive: true });
  }

  async function expectVersionsSame(root: string, when: string): Promise<void> {
    for (const [sequence, rows] of await rowsByVersion(root)) {
      if (versions.has(sequence)) expect(rows, when).toBe(versions.get(sequence));
    }
  }

  async function expectSound(root: string, states: readonly string[], when: string): Promise<void> {
    expect(states, when).toContain(await contentOf(root));
    await expectVersionsSame(root, when);
    expect((await verify(root, { deep: false, ...MEMORY })).faults, when).toEqual([]);
  }

  async function expectNextImportWorks(root: string, when: string): Promise<void> {
    const rows = await servedRows(root);
    await letClaimsAge(root);
    await dropFactors(root, NEXT);
    const added = NEXT.map((line) => line.split(",")).map(
      ([code, date, factor]) => `["${code}","${date!.replace(/(....)(..)(..)/, "$1-$2-$3")}",${factor}]`,
    );
    expect([...(await servedRows(root))].sort(), when).toEqual([...rows, ...added].sort());
    await expectVersionsSame(root, when);
    // When interrupted, these leave files that only the next vacuum finds.
    if (name === "vacuum" || name === "compact") await vacuum(root, { olderThan: 0, keep: 1, now: new Date() });
    const found = (await filesBelow(root)).filter((path) => path !== join("state", "removed.txt"));
    expect(found, when).toEqual(await neededFiles(root));
  }

  test("leaves the lake intact wherever it crashes, and the next import cleans up", async () => {
    const root = await temporaryFolder();
    const states = await temporaryFolder();
    await cp(base, root, { recursive: true, preserveTimestamps: true });
    const { exitCode, stderr } = await runNode(FAULTS, ["snapshot", root, states, "--", ...args]);
    expect(exitCode, stderr).toBe(0);
    const after = await contentOf(root);
    const steps = (await readdir(states)).map(Number).sort((a, b) => a - b);
    expect(steps.length).toBeGreaterThan(15);
    for (const step of someSteps(steps)) {
      await expectSoundOnce(join(states, String(step)), [before, after], `died at step ${step}`);
    }
  });

  test("keeps the old version on a full disk and reports it, or has published; it works when there is space again", async () => {
    const states = await temporaryFolder();
    const { exitCode, stderr } = await runNode(FAULTS, ["full", base, states, "--", ...args]);
    expect(exitCode, stderr).toBe(0);
    const outcomes = JSON.parse(await readFile(join(states, "outcomes.json"), "utf8")) as {
      exitCode: number;
      message: string;
    }[];
    expect(outcomes.at(-1)!.exitCode).toBe(0);
    expect(outcomes.length).toBeGreaterThan(5);
    const after = await contentOf(join(states, String(outcomes.length)));
    const full = [...outcomes.keys()].slice(0, -1);
    const looked = someSteps(full);
    for (const i of full) {
      const outcome = outcomes[i]!;
      const lake = join(states, String(i + 1));
      const when = `full at step ${i + 1}`;
      // What was published before the disk was full stays, and the next writer records it.
      const isPublished = outcome.exitCode === 0;
      if (!isPublished) {
        expect(outcome.exitCode, when).toBe(1);
        expect(outcome.message, when).toMatch(/tapehouse: no space is left on the disk that holds .+\n$/);
      }
      if (!looked.includes(i)) continue;
      const state = isPublished ? after : before;
      expect(await contentOf(lake), when).toBe(state);
      await expectSoundOnce(lake, [state], when);
    }
  });
});

test("a killed process does not hinder the next one", async () => {
  const root = await baseFor("an import");
  const file = await factorFile(DROP);
  const killed: (string | null)[] = [];
  for (const call of [3, 12, 20, 27]) {
    const { signal } = await runNode(FAULTS, [
      "kill",
      String(call),
      "--",
      "import",
      "adj_factor",
      file,
      "--data",
      root,
    ]);
    killed.push(signal);
    expect((await verify(root, { deep: false, ...MEMORY })).faults).toEqual([]);
  }
  expect(killed).toEqual(["SIGKILL", "SIGKILL", "SIGKILL", "SIGKILL"]);
  await letClaimsAge(root);
  await dropFactors(root, DROP);
  expect(await servedRows(root)).toContain('["000001.SZ","2024-01-08",9]');
  expect(await filesBelow(root)).toEqual(await neededFiles(root));
});

/** Commands, and the system calls at which a signal ends them. */
const ENDED: Readonly<Record<string, readonly [calls: readonly number[], args: readonly string[]]>> = {
  "token create": [
    [2, 4, 6],
    ["token", "create", "alice"],
  ],
  demo: [
    [4, 30, 90],
    ["demo", "--stocks", "10", "--days", "30"],
  ],
  "gaps add": [
    [2, 3, 5],
    ["gaps", "add", "daily", "--start", "20240102", "--end", "20240103"],
  ],
};

test.each(someOf(Object.keys(ENDED)))("%s, when a signal ends it, does not hinder the next command", async (name) => {
  const [calls, args] = ENDED[name]!;
  const root = name === "demo" ? await temporaryFolder() : await baseFor("an import");
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  for (const [i, call] of calls.entries()) {
    const { signal, stderr } = await runNode(FAULTS, [
      "kill",
      String(call),
      signals[i]!,
      "--",
      ...args,
      "--data",
      root,
    ]);
    expect(signal, stderr).toBe(signals[i]);
    expect((await verify(root, { deep: false, ...MEMORY })).faults, `ended at call ${call}`).toEqual([]);
  }
  const { exitCode, stderr } = await runNode(FAULTS, ["kill", "0", "--", ...args, "--data", root]);
  expect(exitCode, stderr).toBe(0);
  await letClaimsAge(root);
  await dropFactors(root, NEXT);
  expect((await filesBelow(root)).filter((path) => /scratch|\.tmp$|write\.lock/.test(path))).toEqual([]);
});
