// The copier keeps a copy of each data file that fits, and nothing else.
import { readdir, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { type CopyCount, keepCopies, makeCopies } from "../../src/copier/copier.js";
import { copyPath } from "../../src/copies/names.js";
import { openCopy } from "../../src/copies/open.js";
import { openCopyStore } from "../../src/copies/store.js";
import { openCopiesFolder } from "../../src/lake/copies-folder.js";
import { openLake } from "../../src/lake/lake.js";
import type { DataFile } from "../../src/lake/manifest.js";
import { rowsOf, scanOf } from "../../src/query/scan.js";
import { entityNamed } from "../../src/catalog/index.js";
import { vacuum } from "../../src/store/vacuum.js";
import { smallDisk } from "../support/disks.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import {
  AUTHORIZED,
  endAll,
  type Process,
  serveInProcess,
  tapehouse as startTapehouse,
  until,
} from "../support/processes.js";
import { serve } from "../support/server.js";
import { tapehouse } from "../support/upkeep.js";

const never = new AbortController().signal;

afterEach(endAll);

const rowsFrom = (first: string, days = 3): string => `SELECT printf('%06d.SZ', c) AS ts_code,
    DATE '${first}' + d::INT AS trade_date, 1.5 AS adj_factor FROM range(2000) s(c), range(${days}) t(d)`;

async function lakeOf(...firsts: string[]): Promise<string> {
  const root = await temporaryFolder();
  for (const first of firsts) await publishRows(root, { adj_factor: rowsFrom(first) });
  return root;
}

const copy = (root: string, size: number | "auto" = "auto", log: string[] = []): Promise<CopyCount> =>
  makeCopies(root, { folder: join(root, "copies"), size, log: (line) => log.push(line), signal: never });

const filesOf = async (root: string): Promise<readonly DataFile[]> =>
  (await openLake(root)).current().files("adj_factor").byDate;

/** The first days of the data files that have copies. */
const copied = async (root: string): Promise<readonly string[]> =>
  (await readdir(join(root, "copies", "adj_factor")))
    .filter((name) => name.endsWith(".arrow"))
    .map((name) => name.slice(0, 8))
    .toSorted();

/** Whether the rows of a data file can be read from its copy. */
async function isWhole(root: string, file: DataFile): Promise<boolean> {
  const store = openCopyStore(join(root, "copies"));
  const { columns } = entityNamed("adj_factor")!;
  try {
    const parts = await store.open(scanOf([file], rowsOf(columns)), columns);
    if (parts === null) return false;
    let rows = 0;
    for await (const batch of parts[0]!.copied!.batches) rows += batch.numRows;
    parts[0]!.copied!.close();
    return rows === file.rows;
  } finally {
    await store.close();
  }
}

test("each data file gets a copy, once", async () => {
  const root = await lakeOf("2024-01-01", "2024-02-01");
  expect(await copy(root)).toMatchObject({ made: 2, removed: 0, missing: 0 });
  for (const file of await filesOf(root)) expect(await isWhole(root, file)).toBe(true);
  expect(await copy(root)).toMatchObject({ made: 0, removed: 0, missing: 0 });
});

test("where space is short, the newest rows have copies", async () => {
  const root = await lakeOf("2024-01-01", "2024-02-01", "2024-03-01");
  const { bytes } = await copy(root);
  const most = bytes * 0.7;
  expect(await copy(root, most)).toMatchObject({ made: 0, removed: 1, missing: 1 });
  expect(await copied(root)).toEqual(["20240201", "20240301"]);
  await publishRows(root, { adj_factor: rowsFrom("2024-04-01") });
  expect(await copy(root, most)).toMatchObject({ made: 1, removed: 1, missing: 2 });
  expect(await copied(root)).toEqual(["20240301", "20240401"]);
  expect(await copy(root, most)).toMatchObject({ made: 0, removed: 0, missing: 2 });
});

test("a copy goes when its data file is gone, and stays as long as an older version needs it", async () => {
  const root = await lakeOf("2024-01-01");
  await copy(root);
  await publishRows(root, { adj_factor: rowsFrom("2024-01-01").replace("1.5", "2.5") });
  expect(await copy(root)).toMatchObject({ made: 1, removed: 0 });
  await vacuum(root, { olderThan: 0, keep: 1, now: new Date() });
  expect(await copy(root)).toMatchObject({ made: 0, removed: 1, missing: 0 });
  expect(await copied(root)).toEqual(["20240101"]);
});

test("a copy that is deleted, cut short or found damaged is made again", async () => {
  const root = await lakeOf("2024-01-01", "2024-02-01", "2024-03-01");
  await copy(root);
  const folder = join(root, "copies", "adj_factor");
  const [one, two, three] = (await readdir(folder)).toSorted().map((name) => join(folder, name));
  await rm(one!);
  await truncate(two!, 1000);
  const bytes = await readFile(three!);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(three!, bytes);
  const server = await serve(root, { cache: "0" });
  expect((await server.json("/api/v1/entities/adj_factor")).count).toBe(18_000);
  expect(await copy(root)).toMatchObject({ made: 3, missing: 0 });
  for (const file of await filesOf(root)) expect(await isWhole(root, file)).toBe(true);
});

