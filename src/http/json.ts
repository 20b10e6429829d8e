// Small JSON answers: validated, compressed and timed like the streamed ones.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Request, Response } from "express";
import { contentTypeOf } from "../catalog/formats.js";
import { answeredFromCache } from "./caching.js";
import { negotiateEncoding } from "./negotiate.js";
import { sendBody } from "./respond.js";

/** Milliseconds that a client may leave a small answer unread. */
const STALL = 60_000;

/** Sends `body`; `content` is what a client may keep it by: the body without what changes at each publish. */
export async function sendJson(req: Request, res: Response, body: object, content: unknown): Promise<void> {
  if (answeredFromCache(req, res, [req.path, content])) return;
  const encoding = negotiateEncoding(req, "json");
  const text = JSON.stringify(body);
  res.setHeader("Content-Type", contentTypeOf("json"));
  if (encoding !== "identity") res.setHeader("Content-Encoding", encoding);
  const bytes = encoding === "gzip" ? await promisify(gzip)(text) : Buffer.from(text);
  res.setHeader("Content-Length", bytes.length);
  await sendBody(res, only(bytes), { signal: new AbortController().signal, stall: STALL });
}

async function* only(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield Promise.resolve(piece);
}
