// A folder as a store of objects. Each object is a file at the path of its key.
import { createHash, randomUUID } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { link, open, rename, rm, stat, unlink, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ahead } from "../ahead.js";
import { exists, makeFolderIn, syncPath } from "../durable.js";
import { isSystemError, NoSpaceError, OperatorError, reasonOf } from "../errors.js";
import { copyBytes, describeRefusal, lacksLinks, removeOlderThan } from "../files.js";
import { withLock } from "../lock.js";
import { UnreachableError } from "./errors.js";
import { filesUnder } from "./folder-list.js";
import { requireKey, requirePrefix, requireRange, RESERVED } from "./keys.js";
import type { Content, GetOptions, ObjectStore, StoredObject } from "./object-store.js";

/** Files that were begun this long ago were left by a crash. In milliseconds. */
const LEFT_BEHIND = 86_400_000;

/** Objects that are removed at the same time. */
const REMOVED_TOGETHER = 8;

/**
 * The files of `root`, which must exist: a missing folder may be a disk that is not mounted. Writes survive a crash. A
 * key cannot lie below the key of another object, as in `a` and `a/b`.
 */
export function openFolder(root: string): ObjectStore {
  const pathOf = (key: string): string => {
    requireKey(key);
    return join(root, key);
  };
  const incoming = `${RESERVED}/incoming`;
  const locks = `${RESERVED}/locks`;
  let prepared: Promise<void> | undefined;

  /** Makes the folders that writing needs, and removes what crashes left in them. */
  const prepare = async (): Promise<void> => {
    for (const folder of [incoming, locks]) await makeFolderIn(root, folder);
    await removeOlderThan(join(root, incoming), LEFT_BEHIND);
  };

  /** Writes content to a new file and lets `take` move it to its place. Resolves to the tag, or to what `take` resolves to. */
  const write = async (
    key: string,
    content: Content,
    take: (temporary: string, path: string) => Promise<boolean>,
  ): Promise<string | undefined> => {
    const path = pathOf(key);
    prepared ??= prepare();
    await prepared.catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    const temporary = join(root, incoming, randomUUID());
    try {
      const tag = await writeWhole(temporary, content);
      const folder = dirname(key);
      if (folder !== ".") await makeFolderIn(root, folder);
      if (!(await take(temporary, path))) return undefined;
      await syncPath(dirname(path));
      return tag;
    } finally {
      await rm(temporary, { force: true });
    }
  };

  /** Replacing and removing an object happen one at a time, in all processes. */
  const locked = <T>(path: string, work: () => Promise<T>): Promise<T> => {
    const name = createHash("sha256").update(path.slice(root.length)).digest("hex").slice(0, 32);
    return withLock(join(root, locks, name), work, undefined, false);
  };

  const replace = async (temporary: string, path: string): Promise<true> => {
    await rename(temporary, path);
    return true;
  };

  /** Runs `work`; what the system refuses becomes an error of the port. */
  const guarded = <T>(work: Promise<T>): Promise<T> => work.catch(async (error: unknown) => fail(root, error));

  return {
    address: root,

    get: (key, options) => guarded(read(root, pathOf(key), options)),

    put: (key, content) =>
      guarded(write(key, content, (temporary, path) => locked(path, () => replace(temporary, path)))).then(
        (tag) => tag!,
      ),

    create: (key, content) => guarded(write(key, content, (temporary, path) => linkNew(temporary, path, locked))),

    replaceIf: (key, content, tag) => {
      const take = (temporary: string, path: string): Promise<boolean> =>
        locked(path, async () => (await tagAt(path)) === tag && replace(temporary, path));
      return guarded(write(key, content, take));
    },

    async *list(prefix, after = "") {
      requirePrefix(prefix);
      try {
        for await (const [key, found] of filesUnder(root, prefix, after)) {
          yield { key, size: Number(found.size), tag: tagOf(found), modified: found.mtime };
        }
        await stat(root);
      } catch (error) {
        await fail(root, error);
      }
    },

    async remove(keys) {
      const paths = keys.map(pathOf);
      const removing = async (): Promise<void> => {
        await makeFolderIn(root, locks);
        const removals = ahead(paths, REMOVED_TOGETHER, (path) => locked(path, () => removeFile(path)));
        while (!(await removals.next()).done);
        for (const folder of new Set(paths.map(dirname))) {
          await syncPath(folder).catch((error: unknown) => {
            if (!isNone(error)) throw error;
          });
        }
      };
      await guarded(removing());
    },

    close() {
      prepared = undefined;
    },
  };
}

