// Sends every error as a problem document (RFC 9457), including errors of requests that never become complete. An error
// that is not a Problem is the server's fault: its text is only logged.
import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { NoSpaceError, Problem, type ProblemCode } from "../errors.js";
import { UnreadableError } from "../files.js";
import { DamagedRecordsError } from "../lake/records.js";
import { BucketAwayError, UnavailableError } from "../lake/continuity.js";
import { DamagedFileError } from "../lake/damaged-file.js";
import { DamagedManifestError } from "../lake/manifest.js";
import { printableJson } from "../words.js";
import type { Context } from "./context.js";
import { notesOf } from "./observe.js";
import { MAX_HEADER_BYTES, unsupportedVersion } from "./well-formed.js";

/** Sends a problem, or cuts the connection if part of a response was sent. */
function sendProblem(context: Pick<Context, "log">, res: Response, error: unknown): void {
  const problem = prepareProblem(context, res, error);
  if (problem === null) return;
  if (problem.status === 401) res.setHeader("WWW-Authenticate", 'Bearer realm="tapehouse"');
  res.status(problem.status).type(PROBLEM_TYPE).send(problemDocument(problem));
}

/**
 * Prepares the response for an error: records the problem, sets the headers, and returns the problem. Returns null if
 * nothing can be sent: the client has left, or part of a response was sent. That response is cut, so that it does not
 * look complete.
 */
export function prepareProblem({ log }: Pick<Context, "log">, res: Response, error: unknown): Problem | null {
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
  const { parameter, allowed, hint, line, column } = extras;
  return printableJson({
    type: `urn:tapehouse:problem:${code}`,
    title,
    status,
    detail,
    code,
    parameter,
    allowed,
    hint,
    line,
    column,
  });
}

/** `id` is the id of the request. */
function toProblem(log: Context["log"], id: string | undefined, error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof UnreadableError) log.error({ id, err: error }, "a file cannot be read");
  // The others were logged when the directory became unavailable.
  if (
    error instanceof UnreadableError ||
    error instanceof UnavailableError ||
    (error instanceof DamagedFileError && error.isOutOfReach)
  ) {
    const cause =
      error instanceof BucketAwayError
        ? "the bucket with the data does not answer, and these rows were not fetched before"
        : "the server's data directory is unavailable";
    return new Problem("data_unavailable", `${cause}, so nothing was read`, {
      hint: "retry later; the operator finds the reason in the server's log",
      retryAfter: 5,
    });
  }
  if (error instanceof NoSpaceError) {
    log.error({ id, err: error }, "the disk is full");
    return new Problem("out_of_room", "the server's disk has no space for rows that were not read before", {
      hint: "retry later or ask for fewer rows; the operator finds the reason in the server's log",
      retryAfter: 5,
    });
  }
  const what = damagedPart(error);
  if (what !== undefined) {
    log.error({ id, err: error }, "damaged file");
    return new Problem("data_damaged", `${what} is damaged, so nothing was read from it`, {
      hint: "ask the operator to run: tapehouse verify",
    });
  }
  if (error instanceof URIError) return new Problem("unknown_route", "the path is not valid percent-encoding");
  log.error({ id, err: error }, "request failed");
  return new Problem("internal_error", "the server failed to answer the request; nothing was returned");
}

function damagedPart(error: unknown): string | undefined {
  if (error instanceof DamagedFileError) return `a data file of ${error.path.split("/")[0]!}`;
  if (error instanceof DamagedManifestError) return "this version";
  return error instanceof DamagedRecordsError ? "a record file of the server" : undefined;
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
  throw new Problem("method_not_allowed", `${req.method} is not supported: this service is read-only`, {
    ...(req.method === "POST" && { hint: "parameters in a body are accepted by …/query below entities and the panel" }),
  });
};

export function problemHandler(context: Pick<Context, "log">): ErrorRequestHandler {
  // Express recognizes error handlers by their four parameters.
  return (error: unknown, _req, res, _next) => {
    sendProblem(context, res, error);
  };
}

/**
 * Sends a problem, if possible, for anything that is not a complete request: bytes that are not HTTP, headers that are
 * too long, a body that breaks off, an unknown expectation. Calls `refused` with the problem code if there was no
 * request yet; other failures are observed like any request.
 */
