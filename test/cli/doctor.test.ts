// Each fault is real, and the doctor has to find it.
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { chmod, cp } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { checkInstallation } from "../../src/cli/doctor.js";
import type { Finding } from "../../src/cli/doctor/finding.js";
import { run } from "../../src/cli/program.js";
import { importFiles } from "../../src/store/import.js";
import { entityNamed } from "../../src/catalog/index.js";
import { createToken } from "../../src/store/tokens.js";
import { checkKernel } from "../../src/encode/rows.js";
import { temporaryFolder } from "../support/folders.js";
import { COMMAND, expectTold, tapehouseUnder } from "../support/processes.js";
import { hasSail, startSail } from "../support/sail.js";
import { serve } from "../support/server.js";

const ROOT = join(import.meta.dirname, "../..");
const isRoot = process.getuid?.() === 0;
let sound: string;
let root: string;
let temp: string;
let out = "";

beforeAll(async () => {
  sound = await temporaryFolder();
  const file = join(sound, "factors.csv");
  writeFileSync(file, "ts_code,trade_date,adj_factor\n000001.SZ,20240102,1\n");
  await importFiles(join(sound, "lake"), entityNamed("adj_factor")!, [file], { map: {}, set: {}, memory: "1GB" });
  await createToken(join(sound, "lake"), "alice", { entities: null, expires: null }, new Date());
});
beforeEach(async () => {
  [root, temp] = [join(await temporaryFolder(), "lake"), await temporaryFolder()];
  await cp(join(sound, "lake"), root, { recursive: true });
  vi.spyOn(process.stdout, "write").mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, "write").mockImplementation(() => true);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** The findings that are not ok, and the exit code. */
async function complaints(...options: readonly string[]): Promise<{ code: number; found: readonly Finding[] }> {
  out = "";
  const given = ["--data", root, "--temp", temp, "--port", "0", ...options];
  const code = await run(["doctor", "--json", ...given]);
  const found = (JSON.parse(out) as Finding[]).filter(({ state }) => state !== "ok");
  // These tests ignore small machines, disks that are nearly full, and temporary folders in memory.
  const ignored = ["room", "file system"];
  if (!options.includes("--temp")) ignored.push("temp");
  if (!options.includes("--memory")) ignored.push("memory");
  return { code, found: found.filter(({ thing }) => !ignored.includes(thing)) };
}

const dataFile = (): string =>
  join(
    root,
    "lake/adj_factor",
    readdirSync(join(root, "lake/adj_factor")).find((name) => name.endsWith(".parquet"))!,
  );

describe("the doctor", () => {
  test("finds nothing if there are no faults", async () => {
    expect(await complaints()).toEqual({ code: 0, found: [] });
  });

  test("prints what it found, what it expected and how to fix it, with exit code 1", async () => {
    unlinkSync(dataFile());
    out = "";
    expect(await run(["doctor", "--data", root, "--temp", temp, "--port", "0"])).toBe(1);
    expect(out).toMatch(/^ok {7}Node {12}\d+\./);
    expect(out).toMatch(/\nwrong {4}data files .*is missing\n {9}expected: .*\n {9}fix: {6}tapehouse verify --repair/);
  });
});

const FAULTS: readonly (readonly [string, () => unknown, Partial<Finding>])[] = [
  [
    "a data file that is cut short",
    () => truncateSync(dataFile(), 10),
    { state: "wrong", thing: "data files", found: expect.stringContaining("has 10 bytes") },
  ],
  ["a data file that is gone", () => unlinkSync(dataFile()), { state: "wrong", thing: "data files" }],
  ["a damaged pointer", () => writeFileSync(join(root, "state/current"), "x"), { state: "wrong", thing: "manifest" }],
  [
    "a version that is gone",
    () => unlinkSync(join(root, "state/versions/0000000001.json")),
    { state: "wrong", thing: "manifest" },
  ],
  ["damaged tokens", () => writeFileSync(join(root, "state/tokens.json"), "[{"), { state: "wrong", thing: "tokens" }],
  ["no token", () => unlinkSync(join(root, "state/tokens.json")), { state: "warning", thing: "tokens" }],
  [
    "expired tokens alone",
    async () => {
      unlinkSync(join(root, "state/tokens.json"));
      await createToken(root, "bob", { entities: null, expires: "1d" }, new Date("2020-01-01"));
    },
    { state: "warning", thing: "tokens", found: "0 valid tokens, 1 expired: no client can read" },
  ],
  [
    "what a crash left",
    () => writeFileSync(join(root, "state/pending.txt"), ""),
    { state: "warning", thing: "leftovers" },
  ],
  [
    "a lock of a process that has ended",
    () => {
      const { pid } = spawnSync("true");
      writeFileSync(join(root, "state/write.lock"), JSON.stringify({ id: "x", pid, host: hostOfLock() }));
    },
    { state: "warning", thing: "lock", found: expect.stringContaining("write.lock") },
  ],
  [
    "drops that no process imports",
    () => {
      mkdirSync(join(root, "inbox/daily"), { recursive: true });
      writeFileSync(join(root, "inbox/daily/a b.csv"), "x");
    },
    { state: "warning", thing: "inbox", found: expect.stringContaining("1 file waiting: daily/a b.csv") },
  ],
  [
    "a variable that is ignored",
    () => void vi.stubEnv("UV_THREADPOOL_SIZE", "4"),
    { state: "warning", thing: "threads" },
  ],
  [
    "a setting that is not understood",
    () => void vi.stubEnv("TAPEHOUSE_STREAMS", "many"),
    { state: "wrong", thing: "settings" },
  ],
];

/** The host as the lock itself records it. */
function hostOfLock(): string {
  const script =
    'import { withLock } from "./src/lock.ts"; import { readFileSync } from "node:fs";' +
    'await withLock(process.argv[1], async () => console.log(JSON.parse(readFileSync(process.argv[1], "utf8")).host));';
  const args = ["--import", "tsx", "--input-type=module", "-e", script, join(temp, "a.lock")];
  return execFileSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" }).trim();
}

describe("of a cluster the doctor finds", () => {
  test("that it is away", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const { code, found } = await complaints("--cluster", `sc://127.0.0.1:${port}`);
    expect(code).toBe(1);
    expect(found).toMatchObject([{ thing: "cluster", found: expect.stringContaining("is not available") }]);
  });

  test.runIf(hasSail)("that it answers, and whether it sees the data files", async () => {
    const { address } = await startSail();
    expect(await complaints("--cluster", address)).toEqual({ code: 0, found: [] });
    expect(out).toMatch(/answers, as Spark [0-9.]+, and reads adj_factor/);
    const { code, found } = await complaints("--cluster", address, "--cluster-data", "/nowhere");
    expect(code).toBe(1);
    expect(found).toMatchObject([{ thing: "cluster", found: expect.stringMatching(/sees 0 of 1 row/) }]);
  });
});

