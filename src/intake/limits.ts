// How much one file may hold: bounds for what a small file can blow up to, far above what real ones hold.
import { OperatorError } from "../errors.js";
import { count } from "../words.js";

export interface FileLimits {
  /** Rows of one file. */
  readonly rows: number;
  /** Bytes that a packed file unpacks to. */
  readonly unpacked: number;
}

/** Limits for what others drop, whatever it is. */
export interface DropLimits extends FileLimits {
  /** DuckDB's temporary disk, e.g. `20GB`. */
  readonly spill?: string;
}

export const NO_LIMITS: DropLimits = { rows: Infinity, unpacked: Infinity };

/** A file holds more than it may. */
export class TooMuchError extends OperatorError {}

/** Columns of a file. The widest entity has some 170; what is done for each pair of columns still takes no time. */
export const MOST_COLUMNS = 2_000;

export const tooManyColumns = (label: string): OperatorError =>
  new OperatorError(
    `${label} has more than ${count(MOST_COLUMNS)} columns: write a row for each code and day, a column for each value`,
  );

export function requireFewColumns(columns: number, label: string): void {
  if (columns > MOST_COLUMNS) throw tooManyColumns(label);
}

export function requireFewRows(rows: number, limits: FileLimits, label: string): void {
  if (rows <= limits.rows) return;
  throw new TooMuchError(
    `${label} has ${count(rows)} rows, more than the ${count(limits.rows)} that --max-file-rows allows: split it`,
  );
}

/** Bytes that any file may unpack to, within the limit. */
const ALWAYS_ALLOWED = 1e9;
/** How many times its size a larger one may unpack to. Tables of prices unpack to some 5 times, calendars to 30. */
const MOST_TIMES = 64;

/** The bytes that a file of `size` bytes may unpack to. */
const unpackedLimit = (size: number, limits: FileLimits): number =>
  Math.min(limits.unpacked, Math.max(ALWAYS_ALLOWED, size * MOST_TIMES));

/** Refuses a file of `size` bytes that holds, or would hold, so many bytes unpacked. */
export function requireUnpackedSize(unpacked: number, size: number, limits: FileLimits, label: string): void {
  const limit = unpackedLimit(size, limits);
  if (unpacked <= limit) return;
  const allowed = limit < limits.unpacked ? `${MOST_TIMES} times its size` : "--max-unpacked allows";
  throw new TooMuchError(`${label} unpacks to more than ${count(limit)} bytes, ${allowed}: split it`);
}
