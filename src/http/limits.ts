// What one token, or one address without a valid token, may ask of the server.
import type { RequestHandler, Response } from "express";
import type { ServerConfig } from "../config.js";
import { createGate, type Gate } from "../engine/gate.js";
import { Problem } from "../errors.js";
import { tokenOf } from "./auth.js";
import { createBuckets } from "./buckets.js";
import { requestSignal } from "./respond.js";

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

/**
 * Answers under way of each token. More of them wait, so that a client with many connections is slowed and not refused;
 * those for which even the queue has no room are.
 */
export function limitStreams({ tokenStreams, queue, deadline }: ServerConfig): RequestHandler {
  if (tokenStreams === null) return pass;
  const gates = new Map<string, Gate>();
  const full = (): Problem =>
    new Problem("too_many_requests", `this token has ${tokenStreams} answers under way and ${queue} that wait`, {
      hint: "ask with fewer connections at a time",
      retryAfter: 1,
    });
  return async (_req, res, next) => {
    const key = tokenOf(res).sha256;
    const gate = gates.get(key) ?? createGate(tokenStreams, queue, full);
    gates.set(key, gate);
    const leave = await gate.enter(requestSignal(res, deadline));
    onceClosed(res, () => {
      leave();
      const { inside, waiting } = gate.load();
      if (inside + waiting === 0) gates.delete(key);
    });
    next();
  };
}

function onceClosed(res: Response, job: () => void): void {
  if (res.closed) job();
  else res.once("close", job);
}

/** Cuts a client that does not take the end of its answer within `stall` milliseconds: its place is wanted. */
export function limitStall(stall: number): RequestHandler {
  return (req, res, next) => {
    res.once("prefinish", () => req.socket.setTimeout(stall));
    next();
  };
}
