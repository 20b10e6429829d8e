// Publishes a version: its lists and its file are written once and never changed, and the pointer is replaced last. A
// crash at any point leaves the previous version in place.
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { chinaTime } from "../dates.js";
import { OperatorError } from "../errors.js";
import { readIdentity } from "../lake/continuity.js";
import { listFile, versionFile, type Layout } from "../lake/layout.js";
import { encodeList, encodeVersion, sha256, type FileList, type Version } from "../lake/manifest.js";
import { syncPath, writeDurably } from "./durable.js";
import { journalIfNew } from "./journal.js";

/**
 * Publishes a version in which the given lists replace those of the same entities. The caller holds the write lock.
 * Throws an OperatorError if another writer has published on the same parent nevertheless.
 */
export async function publish(
  layout: Layout,
  parent: Version,
  changes: readonly FileList[],
  reason: string,
  now: Date,
): Promise<Version> {
  await mkdir(layout.versions, { recursive: true });
  await mkdir(layout.lists, { recursive: true });
  await identify(layout);
  const lists: Record<string, string> = { ...parent.lists };
  for (const list of changes) {
    if (list.byDate.length === 0) {
      delete lists[list.entity];
      continue;
    }
    const text = encodeList(list);
    const sha = sha256(text);
    const path = join(layout.lists, listFile(sha));
    await journalIfNew(layout, path);
    await writeDurably(path, text);
    lists[list.entity] = sha;
  }
  const next = Date.parse(parent.data_version) + 1;
  const version: Version = {
    sequence: parent.sequence + 1,
    data_version: chinaTime(new Date(Math.max(now.getTime(), next))),
    ...(now.getTime() < next ? { published: chinaTime(now) } : {}),
    reason,
    lists,
  };
  await writeDurably(join(layout.versions, versionFile(version.sequence)), encodeVersion(version), "create").catch(
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      throw new OperatorError("another writer published at the same time; nothing was changed, try again");
    },
  );
  await writeDurably(layout.pointer, `${version.sequence}\n`);
  if (parent.sequence === 0) await syncPath(layout.root);
  return version;
}

/** Gives the lake an id, which lakes of earlier releases lack. */
async function identify(layout: Layout): Promise<void> {
  if ((await readIdentity(layout)) !== null) return;
  await writeDurably(layout.identity, `${JSON.stringify({ id: randomUUID() })}\n`);
}
