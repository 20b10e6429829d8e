// Sends a body while it is produced. Handles back-pressure, clients that leave, and the deadline; a body that cannot be
// finished is cut.
import { once } from "node:events";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Request, RequestHandler, Response } from "express";
import { contentTypeOf } from "../catalog/formats.js";
import { giveBuffer } from "../buffers.js";
import { Problem } from "../errors.js";
import { sha256 } from "../lake/manifest.js";
import type { Encoding } from "../segments/packer.js";
import { sentNotModified, negotiateEncoding } from "./headers.js";
import { endStage, sendTiming } from "./observe.js";

/** Bodies up to this size are sent in one piece with their length. */
const ONE_PIECE = 64 * 1024;
/** Bytes of a longer body that are sent together, after the first ones. */
const AT_ONCE = 512 * 1024;

const signals = new WeakMap<Response, AbortSignal>();

/**
 * The signal of a response. It is aborted when the client leaves, or `deadline` milliseconds after the first call.
 */
export function requestSignal(res: Response, deadline: number): AbortSignal {
  const known = signals.get(res);
  if (known) return known;
  const controller = new AbortController();
  signals.set(res, controller.signal);
  const timer = setTimeout(() => {
    controller.abort(
      new Problem("deadline_exceeded", `the query took longer than ${deadline / 1000} seconds`, {
        hint: "request less at a time, e.g. fewer columns or a shorter date range",
      }),
    );
  }, deadline);
  // The client may have left already, while its version was looked up.
  onceClosed(res, () => {
    clearTimeout(timer);
    controller.abort(new ClientGoneError());
  });
  return controller.signal;
}

/** The client closed the connection, so nothing can be sent. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/** How long the client of each response may leave it unread, in milliseconds. */
const stalls = new WeakMap<Response, number>();

/**
 * Sets how long a client may leave its response unread, in milliseconds. After that it is cut, and its slot is free.
 */
export function limitStall(stall: number): RequestHandler {
  return (req, res, next) => {
    stalls.set(res, stall);
    // Node still holds the end of a complete body.
    res.once("prefinish", () => req.socket.setTimeout(stall));
    next();
  };
}

/**
 * Sends the pieces of a body. Headers are sent with the first piece, so that an earlier failure can still become a
 * problem. The next piece is made while the client reads the previous one. Rejects if `pieces` throws; the caller then
 * cuts the connection. If Content-Length is set already, it is the length of the body.
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
    sending.catch(() => undefined); // errors are thrown at the await
    held = [];
    heldBytes = 0;
    enough = AT_ONCE;
  }
  await sending;
  if (!res.headersSent) res.setHeader("Content-Length", heldBytes);
  const last = held.length === 1 ? held[0]! : Buffer.concat(held, heldBytes);
  if (held.length > 1) held.forEach(giveBuffer);
  res.end(last, () => giveBuffer(last));
}

/** Waits for a slow client, but cuts one that leaves its response unread. */
async function write(res: Response, held: readonly Uint8Array[], signal: AbortSignal | undefined): Promise<void> {
  let isDrained = true;
  for (const piece of held) isDrained = res.write(piece, (error) => error ?? giveBuffer(piece));
  if (isDrained) return;
  const timer = setTimeout(() => res.destroy(), stalls.get(res));
  try {
    await once(res, "drain", { signal });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Prepares the head of a body of unknown length. HTTP/1.1 marks its end. In HTTP/1.0 it ends with the connection, so
 * that a cut body would look complete: such requests are refused. The head always says that the connection stays open:
 * if it says that it closes, undici (Node's fetch) takes a chunked body as complete wherever it is cut.
 */
function beginPieces(res: Response): void {
  if (!res.useChunkedEncodingByDefault) {
    throw new Problem(
      "upgrade_required",
      "over HTTP/1.0 a client cannot tell whether a response of this size is complete",
      {
        hint: "use HTTP/1.1 (in nginx: proxy_http_version 1.1), or request a page at a time with limit and cursor",
      },
    );
  }
  const { socket } = res.req;
  // A client that asked to close the connection waits for its end.
  if (!res.shouldKeepAlive) res.once("finish", () => socket.end());
  res.setHeader("Connection", "keep-alive");
}

/**
 * Sends a small response with validators, compression and timing. `content` identifies it for caching: the body without
 * what changes with each publish. A body that takes long is given as a function, which is called only if it is needed.
 */
export async function sendJson(
  req: Request,
  res: Response,
  body: object | (() => Promise<object>),
  content: unknown,
): Promise<void> {
  if (sentNotModified(req, res, [req.path, content])) return;
  const plain = Buffer.from(JSON.stringify(typeof body === "function" ? await body() : body));
  await sendBytes(req, res, async (encoding) => (encoding === "gzip" ? packed(plain) : plain));
}

/** Returns a function that sends `body`, which never changes: it is serialized and compressed once. */
export function fixedJson(body: object): (req: Request, res: Response) => Promise<void> {
  const plain = Buffer.from(JSON.stringify(body));
  const name = sha256(plain);
  let gzipped: Promise<Buffer> | undefined;
  return async (req, res) => {
    if (sentNotModified(req, res, [req.path, name])) return;
    await sendBytes(req, res, async (encoding) => (encoding === "gzip" ? (gzipped ??= packed(plain)) : plain));
  };
}

const packed = promisify(gzip) as (plain: Buffer) => Promise<Buffer>;

async function sendBytes(
  req: Request,
  res: Response,
  bytesIn: (encoding: Encoding) => Promise<Uint8Array>,
): Promise<void> {
  const encoding = negotiateEncoding(req, ["gzip", "identity"]);
  res.setHeader("Content-Type", contentTypeOf("json"));
  if (encoding !== "identity") res.setHeader("Content-Encoding", encoding);
  const bytes = await bytesIn(encoding);
  res.setHeader("Content-Length", bytes.length);
  await sendBody(res, only(bytes));
}

async function* only(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield Promise.resolve(piece);
}

/** The responses of each connection that wait behind an earlier one, because requests were pipelined. */
const waiting = new WeakMap<Socket, Set<Response>>();

/**
 * Closes all responses of a connection with it; Node closes only the one being sent. The waiting ones become
 * `destroyed`, but not `closed`.
 */
export const closeWithConnection: RequestHandler = ({ socket }, res, next) => {
  if (res.socket === null) {
    const answers = waitingOn(socket);
    answers.add(res);
    res.once("socket", () => answers.delete(res));
  }
  next();
};

/** Runs a job when a response is closed, or at once if it is closed already: the event does not come again. */
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
