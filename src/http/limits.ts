// How often a token may ask, and how long a client may leave its answer unread.
import type { RequestHandler } from "express";
import { Problem } from "../errors.js";
import { tokenOf } from "./auth.js";
import { createBuckets } from "./buckets.js";

const MINUTE = 60_000;

/** Tokens that are counted at the same time: more than anyone makes. */
const TOKENS = 10_000;

const pass: RequestHandler = (_req, _res, next) => next();

/** Requests a minute of each token, in bursts of a minute's worth. Headers tell what is left, as the IETF drafts it. */
export function limitRate(quota: number | null): RequestHandler {
  if (quota === null) return pass;
  const buckets = createBuckets(quota, MINUTE, TOKENS);
  return (_req, res, next) => {
    const { allowed, remaining, reset, retryAfter } = buckets.take(tokenOf(res).sha256, performance.now());
    res.setHeader("RateLimit-Policy", `"minute";q=${quota};w=60`);
    res.setHeader("RateLimit", `"minute";r=${remaining};t=${reset}`);
    if (allowed) {
      next();
      return;
    }
    throw new Problem("too_many_requests", `this token may make ${quota} requests a minute`, { retryAfter });
  };
}

/** Cuts a client that does not take the end of its answer within `stall` milliseconds: its place is wanted. */
export function limitStall(stall: number): RequestHandler {
  return (req, res, next) => {
    res.once("prefinish", () => req.socket.setTimeout(stall));
    next();
  };
}
