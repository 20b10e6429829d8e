// A data directory that disappears, goes back or is replaced while a server runs: what was served never becomes
// nothing, nothing older and nothing else, and nothing is written there. Real processes.
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { layoutOf } from "../../src/lake/layout.js";
import { addGap } from "../../src/store/gaps.js";
import { createToken } from "../../src/store/tokens.js";
import { copyOf, temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import {
  AUTHORIZED,
  expectTold,
  isGone,
  serveInProcess,
  until,
  workersOf,
  type ServeProcess,
} from "../support/processes.js";
import { isLong, longTest } from "../support/size.js";

// A loaded machine takes its time to start a process.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const FACTORS = "/api/v1/entities/adj_factor";
const FORMATS = ["json", "ndjson", "csv", "arrow", "parquet"];

/** What `base` is a copy of. */
let original: string;
let base: string;
/** The data directory, in a folder that outlives it. */
let root: string;
let aside: string;
let versions: readonly string[];

const rowsOf = (year: number): Record<string, string> => ({
  adj_factor: `SELECT lpad(i::VARCHAR, 6, '0') || '.SZ' AS ts_code, DATE '${year}-01-02' AS trade_date, ${year}.5 AS adj_factor
               FROM range(50) t(i)`,
});

/** Publishes the rows of a year; resolves to the new `data_version`. */
const publish = async (folder: string, year: number): Promise<string> =>
  (await publishRows(folder, rowsOf(year)))!.data_version;

beforeAll(async () => {
  original = await temporaryFolder();
  const data = join(original, "data");
  versions = [await publish(data, 2021), await publish(data, 2022), await publish(data, 2023)];
});

beforeEach(async () => {
  base = await copyOf(original);
  [root, aside] = [join(base, "data"), join(base, "aside")];
});

const serve = (...args: readonly string[]): Promise<ServeProcess> => serveInProcess(root, "--workers", "2", ...args);

/** The same, once the inbox is watched: its process creates folders and the ledger when it starts. */
async function serveWatching(): Promise<ServeProcess> {
  const server = await serve();
  await until("the inbox is watched", () => Promise.resolve(existsSync(layoutOf(root).ledger) || undefined));
  return server;
}

const ask = (server: ServeProcess, path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(server.url + path, { headers: { ...AUTHORIZED, Connection: "close", ...headers } });

/** The bytes of the newest year in every format: each is as large as all of its rows. */
async function answers(server: ServeProcess): Promise<readonly string[]> {
  const found = FORMATS.map(async (format) => {
    const response = await ask(server, `${FACTORS}?start_date=20230101&format=${format}`);
    const body = Buffer.from(await response.arrayBuffer());
    return `${response.status} ${response.headers.get("X-Data-Version")} ${body.toString("base64")}`;
  });
  return Promise.all(found);
}

interface Health {
  readonly status: string;
  readonly data_version: string;
  readonly databases: Readonly<Record<string, boolean>>;
}

const healthOf = async (server: ServeProcess): Promise<Health> =>
  (await (await ask(server, "/health")).json()) as Health;

/** Asks until every one of many answers of health, from all workers, is this one. */
async function untilHealth(server: ServeProcess, status: string, stores: Record<string, boolean>): Promise<void> {
  await until(`all workers are ${status}`, async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => healthOf(server)));
    const fits = all.map(
      (one) => one.status === status && Object.entries(stores).every(([store, is]) => one.databases[store] === is),
    );
    for (const { data_version } of all) expect(data_version).toBe(versions[2]);
    return fits.every(Boolean) || undefined;
  });
}

const untilWell = (server: ServeProcess): Promise<void> => untilHealth(server, "ok", { state: true, market: true });

/** A worker that has not found the lake yet answers 503. Which of them answers, the system decides. */
async function untilServed(server: ServeProcess, before: readonly string[]): Promise<void> {
  let served = 0;
  await until("every worker serves again", async () => {
    const now = await answers(server);
    for (const [i, answer] of now.entries()) if (!answer.startsWith("503 ")) expect(answer).toBe(before[i]);
    served = now.every((answer, i) => answer === before[i]) ? served + 1 : 0;
    return served === 4 || undefined;
  });
}

/** Publishes a version, which every worker follows. */
async function expectNext(server: ServeProcess): Promise<void> {
  const next = await publish(root, 2026);
  await until("all workers serve it", async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => healthOf(server)));
    return all.every(({ status, data_version }) => status === "ok" && data_version === next) || undefined;
  });
}

/** Files and folders, but for locks, which come and go; undefined where there is no such folder. */
/** Without serving copies, which come and go at any time. */
const namesBelow = async (folder: string): Promise<readonly string[] | undefined> =>
  (await readdir(folder, { recursive: true }).catch(() => undefined))
    ?.filter((one) => !one.includes(".lock") && !/^copies(\/|$)/.test(one))
    .sort();

