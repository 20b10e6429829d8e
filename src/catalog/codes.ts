// Codes: how they are spelled here and elsewhere, which numbers an exchange has, and what is wrong with a code.
import type { Column, Entity } from "./types.js";

/** Of the exchanges of the mainland. */
export const SUFFIXES = ["SH", "SZ", "BJ"] as const;
type Suffix = (typeof SUFFIXES)[number];

/** How other tools write our suffixes, after the number or before it. Imports and requests rewrite them. */
export const FOREIGN_SUFFIXES: Readonly<Record<string, Suffix>> = {
  ...{ XSHG: "SH", SS: "SH", SSE: "SH", SHSE: "SH", SHG: "SH" },
  ...{ XSHE: "SZ", SZSE: "SZ", SHE: "SZ" },
  ...{ XBSE: "BJ", BSE: "BJ", BJSE: "BJ" },
};

/** What a column of exchanges holds for each suffix, in addition to the suffixes. */
export const EXCHANGE_NAMES: Readonly<Record<string, Suffix>> = {
  ...FOREIGN_SUFFIXES,
  ...{ 上交所: "SH", 上海证券交易所: "SH", 上海: "SH", 上证: "SH" },
  ...{ 深交所: "SZ", 深圳证券交易所: "SZ", 深圳: "SZ", 深证: "SZ" },
  ...{ 北交所: "BJ", 北京证券交易所: "BJ", 北京: "BJ" },
};

/** Suffixes of indices and of other markets, in addition to `SUFFIXES`. */
export const OTHER_SUFFIXES = [
  "CSI",
  "SI",
  "CI",
  "CIC",
  "CNI",
  "MI",
  "SW",
  "OTH",
  "TI",
  "DC",
  "WI",
  "HI",
  "HK",
] as const;

/**
 * The first digits of the six that a stock has, as patterns, by exchange. `isUnique`: nothing else of the mainland has
 * these numbers; others are also those of indices, funds and bonds.
 */
export const STOCK_NUMBERS: readonly {
  readonly begins: string;
  readonly suffix: Suffix;
  readonly isUnique: boolean;
}[] = [
  { begins: "60[0135]|68[89]", suffix: "SH", isUnique: true },
  { begins: "900", suffix: "SH", isUnique: false },
  { begins: "30[0-2]", suffix: "SZ", isUnique: true },
  { begins: "00[0-3]|200", suffix: "SZ", isUnique: false },
  { begins: "43|83|87|92", suffix: "BJ", isUnique: false },
];

/** A stock's number with the suffix of another exchange, as a pattern. `unique`: only numbers that nothing else has. */
export const misplacedPattern = (unique: boolean): string =>
  STOCK_NUMBERS.filter(({ isUnique }) => isUnique || !unique)
    .map(({ begins, suffix }) => `^(${begins})[0-9]+\\.(${SUFFIXES.filter((other) => other !== suffix).join("|")})$`)
    .join("|");

const WORD = "[0-9A-Z]{1,12}";
const MAINLAND = [...SUFFIXES, ...Object.keys(FOREIGN_SUFFIXES)].join("|");
const FOREIGN = Object.keys(FOREIGN_SUFFIXES).join("|");
/** In rows. */
const SUFFIX = `\\.(?!(?:${FOREIGN})(?![A-Z]))[A-Z]{1,6}`;

/** What a code looks like in a row, as a pattern: `600519.SH`, and without its suffix where rows may lack it. */
const codePattern = ({ bareCodes = false }: Pick<Entity, "bareCodes">): string =>
  bareCodes ? `${WORD}(?:${SUFFIX})?` : WORD + SUFFIX;

/** What is known about the codes of a column. */
export interface CodeRules {
  readonly bareCodes?: boolean | undefined;
  /** They are stocks of the mainland, so that suffix and number can be checked. */
  readonly stocks?: boolean | undefined;
}

export const codeRules = (
  { bareCodes }: Pick<Entity, "bareCodes">,
  { codesOf }: Pick<Column, "codesOf">,
): CodeRules => ({
  bareCodes,
  stocks: codesOf === "stocks",
});

