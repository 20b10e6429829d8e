// Reads a request for SQL, from a JSON body or from a URL.
import { COMPRESSIONS, DATE_FORMS, FORMAT_NAMES, type Format } from "../catalog/formats.js";
import { nearest, Problem } from "../errors.js";
import { objectOfBody } from "./body.js";
import { integer, invalidParameter, oneOf, quote, required, single, collectParameters } from "./parameters.js";
import { parseVersion, type RequestLimits } from "./request.js";

/** Where a statement runs. `auto`: the server chooses. */
export const ENGINES = ["auto", "local", "cluster"] as const;

export interface SqlRequest {
  readonly sql: string;
  /** By name, without the dollar sign. */
  readonly parameters: Readonly<Record<string, SqlParameter>>;
  readonly dataVersion: string | null;
  readonly format: Format | null;
  readonly dates: "date" | null;
  readonly compression: "zstd" | null;
  readonly bom: true | null;
  readonly limit: number | null;
  readonly engine: (typeof ENGINES)[number];
}

/** A value of a parameter. A list has only texts or only numbers. */
export type SqlParameter = string | number | boolean | null | readonly string[] | readonly number[];

const OTHERS = ["data_version", "format", "dates", "compression", "bom", "limit", "engine"] as const;
const SQL_PARAMETERS = ["sql", "params", ...OTHERS] as const;
const SQL_IN_URL = ["q", "params", ...OTHERS] as const;

const EXAMPLE =
  '{"sql": "SELECT trade_date, avg(pct_chg) AS mean FROM daily WHERE trade_date >= $from GROUP BY 1 ORDER BY 1", "params": {"from": "20240101"}}';

/** Characters of a statement: far more than anyone writes. */
const LONGEST = 100_000;

export function parseSqlBody(bytes: Uint8Array, limits: RequestLimits): SqlRequest {
  const search = new URLSearchParams();
  let [sql, params]: [unknown, unknown] = [undefined, {}];
  for (const [name, value] of Object.entries(objectOfBody(bytes, EXAMPLE)) as [string, unknown][]) {
    if (name === "sql") sql = value;
    else if (name === "params") params = value;
    else if (value !== null) search.append(name, textOf(name, value));
  }
  if (typeof sql !== "string") throw invalidParameter("sql", "it is required, as text", ["one SELECT"]);
  return {
    ...parseOthers(search, limits, SQL_PARAMETERS),
    sql: checkedSql("sql", sql),
    parameters: checkedValues(params, Buffer.from(bytes).toString("utf8")),
  };
}

export function parseSqlSearch(search: URLSearchParams, limits: RequestLimits): SqlRequest {
  const parameters = collectParameters(search, SQL_IN_URL);
  const sql = required("q", single(parameters, "q", checkedSql), "one SELECT, percent-encoded");
  const values = single(parameters, "params", (_, text) => parseSqlValues(text)) ?? {};
  const others = new URLSearchParams([...search].filter(([name]) => name !== "q" && name !== "params"));
  return { ...parseOthers(others, limits, SQL_IN_URL), sql, parameters: values };
}

function parseOthers(
  search: URLSearchParams,
  { defaultLimit, maxLimit }: RequestLimits,
  known: readonly string[],
): Omit<SqlRequest, "sql" | "parameters"> {
  const parameters = collectParameters(search, known);
  return {
    dataVersion: single(parameters, "data_version", parseVersion),
    format: single(parameters, "format", oneOf(FORMAT_NAMES)),
    dates: single(parameters, "dates", oneOf(DATE_FORMS)) === "date" ? "date" : null,
    compression: single(parameters, "compression", oneOf(COMPRESSIONS)) === "zstd" ? "zstd" : null,
    bom: single(parameters, "bom", oneOf(["true", "false"])) === "true" ? true : null,
    limit: single(parameters, "limit", integer(1, maxLimit ?? Number.MAX_SAFE_INTEGER)) ?? defaultLimit,
    engine: single(parameters, "engine", oneOf(ENGINES)) ?? "auto",
  };
}

function textOf(name: string, value: unknown): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw invalidParameter(name, "it is neither text nor a number", ["one value"]);
}

function checkedSql(name: string, sql: string): string {
  if (sql.trim() === "") throw invalidParameter(name, "it is empty", ["one SELECT"]);
  if (sql.includes("\0")) throw invalidParameter(name, "it contains a zero byte", ["text"]);
  requireUnicode(name, sql);
  if (sql.length <= LONGEST) return sql;
  throw invalidParameter(name, `it has ${sql.length} characters`, [`up to ${LONGEST} characters`]);
}

function jsonOf(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidParameter(name, `${quote(text)} is not JSON`, ['an object such as {"from": "20240101"}']);
  }
}

/** The values of parameters, as JSON. Throws a problem. */
export const parseSqlValues = (text: string): SqlRequest["parameters"] => checkedValues(jsonOf("params", text), text);

const ALLOWED = ["text, a number, true, false, null, or a list of texts or numbers"];

/** DuckDB would take half of a surrogate pair for another character, or refuse the text. */
function requireUnicode(name: string, text: string): void {
  if (/\p{Cs}/u.test(text)) throw invalidParameter(name, "it contains an unpaired surrogate", ["valid Unicode text"]);
}

/** Text in JSON, or a number. */
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** JSON.parse rounds whole numbers beyond 2^53. */
function requireExactNumbers(json: string): void {
  for (const [token] of json.matchAll(TEXT_OR_NUMBER)) {
    if (!/^-?\d{16,}$/.test(token) || BigInt(token) === BigInt(Number(token))) continue;
    throw new Problem("invalid_parameter", `params: ${token} has more digits than a number of JSON keeps`, {
      parameter: "params",
      hint: `send it as text, "${token}", and cast it where it is used, e.g. $id::HUGEINT`,
    });
  }
}

/** `json` is the text that `params` was read from. */
function checkedValues(params: unknown, json: string): SqlRequest["parameters"] {
  if (typeof params !== "object" || params === null || Array.isArray(params)) {
    throw invalidParameter("params", "it is not an object", ['an object such as {"from": "20240101"}']);
  }
  for (const [name, value] of Object.entries(params) as [string, unknown][]) {
    if (!/^\w+$/.test(name)) {
      const near = nearest(name, [name.replace(/^[$:]/, "")]);
      throw invalidParameter("params", `${quote(name)} is not a name`, ["letters, digits and _, without $"], near);
    }
    for (const one of [value].flat()) if (typeof one === "string") requireUnicode("params", one);
    const isList = Array.isArray(value);
    const kinds = new Set(
      (isList ? (value as unknown[]) : [value]).map((one) => (one === null && !isList ? "null" : typeof one)),
    );
    const [kind] = kinds;
    const isFit =
      kinds.size <= 1 &&
      (isList ? ["string", "number"] : ["string", "number", "boolean", "null"]).includes(kind ?? "string");
    if (!isFit)
      throw new Problem("invalid_parameter", `params: ${name} is not a value`, {
        parameter: "params",
        allowed: ALLOWED,
      });
  }
  requireExactNumbers(json);
  return params as SqlRequest["parameters"];
}
