// serve imports drops while it runs: real processes, real files.
import { existsSync, readdirSync } from "node:fs";
import { readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ENTITY_NAMES } from "../../src/catalog/index.js";
import { openLake } from "../../src/lake/lake.js";
import { temporaryFolder } from "../support/folders.js";
import { drop, factors, outcomesOf } from "../support/ingest.js";
import {
  AUTHORIZED,
  processesWith,
  expectTold,
  serveInProcess,
  tapehouse,
  until,
  type ServeProcess,
} from "../support/processes.js";

interface Served extends ServeProcess {
  readonly data: string;
  count(entity: string): Promise<number>;
}

async function served(data: string, ...args: readonly string[]): Promise<Served> {
  const server = await serveInProcess(data, "--workers", "1", ...args);
  return {
    ...server,
    data,
    async count(entity) {
      const response = await fetch(`${server.url}/api/v1/entities/${entity}`, { headers: AUTHORIZED });
      return ((await response.json()) as { count: number }).count;
    },
  };
}

const watches = (data: string): Promise<unknown> =>
  until("the inbox is there", () => readFile(join(data, "state/ingest.lock"), "utf8").catch(() => undefined));

test("a drop is served, a bad one is reported, and the command status shows both", async () => {
  const data = await temporaryFolder();
  const server = await served(data);
  await watches(data);
  expect(readdirSync(join(data, "inbox")).sort()).toEqual([...ENTITY_NAMES].sort());
  await drop(data, "adj_factor/bad.csv", factors("000001.SZ,20240102,1", "000001.SZ,20240103,many"));
  await drop(data, "adj_factor/a.csv", factors("000001.SZ,20240102,1", "000002.SZ,20240102,1"));
  await until("the rows are served", async () => (await server.count("adj_factor")) === 2 || undefined);
  await until("the bad one is refused", async () => (await outcomesOf(data))["adj_factor/bad.csv"]);
  await expectTold(server, /^imported inbox\/adj_factor\/a\.csv: 2 rows, data_version \d/m);
  await expectTold(server, /^refused inbox\/adj_factor\/bad\.csv: row 2 \(line 3\), column adj_factor: "many"/m);

  const text = tapehouse("status", "--data", data);
  expect(await text.ended).toBe(0);
  expect(text.told.stdout).toMatch(/^adj_factor +2 +20240102 +20240102 +1 /m);
  expect(text.told.stdout).toContain("drops: 1 imported, 0 with known content, 1 refused, 0 withdrawn\n");
  expect(text.told.stdout).toMatch(/refused inbox\/adj_factor\/bad\.csv: row 2 \(line 3\), column adj_factor/);
  const json = tapehouse("status", "--json", "--data", data);
  expect(await json.ended).toBe(0);
  expect(JSON.parse(json.told.stdout)).toMatchObject({
    data_version: (await openLake(data)).current().version.data_version,
    versions: { kept: 1 },
    entities: [{ entity: "adj_factor", rows: 2, files: 1, codeCopy: 0 }],
    drops: { imported: 1, same: 0, refused: [{ path: "adj_factor/bad.csv", entity: "adj_factor" }] },
    gaps: [],
  });
});

test("a good drop is served, while links, endless files and one of 300 GB are all refused", async () => {
  const data = await temporaryFolder();
  const server = await served(data);
  await watches(data);
  const inbox = join(data, "inbox/daily");
  await until("the folders are there", () => existsSync(inbox) || undefined);
  await symlink("/dev/zero", join(inbox, "endless.csv"));
  await symlink(join(data, "state/ingest.lock"), join(inbox, "state.csv"));
  await symlink(".", join(inbox, "again"));
  await truncate(await drop(data, "daily/sparse.csv", "ts_code\n"), 300e9);
  await drop(data, "adj_factor/a.csv", factors("000001.SZ,20240102,1"));
  await until("the drop is served", async () => (await server.count("adj_factor")) === 1 || undefined);
  await until("the others are refused", async () => {
    const outcomes = Object.entries(await outcomesOf(data)).filter(([path]) => path.startsWith("daily/"));
    return (outcomes.length === 4 && outcomes.every(([, outcome]) => outcome === "refused")) || undefined;
  });
  await expectTold(server, /^refused inbox\/daily\/state\.csv: links are not read from the inbox/m);
});

test("rows of tapehouse import during a running server are served", async () => {
  const data = await temporaryFolder();
  const server = await served(data);
  await drop(data, "adj_factor/a.csv", factors("000001.SZ,20240102,1"));
  const file = join(await temporaryFolder(), "x.csv");
  await writeFile(file, factors("000002.SZ,20240102,1"));
  expect(await tapehouse("import", "adj_factor", file, "--data", data).ended).toBe(0);
  await until("both are served", async () => (await server.count("adj_factor")) === 2 || undefined);
  expect((await openLake(data)).current().version.sequence).toBe(2);
});

test("the server keeps running when the process that watches the inbox dies, and another one takes over", async () => {
  const data = await temporaryFolder();
  const server = await served(data);
  await watches(data);
  const [ingester] = processesWith("ingest", data);
  process.kill(ingester!, "SIGKILL");
  await drop(data, "adj_factor/a.csv", factors("000001.SZ,20240102,1"));
  await until("the drop is served", async () => (await server.count("adj_factor")) === 1 || undefined);
  await expectTold(
    server,
    /"how":"SIGKILL","seconds":1,"msg":"the process that watches the inbox died; it is being restarted"/,
  );
  server.child.kill("SIGTERM");
  expect(await server.ended).toBe(0);
  expect(processesWith("ingest", data)).toEqual([]);
});

test("the process that watches the inbox ends when the server is killed", async () => {
  const data = await temporaryFolder();
  await served(data);
  await watches(data);
  for (const id of processesWith("serve", data)) process.kill(id, "SIGKILL");
  await until("it ended", () => processesWith("ingest", data).length === 0 || undefined);
  expect(processesWith("serve", data)).toEqual([]);
});

test("with --no-watch nothing is imported and nothing is created", async () => {
  const data = await temporaryFolder();
  const server = await served(data, "--no-watch");
  expect(processesWith("ingest", data)).toEqual([]);
  expect(await server.count("adj_factor")).toBe(0);
  expect(readdirSync(data)).toEqual([]);
});

test("a data directory that cannot be written is served, and the server reports that it is not watched", async () => {
  const data = await temporaryFolder();
  await writeFile(join(data, "inbox"), "in the way of a folder");
  const server = await served(data);
  await until(
    "it is told",
    () => /^not watching the inbox: .* cannot be written \(\w+\)$/m.test(server.told.stderr) || undefined,
  );
  expect(await server.count("adj_factor")).toBe(0);
});
