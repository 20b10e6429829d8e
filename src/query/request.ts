// Reads the parameters of an entity request. Every parameter is understood or refused; none is ignored.
import { COMPRESSIONS, DATE_FORMS, FORMAT_NAMES, type Format } from "../catalog/formats.js";
import { columnNamed } from "../catalog/index.js";
import { parameterNames, parametersOf } from "../catalog/parameters.js";
import type { Column, Entity } from "../catalog/types.js";
import { nearest, Problem } from "../errors.js";
import { AS_OF, type AsOfDays, parseAsOf } from "./as-of.js";
import {
  codeOf,
  collectParameters,
  integer,
  invalidParameter,
  oneOf,
  parseDateValue,
  parseRange,
  quote,
  single,
  splitList,
  unknownParameter,
  type Parameters,
} from "./parameters.js";

/** `column` must have one of `values`; null matches a missing value. Dates are `YYYYMMDD`. */
export interface Filter {
  readonly column: Column;
  readonly values: readonly (string | number | null)[];
}

export interface EntityRequest {
  readonly entity: Entity;
  /** In the requested order; all columns by default. */
  readonly columns: readonly Column[];
  /** Inclusive bounds of the main date, `YYYYMMDD`. */
  readonly start: string | null;
  readonly end: string | null;
  readonly filters: readonly Filter[];
  readonly order: (typeof ORDERS)[number];
  readonly limit: number | null;
  /** The only day of `as_of`. */
  readonly asOf: string | null;
  /** Several days of `as_of`: the first column is AS_OF. */
  readonly asOfDays: AsOfDays | null;
  /** Only the newest revision of each thing. */
  readonly latest: true | null;
  readonly adjust: Adjust | null;
  /** Adjusts the volume too. Only with `adjust`. */
  readonly adjustVolume: true | null;
  readonly dataVersion: string | null;
  readonly cursor: string | null;
  readonly format: Format | null;
  /** Dates use the format's own type for dates. Null: they are text. */
  readonly dates: "date" | null;
  /** Compresses the buffers of Arrow. Null: they are plain. */
  readonly compression: "zstd" | null;
  /** Begins CSV with a byte order mark. */
  readonly bom: true | null;
}

export interface RequestLimits {
  readonly defaultLimit: number | null;
  readonly maxLimit: number | null;
}

export const ORDERS = ["asc", "desc"] as const;

/**
 * How prices are adjusted: `backward` keeps the prices of the first day (times the factor of each day); `forward` keeps
 * those of the last day (times the factor of each day, divided by the factor of the last one).
 */
export const ADJUSTS = ["forward", "backward"] as const;
type Adjust = (typeof ADJUSTS)[number];

/** The format of a data_version. */
export const VERSION_PATTERN = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\+08:00$/;

/** Throws a Problem that names the parameter, the accepted values, and the nearest of the `known` names. */
export function parseRequest(
  entity: Entity,
  search: URLSearchParams,
  limits: RequestLimits,
  known: readonly string[] = parameterNames(entity),
): EntityRequest {
  const parameters = collectParameters(search, known, (name) => unknownHere(entity, name, known));
  const { start, end } = parseRange(parameters);
  const { asOf, asOfDays } = parseAsOf(parameters);
  const fields = parseFields(entity, parameters.get("fields"));
  const request: EntityRequest = {
    entity,
    columns: asOfDays === null ? fields : [AS_OF, ...fields],
    start,
    end,
    filters: parseFilters(entity, parameters),
    order: single(parameters, "order", oneOf(ORDERS)) ?? "asc",
    limit: single(parameters, "limit", integer(1, limits.maxLimit ?? Number.MAX_SAFE_INTEGER)) ?? limits.defaultLimit,
    asOf,
    asOfDays,
    latest: isSet(parameters, "latest"),
    adjust: single(parameters, "adjust", oneOf(ADJUSTS, { qfq: "forward", hfq: "backward" })),
    adjustVolume: isSet(parameters, "adjust_volume"),
    dataVersion: single(parameters, "data_version", parseVersion),
    cursor: single(parameters, "cursor", (_, text) => text),
    format: single(parameters, "format", oneOf(FORMAT_NAMES)),
    dates: single(parameters, "dates", oneOf(DATE_FORMS)) === "date" ? "date" : null,
    compression: single(parameters, "compression", oneOf(COMPRESSIONS)) === "zstd" ? "zstd" : null,
    bom: isSet(parameters, "bom"),
  };
  if ((asOf !== null || asOfDays !== null) && entity.pointInTime?.rule === "snapshot" && hasTimeParameter(request)) {
    throw new Problem("contradictory_parameters", "as_of selects one snapshot; a date parameter selects others", {
      parameter: "as_of",
      hint: "give either as_of or start_date, end_date or snapshot_date",
    });
  }
  if (request.adjustVolume !== null && request.adjust === null) {
    throw new Problem("contradictory_parameters", "adjust_volume requires adjust", {
      parameter: "adjust_volume",
      hint: `add adjust=${ADJUSTS.join(" or adjust=")}`,
    });
  }
  requireDayInRange(request);
  return request;
}

const isSet = (parameters: Parameters, name: string): true | null =>
  single(parameters, name, oneOf(["true", "false"])) === "true" ? true : null;

