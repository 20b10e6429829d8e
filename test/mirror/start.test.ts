// A server that starts with a mirror: its state is fetched by the process that follows the bucket, while the workers start.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf, listFile, nameOf } from "../../src/lake/layout.js";
import { createToken } from "../../src/store/tokens.js";
import { temporaryFolder } from "../support/folders.js";
import { bucketProxy, mirrorAt, newAddress, newMirror, pull, STORES } from "../support/mirrors.js";
import { AUTHORIZED, endAll, processesWith, serveInProcess, tapehouse, until } from "../support/processes.js";
import { dropFactors, servedRows } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 600_000 });

/** A lake in the bucket with one version and two rows, and the folder of a mirror that does not exist yet. */
async function newLake(): Promise<{ readonly address: string; readonly mirror: string }> {
  const address = await newAddress("bucket");
  await dropFactors(await newMirror(address), ["000001.SZ,20240102,1", "000002.SZ,20240102,2"]);
  return { address, mirror: join(await temporaryFolder(), "mirror") };
}

const optionsOf = async (mirror: string): Promise<readonly string[]> => [
  ...["--mirror", mirror, "--temp", await temporaryFolder(), "--no-watch", "--workers", "1", "--copies", "none"],
];

describe.skipIf(!STORES.includes("bucket"))("a server with a mirror", () => {
  afterEach(async () => {
    bucketProxy().fault = () => undefined;
    await endAll();
  });

  test("starts with an empty one, and later without the bucket", async () => {
    const { address, mirror } = await newLake();
    const path = "/api/v1/entities/adj_factor?format=csv";
    const rowsAt = async (url: string): Promise<readonly [number, string]> => {
      const response = await fetch(url + path, { headers: AUTHORIZED });
      return [response.status, await response.text()];
    };
    const first = await serveInProcess(address, ...(await optionsOf(mirror)));
    const rows = await rowsAt(first.url);
    expect(rows).toEqual([200, expect.stringContaining("000002.SZ")]);
    await endAll();
    bucketProxy().fault = () => ({ status: 503, body: "" });
    const second = await serveInProcess(address, ...(await optionsOf(mirror)));
    expect(second.told.stderr).toMatch(/does not answer .*; serving what was fetched before/);
    expect(await rowsAt(second.url)).toEqual(rows);
  });

  test("that cannot start says why once and ends", async () => {
    const { mirror } = await newLake();
    const server = tapehouse("serve", "--data", "s3://no-such-bucket", "--port", "0", ...(await optionsOf(mirror)));
    expect(await server.ended).toBe(1);
    expect(server.told.stderr.match(/^tapehouse: /gm)).toHaveLength(1);
    expect(server.told.stderr).toContain("no-such-bucket");
    expect(processesWith("--data", mirror)).toEqual([]);
  });

  test("ends at a signal while its state is fetched", async () => {
    const { address, mirror } = await newLake();
    let asked = 0;
    bucketProxy().fault = () => (asked++, { hangs: true });
    const server = tapehouse("serve", "--data", address, "--port", "0", ...(await optionsOf(mirror)));
    await until("the bucket is asked", () => asked > 0);
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    expect(server.told.stdout).toBe("");
    expect(processesWith("--data", mirror)).toEqual([]);
  });
});

describe.each(STORES)("the state of a mirror, of a %s,", (store) => {
  test("is fetched again where a list was damaged, as by a crash of the system", async () => {
    const address = await newAddress(store);
    await dropFactors(await newMirror(address), ["000001.SZ,20240102,1"]);
    const reader = await newMirror(address);
    await pull(reader);
    const { lists } = layoutOf(reader);
    const [name] = await readdir(lists);
    const text = await readFile(join(lists, name!), "utf8");
    for (const damaged of ["", text.slice(0, -1), text.replace("20240102", "20240103")]) {
      await writeFile(join(lists, name!), damaged);
      expect(await servedRows(reader)).toHaveLength(1);
      expect(await readFile(join(lists, name!), "utf8")).toBe(text);
    }
  });

  test("is not read if a list is damaged in the bucket too", async () => {
    const address = await newAddress(store);
    await dropFactors(await newMirror(address), ["000001.SZ,20240102,1"]);
    const reader = await newMirror(address);
    await pull(reader);
    const layout = layoutOf(reader);
    const [sha] = Object.values((await openLake(reader)).current().version.lists);
    const path = join(layout.lists, listFile(sha!));
    await (await mirrorAt(reader)).objects.put(nameOf(layout, path), Buffer.from("{}"));
    await writeFile(path, "{}");
    await expect(openLake(reader)).rejects.toThrow(/is damaged; see: tapehouse verify/);
  });

  test("has the tokens although a new version is damaged in the bucket", async () => {
    const address = await newAddress(store);
    const writer = await newMirror(address);
    await dropFactors(writer, ["000001.SZ,20240102,1"]);
    const reader = await newMirror(address);
    await pull(reader);
    await dropFactors(writer, ["000001.SZ,20240103,2"]);
    await createToken(writer, "alice", { entities: null, expires: null }, new Date());
    const layout = layoutOf(reader);
    const [sha] = Object.values((await openLake(writer)).current().version.lists);
    const mirror = await mirrorAt(reader);
    await mirror.objects.put(nameOf(layout, join(layout.lists, listFile(sha!))), Buffer.from("{}"));
    await expect(mirror.pull.versions(false, layout.tokens)).rejects.toThrow(/is damaged/);
    expect(await readFile(layout.tokens, "utf8")).toContain("alice");
    expect(await servedRows(reader)).toHaveLength(1);
  });
});
