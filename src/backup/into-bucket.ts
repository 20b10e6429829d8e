// Restores a backup into a bucket, by way of a folder of the mirror from which everything is sent. While this lasts, a mark
// keeps others from following the bucket.
import { copyFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../errors.js";
import { layoutOf, nameOf, versionFile, type Layout } from "../lake/layout.js";
import { sequences } from "../lake/kept-versions.js";
import { RESTORING_KEY } from "../lake/mirror/pull.js";
import type { Mirror } from "../lake/mirror/mirror.js";
import type { ObjectStore } from "../objects/object-store.js";
import { withLedgerLocked } from "../store/ledger-file.js";

/** `restoreInto` restores the backup into the data directory that it gets, and calls `send` with each data file in it. */
export async function restoreIntoBucket<T>(
  mirror: Mirror,
  layout: Layout,
  restoreInto: (root: string, send: (path: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const { objects } = mirror;
  await requireEmpty(objects);
  await objects.put(RESTORING_KEY, Buffer.from("a restore into this bucket has begun\n"));
  const folder = join(layout.fetching, "restored");
  const restored = layoutOf(folder);
  const report = await restoreInto(folder, async (path) => {
    await objects.put(nameOf(restored, path), { path });
    await rm(path);
  });
  await sendState(objects, restored);
  // The ledger of the bucket has another form than that of a folder.
  const ledger = await copyFile(restored.ledger, layout.ledger).then(
    () => true,
    () => false,
  );
  if (ledger) await withLedgerLocked(layout, async () => undefined);
  await objects.remove([RESTORING_KEY]);
  await rm(folder, { recursive: true });
  await mirror.pull.versions(true);
  return report;
}

async function requireEmpty(objects: ObjectStore): Promise<void> {
  const isBegun = (await objects.get(RESTORING_KEY)) !== undefined;
  for (const prefix of isBegun ? [] : ["lake/", "state/"]) {
    for await (const { key } of objects.list(prefix))
      throw new OperatorError(
        `${objects.address} is not empty (it holds ${key}): restore into another prefix with --data`,
      );
  }
}

/** Sends the lists and the state of a data directory, the versions last and in order. */
async function sendState(objects: ObjectStore, layout: Layout): Promise<void> {
  const send = (path: string): Promise<string> => objects.put(nameOf(layout, path), { path });
  for (const name of await readdir(layout.lists)) await send(join(layout.lists, name));
  const names = await readdir(layout.state);
  for (const path of [layout.identity, layout.tokens, layout.gaps, layout.removed, layout.delta]) {
    if (names.includes(path.slice(layout.state.length + 1))) await send(path);
  }
  for (const sequence of await sequences(layout)) await send(join(layout.versions, versionFile(sequence)));
}
