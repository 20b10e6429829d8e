// Restores a backup into a bucket: first into a folder of the mirror, from which everything is sent. While this lasts, a
// mark keeps others from following the bucket.
import { copyFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../errors.js";
import { layoutOf, nameOf, versionFile, type Layout } from "../lake/layout.js";
import { sequences } from "../lake/kept-versions.js";
import { RESTORING_KEY } from "../lake/mirror/pull.js";
import type { Mirror } from "../lake/mirror/mirror.js";
import type { ObjectStore } from "../objects/object-store.js";
import { withLedgerLocked } from "../store/ledger-file.js";

/** `restoreInto` restores the backup into the data directory that it gets. */
export async function restoreIntoBucket<T>(
  mirror: Mirror,
  layout: Layout,
  restoreInto: (root: string) => Promise<T>,
): Promise<T> {
  const { objects } = mirror;
  await requireEmpty(objects);
  await objects.put(RESTORING_KEY, Buffer.from("a restore into this bucket has begun\n"));
  const folder = join(layout.fetching, "restored");
  const report = await restoreInto(folder);
  await sendLake(objects, layoutOf(folder));
  // The ledger of the bucket has another form than that of a folder.
  const ledger = await copyFile(layoutOf(folder).ledger, layout.ledger).then(
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

/** Sends the files of a data directory, the versions last and in order. */
async function sendLake(objects: ObjectStore, layout: Layout): Promise<void> {
  const send = (path: string): Promise<string> => objects.put(nameOf(layout, path), { path });
  for (const folder of [layout.lake, layout.lists]) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) await send(join(entry.parentPath, entry.name));
    }
  }
  const names = await readdir(layout.state);
  for (const path of [layout.identity, layout.tokens, layout.gaps, layout.removed, layout.delta]) {
    if (names.includes(path.slice(layout.state.length + 1))) await send(path);
  }
  for (const sequence of await sequences(layout)) await send(join(layout.versions, versionFile(sequence)));
}
