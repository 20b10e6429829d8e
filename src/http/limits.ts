// Limits per token, per address and for the network: requests per minute, concurrent responses, wrong tokens,
// connections.
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { RequestHandler, Response } from "express";
import type { ServerConfig } from "../config.js";
import { LRUCache } from "lru-cache";
import { type Admission, createAdmission } from "../engine/admission.js";
import { Problem } from "../errors.js";
import type { Cost } from "../query/scan.js";
import { notesOf } from "./observe.js";
import { onceClosed } from "./respond.js";

const MINUTE = 60_000;

/** Tokens that are counted at the same time: more than anyone creates. */
const TOKENS = 10_000;

const pass: RequestHandler = (_req, _res, next) => next();

/** Limits requests per minute of each token; a burst may use the whole minute. The headers follow the IETF draft. */
export function limitRate(quota: number | null): RequestHandler {
  if (quota === null) return pass;
  const buckets = createBuckets(quota, MINUTE, TOKENS);
  return (_req, res, next) => {
    const { allowed, remaining, reset, retryAfter } = buckets.take(notesOf(res).token!.sha256, performance.now());
    res.setHeader("RateLimit-Policy", `"minute";q=${quota};w=60`);
    res.setHeader("RateLimit", `"minute";r=${remaining};t=${reset}`);
    if (allowed) {
      next();
      return;
    }
    throw new Problem("too_many_requests", `this token may make ${quota} requests a minute`, { retryAfter });
  };
}

interface Taken {
  readonly allowed: boolean;
  /** Requests left, rounded down. */
  readonly remaining: number;
  /** Seconds until the full quota is available. */
  readonly reset: number;
  /** Seconds until one is available; 0 if one is available now. */
  readonly retryAfter: number;
}

interface Buckets {
  /** Takes one. `at` is a monotonic time in milliseconds. */
  take(key: string, at: number): Taken;
  /** Whether one is available. */
  hasAny(key: string, at: number): boolean;
}

interface Bucket {
  left: number;
  at: number;
}

/**
 * Counts by key in constant memory: each key may take `quota` per `window` milliseconds, refilled evenly. Only the
 * `kept` most recent keys are remembered.
 */
export function createBuckets(quota: number, window: number, kept: number): Buckets {
  const buckets = new LRUCache<string, Bucket>({ max: kept });
  const perMs = quota / window;
  const leftOf = (bucket: Bucket | undefined, at: number): number =>
    bucket ? Math.min(quota, bucket.left + (at - bucket.at) * perMs) : quota;
  const seconds = (missing: number): number => Math.max(0, Math.ceil(missing / perMs / 1000));

  return {
    hasAny: (key, at) => leftOf(buckets.peek(key), at) >= 1,
    take(key, at) {
      const found = leftOf(buckets.get(key), at);
      const allowed = found >= 1;
      const left = allowed ? found - 1 : found;
      buckets.set(key, { left, at });
      return { allowed, remaining: Math.floor(left), reset: seconds(quota - left), retryAfter: seconds(1 - left) };
    },
  };
}

export interface TokenAdmission {
  /** Waits for a slot of the request's token. The response holds it until it is closed. */
  admit(res: Response, cost: Cost, signal: AbortSignal): Promise<void>;
}

/**
 * Limits the concurrent responses of each token, so that none takes every slot. Further ones wait, so that a client
 * with many connections is slowed, not refused; they are refused only if the queue is full.
 */
export function createTokenAdmission({
  tokenStreams,
  queue,
}: Pick<ServerConfig, "tokenStreams" | "queue">): TokenAdmission {
  if (tokenStreams === null) return { admit: async () => undefined };
  const full = (): Problem =>
    new Problem("too_many_requests", `this token has ${tokenStreams} responses in progress and too many waiting`, {
      hint: "use fewer connections at a time",
      retryAfter: 1,
    });
  return createAdmissions(tokenStreams, queue, full);
}

/** For each token, `slots` responses at a time, and a queue of `queueLength`; beyond it admission throws `full`. */
export function createAdmissions(slots: number, queueLength: number, full: () => Problem): TokenAdmission {
  const admissions = new Map<string, Admission>();
  return {
    async admit(res, cost, signal) {
      const key = notesOf(res).token!.sha256;
      const admission = admissions.get(key) ?? createAdmission(slots, queueLength, full);
      admissions.set(key, admission);
      const release = await admission.admit(signal, cost);
      onceClosed(res, () => {
        release();
        const { active, waiting } = admission.load();
        if (active + waiting === 0) admissions.delete(key);
      });
    },
  };
}

export interface WrongTokens {
  /** Whether the address has not sent too many wrong tokens recently. */
  mayTry(address: string | undefined): boolean;
  /** Counts a wrong token. Returns the problem for the client. */
  count(address: string | undefined): Problem;
}

/** Addresses that are counted separately. */
const ADDRESSES = 10_000;

/**
 * Slows addresses that guess tokens: `quota` wrong ones per minute. Valid tokens always pass, because all clients
 * behind a proxy share one address.
 */
export function createWrongTokens(quota: number, clock: () => number = () => performance.now()): WrongTokens {
  const buckets = createBuckets(quota, 60_000, ADDRESSES);
  return {
    mayTry: (address) => buckets.hasAny(networkOf(address), clock()),
    count(address) {
      const { allowed, retryAfter } = buckets.take(networkOf(address), clock());
      if (allowed) return new Problem("unauthorized", "the access token is not valid, was revoked or has expired");
      return new Problem("too_many_requests", "too many wrong access tokens from this address", { retryAfter });
    },
  };
}

/** An IPv4 address, or the first 64 bits of an IPv6 address: its owner can choose the others. */
export function networkOf(address = ""): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head, tail] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const left = head ?? [];
  const right = tail ?? [];
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0");
  return [...left, ...zeros, ...right].slice(0, 4).join(":");
}

/** Connections over the limit that get a response; any others are closed. */
const ANSWERED = 16;

const excess = new WeakSet<Socket>();

/** `event` is the one that the server emits for a connection that can carry requests. */
export function limitConnections(server: Server, event: "connection" | "secureConnection", limit: number): void {
  let open = 0;
  server.maxConnections = limit + ANSWERED;
  server.on(event, (socket: Socket) => {
    if (++open > limit) excess.add(socket);
    socket.once("close", () => open--);
  });
}

/** Answers a request on a connection over the limit with 503 and closes the connection. */
export const refuseExcess: RequestHandler = (req, res, next) => {
  if (!excess.has(req.socket)) {
    next();
    return;
  }
  res.setHeader("Connection", "close");
  throw new Problem("overloaded", "too many connections are open", { retryAfter: 1 });
};

/** Files that the process has open in addition to connections and data files. */
const OTHER_FILES = 64;

/** DuckDB opens each file of a statement twice. */
const FILES_OF_STATEMENT = 2;

/** A response may read from three statements at the same time: two of rows and one of factors. */
const FILES_OF_ANSWER = 3 * FILES_OF_STATEMENT;

/** `wanted`, or fewer if the process may open so few files that reading for `streams` responses would fail. */
export function affordableConnections(wanted: number, streams: number, openFiles = openFilesLimit()): number {
  const room = openFiles - OTHER_FILES - ANSWERED;
  const affordable = Math.max(room - streams * FILES_OF_ANSWER, Math.floor(room / (1 + FILES_OF_ANSWER)));
  return Math.max(1, Math.min(wanted, affordable));
}

/** How many files this process may open; unlimited if the system does not say. */
function openFilesLimit(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