/** If the request has both a filter on the main date and a range, at least one date must be in the range. */
function requireDayInRange({ entity, start, end, filters }: EntityRequest): void {
  const days = filters.find(({ column }) => column.name === entity.mainDate)?.values;
  if (days === undefined || entity.rangeOf !== undefined || (start === null && end === null)) return;
  const isInside = (day: string): boolean => (start === null || day >= start) && (end === null || day <= end);
  if (days.some((day) => day !== null && isInside(String(day)))) return;
  const range = [...(start === null ? [] : [`start_date ${start}`]), ...(end === null ? [] : [`end_date ${end}`])];
  throw new Problem("contradictory_parameters", `no requested ${entity.mainDate} is within ${range.join(" and ")}`, {
    parameter: entity.mainDate!,
    hint: `give either ${entity.mainDate} or start_date and end_date`,
  });
}

/** Whether the request itself restricts the main date. */
export function hasTimeParameter({ entity, start, end, filters }: EntityRequest): boolean {
  return start !== null || end !== null || filters.some((filter) => filter.column.name === entity.mainDate);
}

/** The filter on the codes; null if there is none. */
export const codeFilter = ({ entity, filters }: EntityRequest): Filter | null =>
  filters.find(({ column }) => column.name === entity.code) ?? null;

/** The number of values in the longest list of a request. */
export const longestList = ({ filters }: EntityRequest): number =>
  Math.max(0, ...filters.map(({ values }) => values.length));

/** A column of a request that is adjusted. */
export interface AdjustedColumn {
  readonly index: number;
  /** Volume is divided by the factor, prices are multiplied. */
  readonly divided: boolean;
}

/** The columns of a row that tell its factor, if the request shows both: main date and code, by their index. */
export function shownKeys({ entity, columns }: EntityRequest): readonly [date: number, code: number] | null {
  const [date, code] = [entity.mainDate, entity.code].map((key) => columns.findIndex(({ name }) => name === key));
  return date! < 0 || code! < 0 ? null : [date!, code!];
}

export function adjustedColumns({ entity, adjust, adjustVolume, columns }: EntityRequest): readonly AdjustedColumn[] {
  const { adjustment } = entity;
  if (adjust === null || !adjustment) return [];
  return columns.flatMap(({ name }, index) => {
    const divided = adjustVolume !== null && name === adjustment.volume;
    return divided || adjustment.prices.includes(name) ? [{ index, divided }] : [];
  });
}

/** The problem for an unknown name, if there is a better explanation than the nearest known name. */
function unknownHere(entity: Entity, name: string, known: readonly string[]): Problem {
  if (name.startsWith("as_of")) {
    return new Problem("as_of_not_supported", `${entity.name} has no announcement date, so ${name} has no meaning`, {
      parameter: name,
      hint: "leave it out; to read what was known to the lake at an earlier time use data_version",
    });
  }
  if (name === "latest") {
    return new Problem("unknown_parameter", `the rows of ${entity.name} do not revise one another`, {
      parameter: name,
      allowed: known,
      hint: entity.mainDate === null ? "leave latest out" : "leave latest out; for the newest rows: order=desc&limit=1",
    });
  }
  if (columnNamed(entity, name)?.type === "float64") {
    return new Problem("unknown_parameter", `${name} is a number column and cannot be filtered`, {
      parameter: name,
      allowed: known,
    });
  }
  return unknownParameter(name, known);
}

function parseFields(entity: Entity, given: readonly string[] | undefined): readonly Column[] {
  if (!given) return entity.columns;
  const names = entity.columns.map((column) => column.name);
  const columns: Column[] = [];
  for (const name of splitList("fields", given)) {
    const column = columnNamed(entity, name);
    if (!column) {
      const near = nearest(name, names);
      throw invalidParameter("fields", `${entity.name} has no column ${quote(name)}`, names, near);
    }
    if (columns.includes(column)) throw invalidParameter("fields", `${name} is given twice`, names);
    columns.push(column);
  }
  return columns;
}

function parseFilters(entity: Entity, parameters: Parameters): readonly Filter[] {
  const filters = new Map<Column, Filter>();
  for (const parameter of parametersOf(entity)) {
    const given = parameters.get(parameter.name);
    if (parameter.kind !== "filter" || !given) continue;
    const { name, column } = parameter;
    const parse = filterParser(entity, name, column);
    const values = splitList(name, given).map((text) => (text === "null" ? null : parse(text)));
    filters.set(column, { column, values: [...new Set(values)] });
  }
  return [...filters.values()];
}

/** Returns the parser of the values of a filter. */
function filterParser(entity: Entity, parameter: string, column: Column): (text: string) => string | number {
  if (column.type === "date") return (text) => parseDateValue(parameter, text);
  if (column.type === "code") {
    const parseCode = codeOf(entity, column);
    return (text) => parseCode(parameter, text);
  }
  if (column.type !== "int64") return (text) => text;
  return (text) => {
    if (!/^-?\d{1,15}$/.test(text))
      throw invalidParameter(parameter, `${quote(text)} is not a whole number`, ["a whole number"]);
    const value = Number(text);
    if (column.only && !column.only.includes(value)) {
      throw invalidParameter(parameter, `${quote(text)} is not a value of this column`, column.only.map(String));
    }
    return value;
  };
}

/** A `+` that was not percent-encoded arrives as a space. */
export function parseVersion(name: string, text: string): string {
  const version = text.trim().replace(" ", "+");
  if (!VERSION_PATTERN.test(version)) {
    throw invalidParameter(name, `${quote(text)} is not a data_version`, ["a data_version from an earlier response"]);
  }
  return version;
}
