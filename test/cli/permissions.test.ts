// A user who lacks a permission in a data directory: each command names it in one line, and nothing is lost.
import { chmod, chown, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createToken } from "../../src/store/tokens.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { AUTHORIZED, expectTold, tapehouseUnder, urlOf, type Process } from "../support/processes.js";
import { someOf } from "../support/size.js";
import { factorFile } from "../support/upkeep.js";

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
const as = (id: number): readonly string[] => [
  ...["setpriv", `--reuid=${id}`, `--regid=${id}`, "--clear-groups", "--no-new-privs"],
];

vi.setConfig({ testTimeout: 240_000 });

let root: string;
let temp: string;
let file: string;

const inLake = (path: string): string => join(root, path);
const below = async (): Promise<readonly string[]> => (await readdir(root, { recursive: true })).sort();

/** Every file with its bytes. */
async function contents(): Promise<ReadonlyMap<string, string>> {
  const files = (await below()).filter((path) => /\.(json|parquet|csv)$|current$/.test(path));
  return new Map(await Promise.all(files.map(async (path) => [path, await readFile(inLake(path), "hex")] as const)));
}

beforeEach(async () => {
  [root, temp] = [await temporaryFolder(), await temporaryFolder()];
  await publishRows(root, {
    adj_factor: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, 1.0 AS adj_factor",
  });
  await createToken(root, "alice", { entities: null, expires: null }, new Date());
  file = await factorFile(["000001.SZ,20240103,1"]);
  for (const path of [file, join(file, "..")]) await chmod(path, 0o755);
  for (const path of ["", ...(await below())]) await chown(inLake(path), NOBODY, NOBODY);
  await chown(temp, NOBODY, NOBODY);
});
afterEach(async () => {
  for (const path of ["state", "state/versions", "lake/adj_factor"]) await chmod(inLake(path), 0o755);
});

const run = (...args: readonly string[]): Process => tapehouseUnder(as(NOBODY), ...args, "--data", root);

const COMMANDS: Readonly<Record<string, () => readonly string[]>> = {
  status: () => ["status"],
  verify: () => ["verify"],
  import: () => ["import", "adj_factor", file],
  "token list": () => ["token", "list"],
  "token create": () => ["token", "create", "bob"],
  "token revoke": () => ["token", "revoke", "alice"],
  serve: () => ["serve", "--port", "0", "--workers", "1", "--no-watch", "--temp", join(temp, "own")],
};

interface Case {
  readonly path: string;
  readonly mode: number;
  /** The missing permission, as it is reported. */
  readonly missing: string;
  readonly failing: readonly string[];
}

const VARIANTS: readonly Case[] = [
  { path: "state", mode: 0o555, missing: "write to", failing: ["import", "token create", "token revoke"] },
  { path: "state/tokens.json", mode: 0o000, missing: "read", failing: ["token list", "token create", "token revoke"] },
  { path: "state/versions", mode: 0o000, missing: "read", failing: ["status", "verify", "import", "serve"] },
  { path: "lake/adj_factor", mode: 0o555, missing: "write to", failing: ["import"] },
];

const CASES: readonly Case[] = [
  { path: "state", mode: 0o000, missing: "enter", failing: Object.keys(COMMANDS) },
  { path: "state/current", mode: 0o000, missing: "read", failing: ["status", "verify", "import", "serve"] },
  { path: "lake/adj_factor", mode: 0o000, missing: "enter", failing: ["verify", "import"] },
];

describe.skipIf(!isRoot)(isRoot ? "without a right" : "without a right (skipped: needs root)", () => {
  test.each(someOf([...CASES, ...VARIANTS]))(
    "to $missing $path, commands say so in one line and change nothing",
    async (one) => {
      const before = await contents();
      await chmod(inLake(one.path), one.mode);
      const ended = await Promise.all(
        one.failing.map(async (name) => {
          const { told, ended: code } = run(...COMMANDS[name]!());
          return { name, code: await code, told: told.stderr + told.stdout };
        }),
      );
      for (const { name, code, told } of ended) {
        expect({ name, code }).toEqual({ name, code: 1 });
        expect(told, name).toContain(`the user nobody may not ${one.missing} ${inLake(one.path)}`);
        expect(told, name).not.toMatch(/unexpectedly|EACCES|\bat .*\.ts:/);
      }
      await chmod(inLake(one.path), 0o755);
      expect(await contents()).toEqual(before);
      expect(await run("import", "adj_factor", file).ended).toBe(0);
    },
  );

  test("to write to state, a server serves, says once that it imports no drops, and loses none", async () => {
    // A watcher creates a folder for each entity.
    await mkdir(inLake("inbox"));
    await chown(inLake("inbox"), NOBODY, NOBODY);
    await chmod(inLake("state"), 0o555);
    const before = await contents();
    const server = run("serve", "--port", "0", "--workers", "1", "--temp", join(temp, "own"));
    const url = await urlOf(server);
    await expectTold(server, /^not watching the inbox: the user nobody may not write to \S+\/state$/m);
    expect((await fetch(`${url}/api/v1/entities/adj_factor`, { headers: AUTHORIZED })).status).toBe(200);
    expect(server.told.stderr).not.toMatch(/unexpectedly|died/);
    expect(await contents()).toEqual(before);
  });

  test("a user without a name, as in a container, is identified by number", async () => {
    await chmod(root, 0o700);
    for (const command of ["status", "doctor"]) {
      const { told, ended } = tapehouseUnder(as(54_321), command, "--data", root);
      expect(await ended).toBe(1);
      expect(told.stderr + told.stdout).toMatch(/the user 54321 may not (?:enter|read) /);
    }
  });

  test("to read a data file, a query gets 503 until the permission is restored", async () => {
    const data = (await below()).find((path) => path.endsWith(".parquet"))!;
    await chmod(inLake(data), 0o000);
    const server = run("serve", "--port", "0", "--workers", "1", "--no-watch", "--temp", join(temp, "own"));
    const ask = async (): Promise<Response> =>
      fetch(`${await urlOf(server)}/api/v1/entities/adj_factor`, { headers: AUTHORIZED });
    const refused = await ask();
    expect([refused.status, await refused.json()]).toEqual([
      503,
      expect.objectContaining({ code: "data_unavailable" }),
    ]);
    await expectTold(server, /the user nobody may not read \S+\.parquet/);
    await chmod(inLake(data), 0o644);
    expect((await ask()).status).toBe(200);
  });
});
