// Each request is seen once, when it is over: one line in the log, and the metrics.
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { RequestHandler } from "express";
import type { Context } from "./context.js";
import type { Seen } from "./metrics.js";
import { notesOf } from "./notes.js";
import { stagesOf } from "./timing.js";

/** Ids are unique among processes and starts. */
const PREFIX = randomBytes(6).toString("base64url");
let requests = 0;

export function observe({ log, metrics }: Pick<Context, "log" | "metrics">): RequestHandler {
  return (req, res, next) => {
    const notes = notesOf(res);
    notes.id = `${PREFIX}-${(++requests).toString(36)}`;
    res.setHeader("X-Request-Id", notes.id);
    const { socket } = req;
    const address = socket.remoteAddress;
    metrics.begin();
    let whole = false;
    // Node tells of a finish also where the connection was lost with bytes still to be sent.
    res.once("finish", () => (whole = !socket.destroyed));
    res.once("close", () => {
      const { stages, ms } = stagesOf(res);
      const seen: Seen = {
        method: req.method,
        route: (req.route as { path: string } | undefined)?.path ?? null,
        entity: notes.entity ?? null,
        status: res.headersSent ? res.statusCode : null,
        rows: notes.rows ?? 0,
        bytes: newBytes(socket),
        ms,
        stages,
        cut: !whole,
      };
      metrics.end(seen);
      if (!log.isLevelEnabled("info")) return;
      log.info({ id: notes.id, address, token: notes.token?.name, problem: notes.problem, ...seen }, "request");
    });
    next();
  };
}

const counted = new WeakMap<Socket, number>();

/** Bytes written to a connection since they were last asked for. */
function newBytes(socket: Socket): number {
  const before = counted.get(socket) ?? 0;
  counted.set(socket, socket.bytesWritten);
  return socket.bytesWritten - before;
}
