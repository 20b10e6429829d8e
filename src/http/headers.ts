// Headers: what every answer tells browsers, other origins, negotiation of format and compression, and validators.
import { createHash } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { FORMATS, FORMAT_NAMES, type Format } from "../catalog/formats.js";
import { REVISION } from "../encode/index.js";
import { Problem } from "../errors.js";
import type { Encoding } from "../segments/packer.js";

/** An answer is data for the one who asked, not a page, a script or a frame. */
const HEADERS = {
  "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "X-Permitted-Cross-Domain-Policies": "none",
} as const;

/** Browsers heed it over TLS alone. */
const OVER_TLS = { "Strict-Transport-Security": "max-age=31536000" } as const;

/** A page that needs more sets its own Content-Security-Policy afterwards. */
export function secureHeaders(tls: boolean): RequestHandler {
  const headers = Object.entries(tls ? { ...HEADERS, ...OVER_TLS } : HEADERS);
  return (_req, res, next) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    next();
  };
}

const EXPOSED = [
  ...["ETag", "RateLimit", "RateLimit-Policy", "Retry-After", "Server-Timing", "X-Data-Version", "X-Next-Cursor"],
  ...["X-Request-Id", "X-Truncated"],
].join(", ");

const PREFLIGHT = {
  "Access-Control-Allow-Methods": "GET, HEAD",
  "Access-Control-Allow-Headers": "Accept, Authorization, If-None-Match",
  "Access-Control-Max-Age": "7200",
} as const;

/**
 * Lets pages of other origins ask, each with its own token and without cookies. `origins` may hold `*`; without any, browsers
 * keep answers from other pages as they always do.
 */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  const any = origins.includes("*");
  return (req, res, next) => {
    const { origin } = req.headers;
    if (origins.length > 0 && !any) res.vary("Origin");
    if (origin === undefined || !(any || origins.includes(origin))) {
      next();
      return;
    }
    res.setHeader("Access-Control-Allow-Origin", any ? "*" : origin);
    res.setHeader("Access-Control-Expose-Headers", EXPOSED);
    if (req.method !== "OPTIONS" || req.headers["access-control-request-method"] === undefined) {
      next();
      return;
    }
    for (const [name, value] of Object.entries(PREFLIGHT)) res.setHeader(name, value);
    res.status(204).end();
  };
}

const MEDIA_TYPES = FORMAT_NAMES.map((format) => FORMATS[format].mediaType);

/** `format=` wins over the Accept header. Throws 406 where nothing on offer is accepted. */
export function negotiateFormat(req: Request, asked: Format | null): Format {
  if (asked !== null) return asked;
  const accepted = req.accepts(MEDIA_TYPES);
  const format = FORMAT_NAMES.find((candidate) => FORMATS[candidate].mediaType === accepted);
  if (format) return format;
  throw new Problem("not_acceptable", "none of the formats in the Accept header is offered", {
    allowed: MEDIA_TYPES,
    hint: "send Accept: application/json, or choose with format=",
  });
}

export function negotiateEncoding(req: Request, format: Format): Encoding {
  return !FORMATS[format].isCompressed && req.acceptsEncodings(["gzip", "identity"]) === "gzip" ? "gzip" : "identity";
}

/**
 * Sets the validators, so that a client can ask whether its answer still holds; `parts` name the content: hashes of file lists and the question. Returns true where the
 * client has the answer already: it was told so with 304.
 */
export function answeredFromCache(req: Request, res: Response, parts: readonly unknown[]): boolean {
  const hash = createHash("sha256")
    .update(JSON.stringify([REVISION, ...parts]))
    .digest("base64url");
  const tag = `"${hash.slice(0, 27)}"`;
  res.setHeader("ETag", `W/${tag}`);
  res.setHeader("Cache-Control", "private, no-cache");
  res.vary("Accept, Accept-Encoding, Authorization");
  if (!names(req.headers["if-none-match"], tag)) return false;
  res.status(304).end();
  return true;
}

/**
 * Whether an If-None-Match header names the tag. A `Cache-Control: no-cache` beside it is no reason to send the rows
 * again: browsers and undici add it to every request that has validators of its own.
 */
function names(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" || header.split(",").some((one) => one.trim().replace(/^W\//, "") === tag);
}
