// GET /metrics, for Prometheus. A token's list of entities has to name it: the figures tell what others ask for.
import type { RequestHandler } from "express";
import { METRICS } from "../lake/token-records.js";
import { collectParameters } from "../query/parameters.js";
import { checkRight } from "./auth.js";
import type { Context } from "./context.js";
import { searchOf } from "./lookup.js";
import { renderMetrics } from "./metrics.js";

export function metricsHandler(context: Context): RequestHandler {
  return async (req, res) => {
    checkRight(res, METRICS);
    collectParameters(searchOf(req), []);
    const text = await renderMetrics(await context.gatherMetrics());
    res.setHeader("Cache-Control", "no-store");
    res.type("text/plain; version=0.0.4; charset=utf-8").send(text);
  };
}
