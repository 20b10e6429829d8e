// Brings the state of a mirror up to date with its bucket: new versions with their lists, and small files that change.
import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ahead } from "../../ahead.js";
import { withLock } from "../../lock.js";
import { linesOf, readOrNone } from "../../files.js";
import type { ObjectStore } from "../../objects/object-store.js";
import { findSuccessor, NO_MARK, readIdentity, UnavailableError } from "../continuity.js";
import { listFile, nameOf, versionFile, type Layout } from "../layout.js";
import { DamagedManifestError, decodeVersion, partNames, sha256, type Version } from "../manifest.js";
import { readPointer, RESTORING, sequences } from "../kept-versions.js";

export interface Pull {
  /** Follows the bucket to its newest version. With `thorough`, versions that vacuum left out are found too. */
  versions(thorough: boolean): Promise<void>;
  /** Moves to a version that this process has just published in the bucket. */
  adopt(version: Version, text: string): Promise<void>;
  /** Brings files up to date that are replaced as a whole, such as the tokens. */
  files(...paths: readonly string[]): Promise<void>;
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

  const fetchBytes = async (path: string): Promise<Buffer | undefined> => (await objects.get(keyOf(path)))?.bytes;

  /** Writes a file that is there at once, whole. */
  const place = async (path: string, content: string | Uint8Array): Promise<void> => {
    const temporary = join(layout.fetching, randomUUID());
    const handle = await open(temporary, "w");
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  };

  const immutable = async (path: string): Promise<boolean> => {
    const bytes = await fetchBytes(path);
    if (bytes === undefined) return false;
    await place(path, bytes);
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
    await place(path, found.bytes);
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
    const text = (await fetchBytes(versionPath(sequence)))?.toString();
    return text === undefined ? undefined : { text, version: decodeVersion(text, sequence) };
  };

  /** The content of a list or a part, which is fetched unless it is here. */
  const listContent = async (sha: string, what: string): Promise<string | Buffer> => {
    const path = join(layout.lists, listFile(sha));
    const here = await readOrNone(path);
    const content = here ?? (await fetchBytes(path));
    if (content === undefined) throw new DamagedManifestError(`${what} is gone`, true);
    if (sha256(content) !== sha) throw new DamagedManifestError(`${what} is damaged`);
    if (here === undefined) await place(path, content);
    return content;
  };

  const fetchLists = ({ lists }: Version): Promise<void> =>
    allOf(Object.entries(lists), async ([entity, sha]) => {
      const list = await listContent(sha, `file list ${sha.slice(0, 12)} of ${entity}`);
      await allOf(partNames(list.toString()), (part) =>
        listContent(part, `part ${part.slice(0, 12)} of the file list of ${entity}`),
      );
    });

  const requireRestored = async (): Promise<void> => {
    if (!(await objects.get(RESTORING_KEY))) return;
    const problem = `a restore into ${objects.address} has not finished`;
    throw new UnavailableError(problem, "wait for it, or run tapehouse restore again");
  };

  /** The identity of the lake is written once, so another one belongs to another lake. */
  const checkIdentity = async (): Promise<void> => {
    const before = await readIdentity(layout);
    const text = (await fetchBytes(layout.identity))?.toString();
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

  /** The bucket knows which version is the newest, so a pointer that is damaged here is as good as none. */
  const forgetDamaged = async (): Promise<void> => {
    await readPointer(layout).catch(async (error: unknown) => {
      const isDamaged = error instanceof DamagedManifestError && (await readOrNone(layout.pointer)) !== RESTORING;
      if (!isDamaged) throw error;
      await rm(layout.pointer);
    });
  };

  const follow = async (thorough: boolean): Promise<void> => {
    const seen = await readPointer(layout);
    if (thorough || seen === 0) {
      await Promise.all([seen === 0 ? requireRestored() : undefined, checkIdentity()]);
      const found = await listAfter(seen);
      const newest = found.at(-1);
      // Older versions are read when they are asked for, but their names must be known.
      await allOf(found.slice(0, -1), (sequence) => immutable(versionPath(sequence)));
      const version = newest === undefined ? undefined : await readVersion(newest);
      if (version) await moveTo(version);
      await Promise.all([forgetRemoved(), file(layout.delta)]);
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
        await forgetDamaged();
        await findSuccessor(layout, NO_MARK);
        await follow(thorough);
      }),
    adopt: (version, text) =>
      inLock(async () => {
        if ((await readPointer(layout)) < version.sequence) await moveTo({ version, text });
      }),
    files: (...paths) => inLock(() => allOf(paths, file)),
    immutable,
  };
}

/** Does some work for each item, for up to `AT_ONCE` of them at the same time. */
async function allOf<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const done = ahead(items, AT_ONCE - 1, work);
  while (!(await done.next()).done);
}
