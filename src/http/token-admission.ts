// Admission of the answers under way of each token, so that none takes every slot.
import type { Response } from "express";
import type { ServerConfig } from "../config.js";
import { createAdmission, type Admission } from "../engine/admission.js";
import { Problem } from "../errors.js";
import type { Cost } from "../query/scan.js";
import { notesOf } from "./notes.js";
import { onceClosed } from "./pipelining.js";

export interface TokenAdmission {
  /** Waits for a slot of the request's token; the answer holds it until it is closed. */
  admit(res: Response, cost: Cost, signal: AbortSignal): Promise<void>;
}

/**
 * Answers under way of each token. More of them wait, so that a client with many connections is slowed and not refused;
 * those for which even the queue has no room are.
 */
export function createTokenAdmission({
  tokenStreams,
  queue,
}: Pick<ServerConfig, "tokenStreams" | "queue">): TokenAdmission {
  if (tokenStreams === null) return { admit: async () => undefined };
  const admissions = new Map<string, Admission>();
  const full = (): Problem =>
    new Problem("too_many_requests", `this token has ${tokenStreams} answers under way and too many that wait`, {
      hint: "ask with fewer connections at a time",
      retryAfter: 1,
    });
  return {
    async admit(res, cost, signal) {
      const key = notesOf(res).token!.sha256;
      const admission = admissions.get(key) ?? createAdmission(tokenStreams, queue, full);
      admissions.set(key, admission);
      const release = await admission.admit(signal, cost);
      onceClosed(res, () => {
        release();
        const { inside, waiting } = admission.load();
        if (inside + waiting === 0) admissions.delete(key);
      });
    },
  };
}
