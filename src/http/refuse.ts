// What never becomes a whole request: bytes that are not HTTP, too many of them, a body that breaks off, an expectation
// that is unknown. The client still gets a problem document, wherever one can be sent.
import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Response } from "express";
import { Problem, type ProblemCode } from "../errors.js";
import { notesOf } from "./notes.js";
import { PROBLEM_TYPE, problemDocument } from "./problem.js";
import { MAX_HEADER_BYTES, unsupportedVersion } from "./well-formed.js";

/** Calls `refused` with the problem code where there was no request yet; other failures are observed like any request. */
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
      notesOf(res as Response).problem = problem.code;
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
