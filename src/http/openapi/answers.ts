// What a successful answer of an operation looks like: its headers, and its body in each format on offer.
import { FORMAT_NAMES, FORMATS, type Format } from "../../catalog/formats.js";
import type { Parameter } from "./parameters.js";
import { refTo, schemaOf, type Ref, type Schema } from "./schemas.js";

/** One GET operation. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly (Parameter | Ref)[];
  /** Absent: needs a token. */
  readonly security?: readonly [];
  readonly responses: Schema;
}

const header = (description: string, required: boolean, schema: Schema = { type: "string" }): Schema => ({
  description,
  required,
  schema,
});

const CACHE_HEADERS = {
  ETag: header("Names the content. Send it as `If-None-Match` to ask whether it changed.", true),
  "Cache-Control": header("May be kept by the client, must be asked for again.", true),
  Vary: header("What else the content depends on.", true),
};

const ROW_HEADERS = {
  "X-Data-Version": header("The `data_version` that was read, in every format.", true, schemaOf("DataVersion")),
  "X-Truncated": header("Whether `limit` cut the answer; in every format but JSON, which says it in the body.", false, {
    type: "string",
    enum: ["true", "false"],
  }),
  "X-Next-Cursor": header(
    "The cursor of the next page, in every format but JSON, which has it in the body.",
    false,
    schemaOf("Cursor"),
  ),
};

const EVERY_HEADERS = { "X-Request-Id": header("Names this request in the log of the server.", true) };

const LIMIT_HEADERS = {
  "RateLimit-Policy": header("Where requests are limited: how many (`q`) in how many seconds (`w`).", false),
  RateLimit: header("How many are left (`r`), and seconds until all are there again (`t`).", false),
};

const TIMING = { "Server-Timing": header("Milliseconds that each stage took.", false) };

/** The headers that answers refer to by name. */
export const answerHeaders: Schema = {
  ...EVERY_HEADERS,
  ...CACHE_HEADERS,
  ...ROW_HEADERS,
  ...LIMIT_HEADERS,
  ...TIMING,
};

/** References to headers by their names. */
export const refsToHeaders = (names: readonly string[]): Schema =>
  Object.fromEntries(names.map((name) => [name, refTo("headers", name)]));

const rowHeaders = refsToHeaders(Object.keys(answerHeaders));
const cacheHeaders = refsToHeaders(Object.keys({ ...EVERY_HEADERS, ...CACHE_HEADERS }));
const jsonHeaders = { ...cacheHeaders, ...refsToHeaders(Object.keys({ ...LIMIT_HEADERS, ...TIMING })) };

const notModified: Schema = {
  description: "Not changed since the answer that `If-None-Match` names.",
  headers: cacheHeaders,
};

/** The answer of a route that does not validate: health is asked for what is true now. */
export const plainAnswer = (description: string, schemaName: string): Schema => ({
  200: {
    description,
    headers: refsToHeaders(["X-Request-Id"]),
    content: { [FORMATS.json.mediaType]: { schema: refTo("schemas", schemaName) } },
  },
});

/** A small answer in JSON, and that it has not changed. */
export const jsonAnswers = (description: string, schema: Schema): Schema => ({
  200: { description, headers: jsonHeaders, content: { [FORMATS.json.mediaType]: { schema } } },
  304: notModified,
});

/** The body in each format: JSON as the envelope says, text formats as text, binary ones as bytes. */
const BODIES: Record<Format, (schemaName: string) => Schema> = {
  json: (schemaName) => ({ schema: refTo("schemas", schemaName) }),
  ndjson: () => ({ schema: { type: "string", description: "One object a line, by column name." } }),
  csv: () => ({ schema: { type: "string", description: "A line of column names, then a line for each row." } }),
  arrow: () => ({}),
  parquet: () => ({}),
};

export function rowsAnswers(schemaName: string): Schema {
  const rows = {
    description: "The rows. The other formats hold the same rows in the same order.",
    headers: rowHeaders,
    content: Object.fromEntries(FORMAT_NAMES.map((format) => [FORMATS[format].mediaType, BODIES[format](schemaName)])),
  };
  return { 200: rows, 304: notModified };
}
