// POST /tushare: rows for programs that use the Python package tushare. It sends its token and request as JSON, and
// takes any status but 200 as an empty response. Problems therefore become a code and a message with status 200.
import type { IncomingHttpHeaders } from "node:http";
import type { ErrorRequestHandler, Express, RequestHandler } from "express";
import { contentTypeOf } from "../catalog/formats.js";
import { tushareEncoder } from "../encode/text.js";
import { Problem, type ProblemCode } from "../errors.js";
import { printableJson } from "../words.js";
import { EXAMPLE, parseApi, parseQuestion, parseTushare, type Question } from "../query/tushare.js";
import { checkEntity, type TokenSource } from "./auth.js";
import { readBody } from "./body.js";
import type { Context } from "./context.js";
import { negotiateEncoding } from "./headers.js";
import { prepareProblem } from "./problem.js";
import { answerRows, checkOthers, rowsOfVersion } from "./rows.js";

/** The package appends the name of the API to its URL, which may end with a slash. */
const PATHS = ["/tushare", "/tushare/:api", "/tushare//:api"] as const;

/** Adds the routes to `app`; `authorized` makes the handlers that check a token. */
export function addTushareRoutes(
  app: Express,
  context: Context,
  authorized: (source: TokenSource) => readonly RequestHandler[],
): void {
  const question = [readBody, readQuestion, ...authorized(BODY), tushareHandler(context)];
  for (const path of PATHS) app.route(path).post(question, tushareProblem(context)).all(onlyPost);
}

/** Where a question carries its token. */
const BODY: TokenSource = {
  secretOf(req) {
    const { token } = req.body as Question;
    return typeof token === "string" ? token : undefined;
  },
  hint: "pass it to the client, e.g. ts.pro_api(token)",
};

/** Reads the question in the body, whatever its content type. Compressed bodies are refused; an empty one asks nothing. */
const readQuestion: RequestHandler = (req, _res, next) => {
  req.body = parseQuestion(jsonIn(req.body as Uint8Array, req.headers));
  next();
};

function jsonIn(bytes: Uint8Array, headers: IncomingHttpHeaders): unknown {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = headers;
  const isText = encoding.toLowerCase() === "identity" && !OTHER_CHARSET.test(type);
  try {
    if (isText) return bytes.length === 0 ? {} : JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // As if it were packed.
  }
  throw new Problem("malformed_request", "the body is not JSON in UTF-8", { hint: `send e.g. ${EXAMPLE}` });
}

const OTHER_CHARSET = /;\s*charset\s*=\s*"?(?!utf-8)/i;

/** Refuses any other method. */
const onlyPost: RequestHandler = (req, res) => {
  res.setHeader("Allow", "POST");
  throw new Problem("method_not_allowed", `${req.method} is not supported here: this path is for Tushare clients`, {
    hint: `POST e.g. ${EXAMPLE}; GET returns the same rows at /api/v1/entities/<entity>`,
  });
};

function tushareHandler(context: Context): RequestHandler<{ api?: string }> {
  return async (req, res) => {
    const question = req.body as Question;
    const api = parseApi(question, req.params.api);
    checkEntity(res, api.source);
    const { request, offset } = parseTushare(api, question, context.config);
    checkOthers(res, request);
    await answerRows(context, req, res, {
      request,
      source: rowsOfVersion(api.source),
      dataVersion: request.dataVersion,
      after: null,
      offset,
      encoderOf: tushareEncoder,
      contentType: contentTypeOf("json"),
      encoding: negotiateEncoding(req),
      cachedFormat: null,
      endInHeaders: false,
    });
  };
}

/** Codes by which programs distinguish these problems; any other problem has its HTTP status as code. */
const CODES: Partial<Record<ProblemCode, number>> = { forbidden: 2002, unauthorized: 40101, too_many_requests: 40203 };

function tushareProblem(context: Pick<Context, "log">): ErrorRequestHandler {
  return (error: unknown, _req, res, _next) => {
    const problem = prepareProblem(context, res, error);
    if (problem === null) return;
    const { hint, allowed = [] } = problem.extras;
    const accepted = allowed.length === 0 ? [] : [`accepted: ${allowed.join(", ")}`];
    const msg = [problem.detail, ...(hint === undefined ? [] : [hint]), ...accepted].join("; ");
    res.type("json").send(printableJson({ code: CODES[problem.code] ?? problem.status, msg, data: null }));
  };
}
