// GET /health: public. A store is true while every file of its entities that was opened is what it should be
// and the folder of each is there; `state` is true while the manifest can be followed.
import type { RequestHandler } from "express";
import { ENTITIES } from "../catalog/index.js";
import { STORES, type Store } from "../catalog/types.js";
import { collectParameters } from "../query/parameters.js";
import type { Context } from "./context.js";
import { searchOf } from "./lookup.js";

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