describe("in a data directory it finds", () => {
  test.each(FAULTS)("%s", async (_name, make, expected) => {
    await make();
    const { code, found } = await complaints();
    expect(found).toEqual([expect.objectContaining(expected)]);
    expect(found[0]!.way).not.toBeNull();
    expect(code).toBe(expected.state === "wrong" ? 1 : 0);
  });

  test("a drop that was refused, with its reason", async () => {
    const path = "daily/bad.csv";
    mkdirSync(join(root, "inbox/daily"), { recursive: true });
    writeFileSync(join(root, "inbox", path), "ts_code\n1\n");
    const ingest = tapehouseUnder([], "ingest", "--data", root);
    await expectTold(ingest, /refused/);
    ingest.child.kill("SIGTERM");
    await ingest.ended;
    const { found } = await complaints();
    expect(found).toMatchObject([
      { state: "warning", thing: "drops", found: expect.stringContaining(`inbox/${path}: `) },
    ]);
  });

  test("that there is none, or no lake in it", async () => {
    root = join(root, "no such");
    expect(await complaints()).toMatchObject({ code: 1, found: [{ thing: "data directory" }] });
    root = await temporaryFolder();
    expect(await complaints()).toMatchObject({ code: 1, found: [{ found: `${root} has no lake` }] });
  });

  test.skipIf(!isRoot)(`files that a user may not read or write${isRoot ? "" : " (skipped: needs root)"}`, async () => {
    const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    const ask = async (): Promise<readonly Finding[]> => {
      const args = ["doctor", "--json", "--data", root, "--temp", join(temp, "own"), "--port", "0"];
      const child = tapehouseUnder(nobody, ...args);
      await child.ended;
      return JSON.parse(child.told.stdout) as Finding[];
    };
    await chmod(temp, 0o777);
    await chmod(join(root, ".."), 0o755);
    expect(await ask()).toContainEqual(expect.objectContaining({ state: "warning", thing: "rights" }));
    await chmod(join(root, "state"), 0o700);
    expect(await ask()).toContainEqual(expect.objectContaining({ state: "wrong", thing: "rights" }));
  });

  describe("a folder of serving copies", () => {
    test("that others can write, with which no server starts", async () => {
      const folder = join(temp, "open");
      mkdirSync(folder);
      await chmod(folder, 0o777);
      expect(await complaints("--copies-folder", folder)).toMatchObject({
        code: 1,
        found: [
          { state: "wrong", thing: "serving copies", found: expect.stringContaining("can be written by others") },
        ],
      });
    });

    test("that is a file", async () => {
      const file = join(temp, "file");
      writeFileSync(file, "");
      expect(await complaints("--copies-folder", file)).toMatchObject({
        code: 1,
        found: [
          { state: "wrong", thing: "serving copies", found: expect.stringContaining(`cannot be kept in ${file}`) },
        ],
      });
    });

    test("that holds those of another data directory", async () => {
      const folder = join(temp, "theirs");
      mkdirSync(folder, { mode: 0o700 });
      writeFileSync(join(folder, "lake.json"), '{"id":"another"}');
      const found = expect.stringMatching(/none can be made: .*holds the serving copies of another data directory/);
      expect(await complaints("--copies-folder", folder)).toMatchObject({
        code: 0,
        found: [{ state: "warning", thing: "serving copies", found }],
      });
    });

    test.skipIf(!isRoot)(`that may not be written${isRoot ? "" : " (skipped: needs root)"}`, async () => {
      for (const folder of [join(root, ".."), temp]) await chmod(folder, 0o777);
      mkdirSync(join(root, "copies"));
      for (const name of ["", ...(readdirSync(root, { recursive: true }) as string[])]) {
        if (name !== "copies") chownSync(join(root, name), 65534, 65534);
      }
      const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
      const child = tapehouseUnder(
        nobody,
        "doctor",
        "--json",
        "--data",
        root,
        "--temp",
        join(temp, "own"),
        "--port",
        "0",
      );
      await child.ended;
      expect(JSON.parse(child.told.stdout)).toContainEqual(
        expect.objectContaining({
          state: "warning",
          thing: "serving copies",
          found: `none can be made: the user nobody may not write to ${join(root, "copies")}`,
        }),
      );
    });
  });

  const disks: string[] = [];
  afterAll(() => {
    for (const disk of disks) execFileSync("umount", [disk]);
  });
  test("a temporary disk without space for bytes or files", async ({ skip }) => {
    const disk = join(temp, "disk");
    mkdirSync(disk);
    const options = ["-t", "tmpfs", "-o", "size=20m,nr_inodes=200", "tmpfs", disk];
    if (spawnSync("mount", options).status !== 0) return skip("no file system can be mounted here");
    disks.push(disk);
    cpSync(root, join(disk, "lake"), { recursive: true });
    out = "";
    expect(await run(["doctor", "--json", "--data", join(disk, "lake"), "--temp", temp, "--port", "0"])).toBe(1);
    const findings = JSON.parse(out) as Finding[];
    expect(findings.filter(({ thing }) => ["room", "inodes", "file system"].includes(thing))).toMatchObject([
      { state: "wrong", thing: "room" },
      { state: "warning", thing: "inodes" },
      { state: "warning", found: expect.stringContaining("tmpfs") },
    ]);
  });
});

