// Brings the state of a mirror up to date with its bucket: new versions with their lists, and small files that change.
import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ahead } from "../../ahead.js";
import { exists } from "../../durable.js";
import { withLock } from "../../lock.js";
import { linesOf, readOrNone } from "../../files.js";
import type { ObjectStore } from "../../objects/object-store.js";
import { findSuccessor, NO_MARK, readIdentity, UnavailableError } from "../continuity.js";
import { listFile, nameOf, versionFile, type Layout } from "../layout.js";
import { DamagedManifestError, decodeVersion, partNames, sha256, type Version } from "../manifest.js";
import { readPointer, RESTORING, sequences } from "../kept-versions.js";

export interface Pull {
  /**
   * Follows the bucket to its newest version, and brings these files up to date as `files` does. With `thorough`, versions
   * that vacuum left out are found too.
   */
  versions(thorough: boolean, ...paths: readonly string[]): Promise<void>;
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

  /** Writes a file that is there at once, whole. After a crash of the system, only one that was flushed is whole. */
  const place = async (path: string, content: string | Uint8Array, flush = true): Promise<void> => {
    const temporary = join(layout.fetching, randomUUID());
    const handle = await open(temporary, "w");
    try {
      await handle.writeFile(content);
      if (flush) await handle.sync();
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

  /** Asks for a file that is replaced as a whole. What it resolves to brings the file up to date. */
  const ask = async (path: string): Promise<() => Promise<void>> => {
    const unless = tags.get(path);
    const found = await objects.get(keyOf(path), unless === undefined ? {} : { unless });
    return async () => {
      if (found === null) return;
      if (found === undefined) {
        await rm(path, { force: true });
        tags.delete(path);
        return;
      }
      await place(path, found.bytes);
      tags.set(path, found.tag);
    };
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

  /** Fetches a list or a part. It is not flushed: whoever reads it checks it, and fetches it again if it is damaged. */
  const fetchList = async (sha: string, what: string): Promise<string> => {
    const path = join(layout.lists, listFile(sha));
    const content = await fetchBytes(path);
    if (content === undefined) throw new DamagedManifestError(`${what} is gone`, true);
    if (sha256(content) !== sha) throw new DamagedManifestError(`${what} is damaged`);
    await place(path, content, false);
    return content.toString();
  };

  const fetchLists = ({ lists }: Version): Promise<void> =>
    allOf(Object.entries(lists), async ([entity, sha]) => {
      const here = await readOrNone(join(layout.lists, listFile(sha)));
      const isWhole = here !== undefined && sha256(here) === sha;
      const list = isWhole ? here : await fetchList(sha, `file list ${sha.slice(0, 12)} of ${entity}`);
      await allOf(partNames(list), async (part) => {
        if (await exists(join(layout.lists, listFile(part)))) return;
        await fetchList(part, `part ${part.slice(0, 12)} of the file list of ${entity}`);
      });
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

  /** Versions that vacuum has removed from the bucket are removed here. `update` brings the list of them up to date. */
  const forgetRemoved = async (update: () => Promise<void>): Promise<void> => {
    const before = tags.get(layout.removed);
    await update();
    if (tags.get(layout.removed) === before) return;
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

  /** The newest listed version. Older ones are read when they are asked for, but their names must be known. */
  const readListed = async (found: readonly number[]): ReturnType<typeof readVersion> => {
    const version = begun(readVersion(found.at(-1)!));
    await allOf(found.slice(0, -1), (sequence) => immutable(versionPath(sequence)));
    return version;
  };

  /** Independent requests are sent at the same time. */
  const follow = async (thorough: boolean, paths: readonly string[]): Promise<void> => {
    const seen = await readPointer(layout);
    const isThorough = thorough || seen === 0;
    const next = begun(readVersion(seen + 1));
    const listed = begun(isThorough ? listAfter(seen) : Promise.resolve([]));
    const asked = begun(Promise.all(paths.map(ask)));
    const rare = begun(Promise.all((isThorough ? [layout.removed, layout.delta] : []).map(ask)));
    if (isThorough) await Promise.all([seen === 0 ? requireRestored() : undefined, checkIdentity()]);
    for (const update of await asked) await update();
    const found = await listed;
    let version = await ((found.at(-1) ?? seen + 1) === seen + 1 ? next : readListed(found));
    while (version) {
      const following = begun(readVersion(version.version.sequence + 1));
      await moveTo(version);
      version = await following;
    }
    const [removed, delta] = await rare;
    if (removed) await forgetRemoved(removed);
    await delta?.();
  };

  const inLock = <T>(work: () => Promise<T>): Promise<T> => withLock(layout.pullLock, work);

  return {
    versions: (thorough, ...paths) =>
      inLock(async () => {
        await forgetDamaged();
        await findSuccessor(layout, NO_MARK);
        await follow(thorough, paths);
      }),
    adopt: (version, text) =>
      inLock(async () => {
        if ((await readPointer(layout)) < version.sequence) await moveTo({ version, text });
      }),
    files: (...paths) => inLock(() => allOf(paths, async (path) => (await ask(path))())),
    immutable,
  };
}

/** Work whose failure is reported where its result is needed. */
function begun<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}

/** Does some work for each item, for up to `AT_ONCE` of them at the same time. */
async function allOf<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const done = ahead(items, AT_ONCE - 1, work);
  while (!(await done.next()).done);
}