/** Status and code of an answer that is a problem, which never is an empty one. */
async function problemOf(server: ServeProcess, path: string): Promise<unknown> {
  const response = await ask(server, path);
  const { code } = (await response.json()) as { code?: string };
  return [response.status, code, Number(response.headers.get("Retry-After")) > 0];
}

const UNAVAILABLE = [503, "data_unavailable", true];

async function expectUnavailable(server: ServeProcess): Promise<void> {
  for (const format of FORMATS) {
    expect(await problemOf(server, `${FACTORS}?start_date=20230101&format=${format}`)).toEqual(UNAVAILABLE);
  }
}

/** The catalog calls an entity available where its rows can be read, and nowhere else. */
async function expectHonestMeta(server: ServeProcess): Promise<void> {
  const coverage = { data_start: "20210102", data_end: "20230102", rows: 150 };
  // Each worker notices by itself, within a second.
  await until("every worker knows whether its data files are there", async () => {
    const { status } = await ask(server, `${FACTORS}?format=csv`);
    for (let i = 0; i < 6; i++) {
      const { entities } = (await (await ask(server, "/api/v1/meta")).json()) as { entities: Record<string, unknown> };
      const { available } = entities["adj_factor"] as { available: boolean };
      expect(entities["adj_factor"]).toEqual({ entity: "adj_factor", available, ...coverage });
      expect(entities["daily"]).toEqual({ entity: "daily", available: false });
      if (available !== (status === 200)) return undefined;
    }
    return true;
  });
}

/** Kills a worker; resolves when another one serves in its place. */
async function replaceWorker(server: ServeProcess): Promise<void> {
  const before = workersOf(server);
  process.kill(before[0]!, "SIGKILL");
  await until("the worker is replaced", () => {
    const now = workersOf(server);
    return (isGone(before[0]!) && now.length === 2 && !now.includes(before[0]!)) || undefined;
  });
}

/** Each way in which the directory is no longer what was opened, and how it comes back. */
const ATTACKS: Readonly<Record<string, { harm(): Promise<unknown>; undo(): Promise<unknown>; told: RegExp }>> = {
  "the folder state is gone": {
    harm: () => rename(join(root, "state"), aside),
    undo: () => rename(aside, join(root, "state")),
    told: /the data directory lacks state; restore it/,
  },
  "the folder state is empty": {
    harm: () => rename(join(root, "state"), aside).then(() => mkdir(join(root, "state"))),
    undo: () => rm(join(root, "state"), { recursive: true }).then(() => rename(aside, join(root, "state"))),
    told: /the data directory lacks state\/current/,
  },
  "the directory is gone": {
    harm: () => rename(root, aside),
    undo: () => rename(aside, root),
    told: /the data directory is missing/,
  },
  "the directory is empty, as without its mount": {
    harm: () => rename(root, aside).then(() => mkdir(root)),
    undo: () => rm(root, { recursive: true }).then(() => rename(aside, root)),
    told: /the data directory lacks state/,
  },
  "an older pointer is put back": {
    harm: () => writeFile(layoutOf(root).pointer, "2\n"),
    undo: () => writeFile(layoutOf(root).pointer, "3\n"),
    told: /the pointer to the current version names version 2, which others follow/,
  },
  "an older copy of the directory is put back": {
    async harm() {
      const { versions: folder, pointer } = layoutOf(root);
      await cp(root, aside, { recursive: true, preserveTimestamps: true });
      await writeFile(pointer, "2\n");
      await rm(join(folder, "0000000003.json"));
    },
    undo: () => rm(root, { recursive: true }).then(() => rename(aside, root)),
    told: /the data directory holds an older state, without the served version 2\S+; .*restart the server/,
  },
  "an older copy is put back and went on from there": {
    async harm() {
      const copy = join(base, "copy");
      await cp(root, copy, { recursive: true });
      await writeFile(layoutOf(copy).pointer, "2\n");
      await rm(join(layoutOf(copy).versions, "0000000003.json"));
      for (const year of [2024, 2025]) await publish(copy, year);
      await rename(root, aside);
      await rename(copy, root);
    },
    undo: () => rm(root, { recursive: true }).then(() => rename(aside, root)),
    told: /the data directory holds an older state, without the served version/,
  },
  "another lake takes its place": {
    async harm() {
      const other = join(base, "other");
      for (const year of [2011, 2012, 2013, 2014]) await publish(other, year);
      await rename(root, aside);
      await rename(other, root);
    },
    undo: () => rm(root, { recursive: true }).then(() => rename(aside, root)),
    told: /the data directory holds another lake; .*restart the server/,
  },
};

