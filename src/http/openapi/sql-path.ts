// The route of SQL in the OpenAPI description.
import { FORMATS } from "../../catalog/formats.js";
import { ENGINES } from "../../query/sql-request.js";
import { type Operation, rowsAnswers } from "./answers.js";
import { type Parameter, sharedParameter, single } from "./parameters.js";
import { problemResponses, type Ref, refTo, ROWS, type Schema } from "./schemas.js";

const STATEMENT =
  "One `SELECT` in the SQL of DuckDB. Its tables are the entities, with real dates; `$name` is a parameter. Table functions for market data: " +
  "`known(income, '20240501')`, `latest(income)`, `adjusted(daily, 'backward')`, `bars(daily, 'week')`, " +
  "`panel('daily:close,daily_basic:pe', '20240101', '20241231')`, `trading_days('20240101', '20241231')`, " +
  "`universe('20240105')`; and the function `shift_days(day, n)`.";

const EXAMPLE = "SELECT trade_date, avg(pct_chg) AS mean FROM daily GROUP BY 1 ORDER BY 1";

const engine = single(
  "engine",
  "Where the statement runs: on this server, or on its cluster if it has one; `auto` chooses by the size of the data. The header `X-Engine` says where it ran.",
  { type: "string", enum: ENGINES, default: "auto" },
);

const OTHERS = ["data_version", "format", "dates", "compression", "bom", "limit"] as const;
const others: readonly (Parameter | Ref)[] = [...OTHERS.map((name) => sharedParameter(name)), engine];

const about = {
  description:
    "The same statement over the same `data_version` gives the same rows, so functions of time, chance and the server are left " +
    "out. Without `ORDER BY` the order of rows is not defined. Whole numbers and truth values are `int64`, other numbers `float64`, " +
    "dates as everywhere, and everything else is text; lists and structs are JSON. Needs a token that may run SQL and read every " +
    "entity of the statement.",
  tags: ["service"],
};

const METHODS = "GET, HEAD, POST";

const responses = {
  ...rowsAnswers("SqlResult"),
  ...problemResponses([
    ...ROWS,
    "invalid_sql",
    "sql_not_allowed",
    "as_of_not_supported",
    "unknown_route",
    "cluster_unavailable",
  ]),
  405: {
    description: "Another method.",
    headers: { Allow: { description: "The supported methods.", required: true, schema: { const: METHODS } } },
    content: { "application/problem+json": { schema: refTo("schemas", "Problem") } },
  },
};

const inUrl: Operation = {
  ...about,
  operationId: "get_sql",
  summary: "SQL over a version (short statement)",
  parameters: [
    { ...single("q", STATEMENT, { type: "string", minLength: 1 }, EXAMPLE), required: true },
    single("params", "Values of the parameters, as a JSON object.", { type: "string" }),
    ...others,
    sharedParameter("if_none_match"),
  ],
  responses,
};

const value: Schema = {
  oneOf: [
    { type: ["string", "number", "boolean", "null"] },
    { type: "array", items: { type: "string" } },
    { type: "array", items: { type: "number" } },
  ],
};

const inBody: Operation = {
  ...about,
  operationId: "post_sql",
  summary: "SQL over a version",
  parameters: [sharedParameter("if_none_match")],
  requestBody: {
    required: true,
    content: {
      [FORMATS.json.mediaType]: {
        schema: {
          type: "object",
          required: ["sql"],
          properties: {
            sql: { type: "string", minLength: 1, description: STATEMENT },
            params: {
              type: "object",
              description: "Values of the parameters by name, without `$`.",
              additionalProperties: value,
            },
            ...Object.fromEntries(OTHERS.map((name) => [name, { $ref: `${refTo("parameters", name).$ref}/schema` }])),
            engine: { description: engine.description, ...engine.schema },
          },
          additionalProperties: false,
        },
        example: { sql: EXAMPLE },
      },
    },
  },
  responses: { ...responses, ...problemResponses(["content_too_large", "unsupported_media_type"]) },
};

export const sqlPaths = { "/api/v1/sql": { get: inUrl, post: inBody } };
