// How long each stage of a request took: for the Server-Timing header, the log and the metrics.
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

const marksOf = (res: Response): Mark[] => res.locals["timing"] as Mark[];

/** Notes that the stage `name` ended now. */
export function endStage(res: Response, name: string): void {
  marksOf(res).push({ name, at: performance.now() });
}

/** Sets the header from the stages that have ended. */
export function sendTiming(res: Response): void {
  const marks = marksOf(res);
  const stages = marks.slice(1).map(({ name, at }, i) => `${name};dur=${(at - marks[i]!.at).toFixed(2)}`);
  res.setHeader("Server-Timing", stages.join(", "));
}

/** Milliseconds of each stage up to now, `send` being what came after the last one; and of all together. */
export function stagesOf(res: Response): { readonly stages: Record<string, number>; readonly ms: number } {
  const marks = [...marksOf(res), { name: "send", at: performance.now() }];
  const stages: Record<string, number> = {};
  for (let i = 1; i < marks.length; i++) stages[marks[i]!.name] = rounded(marks[i]!.at - marks[i - 1]!.at);
  return { stages, ms: rounded(marks.at(-1)!.at - marks[0]!.at) };
}

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;
