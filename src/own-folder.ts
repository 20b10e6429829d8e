// Folders for what the server writes aside: nobody else may put other files in their place.
import { lstat, mkdir, stat } from "node:fs/promises";
import { CommandError } from "./errors.js";

/** Others may write beside what is ours, but may not move it. */
const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o022;
const ROOT = 0;

/**
 * Makes a folder where there is none. One of another user, one that others may rename things in, and a link that another
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
