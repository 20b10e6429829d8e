// What never becomes a request: bytes that are not HTTP, too many of them, an expectation that we do not know. The
// client still gets a problem document.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Problem, type ProblemCode } from "../errors.js";
import { PROBLEM_TYPE, problemDocument } from "./problem.js";

/** Bytes of URL and headers together: room for a list of some twenty thousand codes. */
export const MAX_HEADER_BYTES = 256 * 1024;

/** `refused` is told the code of each. */
export function refuseMalformed(server: Server, refused: (code: ProblemCode) => void): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    // An answer that is under way must not be continued with other bytes: it is cut.
    const answering = (socket as { _httpMessage?: unknown })._httpMessage;
    if (!socket.writable || answering || UNANSWERABLE.test(error.code ?? "")) {
      socket.destroy();
      return;
    }
    const problem = toProblem(error.code);
    refused(problem.code);
    const body = problemDocument(problem);
    const head = [
      `HTTP/1.1 ${problem.status} ${problem.title}`,
      `Content-Type: ${PROBLEM_TYPE}; charset=utf-8`,
      "Cache-Control: no-store",
      "X-Content-Type-Options: nosniff",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
      ...(problem.status === 405 ? ["Allow: GET, HEAD"] : []),
    ];
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  });
  server.on("checkExpectation", (_req: IncomingMessage, res: ServerResponse) => {
    refused("expectation_failed");
    const problem = new Problem("expectation_failed", "the header Expect asks for something that is not offered");
    res.writeHead(problem.status, { "Content-Type": PROBLEM_TYPE, Connection: "close" }).end(problemDocument(problem));
  });
}

/** Errors after which nothing can be sent on a connection: waiting until it is sent would never end. */
const UNANSWERABLE = /^(ECONNRESET|EPROTO|ERR_SSL_.*|ERR_TLS_.*)$/;

function toProblem(code: string | undefined): Problem {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new Problem("request_too_large", `URL and headers are longer than ${MAX_HEADER_BYTES} bytes`, {
      hint: "ask for fewer codes at a time, or for all of them and filter on your side",
    });
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Problem("request_timeout", "the connection brought no whole request in time");
  }
  if (code === "HPE_INVALID_METHOD") return new Problem("method_not_allowed", "only GET and HEAD are offered");
  return new Problem("malformed_request", "the request is not well-formed HTTP", {
    hint: "percent-encode what is not plain ASCII, e.g. with curl -G --data-urlencode",
  });
}
