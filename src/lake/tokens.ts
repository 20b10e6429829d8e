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
  /** The stored token that `secret` is, unless it has expired. Looks at the file again where it finds none. */
  find(secret: string, now: Date): Promise<StoredToken | null>;
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
  let tokens = [...fixed, ...(await readTokens(path))];

  const refresh = async (): Promise<void> => {
    tokens = [...fixed, ...(await readTokens(path))];
  };
  const lookUp = (hash: Buffer): StoredToken | null => {
    let found: StoredToken | null = null;
    for (const token of tokens) if (timingSafeEqual(Buffer.from(token.sha256, "hex"), hash)) found = token;
    return found;
  };
  return {
    async find(secret, now) {
      const hash = Buffer.from(hashToken(secret), "hex");
      let token = lookUp(hash);
      if (!token) {
        await refresh();
        token = lookUp(hash);
      }
      if (!token || (token.expires !== null && Date.parse(token.expires) <= now.getTime())) return null;
      return token;
    },
    refresh,
  };
}
