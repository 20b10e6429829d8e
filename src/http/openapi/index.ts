// The OpenAPI 3.1 description of the API, generated from the catalog and the server's own tables.
import type { RequestHandler } from "express";
import { STORES } from "../../catalog/types.js";
import { PACKAGE_VERSION } from "../../config.js";
import type { RequestLimits } from "../../query/request.js";
import { collectParameters } from "../../query/parameters.js";
import { fixedJson } from "../respond.js";
import { searchOf } from "../lookup.js";
import { answerHeaders } from "./answers.js";
import { bodySchemas } from "./bodies.js";
import { paths } from "./paths.js";
import { sharedParameters } from "./parameters.js";
import { problemComponents, problemSchema, wordSchemas } from "./schemas.js";

const ABOUT = `Rows of exchange-traded market data, read-only.

- Requests accept dates as \`YYYYMMDD\` or \`YYYY-MM-DD\`; responses have \`YYYYMMDD\`, or dates with \`dates=date\` in Arrow and
  Parquet.
- Without \`limit\` a response has every row and is streamed. If the connection is cut, the response is incomplete.
- Every parameter is understood or refused with 400; none is ignored.
- \`HEAD\` is supported wherever \`GET\` is. \`POST\` is for queries that are too long for a URL, and for Tushare clients.
- Errors are \`application/problem+json\` (RFC 9457) with a stable \`code\`.`;

/** The whole document. `limits` are those of the server that serves it. */
export function openApi(limits: RequestLimits = { defaultLimit: null, maxLimit: null }): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Tapehouse",
      version: PACKAGE_VERSION,
      description: ABOUT,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    tags: [
      ...STORES.filter((store) => store !== "state").map((name) => ({
        name,
        description: `Entities of store ${name}`,
      })),
      { name: "service", description: "Catalog, calendar, gaps and health" },
    ],
    paths: paths(),
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "Created with: `tapehouse token create NAME`" },
      },
      schemas: { ...wordSchemas, ...bodySchemas, Problem: problemSchema },
      parameters: sharedParameters(limits),
      headers: answerHeaders,
      responses: problemComponents,
    },
  };
}

/** GET /openapi.json, without a token: it contains no data. */
export function openApiHandler(limits: RequestLimits): RequestHandler {
  const send = fixedJson(openApi(limits));
  return async (req, res) => {
    collectParameters(searchOf(req), []);
    await send(req, res);
  };
}
