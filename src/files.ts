// Reads files and folders that may be missing, unreadable, replaced or open to other users.
import { type Stats, accessSync, constants, createReadStream, createWriteStream, existsSync } from "node:fs";
import { copyFile, lstat, mkdir, open, readdir, rm, stat, symlink, type FileHandle } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { OperatorError } from "./errors.js";
import { size as sizeInWords } from "./words.js";

export const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

const UNREADABLE: Readonly<Record<string, string>> = {
  EISDIR: "it is a folder: move it away",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
};

/** Why a file or folder cannot be read, in words; undefined for other errors. */
export const whyUnreadable = (error: unknown): string | undefined =>
  error instanceof UnreadableError
    ? error.reason
    : (describeRefusal(error) ?? UNREADABLE[(error as NodeJS.ErrnoException).code ?? ""]);

/** A file or folder that exists but cannot be read. */
export class UnreadableError extends OperatorError {
  constructor(
    path: string,
    readonly reason: string,
    readonly code: string | undefined,
  ) {
    super(`${path} cannot be read: ${reason}`);
    this.name = "UnreadableError";
  }
}

/** An UnreadableError if the error says why the path cannot be read; otherwise the error itself. */
export function unreadable(path: string, error: unknown): unknown {
  const reason = whyUnreadable(error);
  return reason === undefined ? error : new UnreadableError(path, reason, (error as NodeJS.ErrnoException).code);
}

/** Bytes of a file that is read as a whole: far more than any state file has. */
const MOST_BYTES = 64 << 20;

/** The code of an UnreadableError if a file is too large. */
export const TOO_LARGE = "EFBIG";

/** The text of a file, or undefined if there is none. Throws UnreadableError, also if it has more than `most` bytes. */
export const readOrNone = (path: string, most = MOST_BYTES): Promise<string | undefined> =>
  orNone(path, readWhole(path, most));

async function readWhole(path: string, most: number): Promise<string> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    if (size > most) {
      const reason = `it has ${sizeInWords(size)}, more than the ${sizeInWords(most)} that such a file may have`;
      throw new UnreadableError(path, reason, TOO_LARGE);
    }
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** The bytes of a file. Throws any error from opening or reading it. */
export async function* piecesIn(path: string, from = 0): AsyncGenerator<Buffer> {
  const handle = await open(path);
  try {
    yield* piecesOf(handle, from);
  } finally {
    await handle.close();
  }
}

/** Writes all bytes, at a position or after the last write. One call may write fewer, for example on a nearly full disk. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array, position?: number): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const place = position === undefined ? null : position + at;
    at += (await handle.write(bytes, at, bytes.length - at, place)).bytesWritten;
  }
}

/**
 * The bytes of an open file in pieces, of 1 MiB each if it is large. For a small file the buffers are small: larger ones would
 * keep the garbage collector busy. A stream would cost more than reading a small file does.
 */
export async function* piecesOf(handle: FileHandle, from = 0): AsyncGenerator<Buffer> {
  const { size } = await handle.stat();
  const length = Math.min(Math.max(size, LEAST_PIECE), MOST_PIECE);
  for (let position = from; ;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

const LEAST_PIECE = 4 << 10;
const MOST_PIECE = 1 << 20;

interface Line {
  /** Without its line feed; null if it is too long. */
  readonly text: string | null;
  /** The offset of the byte after its line feed. */
  readonly end: number;
}

const LINE_FEED = 0x0a;

/**
 * The lines of a file of any size, one at a time; none if the file is missing. Text after the last line feed is a line
 * too. Lines of more than `longest` bytes have no text. Begins after the first `from` bytes. Throws UnreadableError.
 */
export async function* linesOf(path: string, longest: number, from = 0): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let [length, end] = [0, from];
  const add = (part: Buffer): void => {
    length += part.length;
    end += part.length;
    if (length <= longest) parts.push(part);
    else parts = [];
  };
  const next = (): Line => {
    const line = { text: length <= longest ? Buffer.concat(parts).toString() : null, end };
    parts = [];
    length = 0;
    return line;
  };
  try {
    for await (const chunk of piecesIn(path, from)) {
      let begin = 0;
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, begin)) {
        add(chunk.subarray(begin, at));
        end++;
        yield next();
        begin = at + 1;
      }
      add(chunk.subarray(begin));
    }
  } catch (error) {
    if (isAbsent(error)) return;
    throw unreadable(path, error);
  }
  if (length > 0) yield next();
}

/** The names in a folder; none if the folder is missing. Throws UnreadableError. */
export const namesIn = async (path: string): Promise<readonly string[]> => (await orNone(path, readdir(path))) ?? [];

function orNone<T>(path: string, reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw unreadable(path, error);
  });
}

