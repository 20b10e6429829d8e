// Requests while processes die, hang, are replaced or stopped: real processes, real signals.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { rm, truncate, writeFile } from "node:fs/promises";
import { Agent, get, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { getPriority } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { createToken, revokeToken } from "../../src/store/tokens.js";
import { SAME_SIGNAL } from "../../src/processes/supervisor.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import {
  AUTHORIZED,
  endAll,
  isGone,
  processesWith,
  type ServeProcess,
  expectTold,
  serveInProcess,
  tapehouse,
  tapehouseUnder,
  until,
  urlOf,
  workersOf,
} from "../support/processes.js";
import { isLong, longTest } from "../support/size.js";
import { WIDE } from "../support/wide-read.js";

// A loaded machine takes its time to start a process.
vi.setConfig({ testTimeout: 240_000 });

/** More than the buffers between a server and a client that does not read. */
const ROWS = 700_000;
const SMALL = `${WIDE}?ts_code=000007.SZ`;
let data: string;
let temp: string;

beforeAll(async () => {
  data = await temporaryFolder();
  temp = await temporaryFolder();
  await publishRows(data, { adj_factor: factors(ROWS) }, { codeCopy: true });
});

afterEach(async () => {
  await endAll();
  await until("no process is left", () => (processesWith("--temp", temp).length === 0 ? true : undefined));
  const left = readdirSync(temp).filter((name) => name !== "segments");
  expect(left).toEqual([]);
});

/** Clients that read nothing meanwhile are not cut, however long a loaded machine takes. */
const serve = (...args: readonly string[]) => serveInProcess(data, "--temp", temp, "--stall", "3600", ...args);

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Ids of requests begin with a name of the process. */
  readonly process: string;
}

const nameIn = (id: string): string => id.slice(0, id.lastIndexOf("-"));

/** The head of an answer, on a connection of its own where there is no agent. */
const request = (
  url: string,
  agent: Agent | false = false,
  headers: Record<string, string> = AUTHORIZED,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => get(url, { agent, headers }, resolve).on("error", reject));

const processOf = ({ headers }: IncomingMessage): string => nameIn(headers["x-request-id"] as string);

/** Rejects if the response is incomplete. */
async function ask(
  url: string,
  path = SMALL,
  ...how: readonly [(Agent | false)?, Record<string, string>?]
): Promise<Answer> {
  const response = await request(url + path, ...how);
  const { statusCode, headers } = response;
  return { status: statusCode!, headers, text: await text(response), process: processOf(response) };
}

/** All processes that one has started and that live. */
const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

/** Those that watch the inbox of this lake. */
const ingesters = (): readonly number[] => processesWith("ingest", data);

interface Stream {
  readonly process: string;
  /** Reads the rest: "whole", or "cut" where the client notices that it is not. */
  outcome(): Promise<"whole" | "cut">;
  leave(): void;
}

/** A response whose client does not read yet. */
async function openStream(url: string, format = "json"): Promise<Stream> {
  const response = await request(`${url}${WIDE}?format=${format}`);
  const countRows = (body: string): number =>
    format === "json" ? (JSON.parse(body) as { count: number }).count : body.split("\n").length - 2;
  return {
    process: processOf(response),
    leave: () => void response.destroy(),
    async outcome() {
      const body = await text(response).catch(() => null);
      if (body !== null && countRows(body) !== ROWS) throw new Error("a part of an answer passes for whole");
      return body === null ? "cut" : "whole";
    },
  };
}

/** Two streams at each of two workers. The system may give one of them many connections in a row. */
async function streamsOfBoth(url: string): Promise<readonly Stream[]> {
  const streams = new Map<string, Stream[]>();
  await until("both workers send", async () => {
    const stream = await openStream(url, streams.size % 2 ? "csv" : "json");
    const own = streams.get(stream.process) ?? [];
    if (own.length < 2) streams.set(stream.process, [...own, stream]);
    else stream.leave();
    return (streams.size === 2 && [...streams.values()].every(({ length }) => length === 2)) || undefined;
  });
  return [...streams.values()].flat();
}

