// Faults of clients, disks, clocks and limits: after each the right answers, and nothing is left behind.
import { existsSync, readdirSync } from "node:fs";
import { copyFile, mkdir, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { resizeDisk, smallDisk } from "../support/disks.js";
import { memoryOf, openFilesOf, threadsOf } from "../support/figures.js";
import { temporaryFolder } from "../support/folders.js";
import { endAll, serveInProcess, tapehouseUnder, until, urlOf, workersOf } from "../support/processes.js";
import { size } from "../support/size.js";
import { dropFactors } from "../support/upkeep.js";
import {
  closed,
  expectRightSmall,
  expectRightWide,
  get,
  publishWide,
  requestOf,
  socketTo,
  WIDE,
} from "../support/wide-read.js";

vi.setConfig({ testTimeout: 3_600_000 });

const HUNG_UP = size("HUNG_UP", 80, 600);
const STALLED = size("STALLED", 10, 60);

let data: string;
let temp: string;

beforeAll(async () => {
  data = await temporaryFolder();
  temp = await temporaryFolder();
  await publishWide(data);
});

afterEach(endAll);

const spilled = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.tmp$|\.part$/.test(name));

const REQUEST = requestOf(WIDE);

describe("clients that hang up or stall", () => {
  test(`${HUNG_UP} and ${STALLED} of them leave no file, no thread and no memory behind`, async () => {
    const args = ["--workers", "1", "--no-watch", "--stall", "5", "--log-level", "error"];
    const server = await serveInProcess(data, "--temp", temp, ...args);
    const [worker] = workersOf(server) as [number];
    const warmUp = async (): Promise<void> => {
      await Promise.all(Array.from({ length: 8 }, () => expectRightWide(server)));
      await expectRightSmall(server);
    };
    await warmUp();
    const before = { files: openFilesOf(worker), threads: threadsOf(worker), memory: memoryOf([worker]) };

    const began = performance.now();
    let gone = 0;
    /** Before the request is whole, before the answer, after its first byte, later. */
    const hangUp = async (): Promise<void> => {
      for (let i = gone++; i < HUNG_UP; i = gone++) {
        const socket = socketTo(server.url, i % 4 === 0 ? REQUEST : `${REQUEST}\r\n`);
        const leave = (): void => {
          if (i % 2 === 0) socket.destroy();
          else socket.resetAndDestroy();
        };
        if (i % 4 < 2) socket.once("connect", () => setImmediate(leave));
        else if (i % 4 === 2) socket.once("data", leave);
        else {
          let bytes = 0;
          socket.on("data", (piece) => (bytes += piece.length) > 200_000 && leave());
        }
        await closed(socket);
      }
    };
    await Promise.all([...Array.from({ length: 100 }, hangUp), expectRightSmall(server)]);
    await expectRightSmall(server);
    const hungUp = performance.now();

    const stalled = Array.from({ length: STALLED }, () => socketTo(server.url, `${REQUEST}\r\n`).pause());
    const ends = stalled.map(closed);
    for (let i = 0; i < 20; i++) await expectRightSmall(server);
    const reads = (performance.now() - hungUp) / 20;
    const noneIsServed = async (): Promise<boolean> =>
      /^tapehouse_streams_open 0$/m.test(await (await get(server.url, "/metrics")).text());
    await until("all are cut or turned away", async () => (await noneIsServed()) || undefined, 600_000);
    // A socket that is not read tells of its end only when it is.
    for (const socket of stalled) socket.resume();
    await Promise.all(ends);

    await warmUp();
    await until("files and threads are as before", () => {
      return (openFilesOf(worker) <= before.files + 4 && threadsOf(worker) <= before.threads + 2) || undefined;
    });
    const grown = memoryOf([worker]) - before.memory;
    console.log(
      `${HUNG_UP} clients hung up in ${((hungUp - began) / 1000).toFixed(0)} s; with ${STALLED} stalled ones a small read took ` +
        `${reads.toFixed(0)} ms; memory of the worker then ${Math.round(grown / 1e6)} MB more`,
    );
    expect(grown).toBeLessThan(400e6);
    expect(workersOf(server)).toEqual([worker]);
    expect(spilled(temp)).toEqual([]);
    expect(server.told.stderr).toBe("");
  });
});

describe("files of the lake", () => {
  test("that disappear are reported by every worker, and read again when they are back", async () => {
    const root = await temporaryFolder();
    await publishWide(root, false);
    const server = await serveInProcess(root, "--temp", temp, "--workers", "2", "--no-watch", "--cache", "none");
    const lake = await openLake(root);
    const path = join(lake.layout.lake, lake.current().files("adj_factor").byDate[0]!.path);
    await expectRightWide(server);
    await rename(path, `${path}.away`);
    for (let i = 0; i < 6; i++) {
      const response = await get(server.url, `${WIDE}?limit=5`);
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([500, "data_damaged"]);
    }
    await copyFile(`${path}.away`, path);
    await expectRightWide(server);
    await expectRightSmall(server);
  });
});

