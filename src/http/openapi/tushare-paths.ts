// The path for clients of Tushare: a question in a body, problems with status 200.
import { API_NAMES } from "../../catalog/tushare.js";
import { refsToHeaders } from "./answers.js";
import { EXAMPLE_TRADING_DAY } from "./examples.js";
import { refTo, type Schema } from "./schemas.js";

const question: Schema = {
  type: "object",
  required: ["api_name", "token"],
  properties: {
    api_name: { type: "string", enum: API_NAMES, description: "With `_vip` after it, it is the same one." },
    token: { type: "string", description: "An access token." },
    params: {
      type: ["object", "null"],
      description:
        "Parameters of the entity of this name, but `cursor` and `format`; and `offset`, rows to leave out. Null and empty " +
        "text are not given. Rows come newest first; `order=asc` turns them.",
      additionalProperties: { type: ["string", "number", "null"] },
    },
    fields: { type: ["string", "null"], description: "Columns parted by commas; empty for all." },
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
        "0: answered. 40101: no valid token. 2002: it does not cover the api. 40203: too many requests. Otherwise the status of the problem.",
    },
    msg: { type: "string", description: "What was wrong and the way out." },
    data: {
      type: ["object", "null"],
      required: ["fields", "items", "has_more"],
      properties: {
        fields: { type: "array", items: { type: "string" } },
        items: { type: "array", items: { type: "array", items: { type: ["string", "number", "null"] } } },
        has_more: { type: "boolean", description: "Whether `limit` cut the answer." },
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
  summary: "Rows for clients of Tushare",
  description:
    "What the Python package tushare sends and understands. The token is in the body. Problems come with status 200 and a " +
    "`code` that is not 0, for the package takes any other status for an empty answer.",
  tags: ["service"],
  security: [],
  ...(parameters.length > 0 ? { parameters } : {}),
  requestBody: {
    required: true,
    content: json(question, { api_name: "daily", token: "…", params: { trade_date: EXAMPLE_TRADING_DAY }, fields: "" }),
  },
  responses: {
    200: { description: "The rows, or the problem.", headers: refsToHeaders(["X-Request-Id"]), content: json(answer) },
    405: {
      description: "Another method than `POST`.",
      headers: { Allow: { description: "The method on offer.", required: true, schema: { const: "POST" } } },
      content: { "application/problem+json": { schema: refTo("schemas", "Problem") } },
    },
  },
});

const api: Schema = {
  name: "api",
  in: "path",
  required: true,
  description: "The same as `api_name`.",
  schema: { type: "string", enum: API_NAMES },
};

export const tusharePaths = (): Schema => ({
  "/tushare": { post: operation("post_tushare", []) },
  "/tushare/{api}": { post: operation("post_tushare_api", [api]) },
});
