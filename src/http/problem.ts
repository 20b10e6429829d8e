// Every error as a problem document (RFC 9457). What is not a Problem is ours: its text stays in the log.
import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { Problem } from "../errors.js";
import { DamagedRecordsError } from "../lake/absent.js";
import { UnavailableError } from "../lake/continuity.js";
import { DamagedFileError } from "../lake/integrity.js";
import { DamagedManifestError } from "../lake/manifest.js";
import { printableJson } from "../printable.js";
import type { Context } from "./context.js";
import { notesOf } from "./notes.js";

/** Answers with a problem, or cuts the connection where part of an answer was sent. */
export function sendProblem(context: Pick<Context, "log">, res: Response, error: unknown): void {
  const problem = meetProblem(context, res, error);
  if (problem === null) return;
  if (problem.status === 401) res.setHeader("WWW-Authenticate", 'Bearer realm="tapehouse"');
  res.status(problem.status).type(PROBLEM_TYPE).send(problemDocument(problem));
}

/**
 * The problem that the client is to be told, noted for the log, with the headers of every such answer set. Null where
 * nothing can be told: the client left, or part of an answer was sent, which is cut, for it must not look whole.
 */
export function meetProblem({ log }: Pick<Context, "log">, res: Response, error: unknown): Problem | null {
  if (res.destroyed) return null;
  const notes = notesOf(res);
  const problem = toProblem(log, notes.id, error);
  notes.problem = problem.code;
  if (res.headersSent) {
    res.destroy();
    return null;
  }
  if (problem.status === 429 || problem.status === 503) {
    res.setHeader("Retry-After", String(problem.extras.retryAfter ?? 1));
  }
  if (problem.status === 426) res.setHeader("Upgrade", "HTTP/1.1").setHeader("Connection", "upgrade, close");
  for (const name of ["ETag", "Content-Encoding", "Content-Disposition"]) res.removeHeader(name);
  res.setHeader("Cache-Control", "no-store");
  return problem;
}

export const PROBLEM_TYPE = "application/problem+json";

export function problemDocument({ code, title, status, detail, extras }: Problem): string {
  const { parameter, allowed, hint } = extras;
  return printableJson({
    type: `urn:tapehouse:problem:${code}`,
    title,
    status,
    detail,
    code,
    parameter,
    allowed,
    hint,
  });
}

/** `id` is that of the request. */
function toProblem(log: Context["log"], id: string | undefined, error: unknown): Problem {
  if (error instanceof Problem) return error;
  // Logged once already, when the directory was lost.
  if (error instanceof UnavailableError || (error instanceof DamagedFileError && error.isOutOfReach)) {
    return new Problem("data_unavailable", "the data directory of the server is out of reach, so nothing was read", {
      hint: "try again later; the operator finds the reason in the log of the server",
      retryAfter: 5,
    });
  }
  const what = whatIsDamaged(error);
  if (what !== undefined) {
    log.error({ id, err: error }, "damaged file");
    return new Problem("data_damaged", `${what} is not what it should be, so nothing was read from it`, {
      hint: "tell the operator to run: tapehouse verify",
    });
  }
  if (error instanceof URIError) return new Problem("unknown_route", "the path is not valid percent-encoding");
  log.error({ id, err: error }, "request failed");
  return new Problem(
    "internal_error",
    "the request failed for a reason that lies with the server; nothing was returned",
  );
}

function whatIsDamaged(error: unknown): string | undefined {
  if (error instanceof DamagedFileError) return `a data file of ${error.path.split("/")[0]!}`;
  if (error instanceof DamagedManifestError) return "this version";
  return error instanceof DamagedRecordsError ? "a list that the server keeps" : undefined;
}

export const notFound: RequestHandler = () => {
  throw new Problem("unknown_route", "there is nothing at this path", {
    hint: "see /api/v1/meta for the entities and /openapi.json for every path",
  });
};

export const onlyGet: RequestHandler = (req, res, next) => {
  if (req.method === "GET" || req.method === "HEAD") {
    next();
    return;
  }
  res.setHeader("Allow", "GET, HEAD");
  throw new Problem("method_not_allowed", `${req.method} is not offered: this service only reads`);
};

export function problemHandler(context: Pick<Context, "log">): ErrorRequestHandler {
  // Express knows an error handler by its four parameters.
  return (error: unknown, _req, res, _next) => {
    sendProblem(context, res, error);
  };
}
