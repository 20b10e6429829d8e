// Web pages of other origins may ask where the operator says so. They bring their token themselves: no cookies.
import type { RequestHandler } from "express";

const EXPOSED = [
  ...["ETag", "RateLimit", "RateLimit-Policy", "Retry-After", "Server-Timing", "X-Data-Version", "X-Next-Cursor"],
  ...["X-Request-Id", "X-Truncated"],
].join(", ");

const PREFLIGHT = {
  "Access-Control-Allow-Methods": "GET, HEAD",
  "Access-Control-Allow-Headers": "Accept, Authorization, If-None-Match",
  "Access-Control-Max-Age": "7200",
} as const;

/** `origins` may hold `*`; without any, browsers keep answers from other pages as they always do. */
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
