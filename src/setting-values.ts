// What a setting may hold: parsers of its text, which name the option where they refuse.
import { statSync } from "node:fs";
import { parseSpan } from "./dates.js";
import { OperatorError } from "./errors.js";
import { isBucketAddress, parseBucketAddress } from "./objects/address.js";

export const MOST_WORKERS = 64;

/** Reads the text of a setting; `option` is the one that a refusal names. */
export type Parser<T> = (text: string, option: string) => T;

/** A value of a setting that is refused. */
class WrongValue extends OperatorError {
  constructor(
    readonly option: string,
    readonly expected: string,
    readonly text: string,
  ) {
    super(`${option} must be ${expected}, not "${text}"`, 2);
  }
}

const refuse = (option: string, expected: string, text: string): never => {
  throw new WrongValue(option, expected, text);
};

const anyText: Parser<string> = (text) => text;

const wholeNumber =
  (least: number, most: number): Parser<number> =>
  (text, option) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    return value >= least && value <= most ? value : refuse(option, `a whole number from ${least} to ${most}`, text);
  };

/** Milliseconds of a number of seconds. */
const seconds =
  (least: number): Parser<number> =>
  (text, option) =>
    wholeNumber(least, 86_400)(text, option) * 1000;

/** What `parse` reads, or a value for a word, which refusals name too. */
const orWord =
  <T, W>(word: string, value: W, parse: Parser<T>): Parser<T | W> =>
  (text, option) => {
    if (text === word) return value;
    try {
      return parse(text, option);
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      return refuse(error.option, `${error.expected}, or ${word}`, error.text);
    }
  };

/** What `parse` reads, or null for `none`. */
const orNone = <T>(parse: Parser<T>): Parser<T | null> => orWord("none", null, parse);

/** What `parse` reads, or 0 for `none` and `0`. */
const orNothing = <T>(parse: Parser<T>): Parser<T | 0> => orWord("none", 0, orWord("0", 0, parse));

/** What `parse` reads, or `auto`. */
const orAuto = <T>(parse: Parser<T>): Parser<T | "auto"> => orWord("auto", "auto", parse);

const oneOf =
  <T extends string>(words: readonly T[]): Parser<T> =>
  (text, option) =>
    words.find((word) => word === text) ?? refuse(option, `one of ${words.join(", ")}`, text);

const onOff: Parser<boolean> = (text, option) =>
  text === "on" || text === "off" ? text === "on" : refuse(option, "on or off", text);

/** Milliseconds; null for `none`. */
const span: Parser<number | null> = (text, option) => {
  const value = text === "none" ? null : parseSpan(text);
  return value === undefined ? refuse(option, "a time span such as 90d or 12h, or none", text) : value;
};

/** A size of memory or disk, as DuckDB takes it. */
const size: Parser<string> = (text, option) =>
  /^\d+(\.\d+)?\s*(MB|GB|MiB|GiB)$/i.test(text) ? text : refuse(option, "a size such as 512MB or 4GB", text);

const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, MIB: 2 ** 20, GIB: 2 ** 30 };

/** Bytes of a size. */
export const bytesOf = (text: string): number =>
  Number.parseFloat(text) * UNITS[text.replace(/[\d.\s]/g, "").toUpperCase()]!;

const bytes: Parser<number> = (text, option) => bytesOf(size(text, option));

/** Rows of a file at most. */
const fileRows: Parser<number> = (text, option) =>
  /^[1-9]\d{0,11}$/.test(text) ? Number(text) : refuse(option, "a whole number such as 50000000", text);

/** Whether text begins as a URL, with a scheme. */
export const isUrl = (text: string): boolean => /^[a-z][\w+.-]*:\/\//i.test(text);

/** The path of a folder on this machine, existing or not. */
const folder: Parser<string> = (text, option) =>
  text.trim() === "" || isUrl(text) ? refuse(option, "the path of a folder on this machine", text) : text;

/** A data directory, existing or not, or the address of a bucket. */
const dataDirectory: Parser<string> = (text, option) => {
  if (isBucketAddress(text)) {
    parseBucketAddress(text);
    return text;
  }
  if (text.trim() === "") throw new OperatorError(`${option} must name a folder, not nothing`, 2);
  if (isUrl(text))
    throw new OperatorError(
      `${option} must name a folder on this machine or a bucket such as s3://bucket/prefix: ${text} is another URL`,
      2,
    );
  try {
    if (statSync(text).isDirectory()) return text;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return text;
    throw new OperatorError(`${option} ${text} cannot be accessed: ${code}`, 2);
  }
  throw new OperatorError(`${option} must name a folder: ${text} is a file`, 2);
};

/** An absolute path, which need not exist on this machine, or the address of a bucket. */
const place: Parser<string> = (text, option) => {
  if (isBucketAddress(text)) parseBucketAddress(text);
  else if (!text.startsWith("/")) return refuse(option, "a path that begins with /, or s3://bucket/prefix", text);
  return text.replace(/(?<=.)\/$/, "");
};

const CLUSTER_PORT = 15_002;

/** The host and port of an address such as `sc://host:15002`. */
const cluster: Parser<string> = (text, option) => {
  const [, host, port = CLUSTER_PORT] = /^sc:\/\/([^\s/:;?#@[\]]+|\[[0-9a-f:]+\])(?::(\d{1,5}))?\/?$/i.exec(text) ?? [];
  return host === undefined ? refuse(option, "an address such as sc://host:15002", text) : `${host}:${port}`;
};

/** Origins as browsers send them, separated by commas; none of them for `none`. */
const origins: Parser<readonly string[]> = (text, option) => {
  if (text === "none") return [];
  const listed = text.split(",").map((origin) => origin.trim());
  const wrong = listed.find((origin) => origin !== "*" && !(URL.canParse(origin) && new URL(origin).origin === origin));
  return wrong === undefined ? listed : refuse(option, "*, none, or origins such as https://example.com", wrong);
};

/** What the table of settings chooses from. */
export const parsers = {
  anyText,
  wholeNumber,
  seconds,
  orNone,
  orNothing,
  orAuto,
  oneOf,
  onOff,
  span,
  size,
  bytes,
  fileRows,
  folder,
  dataDirectory,
  origins,
  place,
  cluster,
};
