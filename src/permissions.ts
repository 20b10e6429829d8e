// What the user of this process may not do, in words: the system names a path, and not which right is missing where.
import { accessSync, constants, existsSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, resolve } from "node:path";

/** The name of the user, or the number of one without a name, as in many containers. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}

/** Calls that change the folder of a path, not what is there. */
const OF_FOLDER: ReadonlySet<unknown> = new Set(["link", "mkdir", "mkdtemp", "rename", "rmdir", "symlink", "unlink"]);

/**
 * What was refused, e.g. `the user alice may not write to /data/state`; undefined where an error has another reason than
 * the rights of a path, or none is found missing.
 */
export function describeRefusal(error: unknown): string | undefined {
  const { code, path, dest, syscall } = error as NodeJS.ErrnoException & { readonly dest?: string };
  if ((code !== "EACCES" && code !== "EPERM") || path === undefined) return undefined;
  for (const one of [path, dest]) {
    const missing = one === undefined ? undefined : missingRight(resolve(one), OF_FOLDER.has(syscall));
    if (missing !== undefined) return `the user ${userName()} may not ${missing}`;
  }
  return undefined;
}

function missingRight(path: string, ofFolder: boolean): string | undefined {
  const closed = foldersAbove(path).find((folder) => !may(folder, constants.X_OK));
  if (closed !== undefined) return `enter ${closed}`;
  const parent = dirname(path);
  if (ofFolder || !existsSync(path)) return may(parent, constants.W_OK) ? undefined : `write to ${parent}`;
  if (!may(path, constants.R_OK)) return `read ${path}`;
  if (!may(path, constants.W_OK)) return `write to ${path}`;
  return undefined;
}

/** From the root on. */
function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...foldersAbove(parent), parent];
}

/** What is not there refuses nothing. */
function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EACCES";
  }
}
