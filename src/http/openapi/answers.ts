// Successful responses in OpenAPI: headers, formats, and bodies as JSON Schema.
import { FORMATS, FORMAT_NAMES, type Format } from "../../catalog/formats.js";
import { ENTITY_NAMES } from "../../catalog/index.js";
import { DTYPES, type Entity, type EntityColumn, STORES } from "../../catalog/types.js";
import type { Parameter } from "./parameters.js";
import { type Ref, type Schema, refTo, schemaOf } from "./schemas.js";

/** One GET operation. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly (Parameter | Ref)[];
  /** Absent: a token is required. */
  readonly security?: readonly [];
  readonly responses: Schema;
}

const header = (description: string, required: boolean, schema: Schema = { type: "string" }): Schema => ({
  description,
  required,
  schema,
});

const CACHE_HEADERS = {
  ETag: header("Identifies the content. Send it as `If-None-Match` to check whether the content has changed.", true),
  "Cache-Control": header("The client may cache the response, but must revalidate it.", true),
  Vary: header("Other headers that the content depends on.", true),
};

const ROW_HEADERS = {
  "X-Data-Version": header("The `data_version` that was read, in every format.", true, schemaOf("DataVersion")),
  "X-Truncated": header(
    "Whether `limit` truncated the response; in every format but JSON, which has it in the body.",
    false,
    {
      type: "string",
      enum: ["true", "false"],
    },
  ),
  "X-Next-Cursor": header(
    "The cursor of the next page, in every format but JSON, which has it in the body.",
    false,
    schemaOf("Cursor"),
  ),
};

const EVERY_HEADERS = { "X-Request-Id": header("Identifies this request in the server's log.", true) };

const LIMIT_HEADERS = {
  "RateLimit-Policy": header("If requests are limited: how many (`q`) in how many seconds (`w`).", false),
  RateLimit: header("How many are left (`r`), and seconds until the full quota is available (`t`).", false),
};

const TIMING = { "Server-Timing": header("Milliseconds of each stage.", false) };

/** The headers that responses refer to by name. */
export const answerHeaders: Schema = {
  ...EVERY_HEADERS,
  ...CACHE_HEADERS,
  ...ROW_HEADERS,
  ...LIMIT_HEADERS,
  ...TIMING,
};

/** References to headers by name. */
export const refsToHeaders = (names: readonly string[]): Schema =>
  Object.fromEntries(names.map((name) => [name, refTo("headers", name)]));

const rowHeaders = refsToHeaders(Object.keys(answerHeaders));
const cacheHeaders = refsToHeaders(Object.keys({ ...EVERY_HEADERS, ...CACHE_HEADERS }));
const jsonHeaders = { ...cacheHeaders, ...refsToHeaders(Object.keys({ ...LIMIT_HEADERS, ...TIMING })) };

const notModified: Schema = {
  description: "Not changed since the response that `If-None-Match` names.",
  headers: cacheHeaders,
};

/** The response of a route without validators, such as health, which is always current. */
export const plainAnswer = (description: string, schemaName: string): Schema => ({
  200: {
    description,
    headers: refsToHeaders(["X-Request-Id"]),
    content: { [FORMATS.json.mediaType]: { schema: refTo("schemas", schemaName) } },
  },
});

/** A small JSON response with validators, and the 304 response. */
export const jsonAnswers = (description: string, schema: Schema): Schema => ({
  200: { description, headers: jsonHeaders, content: { [FORMATS.json.mediaType]: { schema } } },
  304: notModified,
});

/** The body in each format: JSON has the envelope as its schema, text formats are text, binary ones bytes. */
const BODIES: Record<Format, (schemaName: string) => Schema> = {
  json: (schemaName) => ({ schema: refTo("schemas", schemaName) }),
  ndjson: () => ({ schema: { type: "string", description: "One object per line, by column name." } }),
  csv: () => ({ schema: { type: "string", description: "A line of column names, then a line for each row." } }),
  arrow: () => ({}),
  parquet: () => ({}),
};

export function rowsAnswers(schemaName: string): Schema {
  const rows = {
    description: "The rows. Every format contains the same rows in the same order.",
    headers: rowHeaders,
    content: Object.fromEntries(FORMAT_NAMES.map((format) => [FORMATS[format].mediaType, BODIES[format](schemaName)])),
  };
  return { 200: rows, 304: notModified };
}

// The bodies of responses as JSON Schema: the envelope of each entity from its columns, and the service's own records.

/** An object that has exactly these properties. */
const record = (properties: Schema, rest: Schema = {}): Schema => ({
  type: "object",
  required: Object.keys(properties),
  properties,
  additionalProperties: false,
  ...rest,
});