/** What `link` and `symlink` fail with on file systems that have no such links: exFAT, SMB, some that use FUSE. */
const NO_LINKS = new Set(["ENOTSUP", "EOPNOTSUPP", "EPERM", "ENOSYS"]);

/** Whether a link could not be created because the file system has none of its kind. */
export const lacksLinks = (error: unknown): boolean => NO_LINKS.has((error as NodeJS.ErrnoException).code ?? "");

/** Gives a file a second path: a symbolic link, or a copy where the file system has no such links. */
export const linkOrCopy = (path: string, second: string): Promise<void> =>
  symlink(resolve(path), second).catch((error: unknown) => {
    if (!lacksLinks(error)) throw error;
    return copyBytes(path, second);
  });

/** Copies a file. Some file systems refuse the mode that the system gives a copy; there only the bytes are copied. */
export const copyBytes = (from: string, to: string): Promise<void> =>
  copyFile(from, to, constants.COPYFILE_FICLONE).catch((error: unknown) => {
    if (!REFUSES_COPIES.has((error as NodeJS.ErrnoException).code)) throw error;
    return pipeline(createReadStream(from), createWriteStream(to));
  });

const REFUSES_COPIES: ReadonlySet<unknown> = new Set([...NO_LINKS, "EINVAL"]);

/** Identifies one state of a file: the stamp changes when the file is written or replaced. */
export const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => `${ino}:${size}:${mtimeMs}:${ctimeMs}`;

/** The stamp of the file at a path; empty if there is none. */
export const stampAt = (path: string): Promise<string> => stat(path).then(stampOf, () => "");

/** Removes the files of a folder that have not been written for this many milliseconds. A missing folder has none. */
export async function removeOlderThan(folder: string, milliseconds: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > milliseconds) await rm(path, { force: true });
  }
}

/** The sticky bit: others may add files, but may not move ours. */
const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o022;
const ROOT = 0;

/**
 * Makes sure that a folder for temporary files exists. Throws an OperatorError if it belongs to another user, if others
 * can rename files in it, or if it is a link that another user made.
 */
export async function makeOwnFolder(path: string, option = "--temp"): Promise<void> {
  await makeFolders(path);
  const [link, { uid, mode }] = [await lstat(path), await stat(path)];
  const own = [ROOT, process.getuid?.() ?? ROOT];
  const movable = (mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0;
  if (own.includes(link.uid) && own.includes(uid) && !movable) return;
  throw new OperatorError(
    `${path} belongs to another user or can be written by others: name a folder of your own with ${option}`,
  );
}

/** Node's own recursive `mkdir` never ends below a folder that takes none and says that the path is missing, as /proc. */
async function makeFolders(path: string): Promise<void> {
  const make = async (): Promise<boolean> => {
    try {
      await mkdir(path, { mode: 0o700 });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return false;
      if (code !== "EEXIST" || !(await stat(path)).isDirectory()) throw error;
    }
    return true;
  };
  if (await make()) return;
  if (dirname(path) !== path) await makeFolders(dirname(path));
  if (!(await make())) throw new OperatorError(`${path} cannot be made: ${dirname(path)} takes no folders`);
}

// Missing permissions in words: the system names a path, but neither the permission nor the folder that lacks it.

/** The name of the user, or the user id if it has no name, as in many containers. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}

/** System calls that change the folder of a path, not the file itself. */
const OF_FOLDER: ReadonlySet<unknown> = new Set(["link", "mkdir", "mkdtemp", "rename", "rmdir", "symlink", "unlink"]);

/**
 * Describes a missing permission, e.g. `the user alice may not write to /data/state`; undefined for other errors, or if
 * no missing permission is found.
 */
export function describeRefusal(error: unknown): string | undefined {
  const { code, path, dest, syscall } = error as NodeJS.ErrnoException & { readonly dest?: string };
  if ((code !== "EACCES" && code !== "EPERM") || path === undefined) return undefined;
  for (const one of [path, dest]) {
    const missing = one === undefined ? undefined : missingPermission(resolve(one), OF_FOLDER.has(syscall));
    if (missing !== undefined) return `the user ${userName()} may not ${missing}`;
  }
  return undefined;
}

function missingPermission(path: string, ofFolder: boolean): string | undefined {
  const closed = foldersAbove(path).find((folder) => !may(folder, constants.X_OK));
  if (closed !== undefined) return `enter ${closed}`;
  const parent = dirname(path);
  if (ofFolder || !existsSync(path)) return may(parent, constants.W_OK) ? undefined : `write to ${parent}`;
  if (!may(path, constants.R_OK)) return `read ${path}`;
  if (!may(path, constants.W_OK)) return `write to ${path}`;
  return undefined;
}

/** The folders above a path, starting at the root. */
function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...foldersAbove(parent), parent];
}

/** A missing file refuses nothing. */
function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EACCES";
  }
}
