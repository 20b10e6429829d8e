// Identifies files of the inbox and opens them safely: never through a link, and never a file of somebody else.
import { constants, type Stats } from "node:fs";
import { lstat, open, readdir, readlink, realpath, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isTransientError } from "../errors.js";
import type { Layout } from "./layout.js";

/** What a name in the inbox refers to. Only files are opened. */
export type DropKind = "file" | "link" | "special" | Unseen;

/** Names that a folder lists but the system does not find by their path. */
type Unseen = "unnameable" | "too-long";

/** Node's replacement for bytes of a name that are not UTF-8. */
const UNREADABLE = "\ufffd";

export function kindOf(stats: Stats): DropKind | "folder" {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "link" : "special";
}

/** Why the system does not find a name that a folder lists; undefined if it is gone. */
export function whyUnseen(name: string, error: unknown): Unseen | undefined {
  if (name.includes(UNREADABLE)) return "unnameable";
  return (error as NodeJS.ErrnoException).code === "ENAMETOOLONG" ? "too-long" : undefined;
}

/** Identifies one state of a file. */
export interface DropState {
  /** Relative to the inbox, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970, with their fraction. */
  readonly mtime: number;
}

/** Whether the file is unchanged. Links are not followed. */
export async function isUnchanged(layout: Layout, { path, size, mtime }: DropState): Promise<boolean> {
  try {
    const found = await lstat(join(layout.inbox, path));
    return found.size === size && found.mtimeMs === mtime;
  } catch (error) {
    const name = path.split("/").at(-1)!;
    if (whyUnseen(name, error) === undefined) return false;
    const names: readonly string[] = await readdir(join(layout.inbox, dirname(path))).catch(() => []);
    return names.includes(name);
  }
}

export interface OpenDrop {
  readonly handle: FileHandle;
  readonly stats: Stats;
  /** A path to the open file. It stays valid if another file takes its place in the inbox. */
  readonly source: string;
}

/** A file that must not be read. The message is the reason. */
export class UnreadableDrop extends Error {}

/**
 * Opens a file of the inbox; the caller closes it. Resolves to undefined if the file is gone or was replaced; throws
 * UnreadableDrop if it must not be read. The inbox itself may be a link, but nothing below it.
 */
export async function openDrop(layout: Layout, path: string): Promise<OpenDrop | undefined> {
  const name = join(layout.inbox, path);
  const handle = await open(name, FLAGS).catch((error: unknown) => {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    if (GONE.has(code)) return undefined;
    if (isTransientError(error)) throw error;
    throw new UnreadableDrop(`it cannot be read (${code})`);
  });
  if (!handle) return undefined;
  try {
    const stats = await handle.stat();
    const source = `/proc/self/fd/${handle.fd}`;
    const [expected, proven] = await Promise.all([
      realpath(layout.inbox).then((inbox) => join(inbox, path)),
      readlink(source).catch(() => undefined),
    ]);
    // Outside Linux there is no /proc: a folder that is swapped for a link and back at this moment goes unnoticed.
    const isInside = (proven ?? (await realpath(name))) === expected;
    const now = await lstat(name);
    const isThis = stats.isFile() && now.ino === stats.ino && now.dev === stats.dev;
    if (!isThis) throw new MovedDrop();
    if (!isInside) throw new UnreadableDrop("a folder above it is a link");
    if (await mayBeOurs(stats, dirname(name))) throw new UnreadableDrop(HARD_LINK);
    return { handle, stats, source: proven === undefined ? name : source };
  } catch (error) {
    await handle.close();
    if (error instanceof MovedDrop || GONE.has((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** The file was replaced while it was being opened. */
class MovedDrop extends Error {}

/** O_NONBLOCK: opening a named pipe must not block. Windows has neither flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The file is gone, or is now a link, a socket or a device without a driver. */
const GONE = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EMLINK", "ENXIO", "ENODEV"]);

const HARD_LINK =
  "it has a second name (a hard link), belongs to the user of the server, and is in a folder that others may write to: " +
  "copy the file instead";

const ROOT = 0;
const WRITABLE_BY_OTHERS = 0o022;

/** Whether another user may have made the name in the inbox as a hard link to a file of ours or of root. */
async function mayBeOurs({ nlink, uid }: Stats, folder: string): Promise<boolean> {
  const me = process.getuid?.();
  if (me === undefined || nlink < 2 || (uid !== me && uid !== ROOT)) return false;
  const { uid: owner, mode } = await lstat(folder);
  return (owner !== me && owner !== ROOT) || (mode & WRITABLE_BY_OTHERS) !== 0;
}
