// An S3 server that ignores conditional writes is refused before anything can be lost.
import { beforeEach, describe, expect, test } from "vitest";
import { requireConditions } from "../../src/objects/conditions.js";
import { openObjects } from "../../src/objects/open.js";
import { collect } from "../support/collect.js";
import { bucketProxy, mirrorAt, newAddress, newMirror, STORES } from "../support/mirrors.js";
import { dropFactors } from "../support/upkeep.js";
import { withoutConditions } from "../support/versitygw.js";

const IGNORES = /^s3:\/\/market\/lakes\/\d+ ignores the condition If-None-Match: \*, .*: use an S3 server/;

test.each(STORES)("a %s honours conditional writes, and nothing is left of the attempt", async (store) => {
  const objects = await openObjects(await newAddress(store));
  await requireConditions(objects);
  expect(await collect(objects.list(""))).toEqual([]);
});

describe.skipIf(!STORES.includes("bucket"))("a server that ignores", () => {
  let address: string;
  beforeEach(async () => {
    address = await newAddress("bucket");
    bucketProxy().fault = () => undefined;
  });

  test.each(["if-none-match", "if-match"])("%s is named", async (header) => {
    const objects = await openObjects(address);
    bucketProxy().fault = (seen) => (seen.headers[header] === undefined ? undefined : withoutConditions(seen));
    await expect(requireConditions(objects)).rejects.toThrow(header === "if-match" ? /condition If-Match,/ : IGNORES);
    bucketProxy().fault = () => undefined;
    expect(await collect(objects.list(""))).toEqual([]);
  });

  test("conditions gets no lake", async () => {
    bucketProxy().fault = withoutConditions;
    const mirror = await newMirror(address);
    await expect(dropFactors(mirror, ["000001.SZ,20240102,1"])).rejects.toThrow(IGNORES);
    bucketProxy().fault = () => undefined;
    expect(await collect((await mirrorAt(mirror)).objects.list(""))).toEqual([]);
  });

  test("conditions is asked only before the first conditional write of a mirror", async () => {
    const mirror = await newMirror(address);
    const probes = (): number => bucketProxy().requests.filter(({ path }) => path.includes("/probe/")).length;
    const before = probes();
    await dropFactors(mirror, ["000001.SZ,20240102,1"]);
    expect(probes() - before).toBe(4);
    await dropFactors(mirror, ["000001.SZ,20240103,1"]);
    expect(probes() - before).toBe(4);
  });
});
