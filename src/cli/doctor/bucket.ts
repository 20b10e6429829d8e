// Checks that a bucket answers, what its credentials allow, and whether its server honours conditional writes.
import { randomUUID } from "node:crypto";
import { reasonOf } from "../../errors.js";
import { requireConditions } from "../../objects/conditions.js";
import type { ObjectStore } from "../../objects/object-store.js";
import { openObjects } from "../../objects/open.js";
import { ok, shell, warning, wrong, type Finding } from "./finding.js";

/** A bucket that answers later than this is too slow to serve from. In milliseconds. */
const PATIENCE = 8_000;

/** Writes and removes two small objects. `writes` is false for a replica, which needs no permission to write. */
export async function checkBucket(address: string, writes: boolean): Promise<readonly Finding[]> {
  // Another program with the same variables shows whether the bucket or Tapehouse is at fault.
  const way = shell("aws", "s3", "ls", `${address}/`);
  try {
    const objects = await openObjects(address, { patience: PATIENCE, stall: PATIENCE });
    await read(objects);
    const answers = ok("bucket", `${address} answers, and may be listed and read`);
    return [answers, ...(writes ? await checkWriting(objects) : [])];
  } catch (error) {
    const expected = "a bucket that answers, and credentials that may list and read it";
    return [wrong("bucket", { found: reasonOf(error), expected, way })];
  }
}

async function read(objects: ObjectStore): Promise<void> {
  await objects.list("state/")[Symbol.asyncIterator]().next();
  await objects.get("state/lake.json");
}

async function checkWriting(objects: ObjectStore): Promise<readonly Finding[]> {
  const { address } = objects;
  try {
    const key = `probe/${randomUUID()}`;
    await objects.put(key, Buffer.from("written by tapehouse doctor\n"));
    await objects.remove([key]);
  } catch (error) {
    return [
      warning("bucket rights", {
        found: `${reasonOf(error)}; data is served, but nothing can be imported`,
        expected: "credentials that may write and remove objects, or a replica",
        way: shell("tapehouse", "serve", "--no-watch", "--data", address),
      }),
    ];
  }
  const rights = ok("bucket rights", "objects may be written and removed");
  try {
    await requireConditions(objects);
    return [rights, ok("conditions", "the server honours conditional writes")];
  } catch (error) {
    const way = "move the lake to another server: tapehouse backup, then tapehouse restore";
    return [rights, wrong("conditions", { found: reasonOf(error), expected: "a server that honours them", way })];
  }
}
