// Checks every request before it is routed: its HTTP version, its host, and the length of its path and headers.
import type { RequestHandler } from "express";
import { Problem } from "../errors.js";
import { clip } from "../words.js";

/** Maximum bytes of URL and headers together: enough for a list of about twenty thousand codes. */
export const MAX_HEADER_BYTES = 256 * 1024;

/** Maximum bytes of a body: as many. */
export const MAX_BODY_BYTES = 256 * 1024;

export const bodyTooLong = (): Problem =>
  new Problem("content_too_large", `the body is longer than ${MAX_BODY_BYTES} bytes`, {
    hint: "send fewer values at a time; repeated values count",
  });

/**
 * Maximum characters of a path, far above the longest one that is served: Node takes quadratic time to resolve
 * `../../…`.
 */
const MAX_PATH = 1_024;

/**
 * Maximum characters of one header, including repetitions. Only the query may be longer: nothing else contains long
 * lists.
 */
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
  new Problem("unsupported_http_version", "only HTTP/1.1 and HTTP/1.0 are supported on this connection", {
    allowed: VERSIONS.map((version) => `HTTP/${version}`),
  });

/** HTTP/1.1 requires exactly one Host header. If there were two, a proxy might use the other one. */
function hostProblem(rawHeaders: readonly string[], version: string): Problem | null {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.length === 4 && name.toLowerCase() === "host");
  if (hosts.length === 1 || (hosts.length === 0 && version === "1.0")) return null;
  const found = hosts.length === 0 ? "no Host header" : `${hosts.length} Host headers`;
  return new Problem("malformed_request", `the request has ${found} instead of one`);
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
