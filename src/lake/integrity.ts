// Checks data files against the manifest: when a process first opens a file, and again when it changed on disk.
import { createHash } from "node:crypto";
import { Stats } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BucketAwayError, UnavailableError } from "./continuity.js";
import { DamagedFileError } from "./damaged-file.js";
import { piecesOf, stampAt, stampOf, unreadable, UnreadableError } from "../files.js";
import type { Layout } from "./layout.js";
import type { DataFile, FileList } from "./manifest.js";
import { mirrorOf, type Mirror } from "./mirror/mirror.js";

export interface Integrity {
  /**
   * Resolves when every file is on the disk and matches the manifest; rejects with DamagedFileError or UnreadableError
   * otherwise. In a mirror, missing files are fetched first, and may be removed again some time later.
   */
  check(files: readonly DataFile[]): Promise<void>;
  /** The same for files that must stay until they have been read: until the returned function is called. */
  hold(files: readonly DataFile[]): Promise<() => void>;
  /** The same check after the files were read. It accepts files that are gone: vacuum may have removed them since. */
  checkAgain(files: readonly DataFile[]): Promise<void>;
  /** The files of these lists that were found damaged and still are. Files that were never checked are skipped. */
  stillDamaged(lists: readonly FileList[]): Promise<readonly DataFile[]>;
}

/** Milliseconds that a fetched file stays after a check, for a caller that then reads it. */
const STAYS = 3_600_000;

/** `requireState` is called if a file is missing; it throws UnavailableError if the lake is no longer the same one. */
export function createIntegrity(layout: Layout, requireState = async (): Promise<void> => undefined): Integrity {
  const lakeFolder = layout.lake;
  const proven = new Map<string, string>();
  const running = new Map<string, Promise<void>>();
  /** Path → the stamp of the file when it was found damaged. */
  const damaged = new Map<string, string>();

  let opening: Promise<Mirror | null> | undefined;
  const openMirror = (): Promise<Mirror | null> => (opening ??= mirrorOf(layout));

  const stamp = (file: DataFile): Promise<string> => stampAt(join(lakeFolder, file.path));

  const whyMissing = async (file: DataFile): Promise<Error> => {
    const isOutOfReach = (await stampAt(dirname(join(lakeFolder, file.path)))) === "";
    const fault = await requireState().catch((error: unknown) => error);
    if (fault instanceof UnavailableError) return fault;
    return new DamagedFileError(file.path, "the file is missing", true, isOutOfReach);
  };

  const proveHere = async (file: DataFile): Promise<void> => {
    const path = join(lakeFolder, file.path);
    const found = await stat(path).catch((error: unknown) => unreadable(path, error));
    if (found instanceof UnreadableError) throw found;
    if (!(found instanceof Stats)) throw await whyMissing(file);
    const identity = stampOf(found);
    if (proven.get(file.path) === identity) return;
    if (found.size !== file.bytes) {
      throw new DamagedFileError(file.path, `the file has ${found.size} bytes instead of ${file.bytes}`);
    }
    const sha256 = await sha256OfFile(path).catch((error: unknown) => {
      throw unreadable(path, error);
    });
    if (sha256 !== file.sha256) throw new DamagedFileError(file.path, "the checksum does not match");
    proven.set(file.path, identity);
  };

  /** What is missing or damaged in a mirror is fetched from the bucket. */
  const prove = async (file: DataFile): Promise<void> => {
    const mirror = await openMirror();
    if (mirror === null) return proveHere(file);
    const learn = (fetched: string | null): void => {
      if (fetched !== null) proven.set(file.path, fetched);
    };
    if ((await stamp(file)) === "") learn(await mirror.fetch(file));
    await proveHere(file).catch(async (error: unknown) => {
      if (!(error instanceof DamagedFileError)) throw error;
      learn(await mirror.replace(file));
      await proveHere(file);
    });
  };

  const checkOne = (file: DataFile): Promise<void> => {
    let check = running.get(file.path);
    if (!check) {
      check = prove(file)
        .then(() => void damaged.delete(file.path))
        .catch(async (error: unknown) => {
          // What a bucket does not give says nothing about the file.
          if (error instanceof BucketAwayError) throw error;
          if ([DamagedFileError, UnavailableError, UnreadableError].some((kind) => error instanceof kind))
            damaged.set(file.path, await stamp(file));
          throw error;
        })
        .finally(() => running.delete(file.path));
      running.set(file.path, check);
    }
    return check;
  };

  return {
    async check(files) {
      const mirror = await openMirror();
      const release = await mirror?.hold(files);
      try {
        await Promise.all(files.map(checkOne));
      } finally {
        if (release) setTimeout(release, STAYS).unref();
      }
    },
    async hold(files) {
      const mirror = await openMirror();
      const release = (await mirror?.hold(files)) ?? (() => undefined);
      try {
        await Promise.all(files.map(checkOne));
        return release;
      } catch (error) {
        release();
        throw error;
      }
    },
    async checkAgain(files) {
      const again = (file: DataFile): Promise<void> =>
        checkOne(file).catch((error: unknown) => {
          const isGone = error instanceof UnavailableError || (error instanceof DamagedFileError && error.isMissing);
          if (!isGone) throw error;
        });
      await Promise.all(files.map(again));
    },
    async stillDamaged(lists) {
      if (damaged.size === 0) return [];
      const suspects = lists.flatMap(({ byDate, byCode }) =>
        [...byDate, ...byCode].filter(({ path }) => damaged.has(path)),
      );
      // Its bytes are read again only if it has changed since.
      const recheck = async (file: DataFile): Promise<void> => {
        if ((await stamp(file)) !== damaged.get(file.path)) await checkOne(file);
      };
      await Promise.allSettled(suspects.map(recheck));
      return suspects.filter((file) => damaged.has(file.path));
    },
  };
}

/**
 * Fetches files that are missing in a mirror, and keeps all of them for a while; elsewhere does nothing. For rows that are
 * only compared with others, which need no proof.
 */
export async function fetchMissing(layout: Layout, files: readonly DataFile[]): Promise<void> {
  const mirror = await mirrorOf(layout);
  if (mirror === null || files.length === 0) return;
  const release = await mirror.hold(files);
  try {
    await Promise.all(files.map((file) => mirror.fetch(file)));
  } finally {
    setTimeout(release, STAYS).unref();
  }
}

/** Whether a file matches the manifest. Throws if that cannot be determined. */
export const isIntact = (integrity: Integrity, file: DataFile): Promise<boolean> =>
  integrity.check([file]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof DamagedFileError) return false;
      throw error;
    },
  );

/** The SHA-256 of a file. */
export async function sha256OfFile(path: string): Promise<string> {
  const handle = await open(path);
  try {
    return await sha256OfHandle(handle);
  } finally {
    await handle.close();
  }
}

/** The SHA-256 of an open file. `onPiece` gets the bytes read so far after each piece; it may throw to stop. */
export async function sha256OfHandle(
  handle: FileHandle,
  onPiece: (bytes: number) => void | Promise<void> = () => undefined,
): Promise<string> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of piecesOf(handle)) {
    hash.update(piece);
    bytes += piece.length;
    await onPiece(bytes);
  }
  return hash.digest("hex");
}
