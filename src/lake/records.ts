// Record files: JSON lists, and lines of JSON that end with a checksum of the text before it.
import { OperatorError } from "../errors.js";
import { printableJson } from "../words.js";
import { sha256 } from "./manifest.js";

/** What a field of a record may hold. */
type Kind = "string" | "number" | "string?" | "strings";
export type Shape<T> = Readonly<Record<keyof T, Kind>>;

const DIGITS = 16;
const KEY = ',"checksum":"';
/** Characters of a record's text from the checksum's key to its end. */
const TAIL = KEY.length + DIGITS + '"}'.length;

/** A record as text, with its checksum. */
export function seal(record: object): string {
  const text = printableJson(record);
  return `${text.slice(0, -1)}${KEY}${checksumOf(text)}"}`;
}

/** Parses a record; undefined if it is damaged. One without a checksum, as earlier releases wrote it, must fit the shape. */
export function unseal<T>(text: string, shape: Shape<T>): T | undefined {
  if (hasChecksum(text)) {
    const body = `${text.slice(0, -TAIL)}}`;
    return text === `${text.slice(0, KEY.length - TAIL)}${checksumOf(body)}"}` ? (JSON.parse(body) as T) : undefined;
  }
  const record = parse(text);
  return hasShape(record, shape) ? record : undefined;
}

/** Whether a text has the end of a record. If it has, but is no record, it is damaged; otherwise a crash cut it short. */
export const hasEnd = (text: string): boolean => text.endsWith("}") || hasChecksum(text);

const hasChecksum = (text: string): boolean => text.startsWith(KEY, text.length - TAIL);

const checksumOf = (text: string): string => sha256(text).slice(0, DIGITS);

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const IS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  "string?": (value) => value === null || typeof value === "string",
  strings: (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
};

/** Whether a value has exactly the fields of a shape. */
function hasShape<T>(value: unknown, shape: Shape<T>): value is T {
  if (typeof value !== "object" || value === null) return false;
  const fields = Object.entries<Kind>(shape);
  const record = value as Readonly<Record<string, unknown>>;
  return Object.keys(record).length === fields.length && fields.every(([name, kind]) => IS[kind](record[name]));
}

/** A damaged record file. */
export class DamagedRecordsError extends OperatorError {
  override readonly name = "DamagedRecordsError";
}

/**
 * The records in the text of a JSON file; undefined is the text of a file that does not exist. Throws DamagedRecordsError
 * if they are no list.
 */
export function parseRecords(text: string | undefined, path: string): readonly unknown[] {
  if (text === undefined) return [];
  try {
    const records: unknown = JSON.parse(text);
    if (Array.isArray(records)) return records;
  } catch {
    // Not JSON: reported below.
  }
  throw new DamagedRecordsError(`${path} is damaged: restore it from a backup, or move it away and start a new one`);
}