test("a folder that disappears while it runs is made again", async () => {
  const root = await lakeOf("2024-01-01");
  const stopping = new AbortController();
  const log: string[] = [];
  const options = { folder: join(root, "copies"), size: "auto", log: (line: string) => log.push(line) } as const;
  const keeping = keepCopies(root, { ...options, signal: stopping.signal });
  await until("the first copy is there", async () => (await copied(root).catch(() => [])).length === 1 || undefined);
  // At once, since files may still be added to it.
  await rename(options.folder, `${options.folder}-aside`);
  await until("it is there again", async () => (await copied(root).catch(() => [])).length === 1 || undefined);
  stopping.abort();
  await keeping;
  expect(await isWhole(root, (await filesOf(root))[0]!)).toBe(true);
});

test("a data directory that is moved away while copies are made is not made again", async () => {
  const root = join(await temporaryFolder(), "data");
  const days = Array.from({ length: 40 }, (_, i) => new Date(Date.UTC(2024, 0, 1 + 3 * i)).toISOString().slice(0, 10));
  for (const day of days) await publishRows(root, { adj_factor: rowsFrom(day) });
  const stopping = new AbortController();
  const log: string[] = [];
  const options = { folder: join(root, "copies"), size: "auto", log: (line: string) => log.push(line) } as const;
  const keeping = keepCopies(root, { ...options, signal: stopping.signal });
  await until("the first copy is there", async () => (await copied(root).catch(() => [])).length > 0 || undefined);
  await rename(root, `${root}-aside`);
  await until("it is noticed", () => log.some((line) => line.startsWith("no serving copies are made")) || undefined);
  stopping.abort();
  await keeping;
  await expect(stat(root)).rejects.toThrow("ENOENT");
  expect(await copied(`${root}-aside`)).not.toHaveLength(days.length);
});

test("a copy that is removed is not kept open", async () => {
  const root = await lakeOf("2024-01-01");
  await copy(root);
  const [file] = await filesOf(root);
  const held = await openCopy(copyPath(join(root, "copies"), file!.path), file!.sha256);
  if (held === null || "damaged" in held) throw new Error("there is no copy");
  expect(await held.isThere()).toBe(true);
  await rm(join(root, "copies"), { recursive: true });
  expect(await held.isThere()).toBe(false);
  await copy(root);
  // It belongs to another file by now.
  await held.remove();
  expect(await isWhole(root, file!)).toBe(true);
  await held.close();
});

test("the file of an entity without a main date gets a copy, once", async () => {
  const root = await temporaryFolder();
  await publishRows(root, { stock_company: "SELECT '000001.SZ' AS ts_code" });
  expect(await copy(root)).toMatchObject({ made: 1, missing: 0 });
  expect(await copy(root)).toMatchObject({ made: 0, missing: 0 });
});

test("a folder with the copies of another lake is refused", async () => {
  const [one, other] = [await lakeOf("2024-01-01"), await lakeOf("2024-02-01")];
  await copy(one);
  await expect(
    makeCopies(other, { folder: join(one, "copies"), size: "auto", log: () => undefined, signal: never }),
  ).rejects.toThrow(/holds the serving copies of another data directory/);
  expect(await copied(one)).toEqual(["20240101"]);
});

test("what a crash left unfinished is removed, and what another release made", async () => {
  const root = await lakeOf("2024-01-01");
  await copy(root);
  const folder = join(root, "copies", "adj_factor");
  const [whole] = await readdir(folder);
  await writeFile(join(folder, "20240101-20240103-0123456789abcdef.01234567.arrow"), "old");
  await writeFile(join(folder, `${whole}.0a-1b.part`), "half");
  await writeFile(join(folder, "mine.arrow"), "not a copy");
  await copy(root);
  expect((await readdir(folder)).toSorted()).toEqual([whole, "mine.arrow"].toSorted());
});

test("a damaged data file gets no copy, and is named", async () => {
  const root = await lakeOf("2024-01-01", "2024-02-01");
  const [file] = await filesOf(root);
  await truncate(join(root, "lake", file!.path), 100);
  const log: string[] = [];
  expect(await copy(root, "auto", log)).toMatchObject({ made: 1, missing: 1 });
  expect(log).toEqual([`no serving copy of ${file!.path}: the file has 100 bytes instead of ${file!.bytes}`]);
});

