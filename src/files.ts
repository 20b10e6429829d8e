// Files and folders where more may be wrong than a bug: they are absent, unreadable, replaced, or open to others.
import type { Stats } from "node:fs";
import { lstat, mkdir, readdir, readFile, stat } from "node:fs/promises";
import { CommandError } from "./errors.js";
import { describeRefusal } from "./permissions.js";

export const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

const UNREADABLE: Readonly<Record<string, string>> = {
  EISDIR: "a folder stands in its place: move it away",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
};

/** Why a file or folder cannot be read, in words; undefined where the reason is another one. */
export const whyUnreadable = (error: unknown): string | undefined =>
  error instanceof UnreadableError
    ? error.reason
    : (describeRefusal(error) ?? UNREADABLE[(error as NodeJS.ErrnoException).code ?? ""]);

/** A file or folder that is there and cannot be read. */
export class UnreadableError extends CommandError {
  constructor(
    path: string,
    readonly reason: string,
    readonly code: string | undefined,
  ) {
    super(`${path} cannot be read: ${reason}`);
    this.name = "UnreadableError";
  }
}

/** An UnreadableError where something stands in the way of reading, else the error itself. */
export function unreadable(path: string, error: unknown): unknown {
  const reason = whyUnreadable(error);
  return reason === undefined ? error : new UnreadableError(path, reason, (error as NodeJS.ErrnoException).code);
}

/** The text of a file, or undefined where there is none. Throws UnreadableError. */
export const readOrNone = (path: string): Promise<string | undefined> => orNone(path, readFile(path, "utf8"));

/** The names in a folder; none where there is no such folder. Throws UnreadableError. */
export const namesIn = async (path: string): Promise<readonly string[]> => (await orNone(path, readdir(path))) ?? [];

function orNone<T>(path: string, reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw unreadable(path, error);
  });
}

/** Identifies one state of a file: it changes when the file is written or replaced. */
export const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => `${ino}:${size}:${mtimeMs}:${ctimeMs}`;

/** The stamp of what lies at a path; empty where nothing can be looked at there. */
export const stampAt = (path: string): Promise<string> => stat(path).then(stampOf, () => "");

/** Others may write beside what is ours, but may not move it. */
const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o022;
const ROOT = 0;

/**
 * Makes a folder for temporary files where there is none. One of another user, one that others may rename things in, and a link that another
 * user made are a CommandError.
 */
export async function makeOwnFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const [link, { uid, mode }] = [await lstat(path), await stat(path)];
  const own = [ROOT, process.getuid?.() ?? ROOT];
  const movable = (mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0;
  if (own.includes(link.uid) && own.includes(uid) && !movable) return;
  throw new CommandError(
    `${path} belongs to another user or can be written by others: name a folder of your own by --temp`,
  );
}
