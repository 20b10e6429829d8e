// The Server-Timing header: how long each stage of a request took.
import type { RequestHandler, Response } from "express";

interface Mark {
  readonly name: string;
  readonly at: number;
}

/** Starts the clock of each request. */
export const startTiming: RequestHandler = (_req, res, next) => {
  res.locals["timing"] = [{ name: "start", at: performance.now() }] satisfies Mark[];
  next();
};

/** Notes that the stage `name` ended now. */
export function endStage(res: Response, name: string): void {
  (res.locals["timing"] as Mark[]).push({ name, at: performance.now() });
}

/** Sets the header from the stages that have ended. */
export function sendTiming(res: Response): void {
  const marks = res.locals["timing"] as readonly Mark[];
  const stages = marks.slice(1).map(({ name, at }, i) => `${name};dur=${(at - marks[i]!.at).toFixed(2)}`);
  res.setHeader("Server-Timing", stages.join(", "));
}
