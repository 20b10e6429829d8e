// Pipelined requests: when a connection ends, the answers that wait behind another one end too, which Node does not see to.
import type { Socket } from "node:net";
import type { RequestHandler, Response } from "express";

/** Answers of each connection that were asked for before an earlier one was sent. */
const waiting = new WeakMap<Socket, Set<Response>>();

/** Closes an answer with its connection, whether it was being sent or not. It is `destroyed` then, but not `closed`. */
export const closeWithConnection: RequestHandler = ({ socket }, res, next) => {
  if (res.socket === null) {
    const answers = waitingOn(socket);
    answers.add(res);
    res.once("socket", () => answers.delete(res));
  }
  next();
};

/** Does a job when an answer is closed, at once where it is already: no event comes again. */
export function onceClosed(res: Response, job: () => void): void {
  if (res.destroyed) job();
  else res.once("close", job);
}

function waitingOn(socket: Socket): Set<Response> {
  const known = waiting.get(socket);
  if (known) return known;
  const answers = new Set<Response>();
  waiting.set(socket, answers);
  socket.once("close", () => {
    for (const res of answers) res.destroy().emit("close");
  });
  return answers;
}
