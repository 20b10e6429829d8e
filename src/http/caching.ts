// Validators: an answer is named by the files it was read from and the question, so a client can ask whether it changed.
import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import { REVISION } from "../encode/index.js";

/**
 * Sets the caching headers; `parts` name the content: hashes of file lists and the question. Returns true where the
 * client has the answer already: it was told so with 304.
 */
export function answeredFromCache(req: Request, res: Response, parts: readonly unknown[]): boolean {
  const hash = createHash("sha256")
    .update(JSON.stringify([REVISION, ...parts]))
    .digest("base64url");
  const tag = `"${hash.slice(0, 27)}"`;
  res.setHeader("ETag", `W/${tag}`);
  res.setHeader("Cache-Control", "private, no-cache");
  res.vary("Accept, Accept-Encoding, Authorization");
  if (!names(req.headers["if-none-match"], tag)) return false;
  res.status(304).end();
  return true;
}

/**
 * Whether an If-None-Match header names the tag. A `Cache-Control: no-cache` beside it is no reason to send the rows
 * again: browsers and undici add it to every request that has validators of its own.
 */
function names(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" || header.split(",").some((one) => one.trim().replace(/^W\//, "") === tag);
}
