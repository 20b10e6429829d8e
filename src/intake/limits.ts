// Limits for the content of one file, far above those of real files: they stop small files that expand enormously.
import { OperatorError } from "../errors.js";
import { clip, count, shown } from "../words.js";

export interface FileLimits {
  /** Rows of one file. */
  readonly rows: number;
  /** Bytes that a compressed file unpacks to. */
  readonly unpacked: number;
}

/** Limits for drops. */
export interface DropLimits extends FileLimits {
  /** DuckDB's temporary disk, e.g. `20GB`. */
  readonly spill?: string;
}

export const NO_LIMITS: DropLimits = { rows: Infinity, unpacked: Infinity };

/** A file exceeds its limits. */
export class TooMuchError extends OperatorError {}

/** Columns of a file. The widest entity has some 170. Work for each pair of columns is still fast. */
export const MOST_COLUMNS = 2_000;

/** Characters of a column's name. */
const LONGEST_NAME = 256;

export const tooManyColumns = (label: string): OperatorError =>
  new OperatorError(
    `${label} has more than ${count(MOST_COLUMNS)} columns: write one row for each code and day, and one column for each value`,
  );

export function requireFewColumns(columns: number, label: string): void {
  if (columns > MOST_COLUMNS) throw tooManyColumns(label);
}

export function requireShortNames(names: readonly string[], label: string): void {
  const long = names.find((name) => name.length > LONGEST_NAME);
  if (long === undefined) return;
  throw new OperatorError(
    `${label} has a column whose name has ${count(long.length)} characters, more than ${LONGEST_NAME}: ${shown(clip(long, 40))}`,
  );
}

export function requireFewRows(rows: number, limits: FileLimits, label: string): void {
  if (rows <= limits.rows) return;
  throw new TooMuchError(
    `${label} has ${count(rows)} rows, more than the ${count(limits.rows)} that --max-file-rows allows: split it`,
  );
}

/** Every file may unpack to this many bytes. */
const ALWAYS_ALLOWED = 1e9;
/** A larger file may unpack to this many times its size. Tables of prices unpack to 5 times, calendars to 30 times. */
const MOST_TIMES = 64;

/** How many bytes a file of `size` bytes may unpack to. */
const unpackedLimit = (size: number, limits: FileLimits): number =>
  Math.min(limits.unpacked, Math.max(ALWAYS_ALLOWED, size * MOST_TIMES));

/** Refuses a file of `size` bytes if it unpacks to too many bytes. */
export function requireUnpackedSize(unpacked: number, size: number, limits: FileLimits, label: string): void {
  const limit = unpackedLimit(size, limits);
  if (unpacked <= limit) return;
  const allowed = limit < limits.unpacked ? "the limit for a file of its size" : "--max-unpacked allows";
  throw new TooMuchError(`${label} unpacks to more than ${count(limit)} bytes, ${allowed}: split it`);
}