test("a disk that is too small holds no copy", async (context) => {
  const disk = await smallDisk(1);
  if (disk === null) return context.skip("this user may not mount file systems");
  const root = await temporaryFolder();
  await publishRows(root, { adj_factor: rowsFrom("2024-01-01", 60) });
  const log: string[] = [];
  const count = await makeCopies(root, { folder: disk, size: 1e9, log: (line) => log.push(line), signal: never });
  expect(count).toMatchObject({ made: 0, missing: 1 });
  expect(log).toEqual([]);
  expect(await readdir(disk)).toEqual(["lake.json"]);
});

test("new versions are copied while it runs; only one process keeps the copies of a folder", async () => {
  const root = await lakeOf("2024-01-01");
  const stopping = new AbortController();
  const options = {
    folder: join(root, "copies"),
    size: "auto",
    log: () => undefined,
    signal: stopping.signal,
  } as const;
  const keeping = keepCopies(root, options);
  await until("the first copy is there", async () => (await copied(root).catch(() => [])).length === 1 || undefined);
  await expect(makeCopies(root, { ...options, signal: never })).rejects.toThrow(
    `another process keeps the copies in ${options.folder}`,
  );
  await publishRows(root, { adj_factor: rowsFrom("2024-02-01") });
  await until("the second copy is there", async () => (await copied(root)).length === 2 || undefined);
  stopping.abort();
  await keeping;
});

test("a server makes copies and reads from them, and a new one finds them open", async () => {
  const root = await lakeOf("2024-01-01");
  const server = await serveInProcess(root, "--cache", "0");
  await until("there is a copy", async () => (await copied(root).catch(() => [])).length === 1 || undefined);
  const rowsOfCopies = async (url: string): Promise<[number, number]> => {
    const response = await fetch(`${url}/api/v1/entities/adj_factor`, { headers: AUTHORIZED });
    const { count } = (await response.json()) as { count: number };
    const metrics = await (await fetch(`${url}/metrics`, { headers: AUTHORIZED })).text();
    return [count, Number(/^tapehouse_scans_total\{source="copies"\} (\d+)/m.exec(metrics)![1])];
  };
  const [count, scans] = await rowsOfCopies(server.url);
  expect([count, scans > 0]).toEqual([6_000, true]);
  const next = await serveInProcess(root, "--cache", "0", "--no-watch");
  const [, before] = await rowsOfCopies(next.url);
  expect(before).toBeGreaterThan(1);
});

test("copies are not kept among data files, drops or state, but elsewhere or in their own place", async () => {
  const data = await lakeOf("2024-01-01");
  const open = (copiesFolder: string): Promise<string | null> =>
    openCopiesFolder({ data, copies: "auto", copiesFolder });
  for (const name of [".", "lake", "lake/copies", "inbox", "state"]) {
    await expect(open(join(data, name))).rejects.toThrow("the data directory has a folder for them");
  }
  expect(await open(join(data, "copies"))).toBe(join(data, "copies"));
  const beside = `${data}-copies`;
  expect(await open(beside)).toBe(beside);
  await rm(beside, { recursive: true });
});

test("the command says what it made", async () => {
  const root = await lakeOf("2024-01-01");
  const { exitCode, stdout } = await tapehouse("copies", "--data", root);
  expect([exitCode, stdout]).toEqual([
    0,
    expect.stringMatching(/^serving copies: 1 made, 0 removed, [\d.]+ kB in all\n$/),
  ]);
  const { stdout: again } = await tapehouse("copies", "--data", root, "--json");
  expect(JSON.parse(again)).toMatchObject({ made: 0, removed: 0, missing: 0 });
  expect(await tapehouse("copies", "--data", root, "--copies", "0")).toMatchObject({
    exitCode: 2,
    stderr: "tapehouse: --copies 0 and --copies none mean no serving copies\n",
  });
  expect((await stat(join(root, "copies"))).isDirectory()).toBe(true);
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "the command that gets %s ends by it, and leaves nothing unfinished",
  async (signal) => {
    const root = await temporaryFolder();
    await publishRows(root, { adj_factor: rowsFrom("2020-01-01", 1500) });
    const folder = join(root, "copies");
    const names = async (): Promise<readonly string[]> => readdir(folder, { recursive: true }).catch(() => []);
    const isWriting = async (): Promise<boolean> => (await names()).some((name) => name.endsWith(".part"));
    // On a loaded machine, it may be done before it is looked at.
    const stopped = async (): Promise<Process> => {
      await rm(folder, { recursive: true, force: true });
      const command = startTapehouse("copies", "--data", root);
      while (command.child.exitCode === null && !(await isWriting())) await sleep(2);
      command.child.kill(signal);
      return (await command.ended) === 0 ? stopped() : command;
    };
    const command = await stopped();
    expect([command.child.signalCode, command.told]).toEqual([signal, { stdout: "", stderr: "" }]);
    expect((await names()).filter((name) => /\.part$|lock/.test(name))).toEqual([]);
  },
);
