import { spawn } from "node:child_process";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { LIMITS, createSilence, signsOf, type Signs, type Verdict } from "../../src/processes/silence.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { AUTHORIZED, endAll, expectTold, isGone, tapehouse, until, urlOf, workersOf } from "../support/processes.js";
import { longTest } from "../support/size.js";
import { WIDE } from "../support/wide-read.js";

// A loaded machine takes its time to start a process.
vi.setConfig({ testTimeout: 240_000 });

/** The verdict of each look at a process that reports nothing. */
function verdicts(limit: keyof typeof LIMITS, looks: number, at: (second: number) => Signs | null): Verdict[] {
  const silence = createSilence();
  return Array.from({ length: looks }, (_, second) => silence.look(LIMITS[limit], at(second)));
}

const firstHang = (found: readonly Verdict[]): number => found.indexOf("hangs") + 1;

describe("a process that reports nothing", () => {
  test("hangs if it uses no processor time for ten looks; while it starts, for sixty", () => {
    const stopped = (): Signs => ({ main: 500, all: 900, waits: false });
    expect(firstHang(verdicts("started", 70, stopped))).toBe(10);
    expect(firstHang(verdicts("starting", 70, stopped))).toBe(60);
  });

  test("hangs if its main thread uses ten seconds of processor time", () => {
    const endless = (second: number): Signs => ({ main: 1000 * second, all: 1000 * second, waits: true });
    expect(firstHang(verdicts("started", 20, endless))).toBe(11);
  });

  test("lives if it gets 3% of a core, or none, as long as it could run", () => {
    const starved = (second: number): Signs => ({ main: 30 * second, all: 30 * second, waits: false });
    expect(verdicts("started", 300, starved)).not.toContain("hangs");
    const without = (): Signs => ({ main: 500, all: 500, waits: true });
    expect(verdicts("started", 300, without)).not.toContain("hangs");
  });

  test("is called starved once", () => {
    const starved = (second: number): Signs => ({ main: 30 * second, all: 30 * second, waits: false });
    expect(verdicts("started", 100, starved).map((verdict, i) => (verdict === "starved" ? i + 1 : 0))).toEqual(
      Array.from({ length: 100 }, (_, i) => (i === 19 ? 20 : 0)),
    );
  });

  test("lives while other threads work for it, but only until it has started", () => {
    const working = (second: number): Signs => ({ main: 500, all: 1000 * second, waits: false });
    expect(verdicts("starting", 300, working)).not.toContain("hangs");
    expect(firstHang(verdicts("started", 300, working))).toBe(10);
  });

  test("is judged by its silence alone where the system gives no signs", () => {
    expect(firstHang(verdicts("started", 20, () => null))).toBe(10);
  });

  test("is judged anew after each report", () => {
    const silence = createSilence();
    for (let i = 0; i < 9; i++) silence.look(LIMITS.started, { main: 0, all: 0, waits: false });
    silence.end();
    expect(silence.seconds()).toBe(0);
    expect(silence.look(LIMITS.started, { main: 9_000, all: 9_000, waits: false })).toBe("lives");
    expect(silence.look(LIMITS.started, { main: 18_000, all: 18_000, waits: true })).toBe("lives");
  });
});

test("the signs of a process tell whether it runs, is stopped or has ended", async () => {
  const child = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
  const pid = child.pid!;
  const ended = new Promise((resolve) => child.once("close", resolve));
  const before = await until("it runs", () => signsOf(pid) ?? undefined);
  const later = await until("it has run", () => {
    const signs = signsOf(pid);
    return signs && signs.main >= before.main + 100 ? signs : undefined;
  });
  expect(later.waits).toBe(true);
  expect(later.all).toBeGreaterThanOrEqual(later.main);
  child.kill("SIGSTOP");
  await until("it is stopped", () => signsOf(pid)?.waits === false || undefined);
  child.kill("SIGKILL");
  await ended;
  expect(signsOf(pid)).toBeNull();
});

describe("a worker", () => {
  let data: string;

  beforeAll(async () => {
    data = await temporaryFolder();
    await publishRows(data, { adj_factor: factors(1000) });
  });
  afterEach(endAll);

  async function serve(workers: number) {
    const turns = new URL("../support/turns.mjs", import.meta.url).href;
    const before = process.env["NODE_OPTIONS"];
    process.env["NODE_OPTIONS"] = [before, `--import=${turns}`].filter(Boolean).join(" ");
    const args = ["--data", data, "--temp", await temporaryFolder(), "--port", "0", "--no-watch"];
    const server = tapehouse("serve", ...args, "--workers", String(workers));
    if (before === undefined) delete process.env["NODE_OPTIONS"];
    else process.env["NODE_OPTIONS"] = before;
    return { ...server, url: await urlOf(server) };
  }

  const ask = async (url: string): Promise<number> => {
    const response = await fetch(`${url}${WIDE}`, { headers: AUTHORIZED });
    await response.arrayBuffer();
    return response.status;
  };

  const SECONDS = 40;

  longTest("that gets 3% of a core and needs a second of it for one turn is not replaced", async () => {
    const server = await serve(1);
    const [worker] = workersOf(server);
    process.kill(worker!, "SIGUSR2");
    const asked = Array.from({ length: 20 }, () => ask(server.url));
    // One turn of this loop takes a second or more, of which the worker runs until it has used 30 ms.
    for (let second = 0; second < SECONDS && !isGone(worker!); second++) {
      const before = signsOf(worker!)!;
      process.kill(worker!, "SIGCONT");
      await until("it has run", () => isGone(worker!) || signsOf(worker!)!.main >= before.main + 30 || undefined);
      process.kill(worker!, "SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    process.kill(worker!, "SIGCONT");
    expect(await Promise.all(asked)).toEqual(Array(20).fill(200));
    expect(workersOf(server)).toEqual([worker]);
    expect(server.told.stderr).not.toMatch(/killed|died/);
  });

  longTest.each([1, 2])("of %i in an endless loop is replaced", async (workers) => {
    const server = await serve(workers);
    const [worker] = workersOf(server);
    process.kill(worker!, "SIGWINCH");
    await until("it is replaced", () => {
      const now = workersOf(server);
      return (now.length === workers && !now.includes(worker!)) || undefined;
    });
    await expectTold(server, new RegExp(`"worker":${worker},.*"msg":"a worker does not respond and is killed"`));
    expect(await ask(server.url)).toBe(200);
  });
});
