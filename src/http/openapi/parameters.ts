// The parameters of each entity in OpenAPI, with examples; names and bounds come from the parser's tables.
import { COMPRESSIONS, DATE_FORMS, FORMAT_NAMES } from "../../catalog/formats.js";
import { type EntityParameter, type ParameterKind, parameterNames, parametersOf } from "../../catalog/parameters.js";
import type { Column, ColumnType, Entity } from "../../catalog/types.js";
import { AS_OF_DAYS, MOST_DAYS } from "../../query/as-of.js";
import { ADJUSTS, ORDERS, type RequestLimits } from "../../query/request.js";
import { hasZstd } from "../../zstd.js";
import { type Ref, type Schema, refTo, schemaOf } from "./schemas.js";

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "header";
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly style?: "form";
  readonly explode?: boolean;
  readonly example?: unknown;
}

/** How the values of a list are given in a URL. */
export const LIST = "Items are separated by commas; the parameter may also be repeated.";

/** A parameter that accepts one value. */
export function single(name: string, description: string, schema: Schema, example?: unknown): Parameter {
  return { name, in: "query", description, schema, ...(example === undefined ? {} : { example }) };
}

export function list(name: string, description: string, items: Schema, example: readonly unknown[] | null): Parameter {
  return {
    ...single(name, `${description} ${LIST}`, { type: "array", minItems: 1, items }, example ?? undefined),
    style: "form",
    explode: false,
  };
}

/** `start_date` or `end_date`. */
export function bound(name: "start_date" | "end_date", what: string, entity: Entity | null = null): Parameter {
  const end = name === "start_date" ? "First" : "Last";
  return single(name, `${end} ${what}, inclusive.`, schemaOf("Date"), exampleRange(entity)[name]);
}

/** The parameters that operations refer to by name. */
export function sharedParameters({ defaultLimit, maxLimit }: RequestLimits) {
  const none =
    defaultLimit === null ? "By default all rows are returned." : `By default at most ${defaultLimit} are returned.`;
  const bounds = { type: "integer", minimum: 1, maximum: maxLimit ?? Number.MAX_SAFE_INTEGER };
  return {
    limit: single(
      "limit",
      `Maximum number of rows. ${none} If there are more, \`truncated\` is true and \`next_cursor\` continues.`,
      { ...bounds, ...(defaultLimit === null ? {} : { default: defaultLimit }) },
      Math.min(5, maxLimit ?? 5),
    ),
    cursor: single(
      "cursor",
      "Continues after the previous page: its `next_cursor`. Keep every other parameter but `limit`, `format`, " +
        "`compression` and `bom` unchanged. The cursor contains the `data_version` of the first page.",
      schemaOf("Cursor"),
    ),
    order: single("order", "The default order, or the reverse.", {
      type: "string",
      enum: ORDERS,
      default: "asc",
    }),
    data_version: single(
      "data_version",
      "Reads an older version of the lake: a `data_version` from an earlier response. Percent-encode its `+`.",
      schemaOf("DataVersion"),
    ),
    format: single("format", "Format of the body; takes precedence over the `Accept` header.", {
      type: "string",
      enum: FORMAT_NAMES,
    }),
    dates: single(
      "dates",
      "How dates are given: as `YYYYMMDD` text, or as dates, which only Arrow (Date32) and Parquet (DATE) have.",
      { type: "string", enum: DATE_FORMS, default: "text" },
    ),
    compression: single(
      "compression",
      "`zstd` compresses the buffers of Arrow, as its format defines; readers of Arrow unpack them. Only for Arrow, and " +
        "only if the server runs on Node 22.15 or later.",
      { type: "string", enum: hasZstd ? COMPRESSIONS : ["none"], default: "none" },
    ),
    bom: single("bom", "Begins CSV with a byte order mark, so that Excel recognizes UTF-8. Only for CSV.", {
      type: "boolean",
      default: false,
    }),
    if_none_match: {
      name: "If-None-Match",
      in: "header",
      description: "The `ETag` of an earlier response: the server sends 304 if nothing has changed.",
      schema: { type: "string" },
    },
  } as const satisfies Readonly<Record<string, Parameter>>;
}

export const sharedParameter = (name: keyof ReturnType<typeof sharedParameters>): Ref => refTo("parameters", name);

