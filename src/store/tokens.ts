// Creates and revokes access tokens. A running server sees the change within a second.
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { entityNamed, ENTITY_NAMES } from "../catalog/index.js";
import { parseSpan } from "../dates.js";
import { OperatorError, nearest } from "../errors.js";
import { printableJson } from "../words.js";
import { layoutOf } from "../lake/layout.js";
import { readRecords } from "../lake/records.js";
import { METRICS, type StoredToken, hashToken, isTokenName, nameOf } from "../lake/tokens.js";
import { writeDurably } from "./durable.js";
import { withLock } from "./lock.js";
import { explain } from "./session.js";

interface TokenOptions {
  readonly entities: readonly string[] | null;
  /** Days or hours, e.g. `90d` or `12h`; null for never. */
  readonly expires: string | null;
}

/** Creates a 256-bit token and stores its hash. Resolves to the token, which cannot be shown again. */
export async function createToken(root: string, name: string, options: TokenOptions, now: Date): Promise<string> {
  if (!isTokenName(name)) throw new OperatorError(`a token needs a name on one line, not ${printableJson(name)}`, 2);
  for (const entity of options.entities ?? []) {
    if (entityNamed(entity) || entity === METRICS) continue;
    const near = nearest(entity, [...ENTITY_NAMES, METRICS]);
    throw new OperatorError(`there is no entity "${entity}"${near ? `; did you mean ${near}?` : ""}`, 2);
  }
  const expires =
    options.expires === null ? null : new Date(now.getTime() + requireSpan(options.expires)).toISOString();
  const secret = `th_${randomBytes(32).toString("base64url")}`;
  await change(root, (records) => {
    if (records.some((record) => nameOf(record) === name)) {
      throw new OperatorError(`a token named "${name}" exists already; revoke it first or choose another name`);
    }
    const { entities } = options;
    const token: StoredToken = {
      ...{ name, sha256: hashToken(secret), entities, expires },
      created: now.toISOString(),
    };
    return [...records, token];
  });
  return secret;
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
    await withLock(layout.tokensLock, async () => {
      await writeDurably(layout.tokens, `${JSON.stringify(edit(await readRecords(layout.tokens)), null, 2)}\n`);
    });
  } catch (error) {
    throw explain(error, root);
  }
}

function requireSpan(text: string): number {
  const span = parseSpan(text);
  if (!span) throw new OperatorError(`"${text}" is not a time span; write 90d or 12h`, 2);
  return span;
}
