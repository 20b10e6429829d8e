// Every error as a problem document (RFC 9457), those of requests that never become whole included. An error that is not a
// Problem is the server's fault: its text stays in the log.
import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { Problem, type ProblemCode } from "../errors.js";
import { UnreadableError } from "../files.js";
import { DamagedRecordsError } from "../lake/records.js";
import { UnavailableError } from "../lake/continuity.js";
import { DamagedFileError } from "../lake/integrity.js";
import { DamagedManifestError } from "../lake/manifest.js";
import { printableJson } from "../words.js";
import type { Context } from "./context.js";
import { notesOf } from "./observe.js";
import { MAX_HEADER_BYTES, unsupportedVersion } from "./well-formed.js";

/** Answers with a problem, or cuts the connection where part of an answer was sent. */
function sendProblem(context: Pick<Context, "log">, res: Response, error: unknown): void {
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

const PROBLEM_TYPE = "application/problem+json";

function problemDocument({ code, title, status, detail, extras }: Problem): string {
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
  if (error instanceof UnreadableError) log.error({ id, err: error }, "a file cannot be read");
  // The others are logged already, when the directory was lost.
  if (
    error instanceof UnreadableError ||
    error instanceof UnavailableError ||
    (error instanceof DamagedFileError && error.isOutOfReach)
  ) {
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

/**
 * Answers what never becomes a whole request with a problem, wherever one can be sent: bytes that are not HTTP, too many of
 * them, a body that breaks off, an unknown expectation. Calls `refused` with the problem code where there was
 * no request yet; other failures are observed like any request.
 */
export function refuseMalformed(server: Server, refused: (code: ProblemCode) => void): void {
  /** The answer to the latest request of a connection, until both are whole. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  const faulty = new WeakSet<Duplex>();

  const refuse = (socket: Duplex, problem: Problem): void => {
    if (!socket.writable) return;
    refused(problem.code);
    socket.end(rawAnswer(problem));
  };

  server.on("request", (req, res) => {
    latest.set(req.socket, res);
    res.once("close", () => {
      if (req.complete && latest.get(req.socket) === res) latest.delete(req.socket);
    });
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || UNANSWERABLE.test(error.code ?? "")) {
      socket.destroy();
      return;
    }
    // Every further byte on the connection is reported again.
    if (faulty.has(socket)) return;
    faulty.add(socket);
    const res = latest.get(socket);
    if (res === undefined || (res.req.complete && res.writableFinished)) refuse(socket, faultOf(error.code));
    else if (res.req.complete) res.once("finish", () => refuse(socket, faultOf(error.code)));
    // What follows an answer would be taken for that to another request.
    else if (res.headersSent) socket.destroy();
    else {
      const problem = faultOfBody(error.code);
      notesOf(res).problem = problem.code;
      answer(res, problem);
    }
  });
  server.on("checkExpectation", (_req, res) => {
    const problem = new Problem("expectation_failed", "the header Expect asks for something that is not offered");
    refused(problem.code);
    answer(res, problem);
  });
  server.on("connect", (_req, socket) => {
    refuse(socket, faultOf("HPE_INVALID_METHOD"));
  });
}

/** Errors after which nothing can be sent on a connection: waiting until it is sent would never end. */
const UNANSWERABLE = /^(ECONNRESET|EPROTO|ERR_SSL_.*|ERR_TLS_.*)$/;

function headersOf({ status }: Problem, body: string): Readonly<Record<string, string | number>> {
  return {
    "Content-Type": `${PROBLEM_TYPE}; charset=utf-8`,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
    ...(status === 405 ? { Allow: "GET, HEAD" } : {}),
  };
}

function answer(res: ServerResponse, problem: Problem): void {
  const body = problemDocument(problem);
  res.writeHead(problem.status, headersOf(problem, body)).end(body);
}

function rawAnswer(problem: Problem): string {
  const body = problemDocument(problem);
  const headers = Object.entries(headersOf(problem, body)).map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${problem.status} ${problem.title}`, ...headers].join("\r\n")}\r\n\r\n${body}`;
}

const TIMEOUT = "ERR_HTTP_REQUEST_TIMEOUT";

const tooLate = (): Problem => new Problem("request_timeout", "the connection brought no whole request in time");

/** What Node's parser found at the start of a connection or after a request. */
const FAULTS: Readonly<Record<string, () => Problem>> = {
  [TIMEOUT]: tooLate,
  HPE_HEADER_OVERFLOW: () =>
    new Problem("request_too_large", `URL and headers are longer than ${MAX_HEADER_BYTES} bytes`, {
      hint: "ask for fewer codes at a time, or for all of them and filter on your side",
    }),
  HPE_INVALID_METHOD: () => new Problem("method_not_allowed", "only GET and HEAD are offered"),
  HPE_INVALID_VERSION: unsupportedVersion,
  HPE_PAUSED_H2_UPGRADE: unsupportedVersion,
};

const faultOf = (code = ""): Problem =>
  FAULTS[code]?.() ??
  new Problem("malformed_request", "the request is not well-formed HTTP", {
    hint: "percent-encode what is not plain ASCII, e.g. with curl -G --data-urlencode",
  });

const faultOfBody = (code: string | undefined): Problem =>
  code === TIMEOUT ? tooLate() : new Problem("malformed_request", "the body is not framed as its headers say");
