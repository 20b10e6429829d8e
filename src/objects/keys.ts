// Keys of objects: which ones every store can hold, and their order.
import { isPrintable, printableJson } from "../words.js";

/** The part of a folder that holds its locks and unfinished files, and therefore no objects. */
export const RESERVED = ".objects";

/** Bytes of a key that S3 accepts, less those of a long prefix; bytes of a part that file systems accept. */
const LONGEST_KEY = 768;
const LONGEST_PART = 255;

/** Throws a RangeError unless every store can hold an object with this key: keys come from code, not from users. */
export function requireKey(key: string): void {
  const parts = key.split("/");
  const isWrong =
    Buffer.byteLength(key) > LONGEST_KEY || parts[0] === RESERVED || !isPrintable(key) || parts.some(isWrongPart);
  if (isWrong) throw new RangeError(`${printableJson(key)} cannot be the key of an object`);
}

/** Whether part of a key would not be the name of a file, or would lead out of its folder. */
export const isWrongPart = (part: string): boolean =>
  part === "" || part === "." || part === ".." || part.includes("\\") || Buffer.byteLength(part) > LONGEST_PART;

/** The order of S3: by the bytes of UTF-8. */
export const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Throws a RangeError if a range is empty or reversed. */
export function requireRange([first, end]: readonly [number, number]): void {
  if (Number.isSafeInteger(first) && Number.isSafeInteger(end) && first >= 0 && end > first) return;
  throw new RangeError(`bytes ${first} to ${end} are not a valid range`);
}

/** Throws a RangeError if a prefix of keys would lead out of a folder. */
export function requirePrefix(prefix: string): void {
  if (!prefix.split("/").slice(0, -1).some(isWrongPart) && isPrintable(prefix)) return;
  throw new RangeError(`${printableJson(prefix)} cannot begin the key of an object`);
}
