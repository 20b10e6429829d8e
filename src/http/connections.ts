// How many connections there may be: a few beyond the limit are told so, the rest are closed.
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { RequestHandler } from "express";
import { Problem } from "../errors.js";

/** So many connections beyond the limit are kept until they have been told. */
const TOLD = 16;

const excess = new WeakSet<Socket>();

/** `event` is the one by which the server tells of a connection that can carry requests. */
export function limitConnections(server: Server, event: "connection" | "secureConnection", limit: number): void {
  let open = 0;
  server.maxConnections = limit + TOLD;
  server.on(event, (socket: Socket) => {
    if (++open > limit) excess.add(socket);
    socket.once("close", () => open--);
  });
}

/** Answers a request on a connection beyond the limit with 503 and closes the connection. */
export const refuseExcess: RequestHandler = (req, res, next) => {
  if (!excess.has(req.socket)) {
    next();
    return;
  }
  res.setHeader("Connection", "close");
  throw new Problem("overloaded", "too many connections are open", { retryAfter: 1 });
};

/** Files that the process has open besides connections and what they read. */
const OTHER_FILES = 64;

/** DuckDB holds the file that a statement reads twice. */
const FILES_OF_STATEMENT = 2;

/** An answer may read from three statements at the same time: one of rows, the next one of rows, and one of factors. */
const FILES_OF_ANSWER = 3 * FILES_OF_STATEMENT;

/** `wanted`, or fewer where the system lets the process open so few files that reading for `streams` answers would fail. */
export function affordableConnections(wanted: number, streams: number, openFiles = openFilesLimit()): number {
  const room = openFiles - OTHER_FILES - TOLD;
  const affordable = Math.max(room - streams * FILES_OF_ANSWER, Math.floor(room / (1 + FILES_OF_ANSWER)));
  return Math.max(1, Math.min(wanted, affordable));
}

/** How many files this process may have open; no limit where the system does not tell. */
function openFilesLimit(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
