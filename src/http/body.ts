// Reads the body of a request. One that is too long is refused as soon as that is known: from its announced length
// before it is read, otherwise when it exceeds the limit. Node reads and discards the rest after the response, so that
// the connection can carry the next request.
import type { IncomingMessage, Server } from "node:http";
import type { RequestHandler } from "express";
import { Problem } from "../errors.js";
import { bodyTooLong, MAX_BODY_BYTES } from "./well-formed.js";

/** Puts the bytes of the body into `req.body`. */
export const readBody: RequestHandler = (req, _res, next) => {
  if (isTooLong(req)) throw bodyTooLong();
  const parts: Buffer[] = [];
  let length = 0;
  const onData = (part: Buffer): void => {
    length += part.length;
    if (length <= MAX_BODY_BYTES) parts.push(part);
    else end(bodyTooLong());
  };
  const onEnd = (): void => {
    req.body = Buffer.concat(parts);
    end();
  };
  const onError = (): void => end(new Problem("malformed_request", "the body does not match its headers"));
  const end = (problem?: Problem): void => {
    req.off("data", onData).off("end", onEnd).off("error", onError);
    next(problem);
  };
  req.on("data", onData).on("end", onEnd).on("error", onError);
};

const isTooLong = ({ headers }: IncomingMessage): boolean => Number(headers["content-length"] ?? 0) > MAX_BODY_BYTES;

/**
 * Clients that send `Expect: 100-continue` wait for a response before they send the body. If it is too long, they get only
 * the refusal: no byte of it arrives, and the connection ends with the response.
 */
export function invite(server: Server): void {
  server.on("checkContinue", (req, res) => {
    if (isTooLong(req)) res.setHeader("Connection", "close");
    else res.writeContinue();
    server.emit("request", req, res);
  });
}
