// Reading the parameters of an entity request. Every parameter is understood or refused; none is ignored.
import { columnNamed } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import { parseDate } from "../dates.js";
import { nearest, Problem } from "../errors.js";

export const FORMATS = ["json", "ndjson", "csv", "arrow", "parquet"] as const;
export type Format = (typeof FORMATS)[number];

/** `column` must hold one of `values`; null matches a missing value. Dates are `YYYYMMDD`. */
export interface Filter {
  readonly column: Column;
  readonly values: readonly (string | number | null)[];
}

export interface EntityRequest {
  readonly entity: Entity;
  /** In the order asked; all where none were asked. */
  readonly columns: readonly Column[];
  /** Inclusive bounds of the main date, `YYYYMMDD`. */
  readonly start: string | null;
  readonly end: string | null;
  readonly filters: readonly Filter[];
  readonly order: "asc" | "desc";
  readonly limit: number | null;
  readonly asOf: string | null;
  readonly dataVersion: string | null;
  readonly cursor: string | null;
  readonly format: Format | null;
}

export interface RequestLimits {
  readonly defaultLimit: number | null;
  readonly maxLimit: number | null;
}

type Parameters = ReadonlyMap<string, readonly string[]>;

/** Parameters that every entity has, whatever its columns. */
const COMMON = ["fields", "limit", "cursor", "order", "data_version", "format"] as const;

/** The names of all parameters of an entity: common ones, those of its kind, and a filter for each column of text or whole numbers. */
export function parameterNames(entity: Entity): readonly string[] {
  const names = new Set<string>();
  if (entity.mainDate !== null) names.add("start_date").add("end_date");
  for (const column of filterColumns(entity)) names.add(column.name);
  for (const alias of Object.keys(entity.filterAliases ?? {})) names.add(alias);
  if (entity.pointInTime) names.add("as_of");
  for (const name of COMMON) names.add(name);
  return [...names];
}

/** The columns that can be filtered by their own name: `start_date` and `end_date` always mean the range. */
export function filterColumns(entity: Entity): readonly Column[] {
  return entity.columns.filter(
    (column) =>
      column.type !== "float64" &&
      !(entity.mainDate !== null && (column.name === "start_date" || column.name === "end_date")),
  );
}

/** Throws a Problem that names the parameter, what is accepted, and the nearest known name. */
export function parseRequest(entity: Entity, search: URLSearchParams, limits: RequestLimits): EntityRequest {
  const parameters = collect(entity, search);
  const start = single(parameters, "start_date", parseDateValue);
  const end = single(parameters, "end_date", parseDateValue);
  if (start !== null && end !== null && start > end) {
    throw new Problem("contradictory_parameters", `start_date ${start} is after end_date ${end}`, {
      parameter: "start_date",
    });
  }
  const request: EntityRequest = {
    entity,
    columns: parseFields(entity, parameters.get("fields")),
    start,
    end,
    filters: parseFilters(entity, parameters),
    order: single(parameters, "order", oneOf(["asc", "desc"])) ?? "asc",
    limit: single(parameters, "limit", (name, text) => parseLimit(name, text, limits)) ?? limits.defaultLimit,
    asOf: single(parameters, "as_of", parseDateValue),
    dataVersion: single(parameters, "data_version", parseVersion),
    cursor: single(parameters, "cursor", (_, text) => text),
    format: single(parameters, "format", oneOf(FORMATS)),
  };
  if (request.asOf !== null && entity.pointInTime?.rule === "snapshot" && hasTimeParameter(request)) {
    throw new Problem("contradictory_parameters", "as_of picks one snapshot; a date parameter picks others", {
      parameter: "as_of",
      hint: "give either as_of or start_date, end_date or snapshot_date",
    });
  }
  return request;
}

/** Whether the request itself says which dates of the main date column it wants. */
export function hasTimeParameter({ entity, start, end, filters }: EntityRequest): boolean {
  return start !== null || end !== null || filters.some((filter) => filter.column.name === entity.mainDate);
}

/** Groups values by name, and refuses names that the entity does not know and values that are empty. */
function collect(entity: Entity, search: URLSearchParams): Parameters {
  const known = parameterNames(entity);
  const parameters = new Map<string, string[]>();
  for (const [name, value] of search) {
    if (!known.includes(name)) throw unknownParameter(entity, name, known);
    if (value.trim() === "") throw invalid(name, "it is empty", ["a value"]);
    const values = parameters.get(name);
    if (values) values.push(value);
    else parameters.set(name, [value]);
  }
  return parameters;
}

