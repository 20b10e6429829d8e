// Reading what may not be there yet: an absent file or folder is no error, everything else is.
import { readFile } from "node:fs/promises";

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

/** The records of a JSON file; an absent file holds none. */
export async function readRecords<T>(path: string): Promise<readonly T[]> {
  const text = await readOrNone(path);
  return text === undefined ? [] : (JSON.parse(text) as T[]);
}
