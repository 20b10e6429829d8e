// The paths beside the entities: calendar, catalog, health, metrics, and this description.
import { jsonAnswers, plainAnswer, refsToHeaders, type Operation } from "./answers.js";
import { EXAMPLE_TRADING_DAY } from "./examples.js";
import { bound, sharedParameter, single } from "./parameters.js";
import { EVERYWHERE, problemResponses, READING, TOKEN } from "./problems.js";
import { refTo, schemaOf, type Schema } from "./schemas.js";

const tags = ["service"];

const calendar: Operation = {
  operationId: "get_calendar",
  summary: "Days of the trading calendar",
  description: "Days in order. Only the calendar of SSE is held: another exchange has no days.",
  tags,
  parameters: [
    single("exchange", "Exchange.", { type: "string", default: "SSE", examples: ["SSE", "SZSE"], pattern: "\\S" }),
    bound("start_date", "day"),
    bound("end_date", "day"),
    single("is_open", "1 = open days, 0 = closed days; without it all days.", { type: "integer", enum: [0, 1] }, 1),
    sharedParameter("data_version"),
    sharedParameter("if_none_match"),
  ],
  responses: {
    ...jsonAnswers("The days.", refTo("schemas", "Calendar")),
    ...problemResponses([...TOKEN, ...READING, "forbidden"]),
  },
};

const shift: Operation = {
  operationId: "get_calendar_shift",
  summary: "The n-th trading day before or after one",
  description: "For fills on the next day and for aligning signals.",
  tags,
  parameters: [
    { ...single("date", "A trading day to start from.", schemaOf("Date"), EXAMPLE_TRADING_DAY), required: true },
    {
      ...single(
        "n",
        "Trading days: later where positive, earlier where negative; not 0.",
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
    single("exchange", "Exchange; only SSE is held.", { type: "string", enum: ["SSE"], default: "SSE" }),
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
  summary: "What there is",
  description: "Every entity that the token may read, with its first and last date and its number of rows.",
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
  summary: "Is the server well?",
  description: "Needs no token.",
  tags,
  security: [],
  responses: {
    ...plainAnswer("How each store is.", "Health"),
    ...problemResponses([...EVERYWHERE, "unknown_parameter"]),
  },
};

const metrics: Operation = {
  operationId: "get_metrics",
  summary: "What the server counts and measures",
  description: "For Prometheus. A token with a list of entities needs `metrics` in it.",
  tags,
  responses: {
    200: {
      description: "The text format of Prometheus.",
      headers: refsToHeaders(["X-Request-Id"]),
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

export function servicePaths(): Schema {
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
