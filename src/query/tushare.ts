// Requests of Tushare clients: a JSON object with the name of an API, its parameters and fields.
import { API_NAMES, apiNamed, CLIENT_NOTES, type Api } from "../catalog/tushare.js";
import { parametersOf, type EntityParameter } from "../catalog/parameters.js";
import { nearest, Problem } from "../errors.js";
import { collectParameters, integer, invalidParameter, quote, single, unknownParameter } from "./parameters.js";
import { parseRequest, type EntityRequest, type RequestLimits } from "./request.js";

interface TushareRequest {
  readonly request: EntityRequest;
  /** Rows that are skipped at the beginning. */
  readonly offset: number;
}

/** The keys that the object may have. */
const KEYS = ["api_name", "token", "params", "fields"];

/** The parameters that Tushare clients may use: their responses have one format, and no cursor. */
const OFFERED: Record<EntityParameter["kind"], boolean> = {
  ...{
    filter: true,
    start_date: true,
    end_date: true,
    as_of: true,
    as_of_days: true,
    as_of_start: true,
    as_of_end: true,
    latest: true,
    adjust: true,
    adjust_volume: true,
    fields: true,
  },
  ...{ limit: true, cursor: false, order: true, data_version: true },
  ...{ format: false, dates: false, compression: false, bom: false },
};

/** The object that a client sends, before its values are checked. */
export type Question = Readonly<Record<string, unknown>>;

export const EXAMPLE = '{"api_name": "daily", "token": "...", "params": {"ts_code": "600519.SH"}, "fields": ""}';

const isObject = (value: unknown): value is Question =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The object of a parsed JSON body. Throws if it is not an object. */
export function parseQuestion(body: unknown): Question {
  if (isObject(body)) return body;
  const found = body === null ? "null" : Array.isArray(body) ? "a list" : `a ${typeof body}`;
  throw new Problem("malformed_request", `the body is ${found}, not an object`, { hint: `send e.g. ${EXAMPLE}` });
}

/** The API that a question names: in its body, in its path, or the same in both. Throws if there is none. */
export function parseApi(question: Question, inPath: string | undefined): Api {
  for (const key of Object.keys(question)) if (!KEYS.includes(key)) throw unknownParameter(key, KEYS);
  const given = question["api_name"] ?? inPath;
  if (typeof given !== "string" || given === "") {
    throw invalidParameter("api_name", "it is missing or not text", ["the name of an API"]);
  }
  if (inPath !== undefined && inPath !== given) {
    throw new Problem("contradictory_parameters", `api_name is ${quote(given)}, but the path says ${quote(inPath)}`, {
      parameter: "api_name",
    });
  }
  const api = apiNamed(given);
  if (api) return api;
  const near = nearest(given, API_NAMES);
  throw new Problem("unknown_entity", `there is no API ${quote(given)}`, {
    allowed: API_NAMES,
    ...(near ? { hint: `did you mean ${near}?` } : {}),
  });
}

/**
 * Reads parameters and fields. Only null and empty text are ignored: clients send them for parameters that are not set.
 */
export function parseTushare(
  { entity, order, defaults }: Api,
  question: Question,
  limits: RequestLimits,
): TushareRequest {
  const { params = null, fields = null } = question;
  if (params !== null && !isObject(params)) throw invalidParameter("params", "it is not an object", ["an object"]);
  const parameters = parametersOf(entity);
  const known = [...parameters.filter(({ kind }) => OFFERED[kind]).map(({ name }) => name), "offset"];
  const search = new URLSearchParams();
  for (const [name, value] of [...Object.entries(params ?? {}), ["fields", fields] as const]) {
    if (CLIENT_NOTES.includes(name)) continue;
    if (parameters.some((one) => one.name === name && !OFFERED[one.kind])) throw unknownParameter(name, known);
    if (value === null || value === "") continue;
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
      throw invalidParameter(name, "it is neither text nor a number", ["text", "a number", "null"]);
    }
    search.append(name, String(value));
  }
  for (const [name, value] of Object.entries({ order, ...defaults })) {
    if (!search.has(name)) search.append(name, value);
  }
  const request = parseRequest(entity, search, limits, known);
  const offset = single(collectParameters(search, known), "offset", integer(0, Number.MAX_SAFE_INTEGER)) ?? 0;
  return { request, offset };
}