/** Attacks after which the data files are where they were. */
const FILES_STAY = Object.keys(ATTACKS).filter((name) => /^the folder state|older pointer|older copy of/.test(name));

/** Variants of the other attacks: the long run looks at them too. */
const VARIANTS = [
  "the folder state is empty",
  "the directory is gone",
  "the directory is empty, as without its mount",
  "an older pointer is put back",
  "an older copy of the directory is put back",
  "an older copy is put back and went on from there",
];

describe.each(Object.entries(ATTACKS).filter(([name]) => isLong || !VARIANTS.includes(name)))(
  "when %s",
  (name, { harm, undo, told }) => {
    test("the open version is served or nothing is, health and log say so, and it comes back by itself", async () => {
      const server = await serveWatching();
      const before = await answers(server);
      expect(before.map((answer) => answer.slice(0, 4))).toEqual(FORMATS.map(() => "200 "));
      await harm();
      const there = await namesBelow(root);

      const soon = async (): Promise<void> => {
        const now = await answers(server);
        for (const [i, answer] of now.entries()) if (!answer.startsWith("503 ")) expect(answer).toBe(before[i]);
        if (FILES_STAY.includes(name)) expect(now).toEqual(before);
      };
      for (let i = 0; i < 5; i++) await soon();
      await untilHealth(server, "degraded", { state: false });
      await expectTold(server, told);
      await soon();
      await expectHonestMeta(server);
      expect(await namesBelow(root)).toEqual(there);

      await undo();
      await untilWell(server);
      await untilServed(server, before);
      await expectHonestMeta(server);
      await expectTold(server, /the data directory is available again|the inbox again|names version 2/);
      await expectNext(server);
    });

    longTest("a new worker and a reload do not accept it as the lake, and serve again when it is back", async () => {
      const server = await serveWatching();
      const before = await answers(server);
      await harm();
      await untilHealth(server, "degraded", { state: false });
      const there = await namesBelow(root);
      server.child.kill("SIGHUP");
      await expectTold(server, /a new worker could not start; the old workers keep running/);
      await expectTold(server, /"reloaded"/);
      if (FILES_STAY.includes(name)) expect(await answers(server)).toEqual(before);
      await replaceWorker(server);
      for (let i = 0; i < 8; i++) {
        for (const [j, answer] of (await answers(server)).entries()) {
          if (!/^50[03] /.test(answer)) expect(answer).toBe(before[j]);
        }
      }
      await untilHealth(server, "degraded", { state: false });
      expect(await namesBelow(root)).toEqual(there);
      await undo();
      await untilWell(server);
      await untilServed(server, before);
      await expectNext(server);
    });
  },
);

test("without the folder lake every format answers 503, and each store without its files is false", async () => {
  const server = await serve();
  const before = await answers(server);
  await rename(join(root, "lake"), aside);
  await expectUnavailable(server);
  await untilHealth(server, "degraded", { state: true, market: false, reference: true });
  await expectHonestMeta(server);
  await expectTold(server, /folders of data files are missing: lake\/adj_factor/);
  await expectTold(server, /not watching the inbox: the folder lake\/adj_factor is missing/);
  await expect(publish(root, 2027)).rejects.toThrow("the folder lake/adj_factor is missing; mount or restore it");
  expect(existsSync(join(root, "lake"))).toBe(false);
  await rename(aside, join(root, "lake"));
  await untilWell(server);
  expect(await answers(server)).toEqual(before);
});

test("what only the folder state can tell is 503 while it is gone; validators, metrics and the rest go on", async () => {
  const gap = { code: null, start: "20230105", end: "20230106", kind: "timeout" };
  await addGap(root, entityNamed("adj_factor")!, gap, new Date());
  const server = await serve("--no-watch");
  const old = `${FACTORS}?data_version=${encodeURIComponent(versions[0]!)}`;
  const never = `${FACTORS}?data_version=${encodeURIComponent("2020-01-01T00:00:00.000+08:00")}`;
  const gaps = `${FACTORS}/gaps`;
  const count = async (): Promise<string | undefined> =>
    /^tapehouse_versions \d+$/m.exec(await (await ask(server, "/metrics")).text())?.[0];
  const etag = (await ask(server, FACTORS)).headers.get("ETag")!;
  await until("all workers have counted", async () => (await count()) === "tapehouse_versions 3" || undefined);
  expect([(await ask(server, old)).status, (await ask(server, never)).status]).toEqual([200, 404]);
  const meta = await (await ask(server, "/api/v1/meta")).text();
  await rename(join(root, "state"), aside);
  for (const path of [old, never, gaps, "/api/v1/versions"]) expect(await problemOf(server, path)).toEqual(UNAVAILABLE);
  expect((await ask(server, FACTORS, { "If-None-Match": etag })).status).toBe(304);
  expect(await (await ask(server, "/api/v1/meta")).text()).toBe(meta);
  expect((await ask(server, `${FACTORS}?data_version=${encodeURIComponent(versions[2]!)}`)).status).toBe(200);
  expect(await count()).toBe("tapehouse_versions 3");
  const question = { api_name: "adj_factor", token: "t", params: {}, fields: "ts_code,trade_date,adj_factor" };
  const post = async (): Promise<{ code: number; data: { items: unknown[] } | null }> =>
    (await (await fetch(`${server.url}/tushare`, { method: "POST", body: JSON.stringify(question) })).json()) as never;
  expect((await post()).data!.items).toHaveLength(150);
  await rename(join(root, "lake"), join(base, "lake"));
  const without = await post();
  expect([without.code === 0, without.data]).toEqual([false, null]);
  await rename(join(base, "lake"), join(root, "lake"));
  await rename(aside, join(root, "state"));
  await untilWell(server);
  expect([(await ask(server, old)).status, (await ask(server, never)).status]).toEqual([200, 404]);
  expect((await (await ask(server, gaps)).json()) as object).toMatchObject({ gaps: [{ kind: "timeout" }] });
});

