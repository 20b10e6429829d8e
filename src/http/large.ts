// Large requests: reading a list of thousands of codes occupies the process, so a token has few of them at a time, and
// all of them take turns.
import { setImmediate as eventsHandled, setTimeout as sleep } from "node:timers/promises";
import type { Request, RequestHandler } from "express";
import type { ServerConfig } from "../config.js";
import { Problem } from "../errors.js";
import { createAdmissions } from "./limits.js";
import { requestSignal } from "./respond.js";

/** Bytes of parameters, about 1,500 codes: a request of this size costs little more than the smallest one. */
const LARGE = 16 * 1024;

/** Large responses in progress of one token. */
const AT_ONCE = 4;

/** Seconds after which a refused client may retry. It learns of the refusal no earlier, so it cannot ask more often. */
const RETRY_AFTER = 5;

/** Lets large requests pass, one after another, to the handlers that read them; others pass at once. */
export function limitLarge({ queue, deadline }: Pick<ServerConfig, "queue" | "deadline">): RequestHandler {
  const full = (): Problem =>
    new Problem("too_many_requests", `this token has ${AT_ONCE} large requests in progress and too many waiting`, {
      hint: "use fewer connections at a time, or request fewer codes",
      retryAfter: RETRY_AFTER,
    });
  const admissions = createAdmissions(AT_ONCE, queue, full);
  const takeTurn = createTurns();
  return async (req, res, next) => {
    if (sizeOf(req) > LARGE) {
      const signal = requestSignal(res, deadline);
      await admissions.admit(res, "light", signal).catch(async (refusal: unknown) => {
        await sleep(RETRY_AFTER * 1_000, undefined, { signal }).catch(() => undefined);
        throw refusal;
      });
      await takeTurn(signal);
    }
    next();
  };
}

/** Bytes of the URL and the body; a body of unknown length counts as endless. */
function sizeOf({ originalUrl, headers }: Request): number {
  const unknown = headers["transfer-encoding"] === undefined ? 0 : Infinity;
  return originalUrl.length + Number(headers["content-length"] ?? unknown);
}

/** The longest rest between two turns, in milliseconds: what delayed the end of a turn may have been something else. */
const LONGEST_REST = 100;

/**
 * Returns a function that resolves when it is the caller's turn, or rejects then if the signal is aborted. A turn ends
 * when the event loop comes round, and the next one begins after a rest as long as the turn: half of the time is left
 * for small requests.
 */
function createTurns(): (signal: AbortSignal) => Promise<void> {
  let free = Promise.resolve();
  return (signal) => {
    const turn = free.then(() => signal.throwIfAborted());
    free = turn.then(rest, () => undefined);
    return turn;
  };
}

async function rest(): Promise<void> {
  const began = performance.now();
  await eventsHandled();
  await sleep(Math.min(performance.now() - began, LONGEST_REST));
}