describe("of a server it finds", () => {
  test("a port that another program uses, and one that a Tapehouse server uses", async () => {
    const other = createServer((_req, res) => res.end("hello"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const taken = await complaints("--port", String((other.address() as AddressInfo).port));
    other.close();
    expect(taken).toMatchObject({
      code: 1,
      found: [{ thing: "port", found: expect.stringContaining("is in use") }],
    });
    const server = await serve(root);
    expect(await complaints("--port", new URL(server.url).port)).toEqual({ code: 0, found: [] });
    expect(out).toContain("is used by a Tapehouse");
  });

  test("certificates that expired, expire soon, or do not belong to their key", async () => {
    const certificate = (days: number, name: string): readonly string[] => {
      const [key, cert] = [join(temp, `${name}.key`), join(temp, `${name}.pem`)];
      const pair = [
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        "/CN=localhost",
      ];
      execFileSync("openssl", ["req", ...pair, "-days", String(days), "-keyout", key, "-out", cert], {
        stdio: "ignore",
      });
      return ["--tls-cert", cert, "--tls-key", key];
    };
    const [good, soon] = [certificate(90, "good"), certificate(5, "soon")];
    expect((await complaints(...good)).found).toEqual([]);
    expect((await complaints(...soon)).found).toMatchObject([{ state: "warning", thing: "TLS" }]);
    const mixed = [...good.slice(0, 2), ...soon.slice(2)];
    expect((await complaints(...mixed)).found).toMatchObject([{ state: "wrong", thing: "TLS" }]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 86_400_000 });
    const late = await complaints(...soon);
    vi.useRealTimers();
    expect(late.found).toMatchObject([{ state: "wrong", found: expect.stringContaining("expired") }]);
  });

  test("more memory than there is, and a spill folder that cannot be created", async () => {
    const { found } = await complaints("--memory", "900000GB");
    expect(found).toContainEqual(expect.objectContaining({ state: "warning", thing: "memory" }));
    writeFileSync(join(temp, "file"), "");
    expect((await complaints("--temp", join(temp, "file"))).found).toMatchObject([{ state: "wrong", thing: "temp" }]);
  });

  test("the total memory of workers, a large drop, three smaller ones and compaction", async () => {
    const memoryOf = async (): Promise<Finding> => {
      await complaints("--memory", "1GB");
      return (JSON.parse(out) as Finding[]).find(({ thing }) => thing === "memory")!;
    };
    vi.stubEnv("TAPEHOUSE_WORKERS", "1");
    vi.stubEnv("TAPEHOUSE_INGEST_MEMORY", "2GB");
    // 300 MB for each of five processes, or four, two of which run SQL with half as much memory as the worker.
    expect((await memoryOf()).found).toMatch(/^up to 8.5 GB for 1 worker and the inbox and SQL, of /);
    vi.stubEnv("TAPEHOUSE_WATCH", "off");
    expect((await memoryOf()).found).toMatch(/^up to 2.7 GB for 1 worker and SQL, of /);
    vi.stubEnv("TAPEHOUSE_WATCH", "on");
    vi.stubEnv("TAPEHOUSE_INGEST_MEMORY", "900000GB");
    const { way } = await memoryOf();
    const [, memory, ingest] = /--memory (\d+)MB --ingest-memory (\d+)MB/.exec(way!)!;
    vi.stubEnv("TAPEHOUSE_INGEST_MEMORY", `${ingest}MB`);
    expect((await complaints("--memory", `${memory}MB`)).found).toEqual([]);
  });

  test("fewer open files than connections", () => {
    const script = `ulimit -n 200; exec ${[process.execPath, ...COMMAND].join(" ")} doctor --json --port 0 --data '${root}' --temp '${temp}'`;
    const { stdout } = spawnSync("sh", ["-c", script], { cwd: ROOT, encoding: "utf8" });
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ state: "warning", thing: "open files", way: "ulimit -n 65536" }),
    );
  });
});

