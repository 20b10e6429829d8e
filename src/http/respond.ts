// Sending a body that is made while it is sent: back-pressure, the client's leaving, the deadline, and the rule that
// a body which cannot be finished is cut.
import { once } from "node:events";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Request, RequestHandler, Response } from "express";
import { contentTypeOf } from "../catalog/formats.js";
import { Problem } from "../errors.js";
import { sha256 } from "../lake/manifest.js";
import type { Encoding } from "../segments/packer.js";
import { giveBack } from "../segments/store.js";
import { answeredFromCache, negotiateEncoding } from "./headers.js";
import { endStage, sendTiming } from "./observe.js";

/** Bodies up to this size are sent in one piece with their length. */
const ONE_PIECE = 64 * 1024;
/** Bytes of a longer body that are sent together, after its first ones. */
const AT_ONCE = 512 * 1024;

/** A signal that fires when the client leaves or the deadline (milliseconds) passes. */
export function requestSignal(res: Response, deadline: number): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(
      new Problem("deadline_exceeded", `the query took longer than ${deadline / 1000} seconds`, {
        hint: "ask for less at a time, e.g. fewer columns or a shorter date range",
      }),
    );
  }, deadline);
  // A client may have left already, while its version was looked up.
  onceClosed(res, () => {
    clearTimeout(timer);
    controller.abort(new ClientGoneError());
  });
  return controller.signal;
}

/** The client closed the connection: there is nobody to tell. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/** Milliseconds that the client of an answer may leave it unread. */
const stalls = new WeakMap<Response, number>();

/** Sets how long a client may leave its answer unread, in milliseconds. One that takes longer is cut: its slot is wanted. */
export function limitStall(stall: number): RequestHandler {
  return (req, res, next) => {
    stalls.set(res, stall);
    // Node holds what is left of a body that was made.
    res.once("prefinish", () => req.socket.setTimeout(stall));
    next();
  };
}

/**
 * Sends the pieces of a body. Headers go out with the first piece, so that a failure before it can still be told as a
 * problem. Pieces are made while the client reads those before them. Rejects where `pieces` throws; the caller cuts the
 * connection then. A header Content-Length that is set already says how long the body is.
 */
export async function sendBody(res: Response, pieces: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let enough = ONE_PIECE;
  let sending = Promise.resolve();
  for await (const piece of pieces) {
    signal?.throwIfAborted();
    if (piece.length === 0) continue;
    if (!res.headersSent && held.length === 0) {
      endStage(res, "first");
      sendTiming(res);
    }
    held.push(piece);
    heldBytes += piece.length;
    if (heldBytes < enough) continue;
    await sending;
    if (!res.headersSent && !res.hasHeader("Content-Length")) beginPieces(res);
    sending = write(res, held, signal);
    sending.catch(() => undefined); // handled at the await
    held = [];
    heldBytes = 0;
    enough = AT_ONCE;
  }
  await sending;
  if (!res.headersSent) res.setHeader("Content-Length", heldBytes);
  res.end(held.length === 1 ? held[0] : Buffer.concat(held, heldBytes));
}

/** Waits for a client that is slow, but not for one that leaves its answer unread: that one is cut. */
async function write(res: Response, held: readonly Uint8Array[], signal: AbortSignal | undefined): Promise<void> {
  let isDrained = true;
  for (const piece of held) isDrained = res.write(piece, (error) => error ?? giveBack(piece));
  if (isDrained) return;
  const timer = setTimeout(() => res.destroy(), stalls.get(res));
  try {
    await once(res, "drain", { signal });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Prepares the head of a body whose length nobody knows yet. HTTP/1.1 marks its end; in HTTP/1.0 it ends with the
 * connection, so that a cut one looks whole: there it is refused. The head says that the connection stays, whatever becomes
 * of it: where it says that it closes, undici, which is the fetch of Node, takes a body in pieces for whole wherever it is cut.
 */
function beginPieces(res: Response): void {
  if (!res.useChunkedEncodingByDefault) {
    throw new Problem("upgrade_required", "over HTTP/1.0 nobody could tell whether an answer of this size is whole", {
      hint: "ask over HTTP/1.1, in nginx by proxy_http_version 1.1; or for a page at a time with limit and cursor",
    });
  }
  const { socket } = res.req;
  // A client that asked for it waits for the end of the connection.
  if (!res.shouldKeepAlive) res.once("finish", () => socket.end());
  res.setHeader("Connection", "keep-alive");
}

/** Sends a small answer, with validators, compression and timing like a streamed one. `content` is what a client may keep it by: the body without what changes at each publish. */
export async function sendJson(req: Request, res: Response, body: object, content: unknown): Promise<void> {
  if (answeredFromCache(req, res, [req.path, content])) return;
  const plain = Buffer.from(JSON.stringify(body));
  await sendBytes(req, res, async (encoding) => (encoding === "gzip" ? packed(plain) : plain));
}

/** Returns a function that sends `body`, which never changes: it is written and compressed once. */
export function fixedJson(body: object): (req: Request, res: Response) => Promise<void> {
  const plain = Buffer.from(JSON.stringify(body));
  const name = sha256(plain);
  let gzipped: Promise<Buffer> | undefined;
  return async (req, res) => {
    if (answeredFromCache(req, res, [req.path, name])) return;
    await sendBytes(req, res, async (encoding) => (encoding === "gzip" ? (gzipped ??= packed(plain)) : plain));
  };
}

const packed = promisify(gzip) as (plain: Buffer) => Promise<Buffer>;

async function sendBytes(
  req: Request,
  res: Response,
  bytesIn: (encoding: Encoding) => Promise<Uint8Array>,
): Promise<void> {
  const encoding = negotiateEncoding(req, "json");
  res.setHeader("Content-Type", contentTypeOf("json"));
  if (encoding !== "identity") res.setHeader("Content-Encoding", encoding);
  const bytes = await bytesIn(encoding);
  res.setHeader("Content-Length", bytes.length);
  await sendBody(res, only(bytes));
}

async function* only(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield Promise.resolve(piece);
}

/** The answers of each connection that wait behind an earlier one: its requests were pipelined. */
const waiting = new WeakMap<Socket, Set<Response>>();

/**
 * Closes an answer with its connection, whether it was being sent or not; Node closes only the one being sent. The answer is
 * `destroyed` then, but not `closed`.
 */
export const closeWithConnection: RequestHandler = ({ socket }, res, next) => {
  if (res.socket === null) {
    const answers = waitingOn(socket);
    answers.add(res);
    res.once("socket", () => answers.delete(res));
  }
  next();
};

/** Does a job when an answer is closed, at once where it is already: no event comes again. */
export function onceClosed(res: Response, job: () => void): void {
  if (res.destroyed) job();
  else res.once("close", job);
}

function waitingOn(socket: Socket): Set<Response> {
  const known = waiting.get(socket);
  if (known) return known;
  const answers = new Set<Response>();
  waiting.set(socket, answers);
  socket.once("close", () => {
    for (const res of answers) res.destroy().emit("close");
  });
  return answers;
}
