// Converts codes of a file to codes of the lake, as SQL: foreign spellings, exchanges in a column of their own.
import {
  EXCHANGE_NAMES,
  FOREIGN_SUFFIXES,
  misplacedPattern,
  STOCK_NUMBERS,
  STOCK_PATTERN,
  SUFFIXES,
  type CodeRules,
} from "../catalog/codes.js";
import { quoteText } from "../sql-text.js";

/** Whitespace that spreadsheets and web pages leave around values. */
const BLANKS = quoteText(" \t\r\n\u00a0\u3000\ufeff");

export const trimmed = (sql: string): string => `trim(${sql}, ${BLANKS})`;

/** Rules about the codes of a column. */
export interface CodeValueRules extends CodeRules {
  /** Stocks' numbers without an exchange get the one that they tell. */
  readonly completeCodes?: boolean | undefined;
}

const CODE = "[0-9A-Z]{4,10}\\.[A-Z]{2,4}";
const BARE = "[0-9A-Z]{4,10}";
const FOREIGN = Object.keys(FOREIGN_SUFFIXES).join("|");

/** Codes of stocks that need no further check, which are nearly all. */
const PLAIN_STOCK = STOCK_NUMBERS.map(({ begins, suffix }) => `(${begins})[0-9]+\\.${suffix}`).join("|");

/** Our suffix for one of another tool; the same if it is another one. */
const ourSuffix = (sql: string): string =>
  `CASE ${sql} ${Object.entries(FOREIGN_SUFFIXES)
    .map(([from, to]) => `WHEN '${from}' THEN '${to}'`)
    .join(" ")} ELSE ${sql} END`;

/** The SQL that converts text to a code of the lake. */
export function codeOf(sql: string, rules: CodeValueRules): string {
  const upper = `upper(${trimmed(sql)})`;
  const prefix = `regexp_extract(${upper}, '^([A-Z]+)\\.?[0-9]{6}$', 1)`;
  const isPlain = rules.stocks
    ? `strlen(${sql}) = 9 AND regexp_full_match(${sql}, '${PLAIN_STOCK}')`
    : `regexp_full_match(${sql}, '${CODE}') AND NOT regexp_matches(${sql}, '\\.(${FOREIGN})$')`;
  const complete = [
    `WHEN regexp_full_match(${upper}, '${CODE}') ` +
      `THEN split_part(${upper}, '.', 1) || '.' || ${ourSuffix(`split_part(${upper}, '.', 2)`)}`,
    `WHEN regexp_full_match(${upper}, '(${SUFFIXES.join("|")}|${FOREIGN})\\.?[0-9]{6}') ` +
      `THEN right(${upper}, 6) || '.' || ${ourSuffix(prefix)}`,
    ...(rules.completeCodes && rules.stocks
      ? STOCK_NUMBERS.map(
          ({ begins, suffix }) =>
            `WHEN strlen(${upper}) = 6 AND regexp_full_match(${upper}, '(${begins})[0-9]+') THEN ${upper} || '.${suffix}'`,
        )
      : []),
    ...(rules.bareCodes ? [`WHEN regexp_full_match(${upper}, '${BARE}') THEN ${upper}`] : []),
  ];
  const whole = `CASE ${complete.join(" ")} END`;
  if (!rules.stocks) return `CASE WHEN ${isPlain} THEN ${sql} ELSE ${whole} END`;
  // Other numbers are rare in stock columns, but a file may hold nothing else.
  const isOdd = `regexp_full_match(${sql}, '[0-9]{6}\\.(${SUFFIXES.join("|")})')`;
  return (
    `CASE WHEN ${isPlain} THEN ${sql} WHEN ${isOdd} THEN CASE WHEN ${isPossible(sql)} THEN ${sql} END ` +
    `ELSE ${possibleStock(whole, rules)} END`
  );
}

/** The code of a stock if its exchange exists and can have its number. Contains `sql`, which is long, only once. */
function possibleStock(sql: string, { bareCodes }: CodeValueRules): string {
  const possible = `regexp_replace(${sql}, '${misplacedPattern(true)}', '')`;
  return `nullif(regexp_extract(${possible}, '^(${STOCK_PATTERN}${bareCodes ? "|[^.]+" : ""})$'), '')`;
}

/** Whether the exchange of a code may have its number. */
const isPossible = (sql: string): string => `NOT regexp_matches(${sql}, '${misplacedPattern(true)}')`;

/** Whether a code lacks its exchange. */
export const isBare = (sql: string): string => `regexp_full_match(upper(${trimmed(sql)}), '${BARE}')`;

/** A code, completed by the exchange in another column if it lacks its own; unchanged if that names no exchange. */
export function withExchange(codeSql: string, exchangeSql: string): string {
  const names = [...SUFFIXES.map((suffix) => [suffix, suffix] as const), ...Object.entries(EXCHANGE_NAMES)];
  const branches = names.map(([name, suffix]) => `WHEN '${name}' THEN '.${suffix}'`).join(" ");
  const suffix = `CASE upper(${trimmed(exchangeSql)}) ${branches} ELSE '' END`;
  return `CASE WHEN ${isBare(codeSql)} THEN upper(${trimmed(codeSql)}) || ${suffix} ELSE ${codeSql} END`;
}