const envelope = record(
  {
    entity: { type: "string", enum: ENTITY_NAMES },
    data_version: schemaOf("DataVersion"),
    columns: {
      type: "array",
      minItems: 1,
      items: record({ name: { type: "string" }, dtype: { type: "string", enum: [...new Set(Object.values(DTYPES))] } }),
    },
    rows: {
      type: "array",
      description: "Each row has its values in the order of `columns`; a missing value is null.",
      items: { type: "array", minItems: 1, items: { type: ["string", "number", "null"] } },
    },
    count: { type: "integer", minimum: 0, description: "Number of rows." },
    truncated: { type: "boolean", description: "Whether `limit` truncated the response." },
    next_cursor: {
      type: ["string", "null"],
      description: "Send it as `cursor` to continue; null if the response is not truncated.",
    },
  },
  {
    description: "Rows of an entity.",
    if: { properties: { truncated: { const: false } } },
    then: { properties: { next_cursor: { type: "null" } } },
    else: { properties: { next_cursor: { type: "string" } } },
  },
);

const shown = ({ meaning, unit, type }: EntityColumn): string =>
  [meaning, ...(unit ? [`in ${unit}`] : []), ...(type === "date" ? ["`YYYYMMDD`"] : [])].join(", ");

/** The envelope with the entity's own columns. */
export function envelopeOf(entity: Entity): Schema {
  const columns = entity.columns.map((column) => ({
    title: column.name,
    description: shown(column),
    properties: { name: { const: column.name }, dtype: { const: DTYPES[column.type] } },
  }));
  const most = entity.columns.length;
  return {
    title: entity.title,
    description: entity.about,
    allOf: [
      refTo("schemas", "Envelope"),
      {
        properties: {
          entity: { const: entity.name },
          columns: { maxItems: most, items: { oneOf: columns } },
          rows: { items: { maxItems: most } },
        },
      },
    ],
  };
}

const gap = record({
  entity: { type: "string", enum: ENTITY_NAMES },
  ts_code: { type: ["string", "null"], description: "Null if the gap does not concern a single code." },
  gap_start: { ...schemaOf("Day"), description: "First day of the gap." },
  gap_end: { ...schemaOf("Day"), description: "Last day of the gap." },
  kind: {
    type: "string",
    description:
      "`missing_day`: an open day without any rows. `missing`: a listed stock that was not suspended has no row.  " +
      "Any other kind was recorded by the operator.",
    examples: ["missing_day", "missing", "timeout"],
  },
});

const exchange: Schema = { type: "string", description: "The requested exchange." };

/** Every schema that the description refers to by name. */
export const bodySchemas = {
  Envelope: envelope,
  Gaps: record(
    { entity: { type: "string", enum: ENTITY_NAMES }, gaps: { type: "array", items: gap } },
    { description: "Intervals without rows. An empty list means complete, as far as known." },
  ),
  Calendar: record({
    exchange,
    days: {
      type: "array",
      items: record({
        exchange: { type: "string", const: "SSE" },
        cal_date: schemaOf("Day"),
        is_open: { type: "integer", enum: [0, 1] },
      }),
    },
    data_version: schemaOf("DataVersion"),
  }),
  Shift: record({
    date: { ...schemaOf("Day"), description: "The requested day." },
    n: { type: "integer" },
    exchange,
    result: { ...schemaOf("Day"), description: "The resulting trading day." },
  }),
  Meta: record({
    data_version: schemaOf("DataVersion"),
    entities: {
      type: "object",
      description: "All entities that the token covers, by name.",
      propertyNames: { enum: ENTITY_NAMES },
      additionalProperties: record(
        {
          entity: { type: "string", enum: ENTITY_NAMES },
          available: { type: "boolean", description: "Whether there are rows that can be read at the moment." },
          data_start: { ...schemaOf("Day"), description: "First date with data." },
          data_end: { ...schemaOf("Day"), description: "Last date with data." },
          rows: { type: "integer", minimum: 1 },
        },
        { required: ["entity", "available"] },
      ),
    },
  }),
  Versions: record({
    data_version: { ...schemaOf("DataVersion"), description: "The version that is served by default." },
    versions: { type: "array", description: "Newest first.", items: schemaOf("DataVersion") },
  }),
  Health: record({
    status: { type: "string", enum: ["ok", "degraded"] },
    data_version: schemaOf("DataVersion"),
    databases: record(Object.fromEntries(STORES.map((store) => [store, { type: "boolean" }])), {
      description: "False: a file of this store cannot be read.",
    }),
  }),
} as const satisfies Record<string, Schema>;
