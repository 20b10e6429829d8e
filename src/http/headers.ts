// Response headers: security, other origins, negotiation of format and compression, and validators.
import { createHash } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { FORMATS, FORMAT_NAMES, type Format } from "../catalog/formats.js";
import { REVISION } from "../encode/index.js";
import { Problem } from "../errors.js";
import type { EntityRequest } from "../query/request.js";
import { ENCODINGS, type Encoding } from "../segments/packer.js";
import { hasZstd } from "../zstd.js";

/** A response is data for one client, not a page, a script or a frame. */
const HEADERS = {
  "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "X-Permitted-Cross-Domain-Policies": "none",
} as const;

/** Browsers only accept it over TLS. */
const OVER_TLS = { "Strict-Transport-Security": "max-age=31536000" } as const;

/** A page that needs more sets its own Content-Security-Policy later. */
export function secureHeaders(tls: boolean): RequestHandler {
  const headers = Object.entries(tls ? { ...HEADERS, ...OVER_TLS } : HEADERS);
  return (_req, res, next) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    next();
  };
}

const EXPOSED = [
  ...["ETag", "RateLimit", "RateLimit-Policy", "Retry-After", "Server-Timing", "X-Covered", "X-Data-Version"],
  ...["Content-Disposition", "X-Answer-To", "X-Engine", "X-Excused-Gaps"],
  ...["X-Next-Cursor", "X-Request-Id", "X-Truncated"],
].join(", ");

const PREFLIGHT = {
  "Access-Control-Allow-Methods": "GET, HEAD, POST",
  "Access-Control-Allow-Headers": "Accept, Authorization, Content-Type, If-None-Match",
  "Access-Control-Max-Age": "7200",
} as const;

/**
 * Allows requests from pages of other origins, with their own token and without cookies. `origins` may contain `*`; if
 * it is empty, browsers keep responses from other pages.
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

/**
 * `format=` takes precedence over the Accept header. Throws 406 if no accepted format is available, and 400 if the request
 * asks for what the format or this server does not have.
 */
export function negotiateFormat(
  req: Request,
  { format: asked, dates, compression, bom }: Pick<EntityRequest, "format" | "dates" | "compression" | "bom">,
): Format {
  const format = asked ?? acceptedFormat(req);
  if (bom !== null && format !== "csv") {
    throw new Problem("contradictory_parameters", `bom is for CSV only, and this response is ${format}`, {
      parameter: "bom",
      hint: "add format=csv, or leave bom out",
    });
  }
  if (compression !== null && format !== "arrow") {
    throw new Problem("contradictory_parameters", `compression is for Arrow only, and this response is ${format}`, {
      parameter: "compression",
      hint: "add format=arrow, or leave compression out",
    });
  }
  if (compression === "zstd" && !hasZstd) {
    throw new Problem("invalid_parameter", "compression: this server has no zstd, which needs Node 22.15 or later", {
      parameter: "compression",
      allowed: ["none"],
      hint: "leave compression out; with Accept-Encoding: gzip the server compresses the whole response",
    });
  }
  if (dates === null || FORMATS[format].hasDates) return format;
  const typed = FORMAT_NAMES.filter((one) => FORMATS[one].hasDates).map((one) => `format=${one}`);
  throw new Problem("contradictory_parameters", `${format} has no type for dates, so dates=date is not possible`, {
    parameter: "dates",
    hint: `add ${typed.join(" or ")}, or leave dates out: they are then YYYYMMDD text`,
  });
}

function acceptedFormat(req: Request): Format {
  const accepted = req.accepts(MEDIA_TYPES);
  const format = FORMAT_NAMES.find((candidate) => FORMATS[candidate].mediaType === accepted);
  if (format) return format;
  throw new Problem("not_acceptable", "none of the formats in the Accept header is available", {
    allowed: MEDIA_TYPES,
    hint: "send Accept: application/json, or choose with format=",
  });
}

/**
 * Suggests a name for the file that a client saves. `parts` are what tells it from others; characters that a file system or
 * the header might not take are left out of them.
 */
export function nameFile(res: Response, format: Format, parts: readonly string[]): void {
  const { disposition, extension } = FORMATS[format];
  const name = parts.map((part) => part.replaceAll(/[^\w.-]/g, "")).join("_");
  res.setHeader("Content-Disposition", `${disposition}; filename="${name}.${extension}"`);
}

/** The encoding of those `offered` that the client prefers; of several with the same weight, the one listed first. */
export function negotiateEncoding(req: Request, offered: readonly Encoding[] = ENCODINGS): Encoding {
  const accepted = req.acceptsEncodings([...offered]);
  return offered.find((encoding) => encoding === accepted) ?? "identity";
}

/** Says which days a response covers, which may be fewer than were asked for; null: none. */
export function setCovered(res: Response, days: { readonly first: string; readonly last: string } | null): void {
  res.setHeader("X-Covered", days === null ? "none" : `${days.first}/${days.last}`);
}

/**
 * Sets the validators, so that a client can ask whether its copy is current. `parts` identify the content: hashes of
 * file lists and the request. Returns true if the copy is current and 304 was sent.
 */
export function sentNotModified(req: Request, res: Response, parts: readonly unknown[]): boolean {
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
 * Whether an If-None-Match header names the tag. `Cache-Control: no-cache` does not matter: browsers and undici add it
 * to every request with validators of its own.
 */
function names(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" || header.split(",").some((one) => one.trim().replace(/^W\//, "") === tag);
}