/** What a code looks like in a request, as a pattern. Spellings of other tools are accepted there. */
export const requestPattern = ({ bareCodes = false, stocks = false }: CodeRules): string => {
  const prefixed = `(?:${MAINLAND})\\.?[0-9]{6}`;
  const complete = stocks ? `(?:[0-9]{6}|[0-9]{0,5}[A-Z][0-9A-Z]{0,6})\\.(?:${MAINLAND})` : `${WORD}\\.[A-Z]{1,6}`;
  return `(?:${complete}|${prefixed}${bareCodes ? `|${WORD}` : ""})`;
};

interface CodeFault {
  /** The end of a sentence that begins with the code. */
  readonly why: string;
  /** What may be meant. */
  readonly near?: string;
}

/** A code in our spelling: `600519.SH` for `600519.XSHG`, `SHSE.600519` or `SH600519`. */
export function ourCode(text: string): string {
  if (COMPLETE.test(text)) return text;
  const [, number, after] = /^([0-9A-Z]+)\.([A-Z]+)$/.exec(text) ?? [];
  if (number !== undefined && after !== undefined) return `${number}.${FOREIGN_SUFFIXES[after] ?? after}`;
  const [, before, digits] = PREFIXED.exec(text) ?? [];
  if (before === undefined || digits === undefined) return text;
  return `${digits}.${FOREIGN_SUFFIXES[before] ?? before}`;
}

const PREFIXED = new RegExp(`^(${MAINLAND})\\.?([0-9]{6})$`);
const COMPLETE = new RegExp(`^${codePattern({})}$`);
const BARE = new RegExp(`^${WORD}$`);
/** Codes with the suffix of an exchange, and with six digits if they have no letter, as a pattern for JavaScript and SQL. */
export const STOCK_PATTERN = `(?:[0-9]{6}|[0-9]*[A-Z][0-9A-Z]*)\\.(?:${SUFFIXES.join("|")})`;

/** A stock that has no fault. */
const STOCK = new RegExp(`^(?!${misplacedPattern(true)})${STOCK_PATTERN}$`);

/** The suffix of a stock's number; undefined if the number does not tell it. */
export function suffixOfNumber(number: string): Suffix | undefined {
  if (!/^[0-9]{6}$/.test(number)) return undefined;
  return STOCK_NUMBERS.find(({ begins }) => new RegExp(`^(?:${begins})`).test(number))?.suffix;
}

/** What is wrong with a code in our spelling; null where nothing is. */
export function faultOfCode(rules: CodeRules, code: string): CodeFault | null {
  if (rules.bareCodes && BARE.test(code)) return null;
  if (COMPLETE.test(code)) return rules.stocks ? faultOfStock(code) : null;
  const upper = ourCode(code.toUpperCase());
  if (COMPLETE.test(upper)) return { why: "is written in small letters", near: upper };
  if (!BARE.test(upper) || !/\d/.test(upper)) return { why: "is no code" };
  const digits = /\d{6}/.exec(upper)?.[0] ?? upper;
  const [shanghai, shenzhen, beijing] = SUFFIXES.map((suffix) => `${digits}.${suffix}`);
  return { why: "has no suffix that tells its exchange", near: `${shanghai}, ${shenzhen} or ${beijing}` };
}

function faultOfStock(code: string): CodeFault | null {
  if (STOCK.test(code)) return null;
  const [number, suffix] = code.split(".") as [string, string];
  if (!SUFFIXES.some((known) => known === suffix)) {
    return { why: `has the suffix ${suffix}, which is of no exchange here: ${SUFFIXES.join(", ")}` };
  }
  if (/^[0-9]+$/.test(number) && number.length !== 6) {
    const near = number.length < 6 ? { near: `${number.padStart(6, "0")}.${suffix}` } : {};
    return { why: `has ${number.length} digits instead of 6`, ...near };
  }
  const right = suffixOfNumber(number)!;
  return { why: `is impossible: ${number} is a number of ${right}, not of ${suffix}`, near: `${number}.${right}` };
}
