// Access tokens: authenticates requests and checks their permissions.
import type { Request, RequestHandler, Response } from "express";
import { Problem } from "../errors.js";
import { UnavailableError } from "../lake/continuity.js";
import type { StoredToken } from "../lake/tokens.js";
import type { Context } from "./context.js";
import { endStage, notesOf } from "./observe.js";
import type { WrongTokens } from "./limits.js";

/** Seconds after which a client may retry if tokens cannot be checked. */
const UNAVAILABLE_FOR = 10;

/** Where a request carries its token. */
export interface TokenSource {
  readonly secretOf: (req: Request) => string | undefined;
  /** How to send it. */
  readonly hint: string;
}

export const BEARER: TokenSource = {
  secretOf: (req) => /^Bearer +([\x21-\x7e]+)$/i.exec(req.headers.authorization ?? "")?.[1],
  hint: "send the header Authorization: Bearer <token>",
};

/**
 * Lets requests with a valid token pass and stores the token for the handlers. Wrong tokens are counted in
 * `wrongTokens`, which all routes share.
 */
export function requireToken(
  context: Context,
  wrongTokens: WrongTokens,
  { secretOf, hint }: TokenSource,
): RequestHandler {
  return async (req, res, next) => {
    const secret = secretOf(req);
    if (secret === undefined) {
      throw new Problem("unauthorized", "the request has no access token", {
        hint: `${hint}; the operator creates one with: tapehouse token create NAME`,
      });
    }
    const address = req.socket.remoteAddress;
    const token = await context.tokens.find(secret, context.now(), wrongTokens.mayTry(address));
    if (token === "unknown") {
      throw new Problem(
        "tokens_unavailable",
        "access tokens cannot be checked at the moment, so every token is refused",
        {
          hint: "ask the operator to run: tapehouse doctor",
          retryAfter: UNAVAILABLE_FOR,
        },
      );
    }
    if (!token) {
      const refusal = wrongTokens.count(address);
      // If the data directory is unavailable, so is the token file in it.
      const { state } = context.lake.faults();
      throw refusal.code === "unauthorized" && state instanceof UnavailableError ? state : refusal;
    }
    notesOf(res).token = token;
    endStage(res, "auth");
    next();
  };
}

/** The token of a request that `requireToken` let pass. */
const tokenOf = (res: Response): StoredToken => notesOf(res).token!;

/** Whether the request's token covers `name`, which is an entity or METRICS. */
export function mayRead(res: Response, name: string): boolean {
  const { entities } = tokenOf(res);
  return entities === null || entities.includes(name);
}

/** Throws `forbidden` if the request's token does not cover `name`; `hint` may explain why it is needed. */
export function checkRight(res: Response, name: string, hint?: string): void {
  if (mayRead(res, name)) return;
  const extras = { allowed: tokenOf(res).entities ?? [], ...(hint === undefined ? {} : { hint }) };
  throw new Problem("forbidden", `this token may not read ${name}`, extras);
}

/** Records the entity of a request. Throws `forbidden` if its token does not cover it. */
export function checkEntity(res: Response, entity: string): void {
  notesOf(res).entity = entity;
  checkRight(res, entity);
}
