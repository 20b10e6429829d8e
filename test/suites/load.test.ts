// Load: many clients with mixed requests while drops are published; each response matches the rows of its version.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { makeDemo } from "../../src/cli/demo.js";
import { compact } from "../../src/store/compact.js";
import { createToken, revokeToken } from "../../src/store/tokens.js";
import { vacuum } from "../../src/store/vacuum.js";
import { median, memoryOf } from "../support/figures.js";
import { temporaryFolder } from "../support/folders.js";
import { endAll, serveInProcess, until, workersOf } from "../support/processes.js";
import { size } from "../support/size.js";
import { latencies, runTraffic } from "../support/traffic.js";
import { columnsOf, modelOf, type Model, type Row } from "../support/traffic-model.js";
import { csvFile, MEMORY, tapehouse } from "../support/upkeep.js";

const CLIENTS = size("CLIENTS", 20);
/** Without a time, so many questions. */
const SECONDS = size("SECONDS", 0);
const QUESTIONS = size("QUESTIONS", 200, 1_500);
/** Whether versions are compacted and removed and tokens come and go meanwhile. */
const SOAKS = size("SOAK", 0) === 1;
const STOCKS = size("STOCKS", 40);

/** Milliseconds after which no request is under way with a token that is used no more. */
const QUIET = 30_000;
const SAMPLE_EVERY = 500;
const PUBLISH_EVERY = SECONDS > 0 ? 5_000 : 1_000;

/** Grows by no more than this after the first half, in which caches fill and heaps find their size. */
const MOST_GROWTH = { factor: 1.25, bytes: 128e6 };

/** What is told of the background work of a soak. */
const THINNED = /^removed \d+ old versions, [\d.]+ MB; \d+ stay$/;

test(
  `${CLIENTS} clients get no wrong answer, and memory is flat after a while`,
  async () => {
    const root = await temporaryFolder();
    const temp = await temporaryFolder();
    await makeDemo(root, { stocks: STOCKS, days: 120, seed: 1, memory: "1GB" });
    const first = (await openLake(root)).current().version.data_version;
    let model: Model = await modelOf(root, first);
    const models = new Map([[first, model]]);
    const keep = SOAKS ? "20" : "100000";
    const server = await serveInProcess(
      root,
      "--temp",
      temp,
      "--workers",
      "2",
      "--keep-versions",
      keep,
      "--log-level",
      "warn",
    );
    const processes = () => [server.child.pid!, ...workersOf(server)];

    const began = performance.now();
    let published = 0;
    let over = false;
    const memory: number[] = [];
    const sampling = setInterval(() => memory.push(memoryOf(processes())), SAMPLE_EVERY);
    const close = columnsOf("daily").indexOf("close");

    /**
     * A drop gives one day's rows another close. It is imported by the command: here each step of it would wait for the
     * clients' turns. What the rows are then is known from the drop.
     */
    const publish = async (): Promise<void> => {
      const rows = model.rows.daily;
      const day = rows[(published * 997) % rows.length]![1];
      const change = (row: Row): Row => row.with(close, Number(row[close]) + 0.01 * (1 + (published % 7)));
      const changed = rows.map((row) => (row[1] === day ? change(row) : row));
      const lines = changed.filter((row) => row[1] === day).map((row) => row.map((value) => value ?? "").join(","));
      const file = await csvFile(columnsOf("daily").join(","), lines);
      const { exitCode, stdout, stderr } = await tapehouse("import", "daily", file, "--data", root, "--json");
      if (exitCode !== 0) throw new Error(stderr);
      const { version } = JSON.parse(stdout) as { version: { data_version: string } };
      model = { ...model, rows: { ...model.rows, daily: changed } };
      models.set(version.data_version, model);
      published++;
    };

    let publishing: Promise<void> = Promise.resolve();
    /** Of versions that are not of our drops: what tidies up in the background publishes too. */
    const others = new Map<string, Promise<Model | undefined>>();
    const modelFor = async (version: string): Promise<Model | undefined> => {
      if (!models.has(version)) await publishing;
      if (models.has(version)) return models.get(version);
      if (!others.has(version))
        others.set(
          version,
          modelOf(root, version).catch(() => undefined),
        );
      return others.get(version);
    };
    const upkeep = async (): Promise<void> => {
      while (!over) {
        await (publishing = publish());
        if (SOAKS && published % 10 === 0) {
          const { version } = await compact(root, { keepRecent: 5, ...MEMORY });
          if (version) models.set(version.data_version, model);
          await vacuum(root, { olderThan: 600_000, keep: 20, now: new Date() });
        }
        await until(
          "it is time",
          () => over || performance.now() - began > published * PUBLISH_EVERY || undefined,
          1e9,
        );
      }
    };

    let token = "t";
    const churn = async (): Promise<void> => {
      for (let i = 0; SOAKS && !over; i++) {
        const name = `soak-${i}`;
        const fresh = await createToken(root, name, { entities: null, expires: null }, new Date());
        await until("it is known", async () => (await statusWith(server.url, fresh)) === 200 || undefined);
        const before = token;
        token = fresh;
        await until("its time is over", () => over || performance.now() - began > (i + 1) * 10_000 || undefined, 1e9);
        token = before;
        await sleep(QUIET);
        await revokeToken(root, name);
        await until("it is refused", async () => (await statusWith(server.url, fresh)) === 401 || undefined);
      }
    };

    const working = [upkeep(), churn()];
    const goesOn = (asked: number): boolean =>
      SECONDS > 0 ? performance.now() - began < SECONDS * 1000 : asked < QUESTIONS;
    const outcome = await runTraffic({
      ...{ url: server.url, clients: CLIENTS, goesOn, models, modelFor, forgets: SOAKS },
      token: () => token,
    });
    const seconds = (performance.now() - began) / 1000;
    over = true;
    await Promise.all(working);
    clearInterval(sampling);

    const { wrong, asked, refused, unchanged, late, compared } = outcome;
    const last = await modelOf(root, (await openLake(root)).current().version.data_version);
    const half = memory.slice(Math.floor(memory.length / 2));
    const [earlier, later] = [median(half.slice(0, half.length / 2)), median(half.slice(half.length / 2))];
    const told = server.told.stderr.split("\n").filter((line) => line !== "" && !THINNED.test(line));
    const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
    console.log(
      [
        `${asked} questions of ${CLIENTS} clients in ${seconds.toFixed(0)} s, ${published} drops published meanwhile`,
        `${wrong.length} wrong, ${refused} told to come back, ${unchanged} unchanged (304), ${late} sent too late`,
        `compared in full: ${[...compared].map(([format, count]) => `${count} ${format}`).join(", ")}`,
        `memory of all processes: ${megabytes(earlier)} in the third quarter, ${megabytes(later)} in the last`,
        latencies(outcome),
        ...told,
      ].join("\n"),
    );
    expect(wrong.slice(0, 10)).toEqual([]);
    expect([...compared.values()].every((count) => count > 0)).toBe(true);
    expect(published).toBeGreaterThan(0);
    expect(last.rows.daily).toEqual(model.rows.daily);
    expect(later).toBeLessThan(earlier * MOST_GROWTH.factor + MOST_GROWTH.bytes);
    expect(told).toEqual([]);
    await endAll();
  },
  (SECONDS + 600) * 1000,
);

const statusWith = async (url: string, token: string): Promise<number> =>
  (await fetch(`${url}/api/v1/meta`, { headers: { Authorization: `Bearer ${token}`, Connection: "close" } })).status;
