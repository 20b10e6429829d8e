// Collects what is known about a request while it is answered; writes one log line and its metrics at the end.
import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Request, RequestHandler } from "express";
import { type Logger, pino, stdTimeFunctions } from "pino";
import type { LogLevel } from "../settings.js";
import type { ProblemCode } from "../errors.js";
import type { StoredToken } from "../lake/tokens.js";
import { printable } from "../words.js";

/** What is known about a request while it is answered. */
interface Notes {
  /** Generated here, and sent as the header `X-Request-Id`. */
  id?: string;
  token?: StoredToken;
  /** From the catalog, never client text. */
  entity?: string;
  /** Encoded rows. */
  rows?: number;
  /** The problem that was sent. */
  problem?: ProblemCode;
}

interface Mark {
  readonly name: string;
  readonly at: number;
}

interface RequestRecord {
  readonly notes: Notes;
  /** The start, then the end of each stage. */
  readonly marks: Mark[];
}

const records = new WeakMap<ServerResponse, RequestRecord>();

/** The record of a request. Its clock starts with the first call. */
function recordOf(res: ServerResponse): RequestRecord {
  const known = records.get(res);
  if (known) return known;
  const record = { notes: {}, marks: [{ name: "start", at: performance.now() }] };
  records.set(res, record);
  return record;
}

export const notesOf = (res: ServerResponse): Notes => recordOf(res).notes;

/** Records that the stage `name` has ended. */
export function endStage(res: ServerResponse, name: string): void {
  recordOf(res).marks.push({ name, at: performance.now() });
}

/** Sets the header Server-Timing from the stages that have ended. */
export function sendTiming(res: ServerResponse): void {
  const { marks } = recordOf(res);
  const stages = marks.slice(1).map(({ name, at }, i) => `${name};dur=${(at - marks[i]!.at).toFixed(2)}`);
  res.setHeader("Server-Timing", stages.join(", "));
}

/** Milliseconds of each stage so far, where `send` is the time since the last one, and in total. */
function stagesOf(res: ServerResponse): { readonly stages: Record<string, number>; readonly ms: number } {
  const marks = [...recordOf(res).marks, { name: "send", at: performance.now() }];
  const stages: Record<string, number> = {};
  for (let i = 1; i < marks.length; i++) stages[marks[i]!.name] = rounded(marks[i]!.at - marks[i - 1]!.at);
  return { stages, ms: rounded(marks.at(-1)!.at - marks[0]!.at) };
}

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

/** What is known about a request at its end. Only the method is client text. */
interface Seen {
  readonly method: string;
  /** As the application names it, e.g. `/entities/:entity`; null if nothing is served there or the token was wrong. */
  readonly route: string | null;
  readonly entity: string | null;
  /** Null if the connection ended before a response began. */
  readonly status: number | null;
  readonly rows: number;
  /** Bytes that were written to the connection, including headers. */
  readonly bytes: number;
  /** Milliseconds. */
  readonly ms: number;
  /** Milliseconds of each stage, in order. */
  readonly stages: Readonly<Record<string, number>>;
  /** Whether the client did not receive the complete response. */
  readonly cut: boolean;
}

/** Counts requests. */
export interface RequestMetrics {
  begin(): void;
  end(seen: Seen): void;
}

/** Makes ids unique across processes and restarts. */
const PREFIX = randomBytes(6).toString("base64url");
let requests = 0;

/**
 * Tells a client whether a response is to its request: the CRC-32 of path and query, percent-decoded because proxies
 * may encode them in another way, and of the body if it was read.
 */
export function answerTo({ originalUrl, body }: Pick<Request, "originalUrl" | "body">): string {
  const decoded = originalUrl.replace(/%[0-9a-f]{2}/gi, (hex) => String.fromCharCode(Number(`0x${hex.slice(1)}`)));
  const sum = crc32(Buffer.from(decoded, "latin1"));
  return (body instanceof Uint8Array ? crc32(body, sum) : sum).toString(16).padStart(8, "0");
}

export function observe(log: Log, metrics: RequestMetrics): RequestHandler {
  return (req, res, next) => {
    const { notes } = recordOf(res);
    notes.id = `${PREFIX}-${(++requests).toString(36)}`;
    res.setHeader("X-Request-Id", notes.id);
    res.setHeader("X-Answer-To", answerTo(req));
    const { socket } = req;
    const address = socket.remoteAddress;
    metrics.begin();
    let complete = false;
    // Node also emits finish if the connection was lost before everything was sent.
    res.once("finish", () => (complete = !socket.destroyed));
    res.once("close", () => {
      const { stages, ms } = stagesOf(res);
      const seen: Seen = {
        method: req.method,
        route: (req.route as { path: string } | undefined)?.path ?? null,
        entity: notes.entity ?? null,
        status: res.headersSent ? res.statusCode : null,
        rows: notes.rows ?? 0,
        bytes: newBytes(socket),
        ms,
        stages,
        cut: !complete,
      };
      metrics.end(seen);
      if (!log.isLevelEnabled("info")) return;
      log.info({ id: notes.id, address, token: notes.token?.name, problem: notes.problem, ...seen }, "request");
    });
    next();
  };
}

const counted = new WeakMap<Socket, number>();

/** Bytes written to a connection since the last call. */
function newBytes(socket: Socket): number {
  const before = counted.get(socket) ?? 0;
  counted.set(socket, socket.bytesWritten);
  return socket.bytesWritten - before;
}

/** The log: one JSON object per line, for log collectors and grep. */
export type Log = Pick<Logger, "info" | "warn" | "error" | "isLevelEnabled">;

/** `write` gets each line without its line end and with unprintable characters escaped. */
export function openLog(level: LogLevel, write: (line: string) => void): Log {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => write(printable(line.trimEnd())) },
  );
}
