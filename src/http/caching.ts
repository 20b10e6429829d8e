// Validators: an answer is named by the files it was read from and the question, so a client can ask whether it changed.
import { createHash } from "node:crypto";
import type { Request, Response } from "express";

/** Goes up when the same rows are encoded in another way. */
const REVISION = 1;

/**
 * Sets the caching headers; `parts` name the content: hashes of file lists and the question. Returns true where the
 * client has the answer already: it was told so with 304.
 */
export function answeredFromCache(req: Request, res: Response, parts: readonly unknown[]): boolean {
  const hash = createHash("sha256")
    .update(JSON.stringify([REVISION, ...parts]))
    .digest("base64url");
  res.setHeader("ETag", `W/"${hash.slice(0, 27)}"`);
  res.setHeader("Cache-Control", "private, no-cache");
  res.setHeader("Vary", "Accept, Accept-Encoding, Authorization");
  if (!req.fresh) return false;
  res.status(304).end();
  return true;
}
