// Creates and revokes access tokens. A running server sees the change within a second.
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { entityNamed, ENTITY_NAMES } from "../catalog/index.js";
import { chinaTime, parseSpan } from "../dates.js";
import { OperatorError, nearest } from "../errors.js";
import { printableJson } from "../words.js";
import { layoutOf } from "../lake/layout.js";
import { parseRecords } from "../lake/records.js";
import { PERMISSIONS, type StoredToken, hashToken, isTokenName, nameOf } from "../lake/tokens.js";
import { explain } from "./session.js";
import { editFile } from "./shared-file.js";

interface TokenOptions {
  readonly entities: readonly string[] | null;
  /** Days or hours, e.g. `90d` or `12h`; null for never. */
  readonly expires: string | null;
}

/** Creates a 256-bit token and stores its hash. Resolves to the token, which cannot be shown again. */
export async function createToken(root: string, name: string, options: TokenOptions, now: Date): Promise<string> {
  if (!isTokenName(name)) throw new OperatorError(`a token needs a name on one line, not ${printableJson(name)}`, 2);
  const [secret, token] = newToken(name, options, now);
  await change(root, (records) => {
    if (records.some((record) => nameOf(record) === name)) {
      throw new OperatorError(`a token named "${name}" exists already; revoke it first or choose another name`);
    }
    return [...records, token];
  });
  return secret;
}

/** How many tokens of a series there are at most. */
const LONGEST_SERIES = 20;

/**
 * Creates a token as `createToken` does, named by the series and the time. Removes tokens of the series that have expired,
 * and the oldest if there are too many.
 */
export async function createSeriesToken(
  root: string,
  series: string,
  options: TokenOptions,
  now: Date,
): Promise<string> {
  const [secret, token] = newToken(`${series} ${chinaTime(now)}`, options, now);
  await change(root, (records) => {
    const earlier = records.filter((record) => nameOf(record)?.startsWith(`${series} `));
    const unexpired = earlier.filter((record) => !(new Date((record as StoredToken).expires ?? Infinity) <= now));
    const kept = unexpired.slice(-(LONGEST_SERIES - 1));
    return [...records.filter((record) => !earlier.includes(record) || kept.includes(record)), token];
  });
  return secret;
}

function newToken(name: string, { entities, expires }: TokenOptions, now: Date): readonly [string, StoredToken] {
  for (const entity of entities ?? []) {
    if (entityNamed(entity) || PERMISSIONS.includes(entity)) continue;
    const near = nearest(entity, [...ENTITY_NAMES, ...PERMISSIONS]);
    throw new OperatorError(`there is no entity "${entity}"${near ? `; did you mean ${near}?` : ""}`, 2);
  }
  const until = expires === null ? null : new Date(now.getTime() + requireSpan(expires)).toISOString();
  const secret = `th_${randomBytes(32).toString("base64url")}`;
  return [secret, { name, sha256: hashToken(secret), entities, expires: until, created: now.toISOString() }];
}

export async function revokeToken(root: string, name: string): Promise<void> {
  await change(root, (records) => {
    const left = records.filter((record) => nameOf(record) !== name);
    if (left.length < records.length) return left;
    const near = nearest(
      name,
      records.map(nameOf).filter((one) => one !== null),
    );
    throw new OperatorError(`there is no token named "${name}"${near ? `; did you mean ${near}?` : ""}`);
  });
}

/** Changes the token file. Faulty records stay as they are. */
async function change(root: string, edit: (records: readonly unknown[]) => readonly unknown[]): Promise<void> {
  const layout = layoutOf(root);
  try {
    await mkdir(layout.state, { recursive: true });
    const encode = (records: readonly unknown[]): string => `${JSON.stringify(records, null, 2)}\n`;
    await editFile(layout, layout.tokens, layout.tokensLock, (text) => encode(edit(parseRecords(text, layout.tokens))));
  } catch (error) {
    throw explain(error, root);
  }
}

function requireSpan(text: string): number {
  const span = parseSpan(text);
  if (!span) throw new OperatorError(`"${text}" is not a time span; write 90d or 12h`, 2);
  return span;
}
