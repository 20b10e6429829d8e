// GET /health: public. A store is true while every file of its entities that was opened is what it should be.
import type { RequestHandler } from "express";
import { ENTITIES } from "../catalog/index.js";
import { STORES, type Store } from "../catalog/types.js";
import { collectParameters } from "../query/parameters.js";
import { searchOf } from "./auth.js";
import type { Context } from "./context.js";

export function healthHandler({ integrity, lake }: Context): RequestHandler {
  return async (req, res) => {
    collectParameters(searchOf(req), []);
    const { version, files } = lake.current();
    const damaged = new Set<Store>(lake.isSound() ? [] : ["state"]);
    for (const { name, store } of ENTITIES) {
      const { byDate, byCode } = files(name);
      if ((await integrity.stillDamaged([...byDate, ...byCode])).length > 0) damaged.add(store);
    }
    res.setHeader("Cache-Control", "no-store");
    res.json({
      status: damaged.size === 0 ? "ok" : "degraded",
      data_version: version.data_version,
      databases: Object.fromEntries(STORES.map((store) => [store, !damaged.has(store)])),
    });
  };
}
