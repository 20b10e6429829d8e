// Codes where a user names one, and what is to be said of one that no row can have.
import type { Entity } from "./types.js";

/** Of the exchanges of the mainland. */
export const SUFFIXES = ["SH", "SZ", "BJ"] as const;

/** Suffixes that other tools write, and ours. Import rewrites them, so that no row has them. */
export const FOREIGN_SUFFIXES: Readonly<Record<string, string>> = { XSHG: "SH", XSHE: "SZ", XBSE: "BJ", SS: "SH" };

const WORD = "[0-9A-Z]{1,12}";
const FOREIGN = Object.keys(FOREIGN_SUFFIXES).join("|");
const SUFFIX = `\\.(?!(?:${FOREIGN})(?![A-Z]))[A-Z]{1,6}`;

/** What a code of an entity looks like, as a pattern: `600519.SH`, and without its suffix where rows may lack it. */
export const codePattern = ({ bareCodes = false }: Pick<Entity, "bareCodes">): string =>
  bareCodes ? `${WORD}(?:${SUFFIX})?` : WORD + SUFFIX;

const COMPLETE = new RegExp(`^${codePattern({})}$`);
const PERHAPS_BARE = new RegExp(`^${codePattern({ bareCodes: true })}$`);

interface CodeFault {
  /** The end of a sentence that begins with the code. */
  readonly why: string;
  /** What may be meant. */
  readonly near?: string;
}

/** What is wrong with a code of an entity; null where nothing is. */
export function faultOfCode(entity: Pick<Entity, "bareCodes">, text: string): CodeFault | null {
  const fits = (code: string): boolean => (entity.bareCodes ? PERHAPS_BARE : COMPLETE).test(code);
  if (fits(text)) return null;
  const upper = text.toUpperCase();
  const [, word, foreign] = new RegExp(`^(${WORD})\\.(${FOREIGN})$`).exec(upper) ?? [];
  if (foreign !== undefined) {
    const ours = FOREIGN_SUFFIXES[foreign]!;
    return { why: `has the suffix ${foreign}, which is ${ours} here`, near: `${word!}.${ours}` };
  }
  if (fits(upper)) return { why: "is written in small letters", near: upper };
  if (!new RegExp(`^${WORD}$`).test(upper)) return { why: "is no code" };
  const digits = /\d{6}/.exec(upper)?.[0] ?? upper;
  const [shanghai, shenzhen, beijing] = SUFFIXES.map((suffix) => `${digits}.${suffix}`);
  return { why: "has no suffix that tells its exchange", near: `${shanghai}, ${shenzhen} or ${beijing}` };
}
