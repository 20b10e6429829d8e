// Reading what may not be there yet: an absent file or folder is no error, everything else is.
import { readFile } from "node:fs/promises";
import { CommandError } from "../errors.js";

export const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

/** The text of a file, or undefined where there is none. */
export async function readOrNone(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** The records of a JSON file; an absent file holds none. Throws a CommandError where it is damaged. */
export async function readRecords<T>(path: string): Promise<readonly T[]> {
  const text = await readOrNone(path);
  if (text === undefined) return [];
  try {
    return JSON.parse(text) as T[];
  } catch {
    throw new CommandError(`${path} is damaged: put it back from a backup, or move it away and begin it anew`);
  }
}
