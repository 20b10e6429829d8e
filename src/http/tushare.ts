// POST /tushare: the same rows for programs that use the Python package tushare. It sends its token and its question as
// JSON, and takes any status but 200 for an empty answer: so problems come as a code and a text with status 200.
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { contentTypeOf } from "../catalog/formats.js";
import { tushareEncoder } from "../encode/text.js";
import { Problem, type ProblemCode } from "../errors.js";
import { printableJson } from "../words.js";
import { EXAMPLE, parseApi, parseQuestion, parseTushare, tokenIn, type Question } from "../query/tushare.js";
import { checkEntity, type TokenPlace } from "./auth.js";
import type { Context } from "./context.js";
import { negotiateEncoding } from "./headers.js";
import { meetProblem } from "./problem.js";
import { answerRows, checkFactors } from "./rows.js";

/** The package adds the name of the api to the address that it is given, with or without a slash at its end. */
export const TUSHARE_PATHS = ["/tushare", "/tushare/:api", "/tushare//:api"] as const;

/** As much as URL and headers may have: room for a list of some twenty thousand codes. */
const MAX_BODY_BYTES = 256 * 1024;

/** Where a question has its token. */
export const BODY: TokenPlace = {
  secretOf: (req) => tokenIn(req.body as Question),
  hint: "give it to the client, e.g. ts.pro_api(token)",
};

/** Reads the question, whatever its content type is; a question is never compressed. */
export const readBody: readonly [RequestHandler, ErrorRequestHandler, RequestHandler] = [
  express.json({ limit: MAX_BODY_BYTES, inflate: false, strict: false, type: () => true }),
  // Express knows an error handler by its four parameters.
  (error: { readonly type?: string }, _req, _res, _next) => {
    if (error.type === "entity.too.large") {
      throw new Problem("request_too_large", `the body is longer than ${MAX_BODY_BYTES} bytes`, {
        hint: "ask for fewer codes at a time",
      });
    }
    throw new Problem("malformed_request", "the body is no JSON in UTF-8", {
      hint: `send e.g. ${EXAMPLE}`,
    });
  },
  (req, _res, next) => {
    req.body = parseQuestion(req.body);
    next();
  },
];

/** Any other method. */
export const onlyPost: RequestHandler = (req, res) => {
  res.setHeader("Allow", "POST");
  throw new Problem("method_not_allowed", `${req.method} is not offered here: this path is for clients of Tushare`, {
    hint: `POST e.g. ${EXAMPLE}; by GET there are the same rows at /api/v1/entities/<entity>`,
  });
};

export function tushareHandler(context: Context): RequestHandler<{ api?: string }> {
  return async (req, res) => {
    const question = req.body as Question;
    const api = parseApi(question, req.params.api);
    checkEntity(res, api.source);
    const { request, offset } = parseTushare(api, question, context.config);
    checkFactors(res, request);
    await answerRows(context, req, res, {
      request,
      source: api.source,
      dataVersion: request.dataVersion,
      after: null,
      offset,
      encoderOf: tushareEncoder,
      contentType: contentTypeOf("json"),
      encoding: negotiateEncoding(req, "json"),
      kept: null,
      endInHeaders: false,
    });
  };
}

/** The numbers by which programs tell these apart; any other problem has that of its status. */
const CODES: Partial<Record<ProblemCode, number>> = { forbidden: 2002, unauthorized: 40101, too_many_requests: 40203 };

export function tushareProblem(context: Pick<Context, "log">): ErrorRequestHandler {
  return (error: unknown, _req, res, _next) => {
    const problem = meetProblem(context, res, error);
    if (problem === null) return;
    const { hint, allowed = [] } = problem.extras;
    const accepted = allowed.length === 0 ? [] : [`accepted: ${allowed.join(", ")}`];
    const msg = [problem.detail, ...(hint === undefined ? [] : [hint]), ...accepted].join("; ");
    res.type("json").send(printableJson({ code: CODES[problem.code] ?? problem.status, msg, data: null }));
  };
}
