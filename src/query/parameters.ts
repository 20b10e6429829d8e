// Reads query parameters: each must be known, given once, not empty and well formed. Problems name the way out.
import { codeRules, faultOfCode, ourCode } from "../catalog/codes.js";
import type { Column, Entity } from "../catalog/types.js";
import { parseDate } from "../dates.js";
import { nearest, Problem } from "../errors.js";
import { clip, printableJson } from "../words.js";

export type Parameters = ReadonlyMap<string, readonly string[]>;

/** Groups values by name. `unknown` creates the problem for a name that is not in `known`. */
export function collectParameters(
  search: URLSearchParams,
  known: readonly string[],
  unknown: (name: string) => Problem = (name) => unknownParameter(name, known),
): Parameters {
  const parameters = new Map<string, string[]>();
  for (const [name, value] of search) {
    if (!known.includes(name)) throw unknown(name);
    if (value.trim() === "") throw invalidParameter(name, "it is empty", ["a value"]);
    const values = parameters.get(name);
    if (values) values.push(value);
    else parameters.set(name, [value]);
  }
  return parameters;
}

/** The parsed value of a parameter that accepts one value, or null if it is missing. */
export function single<T>(parameters: Parameters, name: string, parse: (name: string, text: string) => T): T | null {
  const values = parameters.get(name);
  if (!values) return null;
  if (values.length > 1) {
    throw new Problem("duplicate_parameter", `${name} is given ${values.length} times; give it once`, {
      parameter: name,
    });
  }
  const text = values[0]!;
  try {
    return parse(name, text);
  } catch (error) {
    const items = text.split(",");
    if (items.length === 1 || THOUSANDS.test(text) || !items.every((item) => isValid(() => parse(name, item.trim()))))
      throw error;
    throw invalidParameter(name, `it has ${items.length} values, and takes one here`, ["one value"]);
  }
}

/** A number with separators, which is no list. */
const THOUSANDS = /^[+-]?\d{1,3}(,\d{3})+$/;

function isValid(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

/** The value of a parameter that must be given; `allowed` says what it may be. */
export function required<T>(name: string, value: T | null, allowed: string): T {
  if (value === null) throw invalidParameter(name, "it is required", [allowed]);
  return value;
}

/**
 * The items of a list, separated by commas or given as repeated parameters. An item that contains a comma must be quoted;
 * quotes around any other text belong to it.
 */
export function splitList(name: string, given: readonly string[]): readonly string[] {
  const hasQuotes = given.some((value) => value.includes('"'));
  const items = hasQuotes
    ? given.flatMap(quotedItems)
    : given.flatMap((value) => value.split(",").map((one) => one.trim()));
  return named(name, bounded(name, items));
}

/** An item in quotes, in which a quote is doubled, as in CSV. */
const QUOTED = /\s*"((?:[^"]|"")*)"\s*(?=,|$)/y;

function quotedItems(value: string): readonly string[] {
  const items: string[] = [];
  for (let at = 0; at <= value.length; at++) {
    QUOTED.lastIndex = at;
    const quoted = QUOTED.exec(value)?.[1];
    const comma = value.indexOf(",", quoted?.includes(",") ? QUOTED.lastIndex : at);
    const end = comma < 0 ? value.length : comma;
    items.push(quoted?.includes(",") ? quoted.replaceAll('""', '"') : value.slice(at, end).trim());
    at = end;
  }
  return items;
}

/** Maximum number of values of one list: several times the number of codes ever listed. */
const MOST_VALUES = 20_000;

function bounded(name: string, items: readonly string[]): readonly string[] {
  if (items.length <= MOST_VALUES) return items;
  const allowed = [`up to ${MOST_VALUES} values`];
  throw invalidParameter(name, `the list has ${items.length} values; at most ${MOST_VALUES} are allowed`, allowed);
}

function named(name: string, items: readonly string[]): readonly string[] {
  if (items.includes("")) throw invalidParameter(name, "the list has an empty item", ["values separated by commas"]);
  return items;
}

/** `start_date` and `end_date`, inclusive, `YYYYMMDD`; null means unbounded. */
export function parseRange(parameters: Parameters): { readonly start: string | null; readonly end: string | null } {
  const start = single(parameters, "start_date", parseDateValue);
  const end = single(parameters, "end_date", parseDateValue);
  if (start !== null && end !== null && start > end) {
    throw new Problem("contradictory_parameters", `start_date ${start} is after end_date ${end}`, {
      parameter: "start_date",
    });
  }
  return { start, end };
}

/** `YYYYMMDD` or `YYYY-MM-DD` → `YYYYMMDD`. */
export function parseDateValue(name: string, text: string): string {
  const date = parseDate(text);
  if (date !== undefined) return date;
  const why = /^\d{4}(\d{4}|-\d{2}-\d{2})$/.test(text) ? "is not a calendar day" : "is not a date in a known format";
  throw invalidParameter(name, `${quote(text)} ${why}`, ["YYYYMMDD", "YYYY-MM-DD"], nearDate(text));
}

/** The `YYYYMMDD` of a day that is written in another way, such as `2024/1/5` or `2024-01-05T00:00:00`. */
function nearDate(text: string): string | undefined {
  const [, year, month, day] = /^\s*(\d{4})\D?(\d{1,2})\D?(\d{1,2})(?!\d)/.exec(text) ?? [];
  return year && parseDate(`${year}${month!.padStart(2, "0")}${day!.padStart(2, "0")}`);
}

/** Returns a parser of the codes of a column. It understands the spellings of other tools. */
export function codeOf(entity: Entity, column: Column): (name: string, text: string) => string {
  const rules = codeRules(entity, column);
  return (name, text) => {
    const code = ourCode(text);
    const fault = faultOfCode(rules, code);
    if (fault === null) return code;
    throw invalidParameter(name, `${quote(text)} ${fault.why}`, ["a code such as 600519.SH"], fault.near);
  };
}

/** Returns a parser of whole numbers from `least` to `most`. */
export function integer(least: number, most: number): (name: string, text: string) => number {
  return (name, text) => {
    const value = /^[+-]?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const upTo = most === Number.MAX_SAFE_INTEGER ? "on" : `to ${most}`;
    throw invalidParameter(name, `${quote(text)} is not accepted`, [`a whole number from ${least} ${upTo}`]);
  };
}

/** Returns a parser that accepts one of these words. */
export function oneOf<T extends string>(
  words: readonly T[],
  otherNames: Readonly<Record<string, T>> = {},
): (name: string, text: string) => T {
  return (name, text) => {
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) {
      const near = otherNames[text] ?? nearest(text, words);
      throw invalidParameter(name, `${quote(text)} is not offered`, words, near);
    }
    return word;
  };
}

export function invalidParameter(parameter: string, why: string, allowed: readonly string[], near?: string): Problem {
  return new Problem("invalid_parameter", `${parameter}: ${why}`, {
    parameter,
    allowed,
    ...(near ? { hint: `did you mean ${near}?` } : {}),
  });
}

/** `near` is what was probably meant. */
export function unknownParameter(
  name: string,
  known: readonly string[],
  near: string | undefined = nearest(name, known),
): Problem {
  return new Problem("unknown_parameter", `there is no parameter ${quote(name)}`, {
    parameter: name,
    allowed: known,
    ...(near ? { hint: `did you mean ${near}?` } : {}),
  });
}

/** User text in quotes, on one line, shortened if it is long. */
export const quote = (text: string): string => printableJson(clip(text));