describe("a worker that is killed", () => {
  test("cuts only its own responses; the next requests are answered, and it is replaced", async () => {
    const server = await serve("--workers", "2");
    const before = workersOf(server);
    expect(before).toHaveLength(2);
    const streams = await streamsOfBoth(server.url);
    process.kill(before[0]!, "SIGKILL");
    await until("it is gone", () => isGone(before[0]!) || undefined);
    const seen = new Set<string>();
    await until("it is replaced", async () => {
      seen.add((await ask(server.url)).process);
      return seen.size === 2 || undefined;
    });
    const outcomes = await Promise.all(streams.map(async (one) => ({ ...one, how: await one.outcome() })));
    const by = (how: string): ReadonlySet<string> =>
      new Set(outcomes.filter((o) => o.how === how).map((o) => o.process));
    expect([by("cut").size, by("whole").size]).toEqual([1, 1]);
    expect([...by("cut")].filter((name) => by("whole").has(name) || seen.has(name))).toEqual([]);
    expect(workersOf(server)).toEqual([before[1], expect.any(Number)]);
    await expectTold(server, new RegExp(`"worker":${before[0]},"how":"SIGKILL"`));
  });

  test("and was the only one leaves connections waiting for the next one: none is refused", async () => {
    const server = await serve("--workers", "1");
    const [worker] = workersOf(server);
    const { process: name } = await ask(server.url);
    process.kill(worker!, "SIGKILL");
    await until("it is gone", () => isGone(worker!) || undefined);
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(server.url)));
    expect(answers.map(({ status, process }) => [status, process === name])).toEqual(Array(5).fill([200, false]));
  });

  longTest("still counts in the metrics", async () => {
    const server = await serve("--workers", "2");
    const sum = async (): Promise<number> => {
      const { text } = await ask(server.url, "/metrics");
      const lines = text.match(/^tapehouse_requests_total\{.*entity="adj_factor".*$/gm) ?? [];
      return lines.map((line) => Number(line.split(" ").at(-1))).reduce((a, b) => a + b, 0);
    };
    const seen = new Set<string>();
    let asked = 0;
    for (; seen.size < 2; asked++) seen.add((await ask(server.url)).process);
    await until("all are counted", async () => (await sum()) === asked || undefined);
    const [worker] = workersOf(server);
    process.kill(worker!, "SIGKILL");
    await until("it is gone", () => isGone(worker!) || undefined);
    await ask(server.url);
    await until("the next one is counted", async () => (await sum()) === asked + 1 || undefined);
    await expectTold(server, /a worker died/);
  });

  longTest("and whose replacements cannot start ends the server, with one clear line", async () => {
    const small = await temporaryFolder();
    await publishRows(small, { weekly: "SELECT '000001.SZ' AS ts_code, DATE '2023-01-06' AS trade_date" });
    const server = await serveInProcess(small, "--temp", temp, "--workers", "1", "--no-watch");
    const [worker] = workersOf(server);
    await writeFile(layoutOf(small).pointer, "damaged");
    server.child.kill("SIGHUP");
    await until(
      "the reload is given up",
      () => server.told.stderr.includes("the old workers keep running") || undefined,
    );
    expect(await ask(server.url, "/api/v1/entities/weekly")).toMatchObject({ status: 200 });
    expect(workersOf(server)).toEqual([worker]);
    process.kill(worker!, "SIGKILL");
    expect(await server.ended).toBe(1);
    expect(server.told.stderr).toMatch(/^tapehouse: workers keep dying at startup; giving up$/m);
  });
});

longTest("a worker that hangs is killed and replaced; meanwhile the others answer every request", async () => {
  const server = await serve("--workers", "2", "--no-watch");
  const [worker] = workersOf(server);
  process.kill(worker!, "SIGSTOP");
  const notStopped = (await ask(server.url)).process;
  const seen = new Set<string>();
  await until("another one has taken its place", async () => {
    seen.add((await ask(server.url)).process);
    return seen.size === 2 || undefined;
  });
  expect(seen).toContain(notStopped);
  expect(isGone(worker!)).toBe(true);
  await expectTold(
    server,
    new RegExp(`"worker":${worker},"seconds":1\\d,"msg":"a worker does not respond and is killed"`),
  );
});

