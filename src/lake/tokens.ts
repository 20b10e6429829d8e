// Access tokens: validates their records, and follows the token file while a server runs.
import { createHash, timingSafeEqual } from "node:crypto";
import { entityNamed } from "../catalog/index.js";
import { parseDate } from "../dates.js";
import { OperatorError } from "../errors.js";
import { shown } from "../words.js";
import { parseRecords } from "./records.js";
import { readOrNone } from "../files.js";
import { DamagedManifestError } from "./manifest.js";

export interface TokenStore {
  /**
   * The stored token of a `secret`, or null if there is none or it has expired; "unknown" if the file could not be read
   * for too long. If no token is found, the file may be read again.
   */
  find(secret: string, now: Date, mayLookAgain?: boolean): Promise<StoredToken | "unknown" | null>;
  /**
   * Reads the file again. Rejects if it is damaged or has vanished, or if the directory is not the one that was opened.
   * The tokens that were read last stay valid for TRUSTED_FOR.
   */
  refresh(): Promise<void>;
  /** False if the last refresh failed. */
  isSound(): boolean;
}

/** How long tokens stay valid after their file was last read, in milliseconds. */
export const TRUSTED_FOR = 300_000;

export interface TokenOptions {
  /** Grants everything and never expires. */
  readonly staticToken: string | null;
  /** Called once for each fault of a record. */
  readonly onFault: (fault: string) => void;
  /** Throws UnavailableError if the file is not in the directory that was opened, or DamagedManifestError. */
  readonly requireState?: () => Promise<void>;
  /** Another process has read the file before, so a missing file is an error. */
  readonly wasThere?: boolean;
  /** Called once, when the file is first found. */
  readonly onThere?: () => void;
  /** Milliseconds that only go forward. */
  readonly clock?: () => number;
}

export const hashToken = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Reads the tokens of a file; a missing file has none. Throws an OperatorError if it is damaged. */
export async function readTokens(path: string): Promise<TokenList> {
  const text = await readOrNone(path);
  return parseTokens(parseRecords(text, path));
}

/** Follows the tokens of a file. It resolves even if the file is damaged: some requests need no token. */
export async function openTokens(path: string, options: TokenOptions): Promise<TokenStore> {
  const { staticToken, onFault, requireState, onThere, clock = () => performance.now() } = options;
  const fixed: StoredToken | null =
    staticToken === null
      ? null
      : { name: "TAPEHOUSE_TOKEN", sha256: hashToken(staticToken), entities: null, expires: null, created: "" };
  const entry = (token: StoredToken): readonly [Buffer, StoredToken] => [Buffer.from(token.sha256, "hex"), token];
  const own = fixed === null ? [] : [entry(fixed)];
  let known = own;
  let reported = new Set<string>();
  let seen: string | undefined;
  let { wasThere = false } = options;
  let readAt = -Infinity;
  let sound = false;

  /** A damaged manifest does not make the tokens invalid. */
  const requireDirectory = async (): Promise<void> =>
    requireState?.().catch((error: unknown) => {
      if (!(error instanceof DamagedManifestError)) throw error;
    });
  const read = async (): Promise<void> => {
    await requireDirectory();
    const text = await readOrNone(path);
    // The directory may have been replaced or restored since the check above.
    await requireDirectory();
    if (text === undefined && wasThere) throw new OperatorError(`${path} is missing: restore it from a backup`);
    if (text !== undefined && !wasThere) onThere?.();
    wasThere = text !== undefined;
    if (text === undefined || text === seen) return;
    const { tokens, faults } = parseTokens(parseRecords(text, path));
    seen = text;
    known = [...tokens.map(entry), ...own];
    for (const fault of faults) if (!reported.has(fault)) onFault(fault);
    reported = new Set(faults);
  };
  const refresh = shareRuns(async () => {
    try {
      await read();
      readAt = clock();
      sound = true;
    } catch (error) {
      sound = false;
      throw error;
    }
  });
  /** Compares with every token, each in constant time, so that the time reveals nothing about similar tokens. */
  const lookUp = (hash: Buffer): StoredToken | null => {
    let found: StoredToken | null = null;
    for (const [stored, token] of known) if (timingSafeEqual(stored, hash)) found = token;
    return found;
  };
  await refresh().catch(() => undefined);
  return {
    async find(secret, now, mayLookAgain = true) {
      const hash = Buffer.from(hashToken(secret), "hex");
      let token = lookUp(hash);
      if (!token && mayLookAgain && sound) {
        await refresh().catch(() => undefined);
        token = lookUp(hash);
      }
      if (token !== null && token === fixed) return token;
      if (clock() - readAt > TRUSTED_FOR) return "unknown";
      if (!token || (token.expires !== null && Date.parse(token.expires) <= now.getTime())) return null;
      return token;
    },
    refresh,
    isSound: () => sound,
  };
}

/** Never runs `work` twice at a time. All calls during a run share the next one, which sees every earlier change. */
function shareRuns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const run = (): Promise<void> => {
    if (running === null) return (running = work().finally(() => (running = null)));
    return (next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return run();
      }));
  };
  return run;
}

// The rules for token records. A record that breaks one grants no access.

/** Permissions besides the entities: to read metrics, and to run SQL over the entities that the token covers. */
export const METRICS = "metrics";
export const SQL = "sql";
export const PERMISSIONS: readonly string[] = [METRICS, SQL];

export interface StoredToken {
  readonly name: string;
  /** SHA-256 of the token, hexadecimal. */
  readonly sha256: string;
  /** What it may do: names of entities, and PERMISSIONS; null for everything. */
  readonly entities: readonly string[] | null;
  /** ISO 8601; null for never. */
  readonly expires: string | null;
  readonly created: string;
}

interface TokenList {
  readonly tokens: readonly StoredToken[];
  /** One sentence for each faulty record. */
  readonly faults: readonly string[];
}

export const isTokenName = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "" && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value);

/** Whether a value is an ISO 8601 time with its zone, e.g. `2026-01-05T09:30:00Z`. */
function isInstant(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const day = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.exec(value)?.[1];
  return day !== undefined && parseDate(day) !== undefined && !Number.isNaN(Date.parse(value));
}

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

/** Separates the valid tokens of a file from the faulty records. */
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
      faults.push(`${which} is not a valid token: it ${fault}`);
      continue;
    }
    const token = record as StoredToken;
    tokens.push(token);
    // A later release may know them. Here they grant nothing.
    const unknown = (token.entities ?? []).filter((one) => !PERMISSIONS.includes(one) && !entityNamed(one));
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
    if (!holds(record[field])) return `has a malformed ${field}; expected ${expected}`;
  }
  // An unknown field may restrict the token in a way that this release does not understand.
  const extra = Object.keys(record).find((field) => !Object.hasOwn(RULES, field));
  return extra === undefined ? null : `has an unknown field ${shown(extra)}`;
}
