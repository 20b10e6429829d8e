// Writers that are killed between two requests, and responses that are lost after the request was carried out: nothing is
// lost and nothing is published twice.
import { describe, expect, test, afterEach } from "vitest";
import { readDrops } from "../../src/lake/status.js";
import { makeInbox } from "../../src/inbox/data-directory.js";
import { openLake } from "../../src/lake/lake.js";
import { readLedger } from "../../src/lake/ledger.js";
import { layoutOf } from "../../src/lake/layout.js";
import { verify } from "../../src/repair/verify.js";
import { followLedger } from "../../src/store/ledger-file.js";
import { vacuum } from "../../src/store/vacuum.js";
import type { Fault, Seen } from "../support/bucket-proxy.js";
import { bucketProxy, mirrorAt, newAddress, newMirror, pull, STORES } from "../support/mirrors.js";
import { ingester } from "../support/ingest.js";
import { endAll, tapehouse, until } from "../support/processes.js";
import { size } from "../support/size.js";
import { dropFactors, factorFile, MEMORY, servedRows } from "../support/upkeep.js";

/** Every so many requests of a publication are tried. */
const STEP = size("REQUESTS_STEP", 4, 1);

const isWrite = ({ method }: Seen): boolean => method !== "GET";

/** A lake with one version, and a mirror of it that has seen that version. */
async function newLake(): Promise<{ readonly address: string; readonly root: string }> {
  const address = await newAddress("bucket");
  const root = await newMirror(address);
  await dropFactors(root, ["000001.SZ,20240102,1", "000002.SZ,20240102,2"]);
  return { address, root };
}

/** What a new mirror of the bucket has: rows, and the numbers of the versions. It must be without faults. */
async function seenBy(address: string) {
  const root = await newMirror(address);
  await pull(root);
  await followLedger(layoutOf(root));
  expect((await verify(root, { ...MEMORY, deep: true })).faults).toEqual([]);
  const sequences = (await (await openLake(root)).versions()).map(({ sequence }) => sequence);
  return { rows: await servedRows(root), sequences };
}

/** The requests of an import into a lake with one version. */
async function requestsOfImport(): Promise<number> {
  const { root } = await newLake();
  const before = bucketProxy().requests.length;
  await dropFactors(root, ["000001.SZ,20240103,3"]);
  return bucketProxy().requests.length - before;
}

/** Applies a fault to the request with this number from now on, and `after` to the later ones. */
function faultAt(number: number, fault: Fault, after: Fault = {}): void {
  let seen = 0;
  bucketProxy().fault = () => {
    const at = seen++;
    return at === number ? fault : at > number ? after : undefined;
  };
}

describe.skipIf(!STORES.includes("bucket"))("a writer of a bucket", () => {
  afterEach(async () => {
    bucketProxy().fault = () => undefined;
    await endAll();
  });

  test("publishes with few requests", async () => {
    expect(await requestsOfImport()).toBeLessThanOrEqual(12);
  });

  test("that is killed at any request leaves the version before it or the new one, and the next import succeeds", async () => {
    const count = await requestsOfImport();
    for (let number = 0; number < count + 8; number += STEP) {
      const { address, root } = await newLake();
      const file = await factorFile(["000001.SZ,20240103,3"]);
      const writer = tapehouse("import", "adj_factor", file, "--data", address, "--mirror", `${root}-2`);
      let seen = 0;
      bucketProxy().fault = () => {
        // Of every second one the bucket still gets the request.
        if (seen++ === number) writer.child.kill("SIGKILL");
        return number % 2 === 0 && seen > number ? { hangs: true } : undefined;
      };
      await writer.ended;
      bucketProxy().fault = () => undefined;
      const { rows, sequences } = await seenBy(address);
      expect([2, 3]).toContain(rows.length);
      expect(sequences).toEqual(rows.length === 2 ? [1] : [1, 2]);
      await dropFactors(root, ["000001.SZ,20240103,3"]);
      expect((await seenBy(address)).rows).toHaveLength(3);
    }
  });

  test("publishes exactly once, whichever response is lost", async () => {
    const count = await requestsOfImport();
    for (let number = 0; number < count; number++) {
      const { address, root } = await newLake();
      faultAt(number, { isLost: true });
      await dropFactors(root, ["000001.SZ,20240103,3"]);
      bucketProxy().fault = () => undefined;
      expect((await seenBy(address)).sequences).toEqual([1, 2]);
      expect((await seenBy(address)).rows).toHaveLength(3);
    }
  });

  test("whose clock is minutes behind or ahead publishes versions that ascend", async () => {
    const { address, root } = await newLake();
    const other = await newMirror(address);
    const minutes = (count: number): Date => new Date(Date.now() + count * 60_000);
    await dropFactors(other, ["000001.SZ,20240103,3"], minutes(10));
    await dropFactors(root, ["000001.SZ,20240104,4"], minutes(-10));
    await dropFactors(other, ["000001.SZ,20240105,5"], minutes(10));
    await pull(root);
    const versions = (await (await openLake(root)).versions()).map(({ data_version }) => data_version);
    expect(versions).toEqual([...new Set(versions)].sort());
    expect(await servedRows(root)).toHaveLength(5);
  });

  test("removes nothing that a version needs or that is younger than a day", async () => {
    const { address, root } = await newLake();
    for (const day of [3, 4]) await dropFactors(root, [`000001.SZ,2024010${day},1`]);
    const before = bucketProxy().requests.length;
    const { removed, files } = await vacuum(root, { olderThan: 0, keep: 1, now: new Date() });
    expect([removed.length, files]).toEqual([2, 0]);
    const removals = bucketProxy()
      .requests.slice(before)
      .filter((seen) => isWrite(seen) && seen.path.includes("delete"));
    expect(removals).toEqual([]);
    expect((await seenBy(address)).sequences).toEqual([3]);
  });
});

describe.skipIf(!STORES.includes("bucket"))("drops in a bucket", () => {
  test("are imported from the bucket once, by whoever watches it", async () => {
    const { address, root } = await newLake();
    const { objects } = await mirrorAt(root);
    await objects.put("inbox/adj_factor/a.csv", Buffer.from("ts_code,trade_date,adj_factor\n000001.SZ,20240103,3\n"));
    const other = await newMirror(address);
    await pull(other);
    for (const watched of [root, other]) {
      await makeInbox(layoutOf(watched));
      await (await ingester(watched)).settle();
    }
    const { rows, sequences } = await seenBy(address);
    expect(rows).toHaveLength(3);
    expect(sequences).toEqual([1, 2]);
    expect((await readLedger(layoutOf(root).ledger)).filter(({ outcome }) => outcome === "taken")).toHaveLength(1);
  });

  test("that are refused are reported by every mirror, until they are removed", async () => {
    const { address, root } = await newLake();
    const { objects } = await mirrorAt(root);
    await objects.put("inbox/adj_factor/bad.csv", Buffer.from("ts_code,trade_date\n000001.SZ,20249999\n"));
    await makeInbox(layoutOf(root));
    const watcher = await ingester(root);
    await until("the drop is refused", async () => {
      await watcher.settle();
      return (await readLedger(layoutOf(root).ledger)).length > 0 || undefined;
    });
    const other = await newMirror(address);
    await pull(other);
    await followLedger(layoutOf(other));
    for (const mirror of [root, other]) {
      const { refused } = await readDrops(await openLake(mirror));
      expect(refused.map(({ path }) => path)).toEqual(["adj_factor/bad.csv"]);
    }
    await objects.remove(["inbox/adj_factor/bad.csv"]);
    expect((await readDrops(await openLake(other))).refused).toEqual([]);
  });
});
