// Parameters of a query that come as a JSON object instead of a URL.
import { Problem } from "../errors.js";
import { invalidParameter } from "./parameters.js";

const EXAMPLE = '{"ts_code": ["600519.SH", "000001.SZ"], "start_date": "20240101"}';

/**
 * Text, numbers and booleans mean what they mean in a URL, where text may contain several values, separated by commas. Each
 * item of a list is one value, commas included. Throws a problem if that is not all that the body contains.
 */
export function searchOfBody(bytes: Uint8Array): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(objectOfBody(bytes, EXAMPLE))) {
    if (!Array.isArray(value)) search.append(name, valueText(name, value));
    else if (value.length === 0) throw invalidParameter(name, "the list is empty", ["at least one value"]);
    else for (const item of value as unknown[]) search.append(name, quoted(valueText(name, item)));
  }
  return search;
}

/** The only object in a body. Throws a problem with the example if there is anything else. */
export function objectOfBody(bytes: Uint8Array, example: string): object {
  const unreadable = (why: string): Problem =>
    new Problem("malformed_request", `the body ${why}`, { hint: `send e.g. ${example}` });
  const text = textOf(bytes, unreadable);
  const found = objectIn(text, unreadable);
  requireDistinctNames(text);
  return found;
}

type Unreadable = (why: string) => Problem;

function textOf(bytes: Uint8Array, unreadable: Unreadable): string {
  if (bytes.length === 0) throw unreadable("is empty");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unreadable("is not UTF-8");
  }
}

function objectIn(text: string, unreadable: Unreadable): object {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw unreadable("is not JSON");
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw unreadable("is not an object");
  return found;
}

/** Text in JSON, and the colon after it if it is a name. */
const TEXT = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/g;
/** The same, and the begin or end of an object. */
const TEXT_OR_BRACE = new RegExp(`[{}]|${TEXT.source}`, "g");

/** JSON.parse takes the last of several members with one name. */
function requireDistinctNames(json: string): void {
  const names = [...json.matchAll(TEXT)].flatMap(([, inner, colon]) => (colon === undefined ? [] : [inner!]));
  // Escapes can hide that two names are the same.
  const areDistinct = new Set(names).size === names.length && !names.some((name) => name.includes("\\"));
  if (areDistinct) return;
  const open: Set<string>[] = [];
  for (const [token, inner, colon] of json.matchAll(TEXT_OR_BRACE)) {
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(`"${inner!}"`) as string;
      const known = open.at(-1)!;
      if (known.has(name)) {
        throw new Problem("duplicate_parameter", `${name} is given twice; give it once, several values as a list`, {
          parameter: name,
        });
      }
      known.add(name);
    }
  }
}

const ACCEPTED = ["text", "a whole number", "true or false", "a list of these"];

function valueText(name: string, value: unknown): string {
  if (typeof value === "string") {
    // URLSearchParams would replace half of a surrogate pair.
    if (/\p{Cs}/u.test(value))
      throw invalidParameter(name, "it contains an unpaired surrogate", ["valid Unicode text"]);
    return value;
  }
  if (typeof value === "boolean" || Number.isSafeInteger(value)) return String(value);
  if (value === null) {
    throw new Problem("invalid_parameter", `${name}: it is null`, {
      parameter: name,
      allowed: ACCEPTED,
      hint: 'leave it out; missing values are matched by the text "null"',
    });
  }
  const kind = typeof value === "number" ? "a number that is not whole or has too many digits" : "an object or a list";
  throw invalidParameter(name, `it contains ${kind}`, ACCEPTED);
}

/** As an item of a list in a URL: one with a comma in it is quoted. */
const quoted = (text: string): string => (text.includes(",") ? `"${text.replaceAll('"', '""')}"` : text);
