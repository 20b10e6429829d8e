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
import { isWhole, sha256OfRange, wholeOf, type Portion, type Stretch } from "./mirror/portions.js";

export interface Integrity {
  /**
   * Resolves when every file is on the disk and matches the manifest; rejects with DamagedFileError or UnreadableError
   * otherwise. In a mirror, missing files are fetched first, and may be removed again some time later.
   */
  check(files: readonly DataFile[], needed?: NeededGroups): Promise<void>;
  /** The same for files that stay until `leave` is called. */
  hold(files: readonly DataFile[], needed?: NeededGroups): Promise<Held>;
  /** Begins to fetch files that will soon be held. */
  expect(files: readonly DataFile[], needed: NeededGroups): Promise<void>;
  /** The files of these lists that were found damaged and still are. Files that were never checked are skipped. */
  stillDamaged(lists: readonly FileList[]): Promise<readonly DataFile[]>;
}

/** The numbers of the row groups that are read of a file; null for all. */
type NeededGroups = (file: DataFile) => readonly number[] | null;

const ALL: NeededGroups = () => null;

/** Files that stay as they are while they are read. */
export interface Held {
  /** Where to read a file. In a mirror, the row groups that are not needed may be missing there. */
  pathOf(file: DataFile): string;
  /** Whether row groups may be missing. */
  readonly isExcerpt: boolean;
  /** The same check again. */
  check(): Promise<void>;
  /** The same check after the files were read. It accepts files that are gone: vacuum may have removed them since. */
  checkAgain(): Promise<void>;
  leave(): void;
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

  const stamp = ({ path }: { readonly path: string }): Promise<string> => stampAt(join(lakeFolder, path));

  const whyMissing = async (file: DataFile): Promise<Error> => {
    const isOutOfReach = (await stampAt(dirname(join(lakeFolder, file.path)))) === "";
    const fault = await requireState().catch((error: unknown) => error);
    if (fault instanceof UnavailableError) return fault;
    return new DamagedFileError(file.path, "the file is missing", true, isOutOfReach);
  };

  const proveHere = async ({ file, path: name, stretches }: Portion): Promise<void> => {
    const path = join(lakeFolder, name);
    const found = await stat(path).catch((error: unknown) => unreadable(path, error));
    if (found instanceof UnreadableError) throw found;
    if (!(found instanceof Stats)) throw await whyMissing(file);
    const identity = stampOf(found);
    if (proven.get(name) === identity) return;
    if (found.size !== file.bytes) {
      throw new DamagedFileError(file.path, `the file has ${found.size} bytes instead of ${file.bytes}`);
    }
    const wrong = await wrongStretch(path, stretches).catch((error: unknown) => {
      throw unreadable(path, error);
    });
    if (wrong) throw new DamagedFileError(file.path, "the checksum does not match");
    proven.set(name, identity);
  };

  /** What is missing or damaged in a mirror is fetched from the bucket. */
  const prove = async (portion: Portion): Promise<void> => {
    const mirror = await openMirror();
    if (mirror === null) return proveHere(portion);
    const learn = (fetched: string | null): void => {
      if (fetched !== null) proven.set(portion.path, fetched);
    };
    if ((await stamp(portion)) === "") learn(await mirror.fetch(portion));
    await proveHere(portion).catch(async (error: unknown) => {
      if (!(error instanceof DamagedFileError)) throw error;
      learn(await mirror.replace(portion));
      await proveHere(portion);
    });
  };

  const checkOne = (portion: Portion): Promise<void> => {
    let check = running.get(portion.path);
    if (!check) {
      check = prove(portion)
        .then(() => void damaged.delete(portion.file.path))
        .catch(async (error: unknown) => {
          // What a bucket does not give says nothing about the file.
          if (error instanceof BucketAwayError) throw error;
          if ([DamagedFileError, UnavailableError, UnreadableError].some((kind) => error instanceof kind))
            damaged.set(portion.file.path, await stamp(portion.file));
          throw error;
        })
        .finally(() => running.delete(portion.path));
      running.set(portion.path, check);
    }
    return check;
  };

  const choose = async (mirror: Mirror | null, file: DataFile, needed: NeededGroups): Promise<Portion> => {
    const groups = mirror === null ? null : needed(file);
    return mirror === null || groups === null || (await stamp(file)) !== ""
      ? wholeOf(file)
      : mirror.choose(file, groups);
  };

  const hold = async (files: readonly DataFile[], needed: NeededGroups): Promise<Held> => {
    const mirror = await openMirror();
    const portions = await Promise.all(files.map((file) => choose(mirror, file, needed)));
    const check = async (): Promise<void> => {
      await Promise.all(portions.map(checkOne));
    };
    const leave = (await mirror?.hold(portions)) ?? (() => undefined);
    try {
      await check();
    } catch (error) {
      leave();
      throw error;
    }
    const paths = new Map(portions.map(({ file, path }) => [file, join(lakeFolder, path)]));
    const again = (portion: Portion): Promise<void> =>
      checkOne(portion).catch((error: unknown) => {
        const isGone = error instanceof UnavailableError || (error instanceof DamagedFileError && error.isMissing);
        if (!isGone) throw error;
      });
    return {
      pathOf: (file) => paths.get(file)!,
      isExcerpt: !portions.every(isWhole),
      check,
      async checkAgain() {
        await Promise.all(portions.map(again));
      },
      leave,
    };
  };

  return {
    async check(files, needed = ALL) {
      const { leave } = await hold(files, needed);
      if ((await openMirror()) !== null) setTimeout(leave, STAYS).unref();
    },
    hold: (files, needed = ALL) => hold(files, needed),
    async expect(files, needed) {
      const mirror = await openMirror();
      for (const file of mirror === null ? [] : files) {
        const portion = await choose(mirror, file, needed);
        if ((await stamp(portion)) === "") await checkOne(portion);
      }
    },
    async stillDamaged(lists) {
      if (damaged.size === 0) return [];
      const suspects = lists.flatMap(({ byDate, byCode }) =>
        [...byDate, ...byCode].filter(({ path }) => damaged.has(path)),
      );
      // Its bytes are read again only if it has changed since.
      const recheck = async (file: DataFile): Promise<void> => {
        if ((await stamp(file)) !== damaged.get(file.path)) await checkOne(wholeOf(file));
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
  const wanted = files.map(wholeOf);
  const release = await mirror.hold(wanted);
  try {
    await Promise.all(wanted.map((portion) => mirror.fetch(portion)));
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

/** The first stretch of a file whose checksum does not match; undefined if all do. */
export async function wrongStretch(path: string, stretches: readonly Stretch[]): Promise<Stretch | undefined> {
  const handle = await open(path);
  try {
    for (const stretch of stretches)
      if ((await sha256OfRange(handle, stretch.range)) !== stretch.sha256) return stretch;
    return undefined;
  } finally {
    await handle.close();
  }
}

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