/** Changes whenever the file is replaced, since `writeWhole` gives each file a time of less than a microsecond. */
const tagOf = ({ ino, size, mtimeNs }: BigIntStats): string => [ino, size, mtimeNs].join("-");

const tagAt = (path: string): Promise<string | undefined> =>
  stat(path, { bigint: true }).then(
    (found) => (found.isFile() ? tagOf(found) : undefined),
    (error: unknown) => {
      if (isNone(error)) return undefined;
      throw error;
    },
  );

/** No file has this path: it is absent, a folder, or below a file. */
const isNone = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? "");

async function read(
  root: string,
  path: string,
  { range, unless, signal }: GetOptions = {},
): Promise<StoredObject | undefined | null> {
  if (range) requireRange(range);
  let handle: FileHandle;
  try {
    handle = await open(path);
  } catch (error) {
    if (!isNone(error)) throw error;
    await stat(root);
    return undefined;
  }
  try {
    const found = await handle.stat({ bigint: true });
    if (!found.isFile()) return undefined;
    const tag = tagOf(found);
    if (tag === unless) return null;
    const size = Number(found.size);
    const [first, end] = range ?? [0, size];
    if (end > size) throw new OperatorError(`${path} has ${size} bytes, but bytes ${first} to ${end} were requested`);
    signal?.throwIfAborted();
    const bytes = Buffer.allocUnsafe(end - first);
    for (let at = 0; at < bytes.length;) {
      const { bytesRead } = await handle.read(bytes, at, bytes.length - at, first + at);
      if (bytesRead === 0) throw new OperatorError(`${path} became shorter while it was read`);
      at += bytesRead;
    }
    return { bytes, tag, modified: found.mtime };
  } finally {
    await handle.close();
  }
}

/** Writes a new file and flushes it. Resolves to its tag. */
async function writeWhole(path: string, content: Content): Promise<string> {
  const isBytes = content instanceof Uint8Array;
  if (!isBytes) await copySource(content.path, path);
  const handle = await open(path, isBytes ? "wx" : "r");
  try {
    if (isBytes) await handle.writeFile(content);
    // The clock of the file system may advance by 4 ms at once; two files of that time could get the same tag.
    const seconds = (performance.timeOrigin + performance.now()) / 1_000;
    await handle.utimes(seconds, seconds);
    await handle.sync();
    return tagOf(await handle.stat({ bigint: true }));
  } finally {
    await handle.close();
  }
}

/** Copies the file that is to be sent. It is the fault of the caller, and not of this folder, if it is gone. */
async function copySource(source: string, path: string): Promise<void> {
  await copyBytes(source, path).catch(async (error: unknown) => {
    const isGone = isNone(error) && !(await exists(source));
    throw isGone ? new OperatorError(`${source} cannot be sent: the file is gone; try again`) : error;
  });
}

/** Gives a file its path if that is free. Without hard links, under the lock of the path. */
async function linkNew(
  temporary: string,
  path: string,
  locked: <T>(path: string, work: () => Promise<T>) => Promise<T>,
): Promise<boolean> {
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    if (!lacksLinks(error)) throw error;
  }
  return locked(path, async () => {
    if ((await tagAt(path)) !== undefined) return false;
    await rename(temporary, path);
    return true;
  });
}

async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!isNone(error)) throw error;
  });
}

const NO_SPACE: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const REFUSED: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS", "ENAMETOOLONG", "ENOTDIR", "EISDIR"]);

/** Throws the error of the port for an error of the system. */
async function fail(root: string, error: unknown): Promise<never> {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof OperatorError || code === undefined) throw error;
  const isThere = await stat(root).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isThere) throw new UnreachableError(`the folder ${root} is missing: is its disk mounted?`);
  if (NO_SPACE.has(code)) throw new NoSpaceError(`nothing can be written to ${root}: ${reasonOf(error)}`);
  if (REFUSED.has(code)) throw new OperatorError(`${root} refuses: ${describeRefusal(error) ?? reasonOf(error)}`);
  if (isSystemError(error)) throw new UnreachableError(`the folder ${root} does not answer: ${reasonOf(error)}`);
  throw error;
}
