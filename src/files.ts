// Files and folders where more may be wrong than a bug: they are absent, unreadable, replaced, or open to others.
import type { Stats } from "node:fs";
import { lstat, mkdir, readFile, stat } from "node:fs/promises";
import { CommandError } from "./errors.js";

export const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

const UNREADABLE: Readonly<Record<string, string>> = {
  EISDIR: "a folder stands in its place: move it away",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
};

/** Why a file cannot be read, in words; undefined where the reason is another one. */
export const whyUnreadable = (error: unknown): string | undefined =>
  UNREADABLE[(error as NodeJS.ErrnoException).code ?? ""];

/** A file that is there and cannot be read. */
export class UnreadableError extends CommandError {
  constructor(
    path: string,
    reason: string,
    readonly code: string | undefined,
  ) {
    super(`${path} cannot be read: ${reason}`);
    this.name = "UnreadableError";
  }
}

/** The text of a file, or undefined where there is none. */
export async function readOrNone(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    const reason = whyUnreadable(error);
    if (reason !== undefined) throw new UnreadableError(path, reason, (error as NodeJS.ErrnoException).code);
    throw error;
  }
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
