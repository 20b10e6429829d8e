// Reading what may not be there yet: an absent file or folder is no error, everything else is.
import { readFile } from "node:fs/promises";
import { CommandError } from "../errors.js";

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

/** A file of records that is not what was written. */
export class DamagedRecordsError extends CommandError {
  override readonly name = "DamagedRecordsError";
}

/** The records of a JSON file; an absent file holds none. Throws DamagedRecordsError. */
export async function readRecords(path: string): Promise<readonly unknown[]> {
  const text = await readOrNone(path);
  return text === undefined ? [] : parseRecords(text, path);
}

/** The records in the text of a JSON file. Throws DamagedRecordsError where they are no list. */
export function parseRecords(text: string, path: string): readonly unknown[] {
  try {
    const records: unknown = JSON.parse(text);
    if (Array.isArray(records)) return records;
  } catch {
    // Not JSON: reported below.
  }
  throw new DamagedRecordsError(`${path} is damaged: restore it from a backup, or move it away and start a new one`);
}
