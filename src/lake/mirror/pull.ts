// Brings the state of a mirror up to date with its bucket: new versions with their lists, and small files that change.
import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { withLock } from "../../lock.js";
import { linesOf, readOrNone } from "../../files.js";
import type { ObjectStore } from "../../objects/object-store.js";
import { findSuccessor, NO_MARK, readIdentity, UnavailableError } from "../continuity.js";
import { listFile, nameOf, versionFile, type Layout } from "../layout.js";
import { DamagedManifestError, decodeVersion, partNames, sha256, type Version } from "../manifest.js";
import { readPointer, sequences } from "../kept-versions.js";

export interface Pull {
  /** Follows the bucket to its newest version. With `thorough`, versions that vacuum left out are found too. */
  versions(thorough: boolean): Promise<void>;
  /** Moves to a version that this process has just published in the bucket. */
  adopt(version: Version, text: string): Promise<void>;
  /** Brings a file up to date that is replaced as a whole, such as the tokens. */
  file(path: string): Promise<void>;
  /** Fetches a file that never changes; false if the bucket does not have it. */
  immutable(path: string): Promise<boolean>;
}

/** An object that exists while a lake is restored into the bucket. */
export const RESTORING_KEY = "state/restoring";

/** Files of the state that are fetched at the same time. */
const AT_ONCE = 32;

export function createPull(layout: Layout, objects: ObjectStore): Pull {
  const keyOf = (path: string): string => nameOf(layout, path);
  const versionPath = (sequence: number): string => join(layout.versions, versionFile(sequence));
  /** Path → the tag of the object that the file was written from. */
  const tags = new Map<string, string>();

  const fetchText = async (path: string): Promise<string | undefined> =>
    (await objects.get(keyOf(path)))?.bytes.toString("utf8");

  /** Writes a file that is there at once, whole. */
  const place = async (path: string, text: string): Promise<void> => {
    const temporary = join(layout.fetching, randomUUID());
    const handle = await open(temporary, "w");
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  };

  const immutable = async (path: string): Promise<boolean> => {
    const text = await fetchText(path);
    if (text === undefined) return false;
    await place(path, text);
    return true;
  };

  /** Resolves to whether the file may have changed. */
  const file = async (path: string): Promise<boolean> => {
    const unless = tags.get(path);
    const found = await objects.get(keyOf(path), unless === undefined ? {} : { unless });
    if (found === null) return false;
    if (found === undefined) {
      await rm(path, { force: true });
      return tags.delete(path);
    }
    await place(path, found.bytes.toString("utf8"));
    tags.set(path, found.tag);
    return true;
  };

  /** The versions of the bucket after this one, oldest first. */
  const listAfter = async (sequence: number): Promise<readonly number[]> => {
    const found: number[] = [];
    const prefix = `${keyOf(layout.versions)}/`;
    const after = sequence === 0 ? undefined : keyOf(versionPath(sequence));
    for await (const { key } of objects.list(prefix, after)) {
      const name = key.slice(prefix.length);
      if (/^\d{10}\.json$/.test(name)) found.push(Number.parseInt(name, 10));
    }
    return found;
  };

  /** The text of a version; undefined if it is not, or no longer, in the bucket. */
  const readVersion = async (sequence: number): Promise<{ text: string; version: Version } | undefined> => {
    const text = await fetchText(versionPath(sequence));
    return text === undefined ? undefined : { text, version: decodeVersion(text, sequence) };
  };

  /** The text of a list or a part, which is fetched unless it is here. */
  const listText = async (sha: string, what: string): Promise<string> => {
    const path = join(layout.lists, listFile(sha));
    const here = await readOrNone(path);
    const text = here ?? (await fetchText(path));
    if (text === undefined) throw new DamagedManifestError(`${what} is gone`, true);
    if (sha256(text) !== sha) throw new DamagedManifestError(`${what} is damaged`);
    if (here === undefined) await place(path, text);
    return text;
  };

  const fetchLists = ({ lists }: Version): Promise<void> =>
    inBatches(Object.entries(lists), async ([entity, sha]) => {
      const text = await listText(sha, `file list ${sha.slice(0, 12)} of ${entity}`);
      await inBatches(partNames(text), async (part) => {
        await listText(part, `part ${part.slice(0, 12)} of the file list of ${entity}`);
      });
    });

  /** The identity of the lake is written once, so another one belongs to another lake. */
  const checkIdentity = async (): Promise<void> => {
    const before = await readIdentity(layout);
    const text = await fetchText(layout.identity);
    if (before === null && text !== undefined) await place(layout.identity, text);
    if (before === null) return;
    if (text === undefined) throw new UnavailableError(`${objects.address} no longer holds the lake`);
    if ((JSON.parse(text) as { id?: string }).id !== before)
      throw new UnavailableError(`${objects.address} holds another lake`);
  };

  /** Versions that vacuum has removed from the bucket are removed here. */
  const forgetRemoved = async (): Promise<void> => {
    if (!(await file(layout.removed))) return;
    const removed = new Set<string>();
    for await (const { text } of linesOf(layout.removed, 64)) if (text !== null) removed.add(text);
    for (const sequence of await sequences(layout)) {
      const text = await readOrNone(versionPath(sequence));
      const isRemoved = text !== undefined && removed.has(decodeVersion(text, sequence).data_version);
      if (isRemoved) await rm(versionPath(sequence), { force: true });
    }
  };

  /** The pointer moves last, to the newest version whose lists are all here. */
  const moveTo = async ({ text, version }: { text: string; version: Version }): Promise<void> => {
    await fetchLists(version);
    await place(versionPath(version.sequence), text);
    await place(layout.pointer, `${version.sequence}\n`);
  };

  const follow = async (thorough: boolean): Promise<void> => {
    const seen = await readPointer(layout);
    if (thorough || seen === 0) {
      if (seen === 0 && (await objects.get(RESTORING_KEY))) {
        throw new UnavailableError(
          `a restore into ${objects.address} has not finished`,
          "wait for it, or run tapehouse restore again",
        );
      }
      await checkIdentity();
      const found = await listAfter(seen);
      const newest = found.at(-1);
      // Older versions are read when they are asked for, but their names must be known.
      await inBatches(found.slice(0, -1), (sequence) => immutable(versionPath(sequence)).then(() => undefined));
      const version = newest === undefined ? undefined : await readVersion(newest);
      if (version) await moveTo(version);
      await forgetRemoved();
      await file(layout.delta);
    }
    for (let next = (await readPointer(layout)) + 1; ; next++) {
      const version = await readVersion(next);
      if (!version) return;
      await moveTo(version);
    }
  };

  const inLock = <T>(work: () => Promise<T>): Promise<T> => withLock(layout.pullLock, work);

  return {
    versions: (thorough) =>
      inLock(async () => {
        await findSuccessor(layout, NO_MARK);
        await follow(thorough);
      }),
    adopt: (version, text) =>
      inLock(async () => {
        if ((await readPointer(layout)) < version.sequence) await moveTo({ version, text });
      }),
    file: (path) => inLock(() => file(path)).then(() => undefined),
    immutable,
  };
}

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) await Promise.all(items.slice(at, at + AT_ONCE).map(work));
}
