// A server under the limits that shared machines and containers set: the same bytes, or one clear line.
import { execFileSync } from "node:child_process";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { FORMAT_NAMES } from "../../src/catalog/formats.js";
import { readConfig } from "../../src/config.js";
import { requireTasks, tasksNeeded } from "../../src/processes/tasks.js";
import { smallDisk } from "../support/disks.js";
import { temporaryFolder } from "../support/folders.js";
import { groupWith } from "../support/groups.js";
import { factors, publishRows } from "../support/lake.js";
import { AUTHORIZED, endAll, expectTold, tapehouseUnder, until, urlOf, type Process } from "../support/processes.js";
import { longTest } from "../support/size.js";

// A loaded machine takes its time to start a process.
vi.setConfig({ testTimeout: 240_000 });

let data: string;
let usual: Record<string, string>;

beforeAll(async () => {
  data = await temporaryFolder();
  await publishRows(data, { adj_factor: factors(1000) });
  usual = await bodies(await urlOf(serve([], await temporaryFolder())));
}, 240_000);
afterEach(endAll);

const serve = (command: readonly string[], temp: string, ...args: readonly string[]): Process =>
  tapehouseUnder(command, "serve", "--data", data, "--temp", temp, "--port", "0", "--no-watch", ...args);

const shell = (setting: string): readonly string[] => ["bash", "-c", `${setting}; exec "$@"`, "tapehouse"];

async function bodies(url: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const format of FORMAT_NAMES) {
    const response = await fetch(`${url}/api/v1/entities/adj_factor?format=${format}`, { headers: AUTHORIZED });
    expect([format, response.status]).toEqual([format, 200]);
    found[format] = Buffer.from(await response.arrayBuffer()).toString("base64");
  }
  return found;
}

longTest.for([4e6, 12e6, 16e6])(
  "a server that may reserve %d KB of addresses sends the same bytes",
  async (size, context) => {
    if (!process.env["TAPEHOUSE_BUILT"]) return context.skip("needs built code: from sources, processes reserve more");
    const server = serve(shell(`ulimit -v ${size}`), await temporaryFolder());
    expect(await bodies(await urlOf(server))).toEqual(usual);
  },
);

test("a server that may open few files sends the same bytes, and says what limits its connections", async () => {
  const server = serve(shell("ulimit -n 128"), await temporaryFolder(), "--workers", "1");
  expect(await bodies(await urlOf(server))).toEqual(usual);
  await expectTold(server, /"connections":\d,"msg":"the open-file limit reduces the number of connections; raise/);
});

test.for([31, 40])("a server that may open only %d files ends with one line that says so", async (files, context) => {
  if (!process.env["TAPEHOUSE_BUILT"]) return context.skip("needs built code: from sources, processes open more");
  const server = serve(shell(`ulimit -n ${files}`), await temporaryFolder(), "--workers", "2");
  const listens = until("it listens or ends", () => server.told.stdout !== "" || server.child.exitCode !== null);
  if ((await listens) && server.told.stdout !== "") return context.skip("this Node opens fewer files");
  expect(await server.ended).toBe(1);
  expect(server.told).toEqual({
    stdout: "",
    stderr: expect.stringMatching(/^tapehouse: too many open files; raise the limit with ulimit -n .*\n$/) as string,
  });
});

longTest("a server with umask 077 and without a home directory sends the same bytes", async () => {
  const server = serve(shell("umask 077; unset HOME"), await temporaryFolder());
  expect(await bodies(await urlOf(server))).toEqual(usual);
});

longTest("a server whose temporary folder holds 4 MB sends the same bytes", async (context) => {
  const disk = await smallDisk(4);
  if (disk === null) return context.skip("this user may not mount file systems");
  const server = serve([], disk);
  expect(await bodies(await urlOf(server))).toEqual(usual);
});

test("a server whose temporary folder is read-only ends with one line that names the option", async (context) => {
  const disk = await smallDisk(1);
  if (disk === null) return context.skip("this user may not mount file systems");
  execFileSync("mount", ["-o", "remount,ro", disk]);
  const server = serve([], disk);
  expect(await server.ended).toBe(1);
  expect(server.told.stderr).toMatch(/^tapehouse: temporary files cannot be written: .*; name another .* --temp\n$/);
});

describe("a control group", () => {
  test("with too few processes and threads ends the server with one line", async (context) => {
    const command = groupWith({ pids: 30 });
    if (command === null) return context.skip("this user may not make control groups");
    const server = serve(command, await temporaryFolder(), "--workers", "1", "--encoders", "1");
    expect(await server.ended).toBe(1);
    expect(server.told.stderr).toMatch(/^tapehouse: the server needs up to 35 .*the control group allows 30, .*\n$/);
  });

  longTest("with as many as it needs lets it serve", async (context) => {
    const command = groupWith({ pids: tasksNeeded(readConfig({ watch: "off", workers: "1" }, {})) });
    // From sources, each process needs some more.
    if (command === null || !process.env["TAPEHOUSE_BUILT"]) return context.skip("needs built code and control groups");
    const server = serve(command, await temporaryFolder(), "--workers", "1");
    expect(await bodies(await urlOf(server))).toEqual(usual);
  });

  longTest("with half a core and 900 MB gets the same bytes from one worker", async (context) => {
    const command = groupWith({ cpu: 0.5, memory: 900e6, pids: 500 });
    if (command === null) return context.skip("this user may not make control groups");
    const server = serve(command, await temporaryFolder());
    expect(await bodies(await urlOf(server))).toEqual(usual);
    const doctor = tapehouseUnder(command, "doctor", "--data", data, "--port", "0", "--json");
    await doctor.ended;
    expect(doctor.told.stdout).toMatch(/for 1 worker and the inbox and SQL, of 900 MB that this process may use/);
  });
});

describe("the number of processes and threads", () => {
  const config = readConfig({ workers: "2", concurrency: "8" }, {});

  test("is that of the supervisor, each worker and the processes that watch the inbox and follow a bucket", () => {
    expect(tasksNeeded(config)).toBe(11 + 2 * 19 + 23);
    expect(tasksNeeded({ ...config, watch: false })).toBe(11 + 2 * 19);
    expect(tasksNeeded({ ...config, bucket: "s3://market/lake" })).toBe(11 + 2 * 19 + 23 + 15);
  });

  test("may be as high as the limit, and not higher", () => {
    const limit = { allowed: 100, limit: "ulimit -u", way: "raise it with ulimit -u" };
    expect(() => requireTasks(config, null)).not.toThrow();
    expect(() => requireTasks(config, { ...limit, used: 28 })).not.toThrow();
    expect(() => requireTasks(config, { ...limit, used: 29 })).toThrow(
      "the server needs up to 72 processes and threads, but ulimit -u allows 100, of which 29 are in use: " +
        "raise it with ulimit -u, or use fewer --workers, a smaller --concurrency or --no-watch",
    );
  });
});
