// Is a file still what the manifest says? Checked when a process first opens it, and again when it changed on disk.
import { createHash } from "node:crypto";
import { Stats } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UnavailableError } from "./continuity.js";
import { stampAt, stampOf, unreadable, UnreadableError } from "../files.js";
import type { DataFile } from "./manifest.js";

/** A data file that is gone, cut short or changed. It is never read. */
export class DamagedFileError extends Error {
  constructor(
    /** Relative to the lake folder. */
    readonly path: string,
    readonly reason: string,
    readonly isMissing = false,
    /** Its folder is missing too: a disk that is not mounted, rather than damage. */
    readonly isOutOfReach = false,
  ) {
    super(`${path}: ${reason}`);
    this.name = "DamagedFileError";
  }
}

export interface Integrity {
  /** Resolves when every file is proven to be what the manifest says; rejects with DamagedFileError or UnreadableError otherwise. */
  check(files: readonly DataFile[]): Promise<void>;
  /** The same when they have been read. One that is gone since, as vacuum removes them, was whole as long as it was there. */
  checkAgain(files: readonly DataFile[]): Promise<void>;
  /** Which of the files were found damaged and still are. A file that nobody checked is not looked at. */
  stillDamaged(files: readonly DataFile[]): Promise<readonly DataFile[]>;
}

/** `requireState` is asked where a file is missing, and throws UnavailableError where its lake is not the one it was. */
export function createIntegrity(lakeFolder: string, requireState = async (): Promise<void> => undefined): Integrity {
  const proven = new Map<string, string>();
  const running = new Map<string, Promise<void>>();
  /** Path → what the file was when it was found damaged. */
  const damaged = new Map<string, string>();

  const stamp = (file: DataFile): Promise<string> => stampAt(join(lakeFolder, file.path));

  const whyMissing = async (file: DataFile): Promise<Error> => {
    const isOutOfReach = (await stampAt(dirname(join(lakeFolder, file.path)))) === "";
    const fault = await requireState().catch((error: unknown) => error);
    if (fault instanceof UnavailableError) return fault;
    return new DamagedFileError(file.path, "the file is missing", true, isOutOfReach);
  };

  const prove = async (file: DataFile): Promise<void> => {
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

  const checkOne = (file: DataFile): Promise<void> => {
    let check = running.get(file.path);
    if (!check) {
      check = prove(file)
        .then(() => void damaged.delete(file.path))
        .catch(async (error: unknown) => {
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
      await Promise.all(files.map(checkOne));
    },
    async checkAgain(files) {
      const again = (file: DataFile): Promise<void> =>
        checkOne(file).catch((error: unknown) => {
          const isGone = error instanceof UnavailableError || (error instanceof DamagedFileError && error.isMissing);
          if (!isGone) throw error;
        });
      await Promise.all(files.map(again));
    },
    async stillDamaged(files) {
      const suspects = files.filter((file) => damaged.has(file.path));
      // Its bytes are read again only where it has changed since.
      const recheck = async (file: DataFile): Promise<void> => {
        if ((await stamp(file)) !== damaged.get(file.path)) await checkOne(file);
      };
      await Promise.allSettled(suspects.map(recheck));
      return suspects.filter((file) => damaged.has(file.path));
    },
  };
}

/** SHA-256 of a file's bytes, read in pieces. */
export async function sha256OfFile(path: string): Promise<string> {
  const handle = await open(path);
  try {
    return await sha256OfHandle(handle);
  } finally {
    await handle.close();
  }
}

/** The same of an open file. `onPiece` is called after each piece with the bytes read so far; it may throw to end it. */
export async function sha256OfHandle(
  handle: FileHandle,
  onPiece: (bytes: number) => void | Promise<void> = () => undefined,
): Promise<string> {
  const hash = createHash("sha256");
  let bytes = 0;
  const pieces = handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 1 << 20 });
  for await (const piece of pieces) {
    hash.update(piece as Buffer);
    bytes += (piece as Buffer).length;
    await onPiece(bytes);
  }
  return hash.digest("hex");
}
