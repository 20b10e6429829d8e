// The paths in OpenAPI: entities, each with its own parameters, the service, and Tushare clients.
import { API_NAMES } from "../../catalog/tushare.js";
import { EXCHANGES } from "../../query/calendar.js";
import { dayAnswers, type Operation, jsonAnswers, plainAnswer, everyHeader } from "./answers.js";
import { EXAMPLE_TRADING_DAY, bound, sharedParameter, single } from "./parameters.js";
import { entityPaths } from "./entity-paths.js";
import { panelPaths } from "./panel-path.js";
import { sqlPaths } from "./sql-path.js";
import { EVERYWHERE, READING, type Schema, TOKEN, onlyPost, problemResponses, refTo, schemaOf } from "./schemas.js";

export const paths = (): Schema => ({
  ...entityPaths(),
  ...panelPaths,
  ...sqlPaths,
  ...servicePaths(),
  ...tusharePaths(),
});

const tags = ["service"];

const calendar: Operation = {
  operationId: "get_calendar",
  summary: "Days of the trading calendar",
  description: "Days in order. Only SSE has a calendar; other exchanges have no days, and the response covers none.",
  tags,
  parameters: [
    single("exchange", "Exchange.", { type: "string", enum: EXCHANGES, default: "SSE" }),
    bound("start_date", "day"),
    bound("end_date", "day"),
    single("is_open", "1 = open days, 0 = closed days; by default all days.", { type: "integer", enum: [0, 1] }, 1),
    sharedParameter("data_version"),
    sharedParameter("if_none_match"),
  ],
  responses: {
    ...dayAnswers("The days.", refTo("schemas", "Calendar")),
    ...problemResponses([...TOKEN, ...READING, "forbidden"]),
  },
};

const shift: Operation = {
  operationId: "get_calendar_shift",
  summary: "The n-th trading day before or after a day",
  description: "For example for fills on the next day, or to align signals.",
  tags,
  parameters: [
    { ...single("date", "A trading day to start from.", schemaOf("Date"), EXAMPLE_TRADING_DAY), required: true },
    {
      ...single(
        "n",
        "Number of trading days: positive is later, negative is earlier; not 0.",
        {
          type: "integer",
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
          not: { const: 0 },
        },
        1,
      ),
      required: true,
    },
    single("exchange", "Exchange; only SSE has a calendar.", { type: "string", enum: ["SSE"], default: "SSE" }),
    sharedParameter("data_version"),
    sharedParameter("if_none_match"),
  ],
  responses: {
    ...jsonAnswers("The resulting day.", refTo("schemas", "Shift")),
    ...problemResponses([...TOKEN, ...READING, "forbidden", "not_a_trading_day", "outside_calendar"]),
  },
};

const meta: Operation = {
  operationId: "get_meta",
  summary: "Available entities",
  description: "All entities that the token covers, with first and last date and number of rows.",
  tags,
  parameters: [sharedParameter("if_none_match")],
  responses: {
    ...jsonAnswers("The catalog.", refTo("schemas", "Meta")),
    ...problemResponses([...TOKEN, "unknown_parameter"]),
  },
};

const versions: Operation = {
  operationId: "get_versions",
  summary: "Versions that can be read",
  description: "The kept versions, newest first: values for `data_version`.",
  tags,
  parameters: [sharedParameter("if_none_match")],
  responses: {
    ...jsonAnswers("The versions.", refTo("schemas", "Versions")),
    ...problemResponses([...TOKEN, "unknown_parameter", "data_damaged", "data_unavailable"]),
  },
};

const health: Operation = {
  operationId: "get_health",
  summary: "Health of the server",
  description: "Needs no token.",
  tags,
  security: [],
  responses: {
    ...plainAnswer("Whether each store can be read.", "Health"),
    ...problemResponses([...EVERYWHERE, "unknown_parameter"]),
  },
};

const metrics: Operation = {
  operationId: "get_metrics",
  summary: "Metrics of the server",
  description: "For Prometheus. A token with a list of entities needs `metrics` in it.",
  tags,
  responses: {
    200: {
      description: "The text format of Prometheus.",
      headers: everyHeader,
      content: { "text/plain": { schema: { type: "string" } } },
    },
    ...problemResponses([...TOKEN, "forbidden", "unknown_parameter"]),
  },
};

const description: Operation = {
  operationId: "get_openapi",
  summary: "This description",
  description: "Needs no token.",
  tags,
  security: [],
  parameters: [sharedParameter("if_none_match")],
  responses: {
    ...jsonAnswers("OpenAPI 3.1.", { type: "object" }),
    ...problemResponses([...EVERYWHERE, "unknown_parameter"]),
  },
};

function servicePaths(): Schema {
  return {
    "/api/v1/calendar": { get: calendar },
    "/api/v1/calendar/shift": { get: shift },
    "/api/v1/meta": { get: meta },
    "/api/v1/versions": { get: versions },
    "/health": { get: health },
    "/metrics": { get: metrics },
    "/openapi.json": { get: description },
  };
}

// The path for Tushare clients: a request in the body, problems with status 200.

const question: Schema = {
  type: "object",
  required: ["api_name", "token"],
  properties: {
    api_name: { type: "string", enum: API_NAMES, description: "May end with `_vip`, which changes nothing." },
    token: { type: "string", description: "An access token." },
    params: {
      type: ["object", "null"],
      description:
        "Parameters of the entity except `cursor` and `format`; and `offset`, the number of rows to skip. Null and empty " +
        "text are ignored. Rows are sorted newest first, or with `order=asc` oldest first.",
      additionalProperties: { type: ["string", "number", "null"] },
    },
    fields: { type: ["string", "null"], description: "Columns, separated by commas; empty for all." },
  },
  additionalProperties: false,
};

const answer: Schema = {
  type: "object",
  required: ["code", "msg", "data"],
  properties: {
    code: {
      type: "integer",
      description:
        "0: success. 40101: no valid token. 2002: the token does not cover the API. 40203: too many requests. Otherwise the status of the problem.",
    },
    msg: { type: "string", description: "What was wrong, and how to fix it." },
    data: {
      type: ["object", "null"],
      required: ["fields", "items", "has_more"],
      properties: {
        fields: { type: "array", items: { type: "string" } },
        items: { type: "array", items: { type: "array", items: { type: ["string", "number", "null"] } } },
        has_more: { type: "boolean", description: "Whether `limit` truncated the response." },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};

const json = (schema: Schema, example?: unknown): Schema => ({
  "application/json": { schema, ...(example === undefined ? {} : { example }) },
});

const operation = (operationId: string, parameters: readonly Schema[]): Schema => ({
  operationId,
  summary: "Rows for Tushare clients",
  description:
    "The protocol of the Python package tushare. The token is in the body. Problems have status 200 and a " +
    "`code` that is not 0, because the package takes any other status as an empty response.",
  tags: ["service"],
  security: [],
  ...(parameters.length > 0 ? { parameters } : {}),
  requestBody: {
    required: true,
    content: json(question, { api_name: "daily", token: "…", params: { trade_date: EXAMPLE_TRADING_DAY }, fields: "" }),
  },
  responses: {
    200: { description: "The rows, or the problem.", headers: everyHeader, content: json(answer) },
    ...onlyPost,
  },
});

const api: Schema = {
  name: "api",
  in: "path",
  required: true,
  description: "The same as `api_name`.",
  schema: { type: "string", enum: API_NAMES },
};

const tusharePaths = (): Schema => ({
  "/tushare": { post: operation("post_tushare", []) },
  "/tushare/{api}": { post: operation("post_tushare_api", [api]) },
});