function unknownParameter(entity: Entity, name: string, known: readonly string[]): Problem {
  if (name === "as_of") {
    return new Problem("as_of_not_supported", `${entity.name} has no announcement date, so as_of has no meaning`, {
      parameter: name,
      hint: "leave as_of out; to read what was known to the lake at an earlier time use data_version",
    });
  }
  const column = columnNamed(entity, name);
  if (column?.type === "float64") {
    return new Problem("unknown_parameter", `${name} is a number column and cannot be filtered`, {
      parameter: name,
      allowed: known,
    });
  }
  const near = nearest(name, known);
  return new Problem("unknown_parameter", `${entity.name} has no parameter ${JSON.stringify(clip(name))}`, {
    parameter: clip(name),
    allowed: known,
    ...(near ? { hint: `did you mean ${near}?` } : {}),
  });
}

function parseFields(entity: Entity, given: readonly string[] | undefined): readonly Column[] {
  if (!given) return entity.columns;
  const names = entity.columns.map((column) => column.name);
  const columns: Column[] = [];
  for (const name of splitList("fields", given)) {
    const column = columnNamed(entity, name);
    if (!column) {
      const near = nearest(name, names);
      throw invalid("fields", `${entity.name} has no column ${JSON.stringify(clip(name))}`, names, near);
    }
    if (columns.includes(column)) throw invalid("fields", `${name} is named twice`, names);
    columns.push(column);
  }
  return columns;
}

function parseFilters(entity: Entity, parameters: Parameters): readonly Filter[] {
  const filters = new Map<Column, Filter>();
  const named = filterColumns(entity).map((column) => [column.name, column.name] as const);
  for (const [parameter, columnName] of [...named, ...Object.entries(entity.filterAliases ?? {})]) {
    const given = parameters.get(parameter);
    if (!given) continue;
    const column = columnNamed(entity, columnName)!;
    const values = splitList(parameter, given).map((text) => parseFilterValue(parameter, column, text));
    filters.set(column, { column, values: [...new Set(values)] });
  }
  return [...filters.values()];
}

function parseFilterValue(parameter: string, column: Column, text: string): string | number | null {
  if (text === "null") return null;
  if (column.type === "date") return parseDateValue(parameter, text);
  if (column.type === "int64") {
    if (!/^-?\d{1,15}$/.test(text)) throw invalid(parameter, `${clip(text)} is no whole number`, ["a whole number"]);
    const value = Number(text);
    if (column.only && !column.only.includes(value)) {
      throw invalid(parameter, `${clip(text)} does not occur`, column.only.map(String));
    }
    return value;
  }
  if (column.type === "code" && !/^[0-9A-Za-z]{1,12}(\.[A-Za-z]{1,6})?$/.test(text)) {
    throw invalid(parameter, `${JSON.stringify(clip(text))} is no code`, ["a code such as 600519.SH"]);
  }
  return text;
}

function splitList(parameter: string, given: readonly string[]): readonly string[] {
  const items = given.flatMap((value) => value.split(",").map((item) => item.trim()));
  if (items.includes("")) throw invalid(parameter, "the list has an empty item", ["values separated by commas"]);
  return items;
}

function single<T>(parameters: Parameters, name: string, parse: (name: string, text: string) => T): T | null {
  const values = parameters.get(name);
  if (!values) return null;
  if (values.length > 1) {
    throw new Problem("duplicate_parameter", `${name} is given ${values.length} times; it takes one value`, {
      parameter: name,
    });
  }
  return parse(name, values[0]!);
}

/** `YYYYMMDD` or `YYYY-MM-DD` → `YYYYMMDD`. */
export function parseDateValue(name: string, text: string): string {
  const date = parseDate(text);
  if (date === undefined) throw invalid(name, `${JSON.stringify(clip(text))} is no calendar day`, ["YYYYMMDD", "YYYY-MM-DD"]);
  return date;
}

function parseLimit(name: string, text: string, { maxLimit }: RequestLimits): number {
  const most = maxLimit ?? Number.MAX_SAFE_INTEGER - 1;
  const limit = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > most) {
    const range = maxLimit === null ? "a whole number from 1 on" : `a whole number from 1 to ${maxLimit}`;
    throw invalid(name, `${JSON.stringify(clip(text))} is no such number`, [range]);
  }
  return limit;
}

/** A `+` that was not percent-encoded arrives as a space. */
function parseVersion(name: string, text: string): string {
  const version = text.trim().replace(" ", "+");
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}\+08:00$/.test(version)) {
    throw invalid(name, `${JSON.stringify(clip(text))} is no data_version`, ["a data_version as an answer gave it"]);
  }
  return version;
}

/** A parser of a parameter that takes one of a few words. */
export function oneOf<T extends string>(words: readonly T[]): (name: string, text: string) => T {
  return (name, text) => {
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) throw invalid(name, `${JSON.stringify(clip(text))} is not offered`, words, nearest(text, words));
    return word;
  };
}

function invalid(parameter: string, why: string, allowed: readonly string[], near?: string): Problem {
  return new Problem("invalid_parameter", `${parameter}: ${why}`, {
    parameter,
    allowed,
    ...(near ? { hint: `did you mean ${near}?` } : {}),
  });
}

const clip = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
