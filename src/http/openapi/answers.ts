// Successful responses in OpenAPI: headers and formats.
import { FORMATS, FORMAT_NAMES, type Format } from "../../catalog/formats.js";
import type { Parameter } from "./parameters.js";
import { type Ref, type Schema, refTo, schemaOf } from "./schemas.js";

/** One operation. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly (Parameter | Ref)[];
  /** Absent: there is no body. */
  readonly requestBody?: Schema;
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
  "Content-Disposition": header(
    "The name of a file with these rows: entity, range and version. Browsers save every format but JSON.",
    false,
    { type: "string", examples: ['attachment; filename="daily_20240101-20241231_2026-01-05T093000.000.csv"'] },
  ),
};

/** Headers of responses about the days of an interval. */
const DAY_HEADERS = {
  "X-Covered": header(
    "The days that the response covers, the first and the last, which may be fewer than requested; `none` if there are none.",
    true,
    { type: "string", examples: ["20240102/20241231", "none"], pattern: "^(\\d{8}/\\d{8}|none)$" },
  ),
};

const GAP_HEADERS = {
  "X-Excused-Gaps": header(
    "How many gaps the operator excused; `excused=true` returns them with their reasons.",
    true,
    {
      type: "integer",
      minimum: 0,
    },
  ),
};

const EVERY_HEADERS = {
  "X-Request-Id": header("Identifies this request in the server's log.", true),
  "X-Answer-To": header(
    "CRC-32 of path, query and body of the request, one after the other, in hexadecimal: a client can check that the response " +
      "is its own. Without the body if the request was rejected before its body was read.",
    true,
    { type: "string", pattern: "^[0-9a-f]{8}$" },
  ),
};

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
  ...DAY_HEADERS,
  ...GAP_HEADERS,
  ...LIMIT_HEADERS,
  ...TIMING,
};

/** References to headers by name. */
const refsToHeaders = (names: readonly string[]): Schema =>
  Object.fromEntries(names.map((name) => [name, refTo("headers", name)]));

export const everyHeader = refsToHeaders(Object.keys(EVERY_HEADERS));
const notOfRows = Object.keys({ ...DAY_HEADERS, ...GAP_HEADERS });
const rowHeaders = refsToHeaders(Object.keys(answerHeaders).filter((name) => !notOfRows.includes(name)));
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
    headers: everyHeader,
    content: { [FORMATS.json.mediaType]: { schema: refTo("schemas", schemaName) } },
  },
});

/** A small JSON response with validators, and the 304 response. */
export const jsonAnswers = (description: string, schema: Schema): Schema => ({
  200: { description, headers: jsonHeaders, content: { [FORMATS.json.mediaType]: { schema } } },
  304: notModified,
});

/** The same, with the headers about the days that it covers, and about gaps. */
export const dayAnswers = (description: string, schema: Schema, about: "days" | "gaps" = "days"): Schema => ({
  200: {
    description,
    headers: {
      ...jsonHeaders,
      ...refsToHeaders(Object.keys({ ...DAY_HEADERS, ...(about === "gaps" ? GAP_HEADERS : {}) })),
    },
    content: { [FORMATS.json.mediaType]: { schema } },
  },
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