export function refuseMalformed(server: Server, refused: (code: ProblemCode) => void): void {
  /** The response to the latest request of each connection, until both are complete. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  const faulty = new WeakSet<Duplex>();

  const refuse = (socket: Duplex, problem: Problem): void => {
    if (!socket.writable) return;
    refused(problem.code);
    closeWhenRead(socket);
    socket.end(rawAnswer(problem));
  };

  server.on("request", (req, res) => {
    latest.set(req.socket, res);
    res.once("close", () => {
      if (req.complete && latest.get(req.socket) === res) latest.delete(req.socket);
    });
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    // Node reports every further byte on the connection.
    const isAnswerable = !UNANSWERABLE.test(error.code ?? "");
    if (isAnswerable && faulty.has(socket)) return;
    if (!isAnswerable || !socket.writable) {
      socket.destroy();
      return;
    }
    faulty.add(socket);
    const res = latest.get(socket);
    if (res === undefined || (res.req.complete && res.writableFinished)) refuse(socket, faultOf(error.code));
    else if (res.req.complete) res.once("finish", () => refuse(socket, faultOf(error.code)));
    // Bytes after a response would look like the response to another request.
    else if (res.headersSent) socket.destroy();
    else {
      const problem = faultOfBody(error.code);
      notesOf(res).problem = problem.code;
      closeWhenRead(socket);
      answer(res, problem);
    }
  });
  server.on("checkExpectation", (_req, res) => {
    const problem = new Problem("expectation_failed", "the expectation in the Expect header is not supported");
    refused(problem.code);
    answer(res, problem);
  });
  server.on("connect", (_req, socket) => {
    refuse(socket, faultOf("HPE_INVALID_METHOD"));
  });
}

/** How long a client may go on sending after it was refused, in milliseconds. */
const LINGER = 2_000;

/**
 * Keeps a connection after its last response until the client has sent everything, or for some time. Closing it with unread
 * bytes would reset it, and the client might never see the response.
 */
function closeWhenRead(socket: Duplex): void {
  // Node calls this after a last response.
  Object.assign(socket, { destroySoon: () => socket.end() });
  const closing = setTimeout(() => socket.destroy(), LINGER).unref();
  socket.once("close", () => {
    clearTimeout(closing);
  });
}

/** Errors after which nothing can be sent on a connection; Node would wait forever. */
const UNANSWERABLE = /^(ECONNRESET|EPROTO|ERR_SSL_.*|ERR_TLS_.*)$/;

function headersOf({ status }: Problem, body: string): Readonly<Record<string, string | number>> {
  return {
    "Content-Type": `${PROBLEM_TYPE}; charset=utf-8`,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
    // The path is unknown: some take POST alone.
    ...(status === 405 ? { Allow: "GET, HEAD, POST" } : {}),
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

const timedOut = (): Problem => new Problem("request_timeout", "no complete request arrived in time");

/** Errors that Node's parser reports at the start of a connection or after a request. */
const FAULTS: Readonly<Record<string, () => Problem>> = {
  [TIMEOUT]: timedOut,
  HPE_HEADER_OVERFLOW: () =>
    new Problem("request_too_large", `URL and headers are longer than ${MAX_HEADER_BYTES} bytes`, {
      hint: "request fewer codes at a time, or all of them and filter in the client",
    }),
  HPE_INVALID_METHOD: () =>
    new Problem(
      "method_not_allowed",
      "only GET and HEAD are supported, and POST for …/query, /api/v1/sql and /tushare",
    ),
  HPE_INVALID_VERSION: unsupportedVersion,
  HPE_PAUSED_H2_UPGRADE: unsupportedVersion,
};

const faultOf = (code = ""): Problem =>
  FAULTS[code]?.() ??
  new Problem("malformed_request", "the request is not well-formed HTTP", {
    hint: "percent-encode anything but plain ASCII, e.g. with curl -G --data-urlencode",
  });

const faultOfBody = (code: string | undefined): Problem =>
  code === TIMEOUT ? timedOut() : new Problem("malformed_request", "the body does not match its headers");