describe("the process that watches the inbox", () => {
  interface Health {
    readonly status: string;
    readonly inbox?: false;
  }
  /** Waits until every one of many answers, from both workers, is this one. */
  const untilHealth = (server: ServeProcess, status: string, inbox?: false): Promise<unknown> =>
    until(`all workers are ${status}`, async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, () => ask(server.url, "/health")));
      const all = answers.map(({ text }) => JSON.parse(text) as Health);
      return all.every((one) => one.status === status && one.inbox === inbox) || undefined;
    });
  const ingesterOf = (server: ServeProcess): Promise<number> =>
    until("the inbox is watched", () =>
      childrenOf(server.child.pid!).find((pid) => ingesters().includes(pid) && getPriority(pid) > 0),
    );

  test("and is stopped makes the server degraded, until it goes on; requests are answered meanwhile", async () => {
    const server = await serve("--workers", "2", "--log-level", "info");
    const pid = await ingesterOf(server);
    await untilHealth(server, "ok");
    process.kill(pid, "SIGSTOP");
    await untilHealth(server, "degraded", false);
    expect(await ask(server.url)).toMatchObject({ status: 200 });
    process.kill(pid, "SIGCONT");
    await untilHealth(server, "ok");
    expect(isGone(pid)).toBe(false);
    await expectTold(server, new RegExp(`"process":${pid},.*does not respond; nothing is imported meanwhile`));
    await expectTold(server, new RegExp(`"process":${pid},.*responds again`));
  });

  longTest("and hangs is killed and replaced; a new worker knows that it does not run", async () => {
    const server = await serve("--workers", "2", "--log-level", "info");
    const pid = await ingesterOf(server);
    process.kill(pid, "SIGSTOP");
    await untilHealth(server, "degraded", false);
    const [worker] = workersOf(server);
    process.kill(worker!, "SIGKILL");
    await until("it is replaced", () => {
      const now = workersOf(server);
      return (now.length === 2 && !now.includes(worker!)) || undefined;
    });
    await untilHealth(server, "degraded", false);
    await expectTold(server, new RegExp(`"process":${pid},"seconds":\\d+,.*still does not respond and is killed`));
    expect(await ingesterOf(server)).not.toBe(pid);
    await untilHealth(server, "ok");
    await expectTold(server, /"how":"it did not respond","seconds":1,"msg":"the process that watches the inbox died/);
  });

  test("and ends by itself leaves a server that is degraded and says so", async () => {
    const server = await serve("--workers", "1", "--log-level", "info");
    process.kill(await ingesterOf(server), "SIGTERM");
    await expectTold(server, /the process that watches the inbox has ended; nothing is imported/);
    await untilHealth(server, "degraded", false);
    server.child.kill("SIGHUP");
    await untilHealth(server, "ok");
  });
});

