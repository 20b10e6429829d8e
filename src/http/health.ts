// Monitoring: GET /health and GET /metrics.
import type { RequestHandler } from "express";
import { ENTITIES } from "../catalog/index.js";
import { STORES, type Store } from "../catalog/types.js";
import { METRICS } from "../lake/tokens.js";
import { collectParameters } from "../query/parameters.js";
import { checkRight } from "./auth.js";
import type { Context } from "./context.js";
import { searchOf } from "./lookup.js";
import { renderMetrics } from "./metrics.js";

/**
 * GET /health, without a token. A store is true while the folder of each of its entities exists and no opened file is
 * damaged; `state` is true while the manifest can be read.
 */
export function healthHandler({ integrity, lake, tokens }: Context): RequestHandler {
  return async (req, res) => {
    collectParameters(searchOf(req), []);
    const { state, absent } = lake.faults();
    const opened = lake.opened();
    const damaged = new Set<Store>(state === null && tokens.isSound() ? [] : ["state"]);
    for (const { name, store } of ENTITIES) {
      if (opened === null || absent.includes(name)) damaged.add(store);
      if (opened === null) continue;
      const { byDate, byCode } = opened.files(name);
      if ((await integrity.stillDamaged([...byDate, ...byCode])).length > 0) damaged.add(store);
    }
    res.setHeader("Cache-Control", "no-store");
    res.json({
      status: damaged.size === 0 ? "ok" : "degraded",
      data_version: lake.mark().data_version,
      databases: Object.fromEntries(STORES.map((store) => [store, !damaged.has(store)])),
    });
  };
}

/**
 * GET /metrics, for Prometheus. A token with a list of entities needs `metrics` in it: the figures show what other
 * clients request.
 */
export function metricsHandler(context: Context): RequestHandler {
  return async (req, res) => {
    checkRight(res, METRICS);
    collectParameters(searchOf(req), []);
    const text = await renderMetrics(await context.gatherMetrics());
    res.setHeader("Cache-Control", "no-store");
    res.type("text/plain; version=0.0.4; charset=utf-8").send(text);
  };
}
