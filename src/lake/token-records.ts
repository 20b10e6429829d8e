// What a token record must look like. One that does not look exactly so lets nobody in.
import { entityNamed } from "../catalog/index.js";
import { isInstant } from "../dates.js";
import { shown } from "../printable.js";

/** What a token may be for besides entities. */
export const METRICS = "metrics";

export interface StoredToken {
  readonly name: string;
  /** SHA-256 of the token, hexadecimal. */
  readonly sha256: string;
  /** Entities that it may read, METRICS for the metrics; null for all. */
  readonly entities: readonly string[] | null;
  /** ISO 8601; null for never. */
  readonly expires: string | null;
  readonly created: string;
}

export interface TokenList {
  readonly tokens: readonly StoredToken[];
  /** What is wrong with records of the file, a sentence each. */
  readonly faults: readonly string[];
}

export const isTokenName = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "" && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value);

interface Rule {
  readonly holds: (value: unknown) => boolean;
  readonly expected: string;
}

const AN_INSTANT = "a time with a zone such as 2026-01-31T00:00:00Z";

const RULES: Readonly<Record<keyof StoredToken, Rule>> = {
  name: { holds: isTokenName, expected: "text on one line" },
  sha256: {
    holds: (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value),
    expected: "64 lower-case hexadecimal digits",
  },
  entities: {
    holds: (value) => value === null || (Array.isArray(value) && value.every(isName)),
    expected: 'null or a list of names such as ["daily"]',
  },
  expires: { holds: (value) => value === null || isInstant(value), expected: `null or ${AN_INSTANT}` },
  created: { holds: isInstant, expected: AN_INSTANT },
};

const isName = (value: unknown): value is string => typeof value === "string" && /^[a-z][a-z0-9_]*$/.test(value);

/** The tokens among the records of a file. */
export function parseTokens(records: readonly unknown[]): TokenList {
  const hashes = new Map<unknown, number>();
  for (const record of records) {
    const hash = fieldOf(record, "sha256");
    hashes.set(hash, (hashes.get(hash) ?? 0) + 1);
  }
  const tokens: StoredToken[] = [];
  const faults: string[] = [];
  for (const [i, record] of records.entries()) {
    const name = nameOf(record);
    const which = `record ${i + 1}${name === null ? "" : ` (${shown(name)})`} of the token file`;
    const fault =
      faultOf(record) ?? (hashes.get(fieldOf(record, "sha256"))! > 1 ? "shares its sha256 with another" : null);
    if (fault !== null) {
      faults.push(`${which} is no token: it ${fault}`);
      continue;
    }
    const token = record as StoredToken;
    tokens.push(token);
    // Perhaps a later release knows them; here they cover nothing.
    const unknown = (token.entities ?? []).filter((one) => one !== METRICS && !entityNamed(one));
    if (unknown.length > 0) faults.push(`${which} names ${unknown.join(", ")}: there is no such entity`);
  }
  return { tokens, faults };
}

/** The name of a record, well-formed or not. */
export function nameOf(record: unknown): string | null {
  const name = fieldOf(record, "name");
  return typeof name === "string" ? name : null;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const fieldOf = (record: unknown, field: keyof StoredToken): unknown => (isObject(record) ? record[field] : undefined);

function faultOf(record: unknown): string | null {
  if (!isObject(record)) return "is not an object";
  for (const field of Object.keys(RULES) as (keyof StoredToken)[]) {
    const { holds, expected } = RULES[field];
    if (!Object.hasOwn(record, field)) return `lacks ${field}, ${expected}`;
    if (!holds(record[field])) return `has a malformed ${field}; expected is ${expected}`;
  }
  // It may restrict the token in a way that is not understood here.
  const extra = Object.keys(record).find((field) => !Object.hasOwn(RULES, field));
  return extra === undefined ? null : `has a field ${shown(extra)}, which is not known`;
}