test("a supervisor that is killed leaves nothing behind: no worker, no ingester, no open port", async () => {
  const server = await serve("--workers", "2");
  const stream = await openStream(server.url);
  server.child.kill("SIGKILL");
  await until("all have ended", () => processesWith("--data", data).length === 0 || undefined);
  expect(await stream.outcome()).toBe("cut");
  await expect(ask(server.url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  // Only a supervisor clears its own folder; a later one does it in its place.
  await Promise.all(readdirSync(temp).map((name) => rm(join(temp, name), { recursive: true })));
});

describe("a stop", () => {
  test("lets responses finish, refuses new connections, leaves nothing behind, exits with 0", async () => {
    const server = await serve("--workers", "2");
    const streams = await streamsOfBoth(server.url);
    const idle = new Agent({ keepAlive: true });
    await ask(server.url, SMALL, idle);
    server.child.kill("SIGTERM");
    await until("nobody is let in", () =>
      ask(server.url).then(
        () => undefined,
        (error: unknown) => (error as NodeJS.ErrnoException).code === "ECONNREFUSED" || undefined,
      ),
    );
    expect(await Promise.all(streams.map((one) => one.outcome()))).toEqual(streams.map(() => "whole"));
    expect(await server.ended).toBe(0);
    idle.destroy();
  });

  longTest("cuts the remaining responses after the grace period, and exits with 0", async () => {
    const server = await serve("--workers", "2", "--grace", "1");
    const streams = await streamsOfBoth(server.url);
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    expect(await Promise.all(streams.map((one) => one.outcome()))).toEqual(streams.map(() => "cut"));
  });

  longTest("that is requested twice is immediate", async () => {
    const server = await serve("--workers", "2", "--grace", "600");
    const stream = await openStream(server.url);
    server.child.kill("SIGINT");
    await expectTold(server, /stopping: responses in progress may finish/);
    // One more signal, and no third: a process that is about to end has no listeners any more.
    await sleep(2 * SAME_SIGNAL);
    server.child.kill("SIGINT");
    await expectTold(server, /stopping at once/);
    expect(await server.ended).toBe(0);
    expect(await stream.outcome()).toBe("cut");
  });

  longTest("before it listens ends it too", async () => {
    const server = tapehouse("serve", "--data", data, "--temp", temp, "--port", "0");
    await until("it has a worker", () => workersOf(server).length > 0 || undefined);
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    expect(server.told.stdout).toBe("");
  });

  longTest("before anything is made, or as soon as it runs, leaves nothing behind", async () => {
    const began = tapehouse("serve", "--data", data, "--temp", temp, "--port", "0", "--workers", "2");
    await until("it has begun", () => readdirSync(temp).some((name) => name.startsWith("server-")) || undefined);
    began.child.kill("SIGINT");
    expect(await began.ended).toBe(0);
    const server = await serve("--workers", "2");
    process.kill(workersOf(server)[0]!, "SIGKILL");
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
  });

  longTest("of the whole group of processes, three times, is a stop", async () => {
    const server = await serve("--workers", "2");
    const group = [server.child.pid!, ...childrenOf(server.child.pid!)];
    for (let i = 0; i < 3; i++) for (const pid of group) process.kill(pid, "SIGINT");
    expect(await server.ended).toBe(0);
    expect(server.told.stderr).not.toMatch(/died|failed/);
  });

  longTest("continues when a suspended supervisor is resumed", async () => {
    const server = await serve("--workers", "2", "--no-watch");
    const before = workersOf(server);
    server.child.kill("SIGSTOP");
    for (let i = 0; i < 5; i++) expect(await ask(server.url)).toMatchObject({ status: 200 });
    server.child.kill("SIGTERM");
    expect(await ask(server.url)).toMatchObject({ status: 200 });
    server.child.kill("SIGCONT");
    expect(await server.ended).toBe(0);
    expect(before.every(isGone)).toBe(true);
    expect(server.told.stderr).not.toMatch(/died|killed/);
  });

  const canUnshare = spawnSync("unshare", ["--fork", "--pid", "true"]).status === 0;
  test.runIf(isLong && canUnshare)("works where the supervisor is process 1, as in a container", async () => {
    const command = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child"];
    const server = tapehouseUnder(command, "serve", "--data", data, "--temp", temp, "--port", "0", "--workers", "2");
    const url = await urlOf(server);
    const [first] = readFileSync(`/proc/${server.child.pid}/task/${server.child.pid}/children`, "utf8").split(" ");
    const [worker] = workersOf(server, Number(first));
    process.kill(worker!, "SIGKILL");
    await until("it is replaced", () => workersOf(server, Number(first)).length === 2 || undefined);
    expect(await ask(url)).toMatchObject({ status: 200 });
    process.kill(Number(first), "SIGTERM");
    expect(await server.ended).toBe(0);
  });
});

test("SIGHUP renews every worker under load without a failed request; answers under way are finished", async () => {
  const server = await serve("--workers", "2");
  const before = workersOf(server);
  const streams = await streamsOfBoth(server.url);
  let loading = true;
  let asked = 0;
  let latest: Answer[] = [];
  const failures: unknown[] = [];
  const client = async (keepAlive: boolean): Promise<void> => {
    const agent = keepAlive ? new Agent({ keepAlive, maxSockets: 1 }) : false;
    while (loading) {
      const answer = await ask(server.url, SMALL, agent).catch((error: unknown) => void failures.push(error));
      if (answer) latest = [...latest.slice(-20), answer];
      if (answer && answer.status !== 200) failures.push(answer);
      asked++;
    }
    if (agent) agent.destroy();
  };
  const clients = [true, true, true, false, false, false].map(client);
  await until("they have begun", () => asked > 20 || undefined);
  const old = new Set(streams.map(({ process }) => process));
  server.child.kill("SIGHUP");
  await until("it has reloaded", () => server.told.stderr.includes('"msg":"reloaded"') || undefined);
  await until("only new ones answer", () => latest.every(({ process }) => !old.has(process)) || undefined);
  loading = false;
  await Promise.all(clients);
  expect(failures).toEqual([]);
  expect(await Promise.all(streams.map((one) => one.outcome()))).toEqual(streams.map(() => "whole"));
  await until("the old ones are gone", () => before.every(isGone) || undefined);
  expect(workersOf(server)).toHaveLength(2);
});

describe("SIGHUP", () => {
  longTest("while it starts reloads it when it has started: one process watches the inbox", async () => {
    const server = tapehouse("serve", "--data", data, "--temp", temp, "--port", "0", "--workers", "1");
    await until("it has a worker", () => workersOf(server).length > 0 || undefined);
    for (let i = 0; i < 3; i++) server.child.kill("SIGHUP");
    const url = await urlOf(server);
    await expectTold(server, /"msg":"reloaded"/);
    const watching = (): readonly number[] => childrenOf(server.child.pid!).filter((pid) => ingesters().includes(pid));
    await until("one watches", () => watching().length === 1 || undefined);
    expect(server.told.stderr.match(/"msg":"reloading"/g)).toHaveLength(1);
    expect(await ask(url)).toMatchObject({ status: 200 });
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
  });

  longTest(
    "again and again, to every process of the group, loses no request and ends with one set of workers",
    async () => {
      const server = await serve("--workers", "2");
      for (let i = 0; i < 20; i++) {
        for (const pid of [server.child.pid!, ...childrenOf(server.child.pid!)]) {
          if (!isGone(pid)) process.kill(pid, "SIGHUP");
        }
        expect(await ask(server.url)).toMatchObject({ status: 200 });
      }
      await until("it is at rest", () => {
        const [began, ended] = ["reloading", "reloaded"].map(
          (what) => server.told.stderr.split(`"msg":"${what}"`).length - 1,
        );
        return (began! > 1 && began === ended) || undefined;
      });
      await until("one set of workers is left", () => workersOf(server).length === 2 || undefined);
      await until("one process watches", () => ingesters().length === 1 || undefined);
      expect(server.told.stderr).not.toMatch(/died/);
      expect(await ask(server.url)).toMatchObject({ status: 200 });
    },
  );
});

longTest("SIGUSR1 opens no debugger in any process, and ends none", async () => {
  const server = await serve("--workers", "1");
  // Before it has begun to watch, it is Node that gets the signal.
  await until("the inbox is watched", () => ingesters().some((pid) => getPriority(pid) > 0) || undefined);
  const all = [server.child.pid!, ...childrenOf(server.child.pid!)];
  expect(all.length).toBeGreaterThan(2);
  for (const pid of all) process.kill(pid, "SIGUSR1");
  for (let i = 0; i < 20; i++) expect(await ask(server.url)).toMatchObject({ status: 200 });
  expect(all.filter(isGone)).toEqual([]);
  expect(server.told.stderr).not.toMatch(/[Dd]ebugger/);
});

test("signals to a worker are ignored: the supervisor decides when it ends", async () => {
  const server = await serve("--workers", "1");
  const [worker] = workersOf(server);
  const stream = await openStream(server.url);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.kill(worker!, signal);
  expect(await ask(server.url)).toMatchObject({ status: 200 });
  expect(await stream.outcome()).toBe("whole");
  expect(workersOf(server)).toEqual([worker]);
});

longTest("a server whose outputs are no longer read keeps running, and stops normally", async () => {
  const server = await serve("--workers", "2", "--log-level", "info");
  server.child.stdout!.destroy();
  server.child.stderr!.destroy();
  for (let i = 0; i < 50; i++) expect(await ask(server.url)).toMatchObject({ status: 200 });
  const [worker] = workersOf(server);
  process.kill(worker!, "SIGKILL");
  await until(
    "it is replaced",
    () => (workersOf(server).length === 2 && !workersOf(server).includes(worker!)) || undefined,
  );
  server.child.kill("SIGTERM");
  expect(await server.ended).toBe(0);
});

longTest("damage found by one worker is in the health of the others", async () => {
  const own = await temporaryFolder();
  await publishRows(own, { weekly: "SELECT '000001.SZ' AS ts_code, DATE '2023-01-06' AS trade_date" });
  const server = await serveInProcess(own, "--temp", temp, "--workers", "2", "--no-watch");
  const { layout, current } = await openLake(own);
  await truncate(join(layout.lake, current().files("weekly").byDate[0]!.path), 10);
  expect(await ask(server.url, "/api/v1/entities/weekly")).toMatchObject({ status: 500 });
  const health = new Map<string, string>();
  await until("both say so", async () => {
    const answer = await ask(server.url, "/health");
    health.set(answer.process, (JSON.parse(answer.text) as { status: string }).status);
    return [...health.values()].join() === "degraded,degraded" || undefined;
  });
  expect(health.size).toBe(2);
});

test("every worker sees a revoked token and a new version", async () => {
  const own = await temporaryFolder();
  const weekly = (day: string): string => `SELECT '000001.SZ' AS ts_code, DATE '${day}' AS trade_date`;
  await publishRows(own, { weekly: weekly("2023-01-06") });
  const token = await createToken(own, "alice", { entities: null, expires: null }, new Date());
  const server = await serveInProcess(own, "--temp", temp, "--workers", "2", "--no-watch");
  const seen = new Map<string, Answer>();
  const both = (what: string, holds: (answer: Answer) => boolean): Promise<unknown> =>
    until(what, async () => {
      const answer = await ask(server.url, "/api/v1/meta", false, { Authorization: `Bearer ${token}` });
      seen.set(answer.process, answer);
      return (seen.size === 2 && [...seen.values()].every(holds)) || undefined;
    });
  await both("both know the token", ({ status }) => status === 200);
  const published = await publishRows(own, { weekly: weekly("2023-01-13") });
  await both("both have the new version", ({ headers }) => headers["x-data-version"] === published!.data_version);
  await revokeToken(own, "alice");
  await both("both refuse the token", ({ status }) => status === 401);
  expect(seen.size).toBe(2);
});

describe("a server that cannot start says why in one line and exits with 1", () => {
  test("where the port is in use", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const server = tapehouse("serve", "--data", data, "--temp", temp, "--port", String(port), "--workers", "2");
    expect(await server.ended).toBe(1);
    other.close();
    expect(server.told).toEqual({
      stdout: "",
      stderr: `tapehouse: cannot listen on 127.0.0.1:${port}: the port is in use; choose another port with --port\n`,
    });
  });

  longTest("where the address is another machine's", async () => {
    const server = tapehouse(
      "serve",
      "--data",
      data,
      "--temp",
      temp,
      "--port",
      "0",
      "--host",
      "203.0.113.1",
      "--log-level",
      "error",
    );
    expect(await server.ended).toBe(1);
    expect(server.told.stderr).toBe(
      "tapehouse: cannot listen on 203.0.113.1:0: this machine does not have that address\n",
    );
  });

  longTest("where the lake is damaged", async () => {
    const damaged = await temporaryFolder();
    await publishRows(damaged, { weekly: "SELECT '000001.SZ' AS ts_code, DATE '2023-01-06' AS trade_date" });
    await writeFile(layoutOf(damaged).pointer, "damaged");
    const server = tapehouse("serve", "--data", damaged, "--temp", temp, "--port", "0", "--workers", "2");
    expect(await server.ended).toBe(1);
    expect(server.told.stdout).toBe("");
    expect(server.told.stderr).toMatch(/^tapehouse: .*the pointer to the current version is damaged.*\n$/);
  });
});
