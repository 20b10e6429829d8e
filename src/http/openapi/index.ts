// The OpenAPI 3.1 description of the API, generated from the catalog and the server's own tables.
import type { RequestHandler } from "express";
import { ENTITIES } from "../../catalog/index.js";
import { STORES } from "../../catalog/types.js";
import type { RequestLimits } from "../../query/request.js";
import { collectParameters } from "../../query/parameters.js";
import { fixedJson } from "../respond.js";
import { searchOf } from "../lookup.js";
import { answerHeaders, bodySchemas, envelopeOf } from "./answers.js";
import { entityPaths, servicePaths, tusharePaths } from "./paths.js";
import { sharedParameters } from "./parameters.js";
import { type Schema, problemComponents, problemSchema, wordSchemas } from "./schemas.js";

const ABOUT = `Rows of exchange-traded market data, read-only.

- Requests accept dates as \`YYYYMMDD\` or \`YYYY-MM-DD\`; responses have \`YYYYMMDD\`.
- Without \`limit\` a response has every row and is streamed. If the connection is cut, the response is incomplete.
- Every parameter is understood or refused with 400; none is ignored.
- \`HEAD\` is supported wherever \`GET\` is. \`POST\` is only for Tushare clients.
- Errors are \`application/problem+json\` (RFC 9457) with a stable \`code\`.`;

/** The whole document. `limits` are those of the server that serves it. */
export function openApi(version: string, limits: RequestLimits = { defaultLimit: null, maxLimit: null }): object {
  const envelopes = ENTITIES.map((entity): [string, Schema] => [`Envelope_${entity.name}`, envelopeOf(entity)]);
  return {
    openapi: "3.1.0",
    info: {
      title: "Tapehouse",
      version,
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
    paths: { ...entityPaths(), ...servicePaths(), ...tusharePaths() },
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "Created with: `tapehouse token create NAME`" },
      },
      schemas: { ...wordSchemas, ...bodySchemas, ...Object.fromEntries(envelopes), Problem: problemSchema },
      parameters: sharedParameters(limits),
      headers: answerHeaders,
      responses: problemComponents,
    },
  };
}

/** GET /openapi.json, without a token: it contains no data. */
export function openApiHandler(version: string, limits: RequestLimits): RequestHandler {
  const send = fixedJson(openApi(version, limits));
  return async (req, res) => {
    collectParameters(searchOf(req), []);
    await send(req, res);
  };
}