/** The schema of a code in a request. */
export function codeSchema({ bareCodes }: Entity, { codesOf }: Column): "Code" | "StockCode" | "StockCodeOrBare" {
  if (codesOf !== "stocks") return "Code";
  return bareCodes ? "StockCodeOrBare" : "StockCode";
}

/** One item of a filter. */
const ITEMS: Record<ColumnType, (column: Column, entity: Entity) => Schema> = {
  code: (column, entity) => schemaOf(`Filter${codeSchema(entity, column)}`),
  text: () => schemaOf("FilterText"),
  date: () => schemaOf("FilterDate"),
  int64: ({ only }) => ({
    anyOf: [
      { type: "integer", ...(only ? { enum: only } : {}) },
      { type: "string", const: "null" },
    ],
  }),
  float64: ({ name }) => {
    throw new Error(`${name} is a floating-point number and cannot be filtered`);
  },
};

const BY_KIND: Record<ParameterKind, (entity: Entity) => Parameter | Ref> = {
  start_date: (entity) => bound("start_date", `\`${entity.mainDate!}\``, entity),
  end_date: (entity) => bound("end_date", `\`${entity.mainDate!}\``, entity),
  as_of: (entity) => list("as_of", `${asOfRule(entity)} ${SEVERAL_DAYS}`, schemaOf("Date"), null),
  as_of_days: () =>
    single("as_of_days", `Instead of a list of \`as_of\`: ${SCHEDULE}`, {
      type: "string",
      enum: Object.keys(AS_OF_DAYS),
    }),
  as_of_start: () => single("as_of_start", "First day for `as_of_days`, inclusive.", schemaOf("Date")),
  as_of_end: () => single("as_of_end", "Last day for `as_of_days`, inclusive.", schemaOf("Date")),
  latest: (entity) => single("latest", latestRule(entity), { type: "boolean", default: false }),
  adjust: ({ adjustment }) =>
    single(
      "adjust",
      `Adjusts prices: ${adjustment!.prices.map((name) => `\`${name}\``).join(", ")} times the factor of their day from ` +
        `\`${adjustment!.factors}\`, which the token must cover. \`forward\`: divided by the stock's last factor on or ` +
        "before its last bar in the requested range. Null if the day has no factor." +
        (adjustment!.days
          ? ` A bar is rebuilt from its days in \`${adjustment!.days.entity}\`, which the token must cover too; without them ` +
            `it has no prices if its ${adjustment!.days.period} has more than one factor.`
          : ""),
      { type: "string", enum: ADJUSTS },
    ),
  adjust_volume: ({ adjustment }) =>
    single(
      "adjust_volume",
      `Divides \`${adjustment!.volume}\` by what \`adjust\`, which must be given too, multiplies prices by.`,
      { type: "boolean", default: false },
    ),
  fields: (entity) => {
    const names = entity.columns.map((column) => column.name);
    const description = "Columns of the response in the requested order, each once. By default all columns.";
    const parameter = list("fields", description, { type: "string", enum: names }, exampleFields(entity));
    return { ...parameter, schema: { ...parameter.schema, uniqueItems: true } };
  },
  limit: () => sharedParameter("limit"),
  cursor: () => sharedParameter("cursor"),
  order: () => sharedParameter("order"),
  data_version: () => sharedParameter("data_version"),
  format: () => sharedParameter("format"),
  dates: () => sharedParameter("dates"),
  compression: () => sharedParameter("compression"),
  bom: () => sharedParameter("bom"),
};

const SEVERAL_DAYS =
  `Of several days, at most ${MOST_DAYS}, the response has the rows of each, in the order of the days, with the day in the ` +
  "first column `as_of`.";
const SCHEDULE =
  "the last trading days of the weeks or months from `as_of_start` to `as_of_end`, both required. A week or month that " +
  "ends outside has none. The token must cover `trade_cal`.";