longTest("a worker that starts while the token file is gone does not take its tokens for invalid ones", async () => {
  const { tokens } = layoutOf(root);
  const secret = await createToken(root, "alice", { entities: null, expires: null }, new Date());
  const server = await serve("--no-watch");
  const statuses = async (): Promise<readonly number[]> => {
    const asked = Array.from({ length: 12 }, () => ask(server, "/api/v1/meta", { Authorization: `Bearer ${secret}` }));
    return (await Promise.all(asked)).map(({ status }) => status);
  };
  expect(new Set(await statuses())).toEqual(new Set([200]));
  await rename(tokens, aside);
  await untilHealth(server, "degraded", { state: false });
  await replaceWorker(server);
  const seen = new Set<number>();
  await until("the new worker answers", async () => {
    for (const status of await statuses()) seen.add(status);
    return seen.has(503) || seen.has(401) || undefined;
  });
  expect([...seen].sort()).toEqual([200, 503]);
  await rename(aside, tokens);
  await untilWell(server);
  expect(new Set(await statuses())).toEqual(new Set([200]));
});

longTest("a restart of the server serves what is there then", async () => {
  const server = await serve("--no-watch");
  await ATTACKS["another lake takes its place"]!.harm();
  await untilHealth(server, "degraded", { state: false });
  server.child.kill("SIGTERM");
  expect(await server.ended).toBe(0);
  const restarted = await serve("--no-watch");
  const response = await ask(restarted, `${FACTORS}?format=csv`);
  expect((await response.text()).split("\n")).toHaveLength(202);
});

longTest("a lake that was empty at the start gets its first version, and a name", async () => {
  await rm(root, { recursive: true });
  await mkdir(root);
  const server = await serve();
  expect((await healthOf(server)).status).toBe("ok");
  const first = await publish(root, 2024);
  await until("it is served", async () => (await healthOf(server)).data_version === first || undefined);
  expect(JSON.parse(await readFile(layoutOf(root).identity, "utf8"))).toEqual({
    id: expect.stringMatching(/^[-0-9a-f]{36}$/),
  });
});

longTest(
  "a lake of an earlier release gets its name at the next publication, and is told from others without it",
  async () => {
    await rm(layoutOf(root).identity);
    const server = await serve();
    const before = await answers(server);
    const { harm, undo, told } = ATTACKS["another lake takes its place"]!;
    await harm();
    await untilHealth(server, "degraded", { state: false });
    await expectTold(server, told);
    await undo();
    await untilWell(server);
    expect(await answers(server)).toEqual(before);
    await expectNext(server);
    expect(existsSync(layoutOf(root).identity)).toBe(true);
  },
);

longTest("a response in progress when the directory disappears is complete or cut", async () => {
  const rows = 600_000;
  await publishRows(root, { adj_factor: factors(rows) });
  const server = await serve("--no-watch", "--cache", "none");
  const outcomes: string[] = [];
  for (const path of [`${FACTORS}?format=csv`, FACTORS]) {
    const response = await ask(server, path);
    await rename(root, aside);
    const body = await response.text().catch(() => null);
    if (body === null) outcomes.push("cut");
    else if (path === FACTORS) outcomes.push(String((JSON.parse(body) as { count: number }).count));
    else outcomes.push(String(body.split("\n").length - 2));
    await rename(aside, root);
    await until("it is back", async () => (await ask(server, `${FACTORS}?limit=1`)).status === 200 || undefined);
  }
  // Those of 2023 are among the new ones.
  for (const outcome of outcomes) expect(["cut", String(rows + 100)]).toContain(outcome);
});