describe("a full disk", () => {
  test("under the lake refuses a drop and keeps serving; with free space the next one is imported", async ({
    skip,
  }) => {
    const disk = await smallDisk(6);
    if (disk === null) return skip("no file system can be mounted here");
    const root = join(disk, "parquet");
    await dropFactors(root, ["000001.SZ,20240102,1"]);
    const server = await serveInProcess(root, "--temp", temp, "--workers", "1");
    const count = async (): Promise<number> =>
      ((await (await get(server.url, WIDE)).json()) as { count: number }).count;
    expect(await count()).toBe(1);
    const ballast = join(disk, "ballast");
    await writeFile(ballast, Buffer.alloc(20e6)).catch(() => undefined);
    await truncate(ballast, (await stat(ballast)).size - 150_000);
    const drop = join(root, "inbox", "adj_factor", "drop.csv");
    await mkdir(join(root, "inbox", "adj_factor"), { recursive: true });
    const lines = Array.from(
      { length: 40_000 },
      (_, i) => `${String(i).padStart(6, "0")}.SZ,20240103,${(i * 2_654_435_761) % 2 ** 31}`,
    );
    const text = `ts_code,trade_date,adj_factor\n${lines.join("\n")}\n`;
    await dropFactors(root, lines).then(
      () => Promise.reject(new Error("it was taken")),
      (error: unknown) => expect(String(error)).toContain("no space is left on the disk"),
    );
    expect(await count()).toBe(1);
    await rm(ballast);
    resizeDisk(disk, 60);
    await writeFile(drop, text);
    await until("the drop is served", async () => (await count()) === 40_001 || undefined);
  });

  test("under spill and cache makes queries fail or slower, never wrong", async ({ skip }) => {
    const disk = await smallDisk(6);
    if (disk === null) return skip("no file system can be mounted here");
    const args = ["--temp", disk, "--workers", "1", "--no-watch", "--memory", "32MB", "--concurrency", "1"];
    const server = await serveInProcess(data, ...args);
    await expectRightWide(server);
    await expectRightWide(server);
    await until("nothing half-written is left", () => spilled(disk).length === 0 || undefined);
    // Refused, or cut where a part of it had been sent; the cut one has to be noticed.
    const sorted = await get(server.url, `${WIDE}?order=desc`);
    const told = await sorted.json().then(
      (body) => (body as { code?: string; count?: number }).code ?? "whole",
      (error: unknown) => (error instanceof SyntaxError ? "a part that passes for whole" : "cut"),
    );
    expect(sorted.status === 200 ? ["cut", "whole"] : ["out_of_room"]).toContain(told);
    await expectRightSmall(server);
    const page = (await (await get(server.url, `${WIDE}?order=desc&limit=3`)).json()) as { count: number };
    expect(page.count).toBe(3);
    // DuckDB leaves what it could not write to its end; it goes with the worker.
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    expect(spilled(disk)).toEqual([]);
  });
});

const FAKETIME = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
  .map((machine) => `/usr/lib/${machine}/faketime/libfaketimeMT.so.1`)
  .find((path) => existsSync(path));

test("a clock that is set back by days stops nothing, and data_version still increases", async ({ skip }) => {
  if (FAKETIME === undefined) return skip("libfaketime is not here");
  const root = await temporaryFolder();
  await dropFactors(root, ["000001.SZ,20240102,1"]);
  const clock = join(await temporaryFolder(), "clock");
  await writeFile(clock, "+0");
  const settings = [
    ...[`LD_PRELOAD=${FAKETIME}`, `FAKETIME_TIMESTAMP_FILE=${clock}`, "FAKETIME_NO_CACHE=1"],
    ...["FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_RESET=1"],
  ];
  const server = tapehouseUnder(
    ["env", ...settings],
    "serve",
    "--data",
    root,
    "--temp",
    temp,
    "--port",
    "0",
    "--workers",
    "1",
  );
  const url = await urlOf(server);
  const ask = async () => (await (await get(url, WIDE)).json()) as { count: number; data_version: string };
  const inbox = join(root, "inbox", "adj_factor");
  await mkdir(inbox, { recursive: true });
  const versions = [(await ask()).data_version];
  for (const [i, shift] of ["+0", "-3d", "-40d", "+1d", "-1d"].entries()) {
    await writeFile(clock, shift);
    await writeFile(join(inbox, `${i}.csv`), `ts_code,trade_date,adj_factor\n000001.SZ,2024020${i + 1},${i}\n`);
    const { data_version } = await until("the drop is served", async () => {
      const answer = await ask();
      return answer.count === i + 2 ? answer : undefined;
    });
    versions.push(data_version);
  }
  const times = versions.map((version) => Date.parse(version));
  expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
  server.child.kill("SIGTERM");
  expect(await server.ended).toBe(0);
});

test("with 256 open files allowed, clients beyond them are turned away, and the others get right answers", async () => {
  const limited = ["bash", "-c", 'ulimit -n 256; exec "$@"', "tapehouse"];
  const args = ["serve", "--data", data, "--temp", temp, "--port", "0", "--workers", "1", "--log-level", "warn"];
  const server = tapehouseUnder(limited, ...args);
  const url = await urlOf(server);
  await expectRightSmall({ url });
  const many = Array.from({ length: 400 }, (_, i) => socketTo(url, i % 2 === 0 ? "" : `${REQUEST}\r\n`).pause());
  const refused = await until("some are told to come back", async () => {
    const response = await get(url, "/health").catch(() => undefined);
    return response?.status === 503 ? response : undefined;
  });
  expect(refused.headers.get("retry-after")).toBe("1");
  for (const socket of many) socket.destroy();
  await until(
    "it lets others in",
    async () => (await get(url, "/health").catch(() => undefined))?.status === 200 || undefined,
  );
  await expectRightSmall({ url });
  await expectRightWide({ url });
  const lines = server.told.stderr
    .trim()
    .split("\n")
    .filter((line) => !line.includes("the open-file limit reduces"));
  expect(lines.join("\n")).toBe("");
});
