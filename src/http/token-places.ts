// Places for the answers under way of each token, so that none takes them all.
import type { Response } from "express";
import type { ServerConfig } from "../config.js";
import { createGate, type Gate } from "../engine/gate.js";
import { Problem } from "../errors.js";
import type { Width } from "../query/statement.js";
import { notesOf } from "./notes.js";
import { onceClosed } from "./turns.js";

export interface TokenPlaces {
  /** Waits for a place of the request's token; the answer holds it until it is closed. */
  take(res: Response, width: Width, signal: AbortSignal): Promise<void>;
}

/**
 * Answers under way of each token. More of them wait, so that a client with many connections is slowed and not refused;
 * those for which even the queue has no room are.
 */
export function createTokenPlaces({ tokenStreams, queue }: Pick<ServerConfig, "tokenStreams" | "queue">): TokenPlaces {
  if (tokenStreams === null) return { take: async () => undefined };
  const gates = new Map<string, Gate>();
  const full = (): Problem =>
    new Problem("too_many_requests", `this token has ${tokenStreams} answers under way and too many that wait`, {
      hint: "ask with fewer connections at a time",
      retryAfter: 1,
    });
  return {
    async take(res, width, signal) {
      const key = notesOf(res).token!.sha256;
      const gate = gates.get(key) ?? createGate(tokenStreams, queue, full);
      gates.set(key, gate);
      const leave = await gate.enter(signal, width);
      onceClosed(res, () => {
        leave();
        const { inside, waiting } = gate.load();
        if (inside + waiting === 0) gates.delete(key);
      });
    },
  };
}
