// The cursor: where a page ended, in which version, of which query. Opaque to clients, and checked when it comes back.
import { createHash } from "node:crypto";
import { parseDate } from "../dates.js";
import { Problem } from "../errors.js";
import { VERSION_PATTERN, type EntityRequest } from "./request.js";

/** The last row of a page: its main date, its code, and its row number in its file, which distinguishes equal rows. */
export interface Position {
  /** `YYYYMMDD`, or null if the entity has no main date or the row has none. */
  readonly date: string | null;
  readonly code: string | null;
  readonly row: number;
  /** The day of `as_of` if the request has several, `YYYYMMDD`. */
  readonly asOf?: string;
}

export interface Cursor {
  readonly dataVersion: string;
  readonly position: Position;
}

export function encodeCursor(request: EntityRequest, { dataVersion, position }: Cursor): string {
  const { date, code, row, asOf } = position;
  const body = JSON.stringify([dataVersion, date, code, row, ...(asOf === undefined ? [] : [asOf])]);
  return Buffer.from(JSON.stringify([digest(body + fingerprint(request)), body])).toString("base64url");
}

/** Characters of the longest cursor that is accepted: ours have about 150. */
const LONGEST = 1_024;

/**
 * Throws `invalid_cursor` for text that is not a cursor, or is one of another query. Anyone can make one that passes:
 * see docs/decisions/014.
 */
export function decodeCursor(request: EntityRequest, text: string): Cursor {
  const [sum, body] = parseArray(text.length > LONGEST ? "" : Buffer.from(text, "base64url").toString("utf8"));
  if (typeof body === "string" && sum === digest(body + fingerprint(request))) {
    const [dataVersion, date, code, row, asOf] = parseArray(body);
    if (
      typeof dataVersion === "string" &&
      VERSION_PATTERN.test(dataVersion) &&
      (date === null || isDate(date)) &&
      (code === null || typeof code === "string") &&
      Number.isSafeInteger(row) &&
      (row as number) >= 0 &&
      (request.asOfDays === null ? asOf === undefined : isDate(asOf))
    ) {
      return { dataVersion, position: { date, code, row: row as number, ...(isDate(asOf) ? { asOf } : {}) } };
    }
  }
  throw new Problem("invalid_cursor", "the cursor was not made for this query", {
    parameter: "cursor",
    hint: "repeat the query that returned the cursor; only limit, format, compression and bom may differ",
  });
}

const isDate = (value: unknown): value is string => typeof value === "string" && parseDate(value) === value;

const fingerprints = new WeakMap<EntityRequest, string>();

/**
 * What must be the same on every page: the request without page size, format, and what the cursor contains. Fields keep
 * their names and their order, and those without a value are left out, so that a new field leaves the cursors and validators
 * of clients valid.
 */
export function fingerprint(request: EntityRequest): string {
  const known = fingerprints.get(request);
  if (known !== undefined) return known;
  const asked = {
    ...request,
    entity: request.entity.name,
    columns: request.columns.map((column) => column.name),
    filters: request.filters.map((filter) => [filter.column.name, filter.values]),
    ...LEFT_OUT,
  };
  const given = Object.entries(asked).filter(([, value]) => value !== null);
  const made = JSON.stringify(Object.fromEntries(given));
  fingerprints.set(request, made);
  return made;
}

const LEFT_OUT = {
  limit: undefined,
  format: undefined,
  compression: undefined,
  bom: undefined,
  cursor: undefined,
  dataVersion: undefined,
} as const satisfies Partial<Record<keyof EntityRequest, undefined>>;

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 16);

function parseArray(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
