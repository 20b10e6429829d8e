// Access tokens as they are stored (only their hash) and checked.
import { createHash, timingSafeEqual } from "node:crypto";
import { readRecords } from "./absent.js";

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

export interface TokenStore {
  /** The stored token that `secret` is, unless it has expired. Where it finds none it may look at the file again. */
  find(secret: string, now: Date, mayLookAgain?: boolean): Promise<StoredToken | null>;
  refresh(): Promise<void>;
}

export const hashToken = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Reads the tokens of a file; an absent file holds none. */
export const readTokens = (path: string): Promise<readonly StoredToken[]> => readRecords<StoredToken>(path);

/** `staticToken`, where given, is valid for everything and for ever. */
export async function openTokens(path: string, staticToken: string | null): Promise<TokenStore> {
  const fixed: StoredToken[] =
    staticToken === null
      ? []
      : [{ name: "TAPEHOUSE_TOKEN", sha256: hashToken(staticToken), entities: null, expires: null, created: "" }];
  let known: readonly (readonly [Buffer, StoredToken])[] = [];

  const refresh = async (): Promise<void> => {
    const tokens = [...fixed, ...(await readTokens(path))];
    known = tokens.map((token) => [Buffer.from(token.sha256, "hex"), token]);
  };
  /** Compares with every token, each in constant time: the time tells nothing of a token that is near. */
  const lookUp = (hash: Buffer): StoredToken | null => {
    let found: StoredToken | null = null;
    for (const [stored, token] of known) {
      if (stored.length === hash.length && timingSafeEqual(stored, hash)) found = token;
    }
    return found;
  };
  await refresh();
  return {
    async find(secret, now, mayLookAgain = true) {
      const hash = Buffer.from(hashToken(secret), "hex");
      let token = lookUp(hash);
      if (!token && mayLookAgain) {
        await refresh();
        token = lookUp(hash);
      }
      if (!token || (token.expires !== null && Date.parse(token.expires) <= now.getTime())) return null;
      return token;
    },
    refresh,
  };
}