function asOfRule({ pointInTime, revisions, mainDate }: Entity): string {
  const hides = (pointInTime!.hides ?? []).map(
    ({ column, knownFrom, before }) => `\`${column}\` is ${before ?? "null"} if \`${knownFrom}\` is later.`,
  );
  if (pointInTime?.rule === "snapshot") {
    const rule = `The latest \`${mainDate!}\` on or before this day; cannot be combined with other date parameters.`;
    return [rule, ...hides].join(" ");
  }
  const [column, ...others] = pointInTime!.columns.map((name) => `\`${name}\``);
  const otherwise = others.length === 0 ? "" : ` (if that is missing, ${others.join(", then ")})`;
  const { periodEnd } = pointInTime!;
  const ended = periodEnd === undefined ? [] : [`A period must have ended: \`${periodEnd}\` is not later either.`];
  const flag = revisions?.flag;
  const flagged =
    flag === undefined
      ? []
      : [`\`${flag}\` is 1 for what was the newest revision then. Of rows that differ only in it, the first is shown.`];
  const rule = `Only rows announced on or before this day, by ${column!}${otherwise}.`;
  return [rule, ...ended, ...hides, ...flagged].join(" ");
}

function latestRule({ revisions, pointInTime }: Entity): string {
  const { of, date } = revisions!;
  const list = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");
  const known = pointInTime === null ? "" : " known by `as_of`, or without it of those";
  return (
    `With \`true\`, only the newest of the rows with the same ${list(of)}, by ${list(date)}: of those${known} in the ` +
    "requested range. Other filters apply to what is left."
  );
}

/** All parameters of an entity. */
export const entityParameters = (entity: Entity): readonly (Parameter | Ref)[] =>
  parametersNamed(entity, parameterNames(entity));

/** Those parameters of an entity that have one of these names. */
export const parametersNamed = (entity: Entity, names: readonly string[]): readonly (Parameter | Ref)[] =>
  parametersOf(entity)
    .filter(({ name }) => names.includes(name))
    .map((parameter) =>
      parameter.kind === "filter" ? filterParameter(entity, parameter) : BY_KIND[parameter.kind](entity),
    );

function filterParameter(entity: Entity, { name, column }: Extract<EntityParameter, { kind: "filter" }>): Parameter {
  const other = name === column.name ? "" : ` Filters \`${column.name}\`.`;
  const missing = column.nullable ? " `null` finds rows without a value." : "";
  const bare = entity.bareCodes && column.type === "code" ? " A code finds rows with and without its suffix." : "";
  const description = `${column.meaning}.${other} One value or several.${missing}${bare}`;
  return list(name, description, ITEMS[column.type](column, entity), exampleValue(entity, column));
}

// Values for the examples in the description, which find rows in the demo market.

interface Range {
  readonly start_date: string;
  readonly end_date: string;
}

/** A year of the demo market. */
const YEAR: Range = { start_date: "20240102", end_date: "20241231" };

/** A range of dates; a long one for entities with few rows. */
const exampleRange = (entity: Entity | null): Range =>
  entity !== null && ["namechange", "index_member"].includes(entity.name) ? { ...YEAR, start_date: "19900101" } : YEAR;

/** A day on which the exchange was open. */
export const EXAMPLE_TRADING_DAY = "20240102";

const EXAMPLE_STOCK = "600519.SH";
const EXAMPLE_INDEX = "000300.SH";
const EXAMPLE_INDUSTRY = "801010.SI";

/** Codes of entities that are not about stocks. */
const CODES: Readonly<Record<string, string>> = {
  index_basic: EXAMPLE_INDEX,
  index_daily: EXAMPLE_INDEX,
  index_weight: EXAMPLE_INDEX,
  index_classify: EXAMPLE_INDUSTRY,
  index_member: EXAMPLE_INDUSTRY,
};

export const exampleCode = (entity: Entity): string => CODES[entity.name] ?? EXAMPLE_STOCK;

/** A code, or one of the few values of a column; null for any other column. */
function exampleValue(entity: Entity, column: Column): readonly unknown[] | null {
  if (column.only) return [column.type === "int64" ? 1 : column.only[0]];
  return column.name === entity.code ? [exampleCode(entity)] : null;
}

/** The code, the main date, and two more columns, preferably numbers. */
function exampleFields(entity: Entity): readonly string[] {
  const key = [entity.code, ...(entity.mainDate === null ? [] : [entity.mainDate])];
  const others = entity.columns.filter(({ name }) => !key.includes(name));
  const numbers = others.filter(({ type }) => type === "float64");
  const texts = others.filter(({ type }) => type !== "float64");
  return [...key, ...[...numbers, ...texts].slice(0, 2).map(({ name }) => name)];
}
