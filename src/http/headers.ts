// What every answer tells browsers: it is data for the one who asked, not a page, a script or a frame.
import type { RequestHandler } from "express";

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
