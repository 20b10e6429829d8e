// What a request must be before any route looks at it: of a version that is spoken here, for one host, with a path and
// headers of ordinary length.
import type { RequestHandler } from "express";
import { clip, Problem } from "../errors.js";

/** Bytes of URL and headers together: room for a list of some twenty thousand codes. */
export const MAX_HEADER_BYTES = 256 * 1024;

/** Characters of a path, far above the longest that is served: Node takes quadratic time to resolve `../../…`. */
const MAX_PATH = 1_024;

/** Characters of one header, repetitions included. Only the query may be longer: nothing else holds long lists. */
const MAX_HEADER = 16 * 1024;

export const requireWellFormed: RequestHandler = (req, res, next) => {
  const problem = versionProblem(req.httpVersion) ?? hostProblem(req.rawHeaders, req.httpVersion) ?? lengthProblem(req);
  if (problem === null) {
    next();
    return;
  }
  if (problem.status === 505) res.setHeader("Connection", "close");
  throw problem;
};

const VERSIONS = ["1.1", "1.0"];

const versionProblem = (version: string): Problem | null => (VERSIONS.includes(version) ? null : unsupportedVersion());

export const unsupportedVersion = (): Problem =>
  new Problem("unsupported_http_version", "only HTTP/1.1 and HTTP/1.0 are spoken on this connection", {
    allowed: VERSIONS.map((version) => `HTTP/${version}`),
  });

/** HTTP/1.1 wants to know which host is meant. Of two, a proxy may have taken the other one. */
function hostProblem(rawHeaders: readonly string[], version: string): Problem | null {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.length === 4 && name.toLowerCase() === "host");
  if (hosts.length === 1 || (hosts.length === 0 && version === "1.0")) return null;
  const found = hosts.length === 0 ? "no header Host" : `${hosts.length} headers Host`;
  return new Problem("malformed_request", `the request has ${found}; it takes one`);
}

function lengthProblem({ path, headers }: Parameters<RequestHandler>[0]): Problem | null {
  if (path.length > MAX_PATH) {
    return new Problem("unknown_route", `there is nothing at this path: it has more than ${MAX_PATH} characters`);
  }
  for (const name in headers) {
    if (headers[name]!.length <= MAX_HEADER) continue;
    return new Problem("request_too_large", `the header ${clip(name)} has more than ${MAX_HEADER} characters`);
  }
  return null;
}
