// Copies files with their checksums: a copy is complete, checked and flushed before it gets its name.
import { randomUUID } from "node:crypto";
import { rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { OperatorError, isSystemError, NoSpaceError } from "../errors.js";
import { copyBytes, isAbsent } from "../files.js";
import { DamagedFileError, sha256OfFile } from "../lake/integrity.js";
import { makeFolderIn, syncPath } from "../durable.js";
import type { BackupFile } from "./format.js";

/** Where copies are made until they are complete, and the folders that got new files. */
export interface CopyTarget {
  readonly root: string;
  readonly incoming: string;
  readonly folders: Set<string>;
}

/**
 * Copies a file to `to`, relative to the target; with `moves`, moves it there. The copy never shares its bytes with the
 * original, except for blocks of a copy-on-write file system. Throws DamagedFileError if the original is missing or does
 * not match.
 */
export async function placeFile(
  target: CopyTarget,
  from: string,
  to: string,
  file: BackupFile,
  moves = false,
): Promise<void> {
  const copy = moves ? from : join(target.incoming, randomUUID());
  try {
    if (!moves) await copyBytes(from, copy);
    const problem = await problemOf(copy, file);
    if (problem !== null) throw new DamagedFileError(file.path, problem);
    await syncPath(copy);
    const path = join(target.root, to);
    await makeFolderIn(target.root, relative(target.root, dirname(path)));
    await rename(copy, path);
    target.folders.add(dirname(path));
  } catch (error) {
    const isGone = isAbsent(error) && (await stat(from).then(() => false, isAbsent));
    throw isGone ? new DamagedFileError(file.path, "the file is missing", true) : error;
  } finally {
    if (!moves) await rm(copy, { force: true });
  }
}

/** What is wrong with a file, in words; null if it has the size and the checksum. Throws ENOENT if it is missing. */
export async function problemOf(path: string, { bytes, sha256 }: BackupFile): Promise<string | null> {
  const { size } = await stat(path);
  if (size !== bytes) return `the file has ${size} bytes instead of ${bytes}`;
  return (await sha256OfFile(path)) === sha256 ? null : "the checksum does not match";
}

/** Flushes the folders that got new files, and those above them. */
export async function syncFolders({ root, folders }: CopyTarget): Promise<void> {
  for (const folder of folders) await syncPath(folder);
  await syncPath(root);
}

/** Turns errors of the machine into an OperatorError. Returns other errors unchanged. */
export function explainCopying(error: unknown, place: string): unknown {
  if (!isSystemError(error)) return error;
  if (error.code === "ENOSPC" || error.code === "EDQUOT")
    return new NoSpaceError(`no space is left on the disk that holds ${place}`);
  // The command describes a missing permission.
  if (error.code === "EACCES" || error.code === "EPERM") return error;
  return new OperatorError(`copying to ${place} failed (${error.message})`);
}