describe("of an installation it finds", () => {
  test("a Node that is too old", async () => {
    const states = async (version: string): Promise<string> => (await checkInstallation(version))[0]!.state;
    expect([await states("20.18.3"), await states("18.20.1"), await states("20.19.0"), await states("22.2.0")]).toEqual(
      ["wrong", "wrong", "ok", "ok"],
    );
  });

  test("no fault in the row kernel of this one", () => {
    expect(checkKernel()).toBe("equal");
  });

  test("a native module for another platform: every other command that needs it says so in one line", async () => {
    const copy = await temporaryFolder();
    for (const name of ["dist", "package.json"]) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    const link = (from: string, skipped: (name: string) => boolean): void => {
      mkdirSync(join(copy, from));
      for (const name of readdirSync(join(ROOT, from))) {
        if (!skipped(name)) symlinkSync(join(ROOT, from, name), join(copy, from, name));
      }
    };
    link("node_modules", (name) => name === "@duckdb" || name.startsWith("."));
    mkdirSync(join(copy, "node_modules/@duckdb"));
    // A copy: the target of a link would find the native module next to itself.
    const bindings = "node_modules/@duckdb/node-bindings";
    cpSync(join(ROOT, bindings), join(copy, bindings), { recursive: true });
    for (const name of readdirSync(join(ROOT, "node_modules/@duckdb")).filter((one) =>
      one.startsWith("node-bindings-"),
    )) {
      mkdirSync(join(copy, "node_modules/@duckdb", name));
      writeFileSync(join(copy, "node_modules/@duckdb", name, "duckdb.node"), "not for this machine");
    }
    const command = (...args: string[]) =>
      spawnSync(process.execPath, [join(copy, "dist/main.js"), ...args], { encoding: "utf8" });
    const verify = command("verify", "--data", root);
    expect([verify.status, verify.stdout]).toEqual([1, ""]);
    expect(verify.stderr).toMatch(/^tapehouse: this installation is broken: .* \(see: tapehouse doctor\)\n$/);
    const doctor = command("doctor", "--json", "--port", "0", "--data", root, "--temp", temp);
    expect(doctor.status).toBe(1);
    expect(JSON.parse(doctor.stdout)).toContainEqual(
      expect.objectContaining({ state: "wrong", thing: "DuckDB", way: "npm ci" }),
    );
  });
});
