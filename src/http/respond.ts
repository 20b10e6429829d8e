// Sending a body that is made while it is sent: back-pressure, the client's leaving, the deadline, and the rule that
// a body which cannot be finished is cut.
import { once } from "node:events";
import type { Response } from "express";
import { Problem } from "../errors.js";
import { giveBack } from "../segments/pieces.js";
import { endStage, sendTiming } from "./timing.js";
import { onceClosed } from "./pipelining.js";

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

export interface BodyLimits {
  readonly signal: AbortSignal;
  /** Milliseconds that the client may leave without reading. */
  readonly stall: number;
}

/**
 * Sends the pieces of a body. Headers go out with the first piece, so that a failure before it can still be told as a
 * problem. Pieces are made while the client reads those before them. Rejects where `pieces` throws; the caller cuts the
 * connection then. A header Content-Length that is set already says how long the body is.
 */
export async function sendBody(res: Response, pieces: AsyncIterable<Uint8Array>, limits: BodyLimits): Promise<void> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let enough = ONE_PIECE;
  let sending = Promise.resolve();
  for await (const piece of pieces) {
    limits.signal.throwIfAborted();
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
    sending = write(res, held, limits);
    sending.catch(() => undefined); // told where it is awaited
    held = [];
    heldBytes = 0;
    enough = AT_ONCE;
  }
  await sending;
  if (!res.headersSent) res.setHeader("Content-Length", heldBytes);
  res.end(held.length === 1 ? held[0] : Buffer.concat(held, heldBytes));
}

/** Waits for a client that is slow, but not for one that reads nothing for `stall` milliseconds: that one is cut. */
async function write(res: Response, held: readonly Uint8Array[], { signal, stall }: BodyLimits): Promise<void> {
  let isDrained = true;
  for (const piece of held) isDrained = res.write(piece, (error) => error ?? giveBack(piece));
  if (isDrained) return;
  const timer = setTimeout(() => res.destroy(), stall);
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
