// What one token, one address and the network may take: requests a minute, answers under way, wrong tokens, connections.
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

/** Tokens that are counted at the same time: more than anyone makes. */
const TOKENS = 10_000;

const pass: RequestHandler = (_req, _res, next) => next();

/** Requests a minute of each token, in bursts of a minute's worth. Headers tell what is left, as the IETF drafts it. */
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
  /** What is left, whole ones. */
  readonly remaining: number;
  /** Seconds until everything may be taken again. */
  readonly reset: number;
  /** Seconds until one may be taken; 0 where one may be now. */
  readonly retryAfter: number;
}

interface Buckets {
  /** Takes one. `at` is a time in milliseconds that never goes back. */
  take(key: string, at: number): Taken;
  /** Whether one could be taken. */
  hasAny(key: string, at: number): boolean;
}

interface Bucket {
  left: number;
  at: number;
}

/**
 * Counts by key in constant memory: each key may take `quota` in a window of `window` milliseconds, which refills evenly.
 * The `kept` keys that took last are remembered.
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
  /** Waits for a slot of the request's token; the answer holds it until it is closed. */
  admit(res: Response, cost: Cost, signal: AbortSignal): Promise<void>;
}

/**
 * Bounds the answers under way of each token, so that none takes every slot. More of them wait, so that a client with many connections is slowed and not refused;
 * those for which even the queue has no room are.
 */
export function createTokenAdmission({
  tokenStreams,
  queue,
}: Pick<ServerConfig, "tokenStreams" | "queue">): TokenAdmission {
  if (tokenStreams === null) return { admit: async () => undefined };
  const admissions = new Map<string, Admission>();
  const full = (): Problem =>
    new Problem("too_many_requests", `this token has ${tokenStreams} answers under way and too many that wait`, {
      hint: "ask with fewer connections at a time",
      retryAfter: 1,
    });
  return {
    async admit(res, cost, signal) {
      const key = notesOf(res).token!.sha256;
      const admission = admissions.get(key) ?? createAdmission(tokenStreams, queue, full);
      admissions.set(key, admission);
      const release = await admission.admit(signal, cost);
      onceClosed(res, () => {
        release();
        const { inside, waiting } = admission.load();
        if (inside + waiting === 0) admissions.delete(key);
      });
    },
  };
}

export interface WrongTokens {
  /** Whether an address has not tried too many of late. */
  mayTry(address: string | undefined): boolean;
  /** Counts a wrong token. Returns what its sender is told. */
  count(address: string | undefined): Problem;
}

/** Addresses that are told from one another. */
const ADDRESSES = 10_000;

/**
 * Slows addresses that try tokens: `quota` wrong ones a minute. Valid tokens always pass, for a proxy and all who use it
 * share one address.
 */
export function createWrongTokens(quota: number, clock: () => number = () => performance.now()): WrongTokens {
  const buckets = createBuckets(quota, 60_000, ADDRESSES);
  return {
    mayTry: (address) => buckets.hasAny(networkOf(address), clock()),
    count(address) {
      const { allowed, retryAfter } = buckets.take(networkOf(address), clock());
      if (allowed) return new Problem("unauthorized", "the access token is not valid, was revoked or has expired");
      return new Problem("too_many_requests", "too many wrong access tokens came from this address", { retryAfter });
    },
  };
}

/** An IPv4 address, or the 64 bits of an IPv6 one that its owner does not choose. */
export function networkOf(address = ""): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head, tail] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const left = head ?? [];
  const right = tail ?? [];
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0");
  return [...left, ...zeros, ...right].slice(0, 4).join(":");
}

/** Connections beyond the limit that get an answer; the rest are closed. */
const ANSWERED = 16;

const excess = new WeakSet<Socket>();

/** `event` is the one by which the server tells of a connection that can carry requests. */
export function limitConnections(server: Server, event: "connection" | "secureConnection", limit: number): void {
  let open = 0;
  server.maxConnections = limit + ANSWERED;
  server.on(event, (socket: Socket) => {
    if (++open > limit) excess.add(socket);
    socket.once("close", () => open--);
  });
}

/** Answers a request on a connection beyond the limit with 503 and closes the connection. */
export const refuseExcess: RequestHandler = (req, res, next) => {
  if (!excess.has(req.socket)) {
    next();
    return;
  }
  res.setHeader("Connection", "close");
  throw new Problem("overloaded", "too many connections are open", { retryAfter: 1 });
};

/** Files that the process has open besides connections and what they read. */
const OTHER_FILES = 64;

/** DuckDB holds the file that a statement reads twice. */
const FILES_OF_STATEMENT = 2;

/** An answer may read from three statements at the same time: one of rows, the next one of rows, and one of factors. */
const FILES_OF_ANSWER = 3 * FILES_OF_STATEMENT;

/** `wanted`, or fewer where the system lets the process open so few files that reading for `streams` answers would fail. */
export function affordableConnections(wanted: number, streams: number, openFiles = openFilesLimit()): number {
  const room = openFiles - OTHER_FILES - ANSWERED;
  const affordable = Math.max(room - streams * FILES_OF_ANSWER, Math.floor(room / (1 + FILES_OF_ANSWER)));
  return Math.max(1, Math.min(wanted, affordable));
}

/** How many files this process may have open; no limit where the system does not tell. */
function openFilesLimit(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
