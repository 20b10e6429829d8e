// Bearer tokens: who asks, and may they read this entity?
import type { Request, RequestHandler, Response } from "express";
import { Problem } from "../errors.js";
import type { StoredToken } from "../lake/tokens.js";
import type { Context } from "./context.js";
import { endStage } from "./timing.js";

/** Lets requests with a valid token pass, and remembers the token for the handlers. */
export function requireToken(context: Context): RequestHandler {
  return async (req, res, next) => {
    const secret = /^Bearer +([\x21-\x7e]+)$/i.exec(req.headers.authorization ?? "")?.[1];
    if (secret === undefined) {
      throw new Problem("unauthorized", "the request has no access token", {
        hint: "send the header Authorization: Bearer <token>; the operator makes one with: tapehouse token create NAME",
      });
    }
    const token = await context.tokens.find(secret, context.now());
    if (!token) throw new Problem("unauthorized", "the access token is not valid, was revoked or has expired");
    res.locals["token"] = token;
    endStage(res, "auth");
    next();
  };
}

export const tokenOf = (res: Response): StoredToken => res.locals["token"] as StoredToken;

export function mayRead(token: StoredToken, entity: string): boolean {
  return token.entities === null || token.entities.includes(entity);
}

/** Throws `forbidden` where the request's token does not cover the entity. */
export function checkEntity(res: Response, entity: string): void {
  const token = tokenOf(res);
  if (mayRead(token, entity)) return;
  throw new Problem("forbidden", `this token may not read ${entity}`, { allowed: token.entities ?? [] });
}

/** The query part of a request, read by the rules of URLs and nothing else. */
export function searchOf(req: Request): URLSearchParams {
  const at = req.originalUrl.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : req.originalUrl.slice(at + 1));
}
