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
export async function readRecords(path: string): Promise<readonly unknown[]> {
  const text = await readOrNone(path);
  return text === undefined ? [] : parseRecords(text, path);
}

/** The records in the text of a JSON file. Throws a CommandError where they are no list. */
export function parseRecords(text: string, path: string): readonly unknown[] {
  try {
    const records: unknown = JSON.parse(text);
    if (Array.isArray(records)) return records;
  } catch {
    // Not JSON: reported below.
  }
  throw new CommandError(`${path} is damaged: restore it from a backup, or move it away and start a new one`);
}
