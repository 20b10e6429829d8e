// POST …/query: the rows that GET returns, for parameters that are too long for a URL. They are in the body, as JSON.
import express, { type Express, type Request, type RequestHandler } from "express";
import { Problem } from "../errors.js";
import { quote } from "../query/parameters.js";
import { searchOfBody } from "../query/body.js";
import { readBody } from "./body.js";
import { changesHandler } from "./changes.js";
import type { Context } from "./context.js";
import { searchOf, type SearchOf } from "./lookup.js";
import { answerTo } from "./observe.js";
import { panelHandler } from "./panel.js";
import { entityHandler } from "./rows.js";

/** What can be queried, by its path below `/api/v1`. */
const HANDLERS = {
  "/entities/:entity": entityHandler,
  "/entities/:entity/changes": changesHandler,
  "/panel": panelHandler,
} as const;

/** Adds the routes to `app`; `before` are the handlers that check a token, `large` the one that admits large requests. */
export function addQueryRoutes(
  app: Express,
  context: Context,
  before: readonly RequestHandler[],
  large: RequestHandler,
): void {
  const router = express.Router({ caseSensitive: true });
  for (const [path, handler] of Object.entries(HANDLERS)) {
    const answer = handler(context, searchInBody) as RequestHandler;
    router
      .route(`${path}/query`)
      .post([...before, ...readsJson, large, answer])
      .all(onlyPost);
  }
  app.use("/api/v1", router);
}

/** The parameters in the body. They cannot be in the URL too. */
const searchInBody: SearchOf = (req) => {
  requireEmptySearch(req);
  return searchOfBody(req.body as Uint8Array);
};

/** Throws if there are parameters in the URL of a request that has them in its body. */
export function requireEmptySearch(req: Request): void {
  for (const name of searchOf(req).keys()) {
    throw new Problem("unknown_parameter", `${quote(name)} is in the URL; here all parameters are in the body`, {
      parameter: name,
      allowed: [],
    });
  }
}

const requireJson: RequestHandler = (req, _res, next) => {
  const { "content-type": type, "content-encoding": encoding = "identity" } = req.headers;
  if (encoding.toLowerCase() !== "identity") throw unsupported(`the encoding ${quote(encoding)}`);
  if (!JSON_TYPE.test(type ?? ""))
    throw unsupported(type === undefined ? "no Content-Type" : `the type ${quote(type)}`);
  next();
};

const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"? *)?$/i;

const unsupported = (found: string): Problem =>
  new Problem("unsupported_media_type", `the body has ${found}`, {
    allowed: ["Content-Type: application/json"],
    hint: "send JSON in UTF-8, not compressed",
  });

const nameAnswer: RequestHandler = (req, res, next) => {
  res.setHeader("X-Answer-To", answerTo(req));
  next();
};

/** Reads a body of JSON, and says which request the response belongs to. */
export const readsJson: readonly RequestHandler[] = [requireJson, readBody, nameAnswer];

/** Refuses any other method. */
const onlyPost: RequestHandler = (req, res) => {
  res.setHeader("Allow", "POST");
  throw new Problem("method_not_allowed", `${req.method} is not supported here: this path is for long queries`, {
    hint: "POST the parameters as JSON, or GET the same path without /query",
  });
};
